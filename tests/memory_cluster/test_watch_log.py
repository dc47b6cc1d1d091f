"""How far back a watch of the cluster in memory can begin."""

from __future__ import annotations

import pytest

from harness.clusters.memory.store import Store
from harness.engine.clock import Clock
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN
from harness.engine.rng import Rng
from harness.kube.api.objects import Key
from harness.kube.api.status import ApiError


def _store(log_limit: int | None) -> Store:
    store = Store(Clock(), Ids(Rng(1)), log_limit=log_limit)
    for name in "abcd":
        store.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "x"}}, ADMIN)
    return store


@pytest.mark.parametrize(
    ("log_limit", "ago", "seen"),
    [(None, 4, "abcd"), (None, 1, "d"), (None, 0, ""), (2, 2, "cd"), (2, 1, "d"), (2, 0, "")],
)
def test_a_watch_tells_what_came_after_its_version(log_limit: int | None, ago: int, seen: str) -> None:
    store = _store(log_limit)
    found = [change.object["metadata"]["name"] for change in store.changes(store.revision - ago)]
    assert found == list(seen)


def test_a_watch_from_before_the_log_begins_is_told_that_its_version_expired() -> None:
    store = _store(2)
    since, first = store.revision - 3, store.revision - 1
    with pytest.raises(ApiError) as raised:
        list(store.changes(since))
    assert (raised.value.code, raised.value.reason) == (410, "Expired")
    assert raised.value.message == f"too old resource version: {since} ({first})"


def test_a_uid_is_there_as_long_as_its_object() -> None:
    store = _store(None)
    (uid, *_) = (each["metadata"]["uid"] for each in store.list("ConfigMap"))
    assert store.exists(uid)
    assert not store.exists(f"{uid}-other")
    store.delete(Key("ConfigMap", "x", "a"), ADMIN)
    assert not store.exists(uid)
