"""The log of changes that watches read, and which uids are there."""

from typing import Any

import pytest

from harness.clusters.memory.objects import Objects
from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import Key
from harness.kube.api.status import ApiError


class Log(Objects):
    """Takes objects without an API server."""

    def add(self, name: str) -> None:
        self.revision += 1
        obj: dict[str, Any] = {"kind": "Pod", "metadata": {"name": name, "uid": f"uid-{name}"}, "spec": {}}
        self._keep(Key("Pod", "", name), None, obj)
        self._tell(Change(ChangeType.ADDED, obj, None, self.revision))

    def remove(self, name: str) -> None:
        key = Key("Pod", "", name)
        self._keep(key, self.get("Pod", name), None)


def told(log: Log, since: int) -> list[str]:
    return [change.object["metadata"]["name"] for change in log.changes(since)]


def test_a_log_keeps_the_last_changes_only() -> None:
    log = Log(log_limit=2)
    for name in ("a", "b"):
        log.add(name)
    assert told(log, 0) == ["a", "b"]
    log.add("c")
    assert told(log, 1) == ["b", "c"]
    assert told(log, 3) == []
    with pytest.raises(ApiError) as expired:
        told(log, 0)
    assert (expired.value.code, expired.value.reason) == (410, "Expired")


def test_a_log_without_a_limit_keeps_all() -> None:
    log = Log()
    for name in "abcdef":
        log.add(name)
    assert told(log, 0) == [*"abcdef"]
    assert told(log, 4) == ["e", "f"]


def test_a_uid_is_there_as_long_as_its_object() -> None:
    log = Log()
    log.add("a")
    assert log.exists("uid-a")
    assert not log.exists("uid-b")
    log.remove("a")
    assert not log.exists("uid-a")
