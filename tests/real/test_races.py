"""Races that the real controller loses now and then make no difference; the same facts without their evidence do."""

from __future__ import annotations

from typing import Any

import pytest

from harness.engine.ports import ADMIN
from harness.kube.api.objects import condition
from harness.kube.api.status import ApiError
from harness.scenario.comparing.races import without_races
from harness.testing import nodeclass, nodepool, pod
from harness.world import World
from harness.world.facts import Facts, facts_of
from harness.world.snapshot import differences

HEALTH = "NodeRegistrationHealthy"
UNKNOWN = "Unknown AwaitingReconciliation object is awaiting reconciliation"
SIZELESS = (
    "Warning NoCompatibleInstanceTypes: NodePool requirements filtered out all compatible available instance types"
)
EARLY = (
    "Warning FailedScheduling: Failed to schedule pod, nodepool requirements filtered out all available instance types"
)
REFUSED = "Warning FailedScheduling: Failed to schedule pod, no instance type has enough resources"
WANTED = "Normal Nominated: Pod should schedule on: nodeclaim/default 1"


def differing(left: Facts, right: Facts) -> list[str]:
    return [fact for fact, _, _ in differences(*without_races(left, right))]


def health(value: str, lost: frozenset[str] = frozenset()) -> Facts:
    return Facts({"Ready": {"NodePool": {"default": {HEALTH: value, "Ready": "True"}}}}, (), (), lost)


def test_a_nodepool_whose_health_was_not_written() -> None:
    lost = frozenset({"default"})
    assert differing(health("True"), health(UNKNOWN, lost)) == []
    assert differing(health("True"), health(UNKNOWN)), "nothing was refused"
    assert differing(health("True"), health(UNKNOWN, frozenset({"other"}))), "another NodePool's was"
    assert differing(health("True"), health("False RegistrationFailed", lost)), "that is another answer"
    assert differing(health(UNKNOWN), health("True", lost)), "the simulated loop writes it"
    assert differing(health(UNKNOWN, lost), health("True")), "and loses no race"


def told(*of_pod: str, pool: tuple[str, ...] = (), overlays: bool = True) -> Facts:
    events: dict[str, Any] = {"Pod web": dict.fromkeys(of_pod, "told"), "NodePool default": dict.fromkeys(pool, "told")}
    return Facts({"Events": {name: texts for name, texts in events.items() if texts}}, (), has_overlays=overlays)


def test_pods_that_came_before_the_overlays_were_evaluated() -> None:
    early = told(EARLY, WANTED, pool=(SIZELESS,))
    assert differing(told(WANTED), early) == []
    assert differing(told(WANTED), told(EARLY, WANTED, f"{WANTED}, node/aks-default 1", pool=(SIZELESS,))) == []
    assert differing(told(REFUSED), told(EARLY, pool=(SIZELESS,))) == [], "no other text is told for five minutes"
    assert differing(told(WANTED), told(EARLY, WANTED, pool=(SIZELESS,), overlays=False)), "the gate is closed"
    assert differing(told(WANTED), told(EARLY, pool=(SIZELESS,))), "it was nominated in one of them only"
    assert differing(told(REFUSED), told(f"{REFUSED} here")), "nobody was too early"
    assert differing(told(WANTED), told(WANTED, pool=(SIZELESS,))), "no pod was too early"


def test_the_evidence_of_a_world() -> None:
    world = World(options={"feature_gates": {"NodeOverlay": "true"}})
    world.apply(nodeclass(), nodepool(), pod("web"))
    world.settle()
    facts = facts_of(world)
    assert (facts.lost, facts.has_overlays) == (frozenset(), True)
    assert condition(world.list("NodePool")[0], HEALTH) is not None
    stale = {**world.list("NodePool")[0]}
    stale["metadata"] = {**stale["metadata"], "resourceVersion": "1"}
    with pytest.raises(ApiError, match="the object has been modified"):
        world.ports.writer(ADMIN).update(stale, subresource="status")
    assert facts_of(world).lost == {"default"}
