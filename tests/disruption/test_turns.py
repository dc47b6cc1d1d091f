"""Turns of the controller: conflicts and other errors, what is said of pods that nobody schedules, and of nodes that leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.karpenter.disruption.churn import Churn, Departure
from harness.karpenter.disruption.execution.actions import ClusterActions
from harness.karpenter.disruption.methods.order import attempt, methods_of
from harness.karpenter.disruption.simulating import tell_judged
from harness.karpenter.disruption.situation import after_waiting
from harness.karpenter.releases import provider
from harness.kube.api.status import ApiError
from harness.testing import deployment
from tests.disruption.fleet import Json, machine, nodepool, pod, situation
from tests.disruption.test_world import MINUTE, pool, world


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
    assert (noted.nodepool, len(noted.replacements)) == ("default", 1)
    assert 0 < noted.created < noted.at


def test_the_departure_of_an_empty_node_needs_no_other_reason(departures: list[Departure]) -> None:
    of = world(pool(), deployment("web", 3))
    of.apply(deployment("web", 0))
    of.advance(3 * MINUTE)
    assert [(each.reason, each.because, each.replacements) for each in departures] == [("Empty", "", ())]


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
    tell_judged(made)
    tell_judged(made)
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
