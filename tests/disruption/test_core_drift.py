"""Drift that core sees: instance types that nobody sells, and hashes of NodePools.

Core ``pkg/controllers/nodeclaim/disruption/drift.go``, ``pkg/controllers/nodepool/hash/controller.go``.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.conformance.ops.catalog import instance_types
from harness.engine.clock import parse
from harness.karpenter.disruption import conditions
from harness.karpenter.disruption.conditions import CoreDrift, core_drift, hashed
from harness.karpenter.releases import provider
from harness.karpenter.releases.disruption import disruption_rules_of
from tests.disruption.fleet import CAPACITY, NOW, RELEASE, SIZE, ZONE, Json, machine, nodepool, size

HASH, VERSION = "karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version"
KINDS = ("reserved", "on-demand", "spot")


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        ({}, ""),
        ({SIZE: "none"}, "InstanceTypeNotFound"),
        ({ZONE: "z-2"}, "InstanceTypeNotFound"),
        ({CAPACITY: "spot"}, "InstanceTypeNotFound"),
        ({CAPACITY: "reserved"}, ""),  # what was reserved may have become on-demand since
        ({CAPACITY: "reserved", ZONE: "z-2"}, "InstanceTypeNotFound"),
    ],
)
def test_a_node_whose_offering_is_gone_has_drifted(labels: dict[str, str], reason: str) -> None:
    _, claim = machine("a")
    claim["metadata"]["labels"].update(labels)
    types = instance_types([size("four", 4, 0.2)], RELEASE.vocabulary)
    assert core_drift(claim, nodepool(kinds=KINDS), types, RELEASE.vocabulary) == reason
    assert core_drift(claim, nodepool(kinds=KINDS), None, RELEASE.vocabulary) == ""


@pytest.mark.parametrize(("release", "age", "asks"), [("1.14.0", 0, False), ("1.14.0", 1, True), ("1.4.0", 0, True)])
def test_whether_a_size_is_sold_is_asked_of_nodeclaims_that_are_older_than_an_hour(
    release: str, age: int, asks: bool
) -> None:
    """Core pkg/controllers/nodeclaim/disruption/drift.go, isDrifted; ``age``: nanoseconds beyond the hour. Core 1.4 asks at once."""
    _, claim = machine("a", since="2026-01-07T09:30:00Z")
    drift = CoreDrift(disruption_rules_of(provider(release).core))
    found = drift(claim, nodepool(), (), parse(NOW) + age, RELEASE.vocabulary)
    assert found == ("InstanceTypeNotFound" if asks else "")


def test_an_answer_is_kept_while_nothing_changes_on_which_it_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(conditions, "core_drift", lambda *given: asked.append(given) or "")
    drift, types = CoreDrift(disruption_rules_of(RELEASE.core)), instance_types([], RELEASE.vocabulary)
    (_, claim), pool, now = machine("a", since="2026-01-07T09:30:00Z"), nodepool(), parse(NOW)

    def ask(claim: Json = claim, pool: Json = pool, types: Any = types, later: int = 0) -> int:
        asked.clear()
        drift(claim, pool, types, now + later, RELEASE.vocabulary)
        return len(asked)

    assert [ask(), ask(), ask(later=1), ask(later=2)] == [1, 0, 1, 0]
    assert [ask(pool={**pool, "status": {}}, later=2), ask({**claim, "status": {}}, later=2)] == [0, 0]
    assert ask(pool={**pool, "spec": {}}, later=2) == 1
    assert [ask(types=list(types), later=2), ask(later=2)] == [1, 1]
    drift.forget("claim-a")
    assert ask(later=2) == 1


def marked(version: str | None, *, drifted: bool = False, pool: str = "pool") -> Json:
    _, claim = machine("a", pool=pool, conditions=("Drifted",) if drifted else ())
    claim["metadata"]["annotations"] = {HASH: "old"} | ({} if version is None else {VERSION: version})
    return claim


@pytest.mark.parametrize("version", [None, "v1"])
def test_with_a_new_version_of_hashes_nodeclaims_that_have_not_drifted_get_the_new_hash(version: str | None) -> None:
    claims = [marked(version), marked(version, drifted=True), marked(version, pool="other")]
    pool, (calm, drifted, foreign) = hashed(nodepool(), claims)
    now = pool["metadata"]["annotations"]
    assert now[HASH] not in ("", "old")
    assert calm["metadata"]["annotations"] == {HASH: now[HASH], VERSION: now[VERSION]}
    assert drifted["metadata"]["annotations"] == {HASH: "old", VERSION: now[VERSION]}
    assert foreign is claims[2]


def test_with_the_version_of_today_nodeclaims_keep_their_hash() -> None:
    pool, _ = hashed(nodepool(), [])
    version = pool["metadata"]["annotations"][VERSION]
    changed = {
        **pool,
        "spec": {**pool["spec"], "template": {**pool["spec"]["template"], "metadata": {"labels": {"a": "b"}}}},
    }
    known = marked(version)
    again, (claim,) = hashed(changed, [known])
    assert claim is known
    assert again["metadata"]["annotations"][HASH] != pool["metadata"]["annotations"][HASH]


def test_a_nodeclaim_of_the_version_of_today_keeps_its_hash_when_its_nodepool_gets_that_version() -> None:
    pool, _ = hashed(nodepool(), [])
    known = marked(pool["metadata"]["annotations"][VERSION])
    _, (claim,) = hashed(nodepool(), [known])
    assert claim is known
