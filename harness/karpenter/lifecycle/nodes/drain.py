"""Draining a node: which pods are evicted, in which order, and which are deleted.

Sources: core pkg/controllers/node/termination/terminator/{terminator,eviction}.go, pkg/utils/pod/scheduling.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from harness.engine.clock import SECOND, Clock, parse, render
from harness.engine.engine import DONE, Engine, ReconcileError, Result, Router, Wait
from harness.engine.ports import Sink, View, Writer
from harness.karpenter.labels.core import DO_NOT_DISRUPT
from harness.karpenter.lifecycle.names import claim_of
from harness.karpenter.lifecycle.nodes.protection import protection_of, tolerates_disruption
from harness.karpenter.releases.core_release import CoreRelease
from harness.karpenter.releases.scheduling import rules_of
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition,
    is_terminating,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    uid_of,
)
from harness.kube.api.status import ApiError, ignoring
from harness.kube.scheduling.pods import is_active, is_daemon, is_static, is_terminal

_CRITICAL = ("system-cluster-critical", "system-node-critical")
_STUCK_AFTER = 60 * SECOND
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def is_drainable(pod: Object, now: int) -> bool:
    """Return whether a drain concerns the pod: it does not tolerate disruption, is no mirror pod, and not stuck
    terminating.

    `now` in nanoseconds.
    """
    deleted = metadata_of(pod).get("deletionTimestamp")
    stuck = deleted is not None and now > parse(deleted) + _STUCK_AFTER
    return not tolerates_disruption(pod) and not stuck and not is_static(pod)


def is_waiting(pod: Object, now: int) -> bool:
    """Return whether a drain has to wait for the pod."""
    return not is_terminal(pod) and is_drainable(pod, now)


def is_evictable(pod: Object, now: int, *, protection_may_end: bool, sink: Sink) -> bool:
    """Return whether a drain may evict the pod; publish an event where its do-not-disrupt is a duration."""
    if not is_active(pod) or tolerates_disruption(pod) or is_static(pod):
        return False
    protection = protection_of(pod, now, may_end=protection_may_end)
    if protection.event is not None:
        sink.event(pod, *protection.event)
    return not protection.active


def tiers(pods: Sequence[Object]) -> tuple[list[Object], ...]:
    """The pods in four tiers, evicted one after the other: others, DaemonSets', critical ones, DaemonSets' critical ones."""
    tiers_of_pods: tuple[list[Object], ...] = ([], [], [], [])
    for pod in pods:
        critical = spec_of(pod).get("priorityClassName") in _CRITICAL
        tiers_of_pods[2 * critical + is_daemon(pod)].append(pod)
    return tiers_of_pods


class Evictions:
    """The eviction queue; a key is a pod's (namespace, name, uid). It retries what it may not evict, with exponential back-off.

    ``deletes_late``: the queue deletes pods that would outlive their node's deadline; else the drain does that itself.
    """

    name = "eviction-queue"
    backoff = (0.1, 10.0)

    def __init__(
        self,
        engine: Engine,
        view: View,
        writer: Writer,
        sink: Sink,
        core: CoreRelease,
    ) -> None:
        self._engine = engine
        self._view = view
        self._writer = writer
        self._sink = sink
        self._core = core
        self._may_end = rules_of(core).protection_may_end
        self.deletes_late = core.eviction_queue_deletes
        self._queued: dict[tuple[str, str, str], int | None] = {}  # the deadline of the pod's node
        self.answers: Counter[int] = Counter()
        """The number of the API server's answers to evictions, by code."""
        self.drained: Counter[str] = Counter()
        """The number of pods that were evicted for each reason, or deleted by the queue."""
        self.left = 0
        """The number of pods that have left the queue, for any reason."""

    def watches(self) -> Mapping[str, Router]:
        """Nothing: pods are added by drains."""
        return {}

    def add(self, pods: Sequence[Object], deadline: int | None = None) -> None:
        """Queues pods that are not queued yet. `deadline` is in nanoseconds since the start; of two the earlier one counts."""
        for pod in pods:
            key = (namespace_of(pod), name_of(pod), uid_of(pod))
            if key not in self._queued:
                self._queued[key] = deadline
                self._engine.enqueue(self, key)
            elif deadline is not None:
                self._queued[key] = min(deadline, self._queued[key] or deadline)

    def reconcile(self, key: Hashable) -> Result:
        """Evicts one pod, or deletes it where it would outlive its node; tries again while it may not be evicted."""
        assert isinstance(key, tuple)
        namespace, name, uid = key
        pod = self._view.get("Pod", name, namespace)
        if pod is None or uid_of(pod) != uid or key not in self._queued:
            return self._leave(key) if key in self._queued else DONE
        deadline, now = self._queued[key], self._engine.clock.now
        if self.deletes_late:
            if deadline is not None and outlives(pod, deadline, now, ending_too=True):
                self._delete(pod, deadline)
                return self._leave(key)
            if not is_active(pod):
                return self._leave(key)
            if not is_evictable(pod, now, protection_may_end=self._may_end, sink=self._sink):
                raise self._again("the pod may not be evicted", deadline)
        self._evict(pod, deadline)
        return self._leave(key)

    def _leave(self, key: tuple[str, str, str]) -> Result:
        del self._queued[key]
        self.left += 1
        return DONE

    def _evict(self, pod: Object, deadline: int | None) -> None:
        """Evicts a pod. Raises ReconcileError where it is refused for now."""
        namespace, name = namespace_of(pod), name_of(pod)
        try:
            self._writer.evict(name, namespace, uid=uid_of(pod))
        except ApiError as error:
            self.answers[error.code] += 1
            if error.code in (404, 409):
                return
            several = error.message == _SEVERAL and self._core.tells_several_budgets
            if error.code != 429 and not several:
                raise ReconcileError(error.message) from error
            problem = "eviction does not support multiple PDBs" if several else "evicting pod violates a PDB"
            self._tell_refused(pod, problem)
            raise self._again(problem, deadline) from error
        reason = self._reason(pod)
        self.answers[200] += 1
        self.drained[reason] += 1
        self._sink.event(pod, "Normal", "Evicted", f"Evicted pod: {reason}")

    def _tell_refused(self, pod: Object, problem: str) -> None:
        """The event about the pod's Node; up to core 1.5 about a Node called as the pod, so that the Node's own does not hide it."""
        namespace, name = namespace_of(pod), name_of(pod)
        if self._core.terminates_in_steps:
            node = self._view.get("Node", str(spec_of(pod).get("nodeName") or ""))
        else:
            node = {"kind": "Node", "metadata": {"name": name, "namespace": namespace}}
        if node is None:
            return
        text = f"{problem} (Pod={namespace}/{name})"
        if not self._core.structured_errors:
            text = problem.replace("pod", f"pod {namespace}/{name}")
        self._sink.event(node, "Warning", "FailedDraining", f"Failed to drain node, {text}")

    def _again(self, why: str, deadline: int | None) -> ReconcileError:
        """The error that retries: with a deadline time helps, else only a change of something else."""
        return ReconcileError(why, wait=Wait.POLL if deadline is None else Wait.PROGRESS)

    def _delete(self, pod: Object, deadline: int) -> None:
        try:
            _delete_in_time(self._writer, self._sink, pod, deadline, self._engine.clock.now)
        except ApiError as error:
            raise ReconcileError(f"force-deleting pod, {error.message}") from error
        self.drained[self._reason(pod)] += 1

    def _reason(self, pod: Object) -> str:
        node = self._view.get("Node", str(spec_of(pod).get("nodeName") or ""))
        claim = claim_of(self._view, node) if node is not None else None
        if claim is None:
            return ""
        reason = condition(claim, "DisruptionReason")
        return str(reason["reason"]) if reason is not None and reason["status"] == "True" else "Forceful Termination"


class Drain:
    """Drains a node."""

    def __init__(
        self,
        view: View,
        writer: Writer,
        sink: Sink,
        clock: Clock,
        evictions: Evictions,
        core: CoreRelease,
    ) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._evictions = evictions
        self._core = core
        self._may_end = rules_of(core).protection_may_end

    def step(self, node: Object, deadline: int | None) -> str | None:
        """Queues the next tier for eviction. Returns core's text about the pods that it waits for, None when the node is drained."""
        now = self._clock.now
        pods = self._view.indexed("pods-by-node", name_of(node))
        waiting = [pod for pod in pods if is_waiting(pod, now)]
        by_queue = self._evictions.deletes_late
        late = [
            pod
            for pod in waiting
            if deadline is not None
            and (self._core.terminates_in_steps or not is_terminating(pod))
            and outlives(pod, deadline, now, ending_too=by_queue)
        ]
        if by_queue:
            self._evictions.add(late, deadline)
            names = {uid_of(pod) for pod in late}
            self._evictions.add(_first([pod for pod in waiting if uid_of(pod) not in names]), deadline)
        else:
            for pod in late:
                assert deadline is not None
                _delete_in_time(self._writer, self._sink, pod, deadline, now)
            free = [
                pod
                for pod in _first(waiting)
                if is_evictable(pod, now, protection_may_end=self._may_end, sink=self._sink)
            ]
            self._evictions.add(free)
        return f"{len(waiting)} pods are waiting to be evicted" if waiting else None

    def is_timeless(self, node: Object) -> bool:
        """Return whether a later look at a node without a deadline comes to the same, as long as no object changes: no
        pod may be stuck terminating by then, and none is protected for a while.
        """
        pods = self._view.indexed("pods-by-node", name_of(node))
        return not any(is_terminating(pod) or annotations_of(pod).get(DO_NOT_DISRUPT, "true") != "true" for pod in pods)


def _first(pods: Sequence[Object]) -> list[Object]:
    """The first tier that is not empty."""
    return next((tier for tier in tiers(pods) if tier), [])


def outlives(pod: Object, deadline: int, now: int, *, ending_too: bool) -> bool:
    """Return whether the pod has to be deleted now so as not to outlive the deadline; times are in nanoseconds since
    the start.

    A pod that is being deleted already, but too late, is deleted again: with ``ending_too`` at once, else when its own grace period no
    longer fits (terminator/terminator.go DeleteExpiringPods, since core 1.6; since 1.15.0 terminator/eviction.go needsForceDelete).
    """
    if is_terminating(pod):
        if parse(metadata_of(pod)["deletionTimestamp"]) <= deadline:
            return False
        if ending_too:
            return True
    grace = spec_of(pod).get("terminationGracePeriodSeconds")
    return grace is not None and now > deadline - int(grace) * SECOND


def _delete_in_time(writer: Writer, sink: Sink, pod: Object, deadline: int, now: int) -> None:
    """Delete a pod that would otherwise outlive the node's deadline; its grace period is the time that is left, at least 1 s."""
    left = max((deadline - now) // SECOND, 1)
    text = (
        f"Deleting the pod to accommodate the terminationTime {_go_time(deadline)} of the node. The pod was granted "
        f"{left} seconds of grace-period of its {spec_of(pod).get('terminationGracePeriodSeconds', 0)} "
        "terminationGracePeriodSeconds. This bypasses the PDB of the pod and the do-not-disrupt annotation."
    )
    sink.event(pod, "Normal", "Disrupted", text)
    with ignoring(404):
        writer.delete("Pod", name_of(pod), namespace=namespace_of(pod), grace_period_seconds=left)


def _go_time(moment: int) -> str:
    """A moment as Go prints one with %v: `2026-01-01 00:00:14 +0000 UTC`."""
    text = render(moment)
    return f"{text[:10]} {text[11:19]} +0000 UTC"
