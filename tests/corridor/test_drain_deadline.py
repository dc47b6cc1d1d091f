"""What becomes of pods that stand in the way of a drain: tries with growing pauses, and the node's deadline."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.clock import SECOND, Clock, parse, render
from harness.engine.engine import DONE, ReconcileError, Wait
from harness.engine.ports import ADMIN
from harness.karpenter.lifecycle.nodes.drain import (
    Drain,
    Evictions,
    is_drainable,
    is_evictable,
    is_waiting,
    outlives,
    tiers,
)
from harness.karpenter.lifecycle.nodes.protection import protection_of
from harness.karpenter.releases.core_release import CoreRelease
from harness.kube.api.objects import Object, name_of, uid_of
from harness.kube.api.status import ApiError
from harness.testing import node, nodeclaim, nodeclass, nodepool, pod
from harness.world import World
from tests.corridor.conftest import SMALL
from tests.corridor.still import Still, going

RELEASES = ("1.7.2", "1.14.0", "next")


def draining(release: str, *objects: Object, patience: str | None = None) -> tuple[World, float]:
    """A world whose only node has just been told to go, and when that was."""
    pool = nodepool(SMALL)
    if patience is not None:
        pool["spec"]["template"]["spec"]["terminationGracePeriod"] = patience
    world = World(karpenter=release)
    world.apply(nodeclass(), pool, *objects)
    world.settle()
    (claim,) = world.list("NodeClaim")
    world.delete("NodeClaim", claim["metadata"]["name"])
    return world, world.clock.seconds


def waited(world: World, name: str, since: float) -> float:
    """Seconds until the pod began to go."""
    for entry in world.journal:
        gone = (entry.after or {}).get("metadata", {}).get("deletionTimestamp")
        if (entry.key.kind, entry.key.name) == ("Pod", name) and entry.error is None and (gone or entry.after is None):
            return round(entry.at / SECOND - since, 1)
    raise AssertionError(f"{name} is still there")


@pytest.mark.parametrize("release", RELEASES)
def test_a_spent_budget_is_asked_again_with_growing_pauses(release: str) -> None:
    """0.1 s, doubled up to 10 s (terminator/eviction.go evictionQueueBaseDelay, evictionQueueMaxDelay)."""
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "x"}}},
    }
    blocked = pod("p1")
    blocked["metadata"]["labels"] = {"app": "x"}
    world, start = draining(release, blocked, budget)
    world.advance(4)
    world.delete("PodDisruptionBudget", "b")
    world.advance(10)
    assert waited(world, "p1", start) == 6.3  # after 0.1, 0.2, 0.4, 0.8, 1.6 and 3.2 s


def protected(name: str) -> Object:
    found = pod(name)
    found["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": "true"}
    found["spec"]["terminationGracePeriodSeconds"] = 30
    return found


@pytest.mark.parametrize(
    ("release", "seconds", "granted"), [("1.7.2", 70.0, 29), ("1.14.0", 70.0, 29), ("next", 72.7, 26)]
)
def test_a_protected_pod_goes_in_time_for_the_deadline(release: str, seconds: float, granted: int) -> None:
    """The drain looks every second; since core 1.15.0 the queue at its next try, 12.7 s and six times 10 s after the first one."""
    world, start = draining(release, protected("p1"), patience="100s")
    world.settle()
    assert waited(world, "p1", start) == pytest.approx(seconds, abs=1.0)
    (told,) = [each.message for each in world.events if each.reason == "Disrupted" and each.object.kind == "Pod"]
    assert f"was granted {granted} seconds of grace-period of its 30 terminationGracePeriodSeconds" in told
    assert world.list("Node") == world.list("NodeClaim") == []


@pytest.mark.parametrize(("release", "at_once"), [("1.14.0", False), ("next", True)])
def test_a_pod_that_takes_its_time_is_cut_short(release: str, at_once: bool) -> None:
    """Somebody gives a pod more time than its node has left: since core 1.15.0 that ends at the drain's first look."""
    world, _ = draining(release, protected("p1"), patience="100s")
    world.advance(1)
    world.cluster.writer(ADMIN).delete("Pod", "p1", namespace="default", grace_period_seconds=300)
    world.advance(0.9)
    cut = [each for each in world.events if each.reason == "Disrupted" and each.object.kind == "Pod"]
    assert bool(cut) is at_once
    if at_once:
        assert "was granted 98 seconds of grace-period of its 30 terminationGracePeriodSeconds" in cut[0].message
    world.settle()
    assert world.list("Node") == []


def test_a_pod_that_is_stuck_for_more_than_a_minute_holds_no_drain_up() -> None:
    """Core pkg/utils/pod/scheduling.go IsStuckTerminating: more than a minute after the end of its grace period."""
    end = parse("2026-01-07T10:30:00Z")
    going = {**pod("p"), "metadata": {"name": "p", "deletionTimestamp": render(end)}}
    assert [is_drainable(going, end + each) for each in (0, 60 * SECOND, 60 * SECOND + 1)] == [True, True, False]


def test_pods_go_in_four_tiers() -> None:
    """Others, DaemonSets', critical ones, DaemonSets' critical ones (terminator.go groupPodsByPriority)."""

    def of(name: str, critical: str | None, daemon: bool) -> Object:
        made = pod(name)
        if critical is not None:
            made["spec"]["priorityClassName"] = critical
        if daemon:
            made["metadata"]["ownerReferences"] = [
                {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "d"}
            ]
        return made

    pods = [
        of("a", "system-node-critical", True),
        of("b", "system-cluster-critical", False),
        of("c", None, True),
        of("d", "high", False),
        of("e", None, False),
    ]
    assert [[name_of(each) for each in tier] for tier in tiers(pods)] == [["d", "e"], ["c"], ["b"], ["a"]]


def _ending(seconds: int | None, grace: int | None = 30) -> Object:
    """A pod that is being deleted and ends after so many seconds, or one that is not being deleted."""
    made = pod("p", terminationGracePeriodSeconds=grace)
    return made if seconds is None else going(made, render(seconds * SECOND))


@pytest.mark.parametrize(
    ("end", "grace", "now", "at_once", "in_its_time"),
    [
        (None, 30, 69, False, False),
        (None, 30, 70, False, False),  # its grace period still fits
        (None, 30, 71, True, True),
        (None, None, 1000, False, False),
        (100, 30, 90, False, False),  # it ends with the deadline
        (99, 30, 101, False, False),
        (101, 30, 1, True, False),
        (101, 30, 70, True, False),
        (101, 30, 71, True, True),
        (101, None, 71, True, False),
    ],
)
def test_which_pods_outlive_a_deadline_after_100_seconds(
    end: int | None, grace: int | None, now: int, at_once: bool, in_its_time: bool
) -> None:
    """Of utils/pod/scheduling.go IsPodEligibleForForcedEviction and terminator.go DeleteExpiringPods: a deletion that comes after the
    deadline is cut short, since core 1.15.0 at once."""
    found = [
        outlives(_ending(end, grace), 100 * SECOND, now * SECOND, ending_too=ending_too) for ending_too in (True, False)
    ]
    assert found == [at_once, in_its_time]


class Queue:
    """The eviction queue alone, with these pods on Node `n`; `release` are flags."""

    def __init__(self, *pods: Object, **release: bool) -> None:
        self.clock = Clock()
        self.still = Still(*pods, node("n"))
        core = CoreRelease(version="1.15.0", **release)
        engine = MagicMock(clock=self.clock)
        self.queue = Evictions(engine, self.still, self.still, self.still.sink, core)
        self.drain = Drain(self.still, self.still, self.still.sink, self.clock, self.queue, core)

    def add(self, *deadlines: int | None) -> None:
        for deadline in deadlines:
            self.queue.add(self.still.list("Pod"), deadline and deadline * SECOND)

    def try_(self, at: int) -> list[tuple[str, str]]:
        """Tries all pods at so many seconds; returns what was done to which."""
        self.clock.advance_to(at * SECOND)
        self.still.written.clear()
        for each in self.still.list("Pod"):
            with suppress(ReconcileError):
                self.queue.reconcile(("default", name_of(each), uid_of(each)))
        return [(verb, name) for verb, _, name in self.still.verbs]


def _on_n(*names: str, **metadata: dict[str, str]) -> list[Object]:
    made = [pod(name, nodeName="n", terminationGracePeriodSeconds=30) for name in names]
    for each in made:
        each["metadata"] |= metadata
        each["status"] = {"phase": "Running"}
    return made


PROTECTED = {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}


@pytest.mark.parametrize("deadlines", [(100,), (None, 100), (100, None), (100, 200), (200, 100)])
def test_of_two_deadlines_the_earlier_one_counts(deadlines: tuple[int | None, ...]) -> None:
    of = Queue(*_on_n("p", **PROTECTED))
    of.add(*deadlines)
    assert [of.try_(at) for at in (70, 71)] == [[], [("delete", "p")]]
    assert of.still.written[0][3] == 29
    assert (of.queue.left, of.queue.drained.total(), of.try_(72)) == (1, 1, [])


def test_without_a_deadline_a_protected_pod_stays_in_the_queue() -> None:
    of = Queue(*_on_n("p", **PROTECTED))
    of.add(None)
    assert (of.try_(1000), of.queue.left) == ([], 0)


def test_a_pod_is_granted_at_least_a_second() -> None:
    """Of terminator.go DeleteExpiringPods: no force-deletion."""
    of = Queue(*_on_n("p", **PROTECTED))
    of.add(100)
    assert of.try_(100) == [("delete", "p")]
    assert of.still.written[0][3] == 1
    (told,) = [message for reason, message in of.still.events() if reason == "Disrupted"]
    assert "terminationTime 2026-01-01 00:01:40 +0000 UTC of the node" in told
    assert "was granted 1 seconds of grace-period of its 30 terminationGracePeriodSeconds" in told


def test_what_became_of_each_eviction_is_counted() -> None:
    of = Queue(*_on_n("a", "b", "c"))
    of.add(None)
    assert of.try_(1) == [("evict", "a"), ("evict", "b"), ("evict", "c")]
    assert (of.queue.answers, of.queue.drained.total(), of.queue.left) == ({200: 3}, 3, 3)
    of.still.refusing = ApiError(429, "TooManyRequests", "budget")
    of.add(None)
    of.try_(2)
    of.try_(3)
    assert (of.queue.answers, of.queue.drained.total(), of.queue.left) == ({200: 3, 429: 6}, 3, 3)


@pytest.mark.parametrize("change", ["gone", "another", "over"])
def test_pods_that_are_none_any_more_leave_the_queue(change: str) -> None:
    of = Queue(*_on_n("p"))
    of.add(None)
    key = ("default", "p", uid_of(of.still.objects[0]))
    if change == "gone":
        of.still.objects.clear()
    elif change == "another":
        of.still.objects[0]["metadata"]["uid"] = "another"
    else:
        of.still.objects[0]["status"]["phase"] = "Succeeded"
    assert of.queue.reconcile(key) == DONE
    assert (of.queue.left, of.still.written) == (1, [])
    assert of.queue.reconcile(key) == DONE
    assert of.queue.left == 1


@pytest.mark.parametrize(
    ("release", "object_", "told"),
    [
        ({}, ("Node", "n"), "evicting pod violates a PDB (Pod=default/p)"),
        ({"structured_errors": False}, ("Node", "n"), "evicting pod default/p violates a PDB"),
        (
            {"structured_errors": False, "terminates_in_steps": False},
            ("Node", "p"),
            "evicting pod default/p violates a PDB",
        ),
    ],
)
def test_a_refused_eviction_is_told_of_the_node(release: dict[str, bool], object_: tuple[str, str], told: str) -> None:
    """Of terminator/events: up to core 1.5 of a Node that is called as the pod."""
    of = Queue(*_on_n("p"), **release)
    of.still.refusing = ApiError(429, "TooManyRequests", "budget")
    of.add(None)
    of.try_(1)
    (call,) = of.still.sink.event.call_args_list
    assert (call.args[0]["kind"], name_of(call.args[0]), *call.args[2:]) == (
        *object_,
        "FailedDraining",
        f"Failed to drain node, {told}",
    )


@pytest.mark.parametrize(
    ("late", "steps", "done"),
    [
        (False, True, [("delete", "late"), ("delete", "ending")]),
        (False, False, [("delete", "late")]),  # up to core 1.5 a pod that ends is not deleted again
        (True, True, []),  # that is the queue's part
    ],
)
def test_who_deletes_pods_that_would_outlive_the_deadline(late: bool, steps: bool, done: list[tuple[str, str]]) -> None:
    early, outliving, ending = _on_n("early", "late", "ending", **PROTECTED)
    early["spec"]["terminationGracePeriodSeconds"] = 5
    going(ending, render(200 * SECOND))
    of = Queue(early, outliving, ending, eviction_queue_deletes=late, terminates_in_steps=steps)
    of.clock.advance_to(80 * SECOND)
    assert of.drain.step(of.still.objects[-1], 100 * SECOND) == "3 pods are waiting to be evicted"
    assert [(verb, name) for verb, _, name in of.still.verbs] == done
    assert of.try_(81) == ([("delete", "late"), ("delete", "ending")] if late else [])


@pytest.mark.parametrize(
    ("annotations", "deleted", "timeless"),
    [
        ({}, None, True),
        ({"karpenter.sh/do-not-disrupt": "true"}, None, True),
        ({"karpenter.sh/do-not-disrupt": "1h"}, None, False),
        ({}, "2026-01-01T00:00:10Z", False),
    ],
)
def test_time_alone_ends_a_drain_where_a_pod_is_protected_for_a_while_or_ends(
    annotations: dict[str, str], deleted: str | None, timeless: bool
) -> None:
    first, second = _on_n("a", "b")
    second["metadata"]["annotations"] = annotations
    if deleted is not None:
        going(second, deleted)
    of = Queue(first, second)
    assert of.drain.is_timeless(of.still.objects[-1]) is timeless


def _pod(annotation: str | None = None, *, started: str | None = "2026-01-01T00:00:00Z", **spec: Any) -> Object:
    made = pod("p", nodeName="n", **spec)
    if annotation is not None:
        made["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": annotation}
    made["status"] = {"phase": "Running", **({"startTime": started} if started is not None else {})}
    return made


UNTIL = "The karpenter.sh/do-not-disrupt grace period will elapse at 2026-01-01T01:00:00Z"
ELAPSED = "The karpenter.sh/do-not-disrupt grace period has elapsed, pod is now disruptable"
INVALID = "Invalid karpenter.sh/do-not-disrupt annotation: "


@pytest.mark.parametrize(
    ("made", "now", "active", "told"),
    [
        (_pod(), 0, False, None),
        (_pod("true"), 0, True, None),
        (_pod("1h"), 3599, True, UNTIL),
        (_pod("1h"), 3600, False, ELAPSED),  # its age is less than an hour no more
        (_pod("1h", started=None), 9999, True, None),
        (_pod("1ns"), 0, True, UNTIL.replace("01:00:00Z", "00:00:00Z")),
        (_pod("false"), 0, False, f'{INVALID}failed to parse "false" as a duration: time: invalid duration "false"'),
        (_pod("0s"), 0, False, f'{INVALID}duration "0s" must be positive'),
        (_pod("-1h"), 0, False, f'{INVALID}duration "-1h" must be positive'),
    ],
)
def test_do_not_disrupt_protects_for_ever_or_for_a_while(
    made: Object, now: int, active: bool, told: str | None
) -> None:
    """Core pkg/utils/pod/scheduling.go IsDoNotDisruptActive; releases that know no durations take `true` alone."""
    protection = protection_of(made, now * SECOND, may_end=True)
    said = protection.event[2].removesuffix(", ignoring annotation") if protection.event is not None else None
    assert (protection.active, said) == (active, told)
    before = protection_of(made, now * SECOND, may_end=False)
    assert (before.active, before.event) == (made["metadata"].get("annotations") == PROTECTED["annotations"], None)


@pytest.mark.parametrize(
    ("made", "evictable"),
    [
        (_pod(), True),
        (_pod("true"), False),
        (_pod("1h"), False),
        (going(_pod(), "2026-01-01T00:10:00Z"), False),
        ({**_pod(), "status": {"phase": "Succeeded"}}, False),
        ({**_pod(), "status": {"phase": "Failed"}}, False),
        (_pod(tolerations=[{"key": "karpenter.sh/disrupted", "operator": "Exists"}]), False),
        (_pod(tolerations=[{"key": "another", "operator": "Exists"}]), True),
    ],
)
def test_which_pods_a_drain_evicts(made: Object, evictable: bool) -> None:
    """Core pkg/utils/pod/scheduling.go IsEvictable; one that ends already is waited for all the same."""
    sink = MagicMock()
    assert is_evictable(made, 60 * SECOND, protection_may_end=True, sink=sink) is evictable
    assert sink.event.called is (made["metadata"].get("annotations") == {"karpenter.sh/do-not-disrupt": "1h"})


def test_mirror_pods_are_neither_evicted_nor_waited_for() -> None:
    made = _pod()
    made["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "n"}]
    assert not is_evictable(made, 0, protection_may_end=True, sink=MagicMock())
    assert not is_waiting(made, 0)
    assert is_waiting(_pod("true"), 0)
    assert not is_waiting({**_pod(), "status": {"phase": "Failed"}}, 0)


def test_a_pod_that_is_gone_when_it_is_deleted_is_no_error() -> None:
    """Of terminator.go DeleteExpiringPods: 404 is not a problem; other errors are tried again."""
    of = Queue(*_on_n("p", **PROTECTED))
    of.add(100)
    key = ("default", "p", uid_of(of.still.objects[0]))
    of.clock.advance_to(71 * SECOND)
    of.still.refusing = ApiError(500, "InternalError", "etcd is away")
    with pytest.raises(ReconcileError, match="force-deleting pod, etcd is away"):
        of.queue.reconcile(key)
    assert of.queue.left == 0
    of.still.refusing = ApiError(404, "NotFound", "not there")
    assert of.queue.reconcile(key) == DONE
    assert of.queue.left == 1


@pytest.mark.parametrize(("deadline", "wait"), [(None, Wait.POLL), (9999, Wait.PROGRESS)])
@pytest.mark.parametrize("protected", [True, False])
def test_time_alone_helps_a_pod_that_may_not_be_evicted_only_where_a_deadline_ends_the_wait(
    deadline: int | None, wait: Wait, protected: bool
) -> None:
    of = Queue(*_on_n("p", **(PROTECTED if protected else {})))
    of.still.refusing = ApiError(429, "TooManyRequests", "budget")
    of.add(deadline)
    with pytest.raises(ReconcileError) as refused:
        of.queue.reconcile(("default", "p", uid_of(of.still.objects[0])))
    assert refused.value.wait is wait


@pytest.mark.parametrize(
    ("conditions", "reason"),
    [
        (None, ""),
        ([], "Forceful Termination"),
        ([("DisruptionReason", "True", "Drifted")], "Drifted"),
        ([("DisruptionReason", "False", "Drifted")], "Forceful Termination"),
        ([("Drifted", "True", "ImageDrift")], "Forceful Termination"),
    ],
)
@pytest.mark.parametrize("late", [True, False])
def test_drained_pods_are_counted_by_why_their_node_goes(
    conditions: list[tuple[str, str, str]] | None, reason: str, late: bool
) -> None:
    """Of terminator/eviction.go evictionReason: the NodeClaim's condition DisruptionReason while it is True."""
    of = Queue(*_on_n("p", **(PROTECTED if late else {})))
    of.still.objects[-1]["spec"]["providerID"] = "azure:///n"
    if conditions is not None:
        claim = nodeclaim()
        found = [{"type": kind, "status": status, "reason": why} for kind, status, why in conditions]
        claim["status"] = {"providerID": "azure:///n", "conditions": found}
        of.still.objects.append(claim)
    of.add(100 if late else None)
    of.try_(90)
    assert of.queue.drained == {reason: 1}
    assert of.still.events()[-1] == ("Evicted", f"Evicted pod: {reason}") or late
