"""Which changes of objects make which controller of Karpenter work, and what it no longer keeps of those that are gone."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from harness.engine.clock import SECOND, Clock
from harness.engine.engine import Controller
from harness.engine.names import NodeClaimName
from harness.engine.ports import Change, ChangeType
from harness.karpenter.lifecycle.marks import Marks
from harness.testing import nodeclass, nodepool, pod, requirement
from harness.world import World

ADDED, MODIFIED, DELETED = ChangeType.ADDED, ChangeType.MODIFIED, ChangeType.DELETED
GONE = "2026-01-01T00:00:00Z"
WAITING = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


@pytest.fixture(scope="module")
def world() -> World:
    """A world with one Node, whose pod has been placed."""
    made = World()
    made.apply(nodeclass(), nodepool(requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5")), pod("web"))
    assert made.settle().quiescent
    return made


def controller(world: World, name: str) -> Controller:
    (found,) = (each for each in world.karpenter.controllers if each.name == name)
    return found


def marks(world: World) -> Marks:
    return world.karpenter._departures._marks


def keys(world: World, name: str, type: ChangeType, new: Any, old: Any = None) -> list[Hashable]:
    return [*controller(world, name).watches()[new["kind"]](Change(type, new, old, 1))]


def obj(kind: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "a", "uid": "u", **fields.pop("metadata", {})}
    return {"kind": kind, "metadata": metadata, "spec": {}, "status": {}, **fields}


# provisioning


def waiting(**fields: Any) -> dict[str, Any]:
    base = {"metadata": {"namespace": "default"}, "status": {"phase": "Pending", "conditions": [WAITING]}}
    return obj("Pod", **{**base, **fields})


TAINTED = {"taints": [{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]}


@pytest.mark.parametrize(
    ("type", "changed", "expected"),
    [
        (ADDED, waiting(), [("Pod", "default", "a")]),
        (MODIFIED, waiting(), [("Pod", "default", "a")]),
        (DELETED, waiting(), []),
        (ADDED, waiting(status={"phase": "Pending"}), []),  # kube-scheduler has not yet seen it
        (ADDED, waiting(spec={"nodeName": "n"}), []),
        (ADDED, obj("Node", spec=TAINTED), [("Node", "", "a")]),
        (ADDED, obj("Node"), []),
        (DELETED, obj("Node", spec=TAINTED), []),
        (ADDED, obj("NodeClaim", spec=TAINTED), []),
        (ADDED, obj("NodePool"), []),
    ],
)
def test_pods_without_a_node_and_nodes_that_go_begin_a_simulation(
    world: World, type: ChangeType, changed: dict[str, Any], expected: list[Hashable]
) -> None:
    assert keys(world, "provisioner", type, changed) == expected


def test_a_pod_that_is_gone_is_expected_nowhere() -> None:
    of = World()
    of.apply(nodeclass(), nodepool(), pod("web"), pod("api"))
    of.advance(5)
    (claim,) = of.list("NodeClaim")
    name = NodeClaimName(claim["metadata"]["name"])
    assert marks(of).expected_on(name) == ["default/api", "default/web"]
    of.delete("Pod", "web", "default")
    assert marks(of).expected_on(name) == ["default/api"]


# disruption


def on(node: str) -> dict[str, Any]:
    return obj("Pod", metadata={"namespace": "default"}, spec={"nodeName": node})


INITIALIZED = {"labels": {"karpenter.sh/initialized": "true"}}


@pytest.mark.parametrize(
    ("type", "new", "old", "expected"),
    [
        (ADDED, on("n"), None, False),
        (MODIFIED, on("n"), waiting(), False),
        (MODIFIED, on("n"), on("n"), False),
        (MODIFIED, on("n"), on("m"), True),
        (MODIFIED, waiting(), on("m"), True),
        (DELETED, on("n"), on("n"), True),
        (ADDED, obj("NodePool"), None, True),
        (MODIFIED, obj("NodePool", status={"nodes": 1}), obj("NodePool"), False),
        (MODIFIED, obj("NodePool", spec={"weight": 1}), obj("NodePool"), True),
        (DELETED, obj("NodePool"), obj("NodePool"), True),
        *(
            row
            for kind in ("Node", "NodeClaim")
            for row in (
                (ADDED, obj(kind), None, True),
                (MODIFIED, obj(kind, status={"phase": "x"}), obj(kind), False),
                (MODIFIED, obj(kind, metadata=INITIALIZED), obj(kind), True),
                (MODIFIED, obj(kind, metadata={"deletionTimestamp": GONE}), obj(kind), True),
                (DELETED, obj(kind), obj(kind), True),
            )
        ),
        (ADDED, obj("DaemonSet"), None, False),
        (DELETED, obj("DaemonSet"), obj("DaemonSet"), False),
    ],
)
def test_what_may_make_a_consolidation_possible(
    type: ChangeType, new: dict[str, Any], old: dict[str, Any] | None, expected: bool
) -> None:
    of = World()
    of.clock.advance_to(of.clock.now + SECOND)
    keys(of, "disruption", type, new, old)
    assert (marks(of).unsettled_since() == of.clock.now) is expected


def test_consolidation_looks_again_after_five_minutes() -> None:
    """Whether anything has happened or not (core's ConsolidationState)."""
    clock = Clock()
    kept = Marks(clock, 10.0)
    clock.advance_to(clock.now + SECOND)
    kept.unsettle()
    begun = clock.now
    assert kept.looks_again_at == begun + 300 * SECOND
    for seconds, since in ((0, 0), (299, 0), (300, 300), (301, 300), (599, 300), (600, 600)):
        clock.advance_to(begun + seconds * SECOND)
        assert kept.unsettled_since() == begun + since * SECOND


def test_disruption_begins_with_the_first_nodeclaim() -> None:
    of = World()
    of.apply(nodeclass(), nodepool())
    of.settle()
    assert not [text for text in of.engine.waiting() if text.startswith("disruption ")]
    of.karpenter.disturbed()
    keys(of, "disruption", ADDED, obj("NodeClaim"))
    assert [text for text in of.engine.waiting() if text.startswith("disruption ")]


def test_the_mark_of_a_nodeclaim_goes_with_it_and_not_before() -> None:
    of = World()
    marks(of).mark([NodeClaimName("a")])
    for type, kind in ((MODIFIED, "NodeClaim"), (DELETED, "Node")):
        keys(of, "disruption", type, obj(kind), obj(kind))
        assert marks(of).deleting == {"a"}
    keys(of, "disruption", DELETED, obj("NodeClaim"), obj("NodeClaim"))
    assert marks(of).deleting == frozenset()


# pods that come and go


RUNNING, SUCCEEDED, FAILED = ({"phase": phase} for phase in ("Running", "Succeeded", "Failed"))
GOING = {"namespace": "default", "deletionTimestamp": GONE}
OF_DAEMON = {"namespace": "default", "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d"}]}


@pytest.mark.parametrize(
    ("type", "new", "old", "expected"),
    [
        (ADDED, on("n"), None, ["n"]),
        (ADDED, waiting(), None, []),
        (MODIFIED, on("n"), waiting(), ["n"]),
        (MODIFIED, {**on("n"), "status": RUNNING}, on("n"), []),
        (MODIFIED, {**on("n"), "status": SUCCEEDED}, {**on("n"), "status": RUNNING}, ["n"]),
        (MODIFIED, {**on("n"), "status": FAILED}, {**on("n"), "status": RUNNING}, ["n"]),
        (MODIFIED, {**on("n"), "status": FAILED}, {**on("n"), "status": FAILED}, []),
        (MODIFIED, {**on("n"), "metadata": {"name": "a", **GOING}}, on("n"), ["n"]),
        (
            MODIFIED,
            {**on("n"), "metadata": {"name": "a", **GOING}},
            {**on("n"), "metadata": {"name": "a", **GOING}},
            [],
        ),
        (ADDED, obj("Pod", metadata=OF_DAEMON, spec={"nodeName": "n"}), None, []),
    ],
)
def test_pods_that_are_bound_or_end_or_go_are_events_of_their_node(
    world: World, type: ChangeType, new: dict[str, Any], old: dict[str, Any] | None, expected: list[str]
) -> None:
    assert keys(world, "nodeclaim.podevents", type, new, old) == expected


# NodeOverlays


def of_generation(number: int) -> dict[str, Any]:
    return obj("NodeOverlay", metadata={"generation": number})


@pytest.mark.parametrize(
    ("type", "new", "old", "expected"),
    [
        (ADDED, of_generation(1), None, True),
        (MODIFIED, of_generation(2), of_generation(1), True),
        (MODIFIED, of_generation(1), of_generation(1), False),  # of its status
        (DELETED, of_generation(1), of_generation(1), True),
    ],
)
def test_overlays_are_evaluated_anew_where_one_says_something_else(
    type: ChangeType, new: dict[str, Any], old: dict[str, Any] | None, expected: bool
) -> None:
    of = World(options={"feature_gates": {"NodeOverlay": "true"}})
    assert bool(keys(of, "nodeoverlay", type, new, old)) is expected
