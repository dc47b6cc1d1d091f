"""Turns of the controller: conflicts and other errors, what is said of pods that nobody schedules, and of nodes that leave."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest

from harness.engine.clock import SECOND
from harness.engine.ports import ADMIN, Change, ChangeType
from harness.karpenter.disruption.churn import Churn, Departure
from harness.karpenter.disruption.controller import DisruptionController, _unsettles
from harness.karpenter.disruption.execution.actions import ClusterActions
from harness.karpenter.disruption.methods.order import attempt, methods_of
from harness.karpenter.disruption.simulating import publish_pod_events
from harness.karpenter.disruption.situation import after_waiting
from harness.karpenter.releases import provider
from harness.kube.api.status import ApiError
from harness.testing import deployment
from harness.world import World
from tests.disruption.fleet import Json, machine, nodepool, pod, situation
from tests.disruption.test_world import MINUTE, conditions, pool, world


@pytest.mark.parametrize(
    ("code", "logged"), [(409, []), (403, ["removing taint from nodes, no"]), (500, ["removing taint from nodes, no"])]
)
def test_a_conflict_ends_a_turn_silently_and_another_error_is_logged(
    monkeypatch: pytest.MonkeyPatch, code: int, logged: list[str]
) -> None:
    """Core pkg/controllers/disruption/controller.go: a conflict is requeued, everything else is returned."""
    of = world(pool(), deployment("web", 3))
    of.apply(deployment("web", 0))
    refused: list[Any] = []
    real = ClusterActions.release

    def first_refused(self: Any, nodes: Any) -> None:
        if not refused:
            refused.append(nodes)
            raise ApiError(code, "Refused", "no")
        real(self, nodes)

    monkeypatch.setattr(ClusterActions, "release", first_refused)
    of.advance(3 * MINUTE)
    assert refused
    assert of.list("Node") == []
    errors = [line for line in of.log if line.message == "Reconciler error"]
    assert [dict(line.values)["error"] for line in errors] == logged


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> tuple[World, list[float], list[bool]]:
    """A world in which turns fail from a restart on, when turns took place, and whether they still fail."""
    of = world(pool(), deployment("web", 1))
    of.advance(MINUTE)
    tried: list[float] = []
    fails = [True]

    def refused(self: Any, nodes: Any) -> None:
        tried.append(of.clock.seconds)
        if fails[0]:
            raise ApiError(500, "Refused", "no")

    monkeypatch.setattr(ClusterActions, "release", refused)
    of.restart_karpenter()
    return of, tried, fails


def waits(tried: list[float]) -> list[float]:
    return [round(later - earlier, 6) for earlier, later in pairwise(tried)]


def test_a_turn_that_fails_is_tried_again_after_twice_the_time(failing: Any) -> None:
    """The rate limiter of client-go: 5 ms, doubled with each failure, and from the beginning after a success."""
    of, tried, fails = failing
    of.advance(12)
    assert waits(tried[:5]) == [0.005, 0.01, 0.02, 0.04]
    fails[0] = False
    of.advance(MINUTE)
    fails[0] = True
    tried.clear()
    of.apply(deployment("web", 2))
    of.advance(12)
    assert waits(tried[:5]) == [0.005, 0.01, 0.02, 0.04]


def test_what_happens_meanwhile_does_not_shorten_the_wait_after_an_error(failing: Any) -> None:
    of, tried, _ = failing
    of.advance(60)
    assert waits(tried)[-1] == 20.48
    of.apply(deployment("web", 2))
    of.advance(MINUTE)
    assert waits(tried)[-2:] == [20.48, 40.96]


@pytest.fixture
def turns(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """When turns began, or went on, in nanoseconds since the start."""
    noted: list[int] = []
    reconcile = DisruptionController.reconcile

    def told(self: DisruptionController, key: Any) -> Any:
        noted.append(self._engine.clock.now)
        return reconcile(self, key)

    monkeypatch.setattr(DisruptionController, "reconcile", told)
    return noted


def test_turns_begin_with_the_first_nodeclaim(turns: list[int]) -> None:
    of = world(pool())
    of.apply({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "not-karpenters"}, "spec": {}})
    of.advance(60 * MINUTE)
    assert turns == []
    of.apply(deployment("web", 1))
    of.advance(MINUTE)
    assert turns


def test_while_nothing_changes_there_are_no_turns(turns: list[int]) -> None:
    of = world(pool(), deployment("web", 1))
    of.advance(10 * MINUTE)
    turns.clear()
    of.advance(60 * MINUTE)
    assert turns == []


def test_consolidation_that_rests_is_tried_again_five_minutes_after_something_happened(turns: list[int]) -> None:
    """Core pkg/controllers/state/cluster.go, ConsolidationState. A turn in between that nothing of it matters to skips it."""
    of = world(pool(), deployment("web", 1))
    of.advance(MINUTE)
    calm = turns[-1]
    (node,) = of.list("Node")
    turns.clear()
    of.cluster.writer(ADMIN).patch("Node", node["metadata"]["name"], {"metadata": {"labels": {"a": "b"}}})
    of.advance(10 * MINUTE)
    skips, again, *_ = turns
    assert skips - calm < 60 * SECOND
    assert again - skips < 300 * SECOND


def test_what_happens_meanwhile_does_not_shorten_the_wait_before_a_command() -> None:
    """Core pkg/controllers/disruption/validation.go: 15 seconds between a command and its validation."""

    def disrupted(meanwhile: float | None = None) -> float:
        of = world(pool(), deployment("web", 3))
        of.apply(deployment("web", 0))
        if meanwhile is not None:
            of.advance(meanwhile - of.clock.seconds)
            (node,) = of.list("Node")
            of.cluster.writer(ADMIN).patch("Node", node["metadata"]["name"], {"metadata": {"labels": {"a": "b"}}})
        of.advance(2 * MINUTE)
        (found,) = of.disruptions
        return found.at

    undisturbed = disrupted()
    assert disrupted(undisturbed - 13) == undisturbed


def test_what_happens_during_a_turn_is_looked_at_in_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn waits for its simulations, whose time passes."""
    of = world(pool(), deployment("web", 1))
    (node,) = of.list("Node")
    begun: list[float] = []
    changed: list[float] = []
    reconcile = DisruptionController.reconcile

    def told(self: DisruptionController, key: Any) -> Any:
        if self._generator is None:
            begun.append(of.clock.seconds)
        result = reconcile(self, key)
        if self._generator is not None and not changed:
            changed.append(of.clock.seconds)
            of.cluster.writer(ADMIN).patch("Node", node["metadata"]["name"], {"metadata": {"labels": {"a": "b"}}})
        return result

    monkeypatch.setattr(DisruptionController, "reconcile", told)
    of.advance(3 * MINUTE)
    assert [each for each in begun if changed[0] < each < changed[0] + 11]


@pytest.mark.parametrize(("tainted", "decision"), [(False, "delete"), (True, "replace")])
def test_a_turn_decides_by_the_taints_that_nodes_had_when_it_began(tainted: bool, decision: str) -> None:
    """A taint that no command put there is taken away first; the room behind it counts from the next turn on."""
    of = world(pool({"consolidateAfter": "Never"}), deployment("big", 2, cpu="1600m"))
    of.apply(deployment("small", cpu="900m"))
    of.advance(MINUTE)
    of.apply(deployment("big", 1, cpu="1600m"))
    of.advance(MINUTE)
    nodes = {pod["metadata"]["labels"]["app"]: pod["spec"]["nodeName"] for pod in of.list("Pod")}
    assert nodes["big"] != nodes["small"]
    admin = of.cluster.writer(ADMIN)
    if tainted:
        taint = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}
        admin.patch("Node", nodes["big"], {"spec": {"taints": [taint]}})
    (small,) = [claim for claim in of.list("NodeClaim") if claim["status"]["nodeName"] == nodes["small"]]
    drifted = {"metadata": {"annotations": {"karpenter.sh/nodepool-hash": "of an older template"}}}
    admin.patch("NodeClaim", small["metadata"]["name"], drifted)
    of.advance(2 * MINUTE)
    assert [(disruption.method, disruption.decision) for disruption in of.disruptions] == [("Drift", decision)]
    big = of.get("Node", nodes["big"])
    assert big is not None
    assert "taints" not in big["spec"]


@pytest.fixture
def departures(monkeypatch: pytest.MonkeyPatch) -> list[Departure]:
    """All departures that worlds take note of."""
    noted: list[Departure] = []
    departs = Churn.departs

    def told(self: Churn, gone: Sequence[Departure]) -> Any:
        noted.extend(gone)
        return departs(self, gone)

    monkeypatch.setattr(Churn, "departs", told)
    return noted


def test_the_departure_of_a_drifted_node_says_how_it_drifted(departures: list[Departure]) -> None:
    of = world(pool(), deployment("web", 3))
    (claim,) = of.list("NodeClaim")
    changed = pool()
    changed["spec"]["template"]["metadata"] = {"labels": {"new": "true"}}
    of.apply(changed)
    of.advance(10 * MINUTE)
    (noted,) = departures
    assert (noted.nodeclaim, noted.reason, noted.because) == (claim["metadata"]["name"], "Drifted", "NodePoolDrifted")
    assert (noted.nodepool, noted.size, len(noted.replacements)) == ("default", "Standard_D4s_v5", 1)
    assert 0 < noted.created < noted.at


def test_the_departure_of_an_empty_node_needs_no_other_reason(departures: list[Departure]) -> None:
    of = world(pool(), deployment("web", 3))
    of.apply(deployment("web", 0))
    of.advance(3 * MINUTE)
    assert [(each.reason, each.because, each.replacements) for each in departures] == [("Empty", "", ())]


def test_the_departure_of_an_empty_node_that_has_drifted_too_does_not_say_how(departures: list[Departure]) -> None:
    budgets = [{"nodes": "0", "reasons": ["Drifted"]}, {"nodes": "100%"}]
    of = world(pool({"budgets": budgets}), deployment("web", 3))
    of.apply(deployment("web", 0), pool({"budgets": budgets}, expireAfter="100h"))
    of.settle()
    assert conditions(of, "Drifted") == ["NodePoolDrifted"]
    of.advance(3 * MINUTE)
    assert [(each.reason, each.because) for each in departures] == [("Empty", "")]
    assert [each.drift for each in of.disruptions] == [""]


def unbound(name: str, operator: str, key: str, *values: str) -> Json:
    made = pod(name, "")
    del made["spec"]["nodeName"]
    term = {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    made["spec"]["affinity"] = {"nodeAffinity": required}
    scheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
    made["status"] = {"phase": "Pending", "conditions": [scheduled]}
    return made


@pytest.mark.parametrize(("release", "told"), [("1.14.0", ["default/invalid"]), ("1.6.5", [])])
def test_pods_that_cannot_be_read_are_told_of_and_those_that_opt_out_are_not(release: str, told: list[str]) -> None:
    """Core pkg/controllers/provisioning/provisioner.go, GetPendingPods: who opts out of Karpenter's nodes gets no event."""
    out = unbound("out", "DoesNotExist", "karpenter.sh/nodepool")
    invalid = unbound("invalid", "In", "kubernetes.io/hostname/wrong/", "a")
    made = situation([machine("a")], [out, invalid], release=provider(release))
    assert set(made.view.simulations.pending.rejected) == {"default/out", "default/invalid"}
    publish_pod_events(made)
    publish_pod_events(made)
    assert [each.object for each in made.events if each.reason == "FailedScheduling"] == told


@pytest.mark.parametrize(
    ("method", "release", "weighed"),
    [
        ("SingleNodeConsolidation", "1.14.0", {"pool"}),
        ("SingleNodeConsolidation", "1.13.1", set()),
        ("Drift", "1.14.0", set()),
    ],
)
def test_costs_of_nodepools_are_weighed_by_consolidation_from_core_1_14_on(
    method: str, release: str, weighed: set[str]
) -> None:
    policy = {"consolidationPolicy": "Balanced"} if release == "1.14.0" else {}
    nodes = [machine("a", conditions=("Consolidatable", "Drifted"))]
    made = situation(nodes, [pod("p", "a")], [nodepool(**policy)], release=provider(release))
    (chosen,) = (each for each in methods_of(made.rules) if each.name == method)
    done = after_waiting(attempt(made, chosen), lambda seconds: None)
    assert len(done.candidates) == 1
    assert set(done.totals) == weighed


NEW, OLD, GONE = ChangeType.ADDED, ChangeType.MODIFIED, ChangeType.DELETED
READY = {"karpenter.sh/initialized": "true"}
TERMINATING = {"deletionTimestamp": "2026-01-07T10:00:00Z"}


@pytest.mark.parametrize(
    ("kinds", "type", "before", "after", "unsettles"),
    [
        ("Node NodeClaim NodePool", NEW, None, {}, True),
        ("Pod PodDisruptionBudget StorageClass DaemonSet", NEW, None, {}, False),
        ("Pod Node NodeClaim NodePool", GONE, {}, {}, True),
        ("PodDisruptionBudget StorageClass DaemonSet", GONE, {}, {}, False),
        ("Node NodeClaim", OLD, {}, {"metadata": {"labels": READY}}, True),
        ("Node NodeClaim", OLD, {"metadata": {"labels": READY}}, {"metadata": {"labels": READY, "a": "b"}}, False),
        ("Node NodeClaim", OLD, {}, {"metadata": {"labels": {"a": "b"}}}, False),
        ("Node NodeClaim", OLD, {}, {"metadata": TERMINATING}, True),
        ("Node NodeClaim", OLD, {"metadata": TERMINATING}, {"metadata": TERMINATING}, False),
        ("NodePool", OLD, {"spec": {"weight": 1}}, {"spec": {"weight": 2}}, True),
        ("NodePool", OLD, {"spec": {"weight": 1}}, {"spec": {"weight": 1}, "status": {}}, False),
        ("Node NodeClaim PodDisruptionBudget", OLD, {"spec": {"a": 1}}, {"spec": {"a": 2}}, False),
        ("Pod", NEW, None, {"spec": {"nodeName": "a"}}, False),
        ("Pod", OLD, {}, {"spec": {"nodeName": "a"}}, False),
        ("Pod", OLD, {"spec": {"nodeName": "a"}}, {"spec": {"nodeName": "a"}, "status": {}}, False),
        ("Pod", OLD, {"spec": {"nodeName": "a"}}, {"spec": {"nodeName": "b"}}, True),
    ],
)
def test_what_may_make_a_consolidation_possible(
    kinds: str, type: ChangeType, before: Json | None, after: Json, unsettles: bool
) -> None:
    """Core pkg/controllers/state/cluster.go, wherever it says MarkUnconsolidated."""
    for kind in kinds.split():
        new, old = (None if each is None else {"kind": kind, "metadata": {}, **each} for each in (after, before))
        assert new is not None
        assert _unsettles(kind, Change(type, new, old, 1)) is unsettles, kind
