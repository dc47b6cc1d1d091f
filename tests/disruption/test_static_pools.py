"""Static NodePools: what wakes their controllers, how soon a failure is tried again, and deletions that come too late."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.clock import Clock
from harness.engine.engine import DONE, ReconcileError, Wait
from harness.engine.ports import Change, ChangeType
from harness.karpenter.disruption.methods.static_drift import counts_of
from harness.karpenter.lifecycle.nodeclaims.creation import NodeClaimRefused
from harness.karpenter.staticpools.controllers import StaticDeprovisioning, StaticProvisioning
from harness.kube.api.status import ApiError
from tests.disruption.fleet import Json, machine, nodepool, situation
from tests.disruption.test_methods import found


def static(replicas: int | None, name: str = "pool", **spec: Any) -> Json:
    made = nodepool(name)
    return {**made, "spec": {**made["spec"], "replicas": replicas, **spec}}


class Cluster:
    """NodePools that a View gets, a Writer whose deletions end with a code, and a Sink."""

    def __init__(self, *pools: Json, code: int = 0) -> None:
        self._pools = {each["metadata"]["name"]: each for each in pools}
        self._code = code
        self.asked: list[str] = []
        self.logged: list[tuple[str, dict[str, Any]]] = []

    def get(self, kind: str, name: str, namespace: str = "") -> Json | None:
        return self._pools.get(name) if kind == "NodePool" else None

    def delete(self, kind: str, name: str) -> None:
        self.asked.append(name)
        if self._code:
            raise ApiError(self._code, "Refused", "no")

    def log(self, level: str, controller: str, message: str, **values: Any) -> None:
        self.logged.append((message, values))

    def rejected(self, rejections: Any) -> None:
        assert not rejections


def provisioning(cluster: Any, create: Any = None, synced: Sequence[bool] = ()) -> StaticProvisioning:
    """``synced``: whether every NodeClaim has a machine, at the first looks."""
    said = list(synced)

    def look() -> Any:
        view = situation([], pools=[cluster.get("NodePool", "pool")]).view
        return SimpleNamespace(simulations=view.simulations, synced=said.pop(0) if said else True)

    return StaticProvisioning(cluster, cluster, Clock(), look, create, {}, lambda runaway: None)


def deprovisioning(cluster: Any, machines: Any = ()) -> StaticDeprovisioning:
    view = situation(list(machines), pools=[cluster.get("NodePool", "pool")]).view
    return StaticDeprovisioning(cluster, cluster, cluster, lambda: view)


@pytest.mark.parametrize(
    ("before", "after", "wakes"),
    [(0, 1, True), (1, 0, True), (1, 1, False), (0, 0, False), (2, None, False), (1, 3, True)],
)
def test_a_nodepool_that_wants_another_number_of_nodes_wakes_both(before: int, after: int | None, wakes: bool) -> None:
    """Core pkg/controllers/static/{provisioning,deprovisioning}/controller.go: their predicates compare spec.replicas."""
    old, new = static(before), static(after)
    cluster = Cluster(new)
    change = Change(ChangeType.MODIFIED, new, old, 1)
    for controller in (provisioning(cluster), deprovisioning(cluster)):
        assert list(controller.watches()["NodePool"](change)) == (["pool"] if wakes else [])


@pytest.mark.parametrize(
    ("type", "makes", "takes"),
    [(ChangeType.ADDED, [], ["pool"]), (ChangeType.MODIFIED, [], []), (ChangeType.DELETED, ["pool"], [])],
)
def test_a_new_nodeclaim_may_be_too_many_and_one_that_is_gone_may_be_missing(
    type: ChangeType, makes: list[str], takes: list[str]
) -> None:
    _, claim = machine("a")
    cluster = Cluster(static(1))
    change = Change(type, claim, None if type is ChangeType.ADDED else claim, 1)
    assert list(provisioning(cluster).watches()["NodeClaim"](change)) == makes
    assert list(deprovisioning(cluster).watches()["NodeClaim"](change)) == takes


@pytest.mark.parametrize("type", [ChangeType.ADDED, ChangeType.DELETED])
def test_nodeclaims_of_other_nodepools_wake_nobody(type: ChangeType) -> None:
    _, claim = machine("a")
    cluster = Cluster({**static(1), "spec": nodepool()["spec"]})
    change = Change(type, claim, None, 1)
    assert not list(provisioning(cluster).watches()["NodeClaim"](change))
    assert not list(deprovisioning(cluster).watches()["NodeClaim"](change))


def test_a_refused_nodeclaim_is_tried_again_after_twice_the_time_and_1000_seconds_at_most() -> None:
    """The rate limiter of client-go: 5 ms, doubled with each failure, at most 1000 s."""

    def create(planned: Any) -> Any:
        raise NodeClaimRefused("no")

    cluster = Cluster(static(1))
    controller = provisioning(cluster, create)
    made = [controller.reconcile("pool") for _ in range(40)]
    assert [each.after for each in made[:5]] == pytest.approx([0.005, 0.01, 0.02, 0.04, 0.08])
    assert made[17].after == pytest.approx(655.36)
    assert {each.after for each in made[18:]} == {1000.0}
    assert {each.wait for each in made} == {Wait.ALARM}
    errors = [values for message, values in cluster.logged if message == "Reconciler error"]
    assert errors == [{"NodePool": "pool", "error": "creating nodeclaims, creating node claim, no"}] * 40


def test_after_a_success_failures_count_from_the_beginning() -> None:
    outcomes = [NodeClaimRefused("no"), NodeClaimRefused("no"), None, NodeClaimRefused("no")]

    def create(planned: Any) -> Json:
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise outcome
        return machine("a")[1]

    controller = provisioning(Cluster(static(1)), create)
    assert [controller.reconcile("pool").after for _ in range(4)] == pytest.approx([0.005, 0.01, 60.0, 0.005])


def test_nothing_is_made_until_every_nodeclaim_has_had_a_machine_once() -> None:
    """Core pkg/controllers/static/provisioning/controller.go, and Synced in pkg/controllers/state/cluster.go, which keeps its first yes."""
    made: list[Json] = []

    def create(planned: Any) -> Json:
        made.append(machine("a")[1])
        return made[-1]

    controller = provisioning(Cluster(static(2)), create, synced=[False, False, True, False])
    looks = [(controller.reconcile("pool"), len(made)) for _ in range(4)]
    assert [(each.after, each.wait, count) for each, count in looks] == [
        (1.0, Wait.POLL, 0),
        (1.0, Wait.POLL, 0),
        (60.0, Wait.POLL, 2),
        (60.0, Wait.POLL, 4),
    ]


@pytest.mark.parametrize("code", [0, 404])
def test_whoever_is_gone_already_keeps_nobody_from_being_deleted(code: int) -> None:
    cluster = Cluster(static(0), code=code)
    made = deprovisioning(cluster, [machine("a"), machine("b")]).reconcile("pool")
    assert (sorted(cluster.asked), made.after) == (["claim-a", "claim-b"], 60.0)
    assert cluster.logged[0][1] == {"NodePool": "pool", "current": 2, "desired": 0, "deprovision-count": 2}


@pytest.mark.parametrize("code", [403, 409, 500])
def test_a_deletion_that_is_refused_keeps_no_others_and_is_tried_again(code: int) -> None:
    """Core pkg/controllers/static/deprovisioning/controller.go: all are asked for, and their errors returned together."""
    cluster = Cluster(static(0), code=code)
    with pytest.raises(ReconcileError, match=r"^failed to deprovision nodeclaims, no; no$"):
        deprovisioning(cluster, [machine("a"), machine("b")]).reconcile("pool")
    assert sorted(cluster.asked) == ["claim-a", "claim-b"]


@pytest.mark.parametrize(("replicas", "replaced"), [(0, 0), (1, 1), (2, 1)])
def test_drifted_nodes_that_are_too_many_are_not_replaced(replicas: int, replaced: int) -> None:
    """Core pkg/controllers/disruption/staticdrift.go: only where no more nodes run than spec.replicas says."""
    drifted = machine("a", conditions=("Consolidatable", "Drifted"))
    assert len(found(situation([drifted], pools=[static(replicas)]), "StaticDrift")) == replaced


def test_nodeclaims_count_as_running_as_going_or_as_about_to_be_replaced() -> None:
    """Core pkg/controllers/state/statenodepool.go."""
    machines = [machine(name) for name in "abcde"]
    machines[4][1]["metadata"]["labels"]["karpenter.sh/nodepool"] = "other"
    made = situation(machines, deleting=frozenset({"claim-d"}))
    replacing = frozenset({"claim-a", "claim-b", "claim-e"})
    found = counts_of(made.view.simulations, "pool", replacing)
    assert (found.running, found.deleting, found.replacing, found.total) == (1, 1, 2, 4)


@pytest.mark.parametrize(("there", "replicas", "held"), [(False, 1, False), (True, None, False), (True, 1, True)])
def test_nothing_is_made_or_taken_of_a_nodepool_that_is_gone_or_not_static_or_while_nothing_may_move(
    there: bool, replicas: int | None, held: bool
) -> None:
    cluster = Cluster(static(replicas))
    makes, takes = provisioning(cluster, lambda planned: pytest.fail("made")), deprovisioning(cluster, [machine("a")])
    for controller in (makes, takes):
        controller.held = held
        assert controller.reconcile("pool" if there else "gone") is DONE
    assert cluster.asked == []
