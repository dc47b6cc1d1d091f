"""What a command writes: its taint and its condition, and what it makes of objects that are gone or have changed meanwhile."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.clock import Clock
from harness.karpenter.disruption.execution.actions import ClusterActions
from harness.karpenter.disruption.turn import Unmarked
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.scheduling import SchedulingEvent
from harness.kube.api.objects import condition
from harness.kube.api.status import ApiError
from tests.disruption.fleet import Json, machine

TAINT = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}


class Cluster:
    """The objects that a View gets, and a Writer that refuses patches of some kinds with a code."""

    def __init__(self, *objects: Json, refused: Mapping[str, int] | None = None) -> None:
        self._objects = {(each["kind"], each["metadata"]["name"]): each for each in objects}
        self._refused = refused or {}
        self.patched: list[tuple[str, Json]] = []
        self.deleted: list[tuple[str, str, str]] = []

    def get(self, kind: str, name: str) -> Json | None:
        return self._objects.get((kind, name))

    def patch(self, kind: str, name: str, patch: Json, subresource: str = "") -> None:
        if kind in self._refused:
            raise ApiError(self._refused[kind], "Refused", "no")
        self.patched.append((kind, patch))

    def delete(self, kind: str, name: str, *, uid: str) -> None:
        self.deleted.append((kind, name, uid))
        if kind in self._refused:
            raise ApiError(self._refused[kind], "Refused", "no")


def going(reason: str | None = None, *, initialized: bool = True) -> tuple[Json, Json, Any]:
    """A Node and its NodeClaim, with the marks of a command if there is a reason, and the state of both."""
    node, claim = machine("a")
    node, claim = {"kind": "Node", **node}, {"kind": "NodeClaim", **claim}
    node["metadata"]["resourceVersion"] = "7"
    if reason:
        node["spec"]["taints"] = [TAINT]
        claim["status"]["conditions"].append({"type": "DisruptionReason", "status": "True", "reason": reason})
    return node, claim, SimpleNamespace(node=node, nodeclaim=claim, initialized=initialized)


def actions(cluster: Cluster) -> ClusterActions:
    clock = Clock()
    made: Any = ClusterActions
    return made(cluster, cluster, SimpleNamespace(), clock, Marks(clock, 10.0), lambda planned: planned)


def reasons(cluster: Cluster) -> list[str | None]:
    """What each patch of the NodeClaim says of its reason."""
    found = [condition(patch, "DisruptionReason") for kind, patch in cluster.patched if kind == "NodeClaim"]
    return [None if each is None else each["reason"] for each in found]


def test_a_command_taints_the_node_and_says_why() -> None:
    node, claim, state = going()
    cluster = Cluster(node, claim)
    actions(cluster).mark_disrupted(state, "Empty")
    assert cluster.patched[0] == ("Node", {"spec": {"taints": [TAINT]}, "metadata": {"resourceVersion": "7"}})
    assert reasons(cluster) == ["Empty"]


def test_what_is_marked_already_is_not_written_again() -> None:
    node, claim, state = going()
    cluster = Cluster(node, claim)
    actions(cluster).mark_disrupted(state, "Empty")
    (_, tainted), (_, said) = cluster.patched
    node["spec"]["taints"], claim["status"]["conditions"] = tainted["spec"]["taints"], said["status"]["conditions"]
    actions(cluster).mark_disrupted(state, "Empty")
    assert len(cluster.patched) == 2
    actions(cluster).mark_disrupted(state, "Drifted")
    assert reasons(cluster) == ["Empty", "Drifted"]


@pytest.mark.parametrize(
    ("reason", "initialized", "written"),
    [(None, True, []), ("Empty", True, ["Node", "NodeClaim"]), ("Empty", False, ["Node"])],
)
def test_marks_are_taken_away_where_they_are(reason: str | None, initialized: bool, written: list[str]) -> None:
    node, claim, state = going(reason, initialized=initialized)
    cluster = Cluster(node, claim)
    actions(cluster).release([state])
    assert [kind for kind, _ in cluster.patched] == written
    assert reasons(cluster) == [None] * written.count("NodeClaim")
    assert all(patch["spec"]["taints"] is None for kind, patch in cluster.patched if kind == "Node")


@pytest.mark.parametrize("missing", ["node", "nodeclaim"])
def test_a_machine_that_is_a_node_or_a_nodeclaim_only_keeps_its_marks(missing: str) -> None:
    """Core pkg/controllers/state/statenode.go, RequireNoScheduleTaint and ClearNodeClaimsCondition."""
    node, claim, state = going("Empty")
    setattr(state, missing, None)
    cluster = Cluster(node, claim)
    actions(cluster).release([state])
    actions(cluster).take_back([state])
    assert cluster.patched == []


def test_nobody_is_written_to_who_is_gone() -> None:
    _, _, state = going("Empty")
    cluster = Cluster()
    actions(cluster).release([state])
    actions(cluster).mark_disrupted(state, "Empty")
    assert cluster.patched == []


@pytest.mark.parametrize("kind", ["Node", "NodeClaim"])
def test_who_goes_meanwhile_is_no_mistake_and_a_refusal_is(kind: str) -> None:
    node, claim, state = going()
    actions(Cluster(node, claim, refused={kind: 404})).mark_disrupted(state, "Empty")
    for code, text in ((409, ""), (403, "tainting nodes, no")):
        with pytest.raises(Unmarked) as refused:
            actions(Cluster(node, claim, refused={kind: code})).mark_disrupted(state, "Empty")
        assert str(refused.value) == text


@pytest.mark.parametrize(("code", "fails"), [(0, False), (404, False), (409, False), (410, True), (403, True)])
def test_whoever_is_gone_or_another_one_by_now_is_not_deleted(code: int, fails: bool) -> None:
    """It is deleted by its UID: the API server answers 409 where another one has its name."""
    _, claim, _ = going()
    claim["metadata"]["uid"] = "u"
    cluster = Cluster(claim, refused={"NodeClaim": code} if code else {})
    acting = actions(cluster)
    with pytest.raises(ApiError) if fails else nullcontext():
        acting.delete("claim-a")
    assert cluster.deleted == [("NodeClaim", "claim-a", "u")]
    acting.delete("gone")
    claim["metadata"]["deletionTimestamp"] = "2026-01-07T10:00:00Z"
    acting.delete("claim-a")
    assert len(cluster.deleted) == 1


@pytest.mark.parametrize(
    ("names", "heard", "published"),
    [
        (["a"], True, ["a"]),
        (["a", "b"], True, ["a", "b"]),
        (["a", "gone"], False, ["a"]),
        (["gone", "a"], False, ["a"]),
        (["dropped", "a"], False, ["dropped", "a"]),
        ([], True, []),
    ],
)
def test_events_are_heard_where_their_object_is_and_nobody_drops_them(
    names: list[str], heard: bool, published: list[str]
) -> None:
    told: list[str] = []

    def event(obj: Json, *said: str, dedupe_seconds: float) -> bool:
        told.append(obj["name"])
        return obj["name"] != "dropped"

    view = SimpleNamespace(get=lambda kind, name, namespace: None if name == "gone" else {"name": name})
    made: Any = ClusterActions
    acting = made(view, None, SimpleNamespace(event=event), Clock(), None, None)
    said = [SchedulingEvent("Node", name, "Normal", "DisruptionBlocked", "text", 120.0) for name in names]
    assert (acting.say(*said), told) == (heard, published)
