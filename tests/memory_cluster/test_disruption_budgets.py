"""How many pods a PodDisruptionBudget can spare: kubernetes 1.36 pkg/controller/disruption/disruption.go."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.objects import Object
from harness.kube.disruption_budgets import budget_status
from harness.testing import daemonset, node
from harness.world import World

READY = {"type": "Ready", "status": "True"}


def owner(kind: str, replicas: int | None, above: Object | None = None) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": kind.lower(), "namespace": "n", "uid": f"uid-{kind}"}
    if above is not None:
        meta["ownerReferences"] = [reference(above)]
    return {"kind": kind, "metadata": meta, "spec": {} if replicas is None else {"replicas": replicas}}


def reference(of: Object) -> Object:
    return {"kind": of["kind"], "name": of["metadata"]["name"], "uid": of["metadata"]["uid"], "controller": True}


def pods(count: int, of: Object | None = None, *, ready: bool = True, **meta: Any) -> list[Object]:
    owned = {"ownerReferences": [reference(of)]} if of is not None else {}
    status = {"phase": "Running", "conditions": [READY] if ready else []}
    return [{"kind": "Pod", "metadata": {"namespace": "n", **owned, **meta}, "status": status} for _ in range(count)]


def counted(spec: Object, chosen: list[Object], *there: Object) -> tuple[int, int, int] | None:
    """Expected, desired and allowed."""
    by_name = {(each["kind"], each["metadata"]["name"], each["metadata"]["namespace"]): each for each in there}
    budget = {"metadata": {"generation": 3}, "spec": spec}
    status = budget_status(budget, chosen, lambda kind, name, namespace: by_name.get((kind, name, namespace)))
    if status is None:
        return None
    assert status["observedGeneration"] == 3
    return status["expectedPods"], status["desiredHealthy"], status["disruptionsAllowed"]


DEPLOYMENT = owner("Deployment", 4)
REPLICAS = owner("ReplicaSet", 2, DEPLOYMENT)
ALONE = owner("ReplicaSet", 3)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"maxUnavailable": 1}, (4, 3, 1)),
        ({"maxUnavailable": "30%"}, (4, 2, 2)),  # of the Deployment's four, rounded up
        ({"minAvailable": "60%"}, (4, 3, 1)),
        ({"minAvailable": 3}, (4, 3, 1)),
        ({"minAvailable": 0}, (4, 0, 4)),
        ({"maxUnavailable": 0}, (4, 4, 0)),
        ({"maxUnavailable": 9}, (4, 0, 4)),
        ({}, (0, 0, 0)),
    ],
)
def test_pods_of_a_deployment(spec: Object, expected: tuple[int, int, int]) -> None:
    assert counted(spec, pods(4, REPLICAS), DEPLOYMENT, REPLICAS) == expected


@pytest.mark.parametrize(
    ("replicas", "spec", "expected"),
    [
        (None, {"maxUnavailable": 1}, (1, 0, 1)),
        (0, {"maxUnavailable": 1}, (0, 0, 0)),
        (200, {"minAvailable": "100%"}, (200, 200, 0)),
        (200, {"minAvailable": "1%"}, (200, 2, 0)),
        (201, {"minAvailable": "1%"}, (201, 3, 0)),
        (3, {"maxUnavailable": "1%"}, (3, 2, 0)),
        (3, {"minAvailable": "0%"}, (3, 0, 1)),
    ],
)
def test_shares_are_of_the_scale_and_rounded_up(
    replicas: int | None, spec: Object, expected: tuple[int, int, int]
) -> None:
    """intstr.GetScaledValueFromIntOrPercent; a scale that is not said is 1."""
    only = owner("Deployment", replicas)
    assert counted(spec, pods(1, only), only) == expected


def test_a_single_pod_may_go_where_none_has_to_stay() -> None:
    assert counted({"minAvailable": 0}, pods(1)) == (1, 0, 1)
    assert counted({"minAvailable": 0}, []) == (0, 0, 0)


def test_what_is_wanted_counts_and_not_the_pods_there_are() -> None:
    """One is going and its successor is ready already: another may go."""
    chosen = [*pods(4, REPLICAS), *pods(1, REPLICAS, deletionTimestamp="2026-01-01T00:00:00Z")]
    assert counted({"maxUnavailable": 1}, chosen, DEPLOYMENT, REPLICAS) == (4, 3, 1)
    assert counted({"maxUnavailable": 1}, pods(3, REPLICAS), DEPLOYMENT, REPLICAS) == (4, 3, 0)
    assert counted({"maxUnavailable": 2}, pods(4, REPLICAS, ready=False), DEPLOYMENT, REPLICAS) == (4, 2, 0)


def test_several_controllers_are_added_up() -> None:
    other = {**ALONE, "metadata": {**ALONE["metadata"], "name": "alone", "uid": "uid-alone"}}
    chosen = [*pods(4, REPLICAS), *pods(3, other)]
    assert counted({"maxUnavailable": 2}, chosen, DEPLOYMENT, REPLICAS, other) == (7, 5, 2)


def test_pods_that_nobody_controls_are_not_spared_but_for_a_number_that_stays() -> None:
    assert counted({"maxUnavailable": 1}, pods(3)) == (0, 0, 0)
    assert counted({"minAvailable": "50%"}, pods(3)) == (0, 0, 0)
    assert counted({"minAvailable": 1}, pods(3)) == (3, 1, 2)
    assert counted({"maxUnavailable": 1}, [*pods(3), *pods(4, REPLICAS)], DEPLOYMENT, REPLICAS) == (4, 3, 4)


@pytest.mark.parametrize("kind", ["DaemonSet", "Job"])
def test_nothing_can_be_counted_of_what_has_no_scale(kind: str) -> None:
    unscaled = owner(kind, None)
    assert (
        counted({"maxUnavailable": 1}, [*pods(2, unscaled), *pods(4, REPLICAS)], unscaled, DEPLOYMENT, REPLICAS) is None
    )
    assert counted({"minAvailable": 1}, pods(2, unscaled), unscaled) == (2, 1, 1)


def test_controllers_that_are_not_there_are_as_large_as_they_have_pods() -> None:
    assert counted({"maxUnavailable": 1}, pods(3, owner("Rollout", 5))) == (3, 2, 1)
    assert counted({"maxUnavailable": 1}, pods(3, REPLICAS)) == (3, 2, 1)
    assert counted({"maxUnavailable": 1}, pods(2, REPLICAS), REPLICAS) == (2, 1, 1)  # its Deployment is gone
    again = {**ALONE, "metadata": {**ALONE["metadata"], "uid": "another"}}
    assert counted({"maxUnavailable": 1}, pods(2, ALONE), again) == (2, 1, 1)
    ended = [{**each, "status": {"phase": "Succeeded"}} for each in pods(1, owner("Rollout", 5))]
    chosen = [*pods(3, owner("Rollout", 5)), *pods(1), *pods(4, REPLICAS), *ended]
    assert counted({"maxUnavailable": 1}, chosen, DEPLOYMENT, REPLICAS) == (
        3 + 4,
        6,
        2,
    )  # its own pods that run, no others


def test_a_budget_that_cannot_be_counted_allows_nothing() -> None:
    world = World()
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "agent"}}},
    }
    world.apply(daemonset("agent"), node("own"))
    world.settle()
    world.apply(budget)
    world.settle()
    assert [each["spec"]["nodeName"] for each in world.list("Pod")] == ["own"]
    told = world.get("PodDisruptionBudget", "b")
    assert told is not None
    (allowed,) = told["status"].pop("conditions")
    assert (allowed["type"], allowed["status"], allowed["reason"]) == ("DisruptionAllowed", "False", "SyncFailed")
    assert told["status"] == dict.fromkeys(
        ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"), 0
    )
