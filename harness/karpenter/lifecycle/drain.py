"""Draining a node: which pods go, in which order, and how each is asked to.

Sources: core pkg/controllers/node/termination/terminator/{terminator,eviction}.go, pkg/utils/pod/scheduling.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence

from harness.engine.clock import SECOND, Clock, parse, render
from harness.engine.engine import DONE, Engine, ReconcileError, Result, Router, Wait
from harness.engine.ports import Sink, View, Writer
from harness.karpenter.labels.core import DISRUPTED_TAINT, DO_NOT_DISRUPT
from harness.karpenter.lifecycle.names import claim_of
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition,
    is_terminating,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.status import ApiError, ignoring
from harness.kube.go.durations import DurationError, parse_duration
from harness.kube.scheduling.pods import is_active, is_daemon, is_static, is_terminal
from harness.kube.scheduling.taints import tolerates

_CRITICAL = ("system-cluster-critical", "system-node-critical")
_STUCK_AFTER = 60 * SECOND
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def _tolerates_disruption(pod: Object) -> bool:
    return any(tolerates(each, DISRUPTED_TAINT) for each in spec_of(pod).get("tolerations") or ())


def do_not_disrupt(pod: Object, now: int, *, may_end: bool) -> bool:
    """Whether the pod is protected: for ever (`true`), or, where protection may end, for a duration since it started."""
    value = annotations_of(pod).get(DO_NOT_DISRUPT)
    if value is None or value == "true" or not may_end:
        return value == "true"
    try:
        kept = parse_duration(value)
    except DurationError:
        return False
    if kept <= 0:
        return False
    started = status_of(pod).get("startTime")
    return started is None or now < parse(started) + kept


def is_drainable(pod: Object, now: int) -> bool:
    """Whether a drain concerns the pod: it does not tolerate disruption, is no mirror, and is not stuck."""
    deleted = metadata_of(pod).get("deletionTimestamp")
    stuck = deleted is not None and now > parse(deleted) + _STUCK_AFTER
    return not _tolerates_disruption(pod) and not stuck and not is_static(pod)


def is_waiting(pod: Object, now: int) -> bool:
    """Whether a drain has to wait for the pod."""
    return not is_terminal(pod) and is_drainable(pod, now)


def is_evictable(pod: Object, now: int, *, protection_may_end: bool) -> bool:
    """Whether a drain may evict the pod."""
    protected = do_not_disrupt(pod, now, may_end=protection_may_end)
    return is_active(pod) and not _tolerates_disruption(pod) and not is_static(pod) and not protected


def tiers(pods: Sequence[Object]) -> tuple[list[Object], ...]:
    """The pods in the order in which they go: a tier only when the one before is empty."""
    found: tuple[list[Object], ...] = ([], [], [], [])
    for pod in pods:
        critical = spec_of(pod).get("priorityClassName") in _CRITICAL
        found[2 * critical + is_daemon(pod)].append(pod)
    return found


class Evictions:
    """The eviction queue; a key is a pod's (namespace, name, uid)."""

    name = "eviction-queue"
    backoff = (0.1, 10.0)

    def __init__(self, engine: Engine, view: View, writer: Writer, sink: Sink) -> None:
        self._engine = engine
        self._view = view
        self._writer = writer
        self._sink = sink
        self._queued: set[tuple[str, str, str]] = set()
        self.answers: Counter[int] = Counter()
        """How often the API server answered an eviction with each code."""
        self.drained: Counter[str] = Counter()
        """How many pods were evicted for each reason."""

    def watches(self) -> Mapping[str, Router]:
        """Nothing: pods are added by drains."""
        return {}

    def add(self, pods: Sequence[Object]) -> None:
        """Queues pods that are not queued yet."""
        for pod in pods:
            key = (namespace_of(pod), name_of(pod), uid_of(pod))
            if key not in self._queued:
                self._queued.add(key)
                self._engine.enqueue(self, key)

    def reconcile(self, key: Hashable) -> Result:
        """Evicts one pod; tries again while a budget forbids it."""
        assert isinstance(key, tuple)
        namespace, name, uid = key
        pod = self._view.get("Pod", name, namespace)
        if pod is None or uid_of(pod) != uid or key not in self._queued:
            self._queued.discard(key)
            return DONE
        try:
            self._writer.evict(name, namespace, uid=uid)
        except ApiError as error:
            self.answers[error.code] += 1
            if error.code in (404, 409):
                self._queued.discard(key)
                return DONE
            several = error.message == _SEVERAL
            if error.code == 429 or several:
                what = "eviction does not support multiple PDBs" if several else "evicting pod violates a PDB"
                node = self._view.get("Node", str(spec_of(pod).get("nodeName") or ""))
                if node is not None:
                    text = f"Failed to drain node, {what} (Pod={namespace}/{name})"
                    self._sink.event(node, "Warning", "FailedDraining", text)
                return Result(10.0, Wait.POLL)
            raise ReconcileError(error.message) from error
        self._queued.discard(key)
        reason = self._reason(pod)
        self.answers[200] += 1
        self.drained[reason] += 1
        self._sink.event(pod, "Normal", "Evicted", f"Evicted pod: {reason}")
        return DONE

    def _reason(self, pod: Object) -> str:
        node = self._view.get("Node", str(spec_of(pod).get("nodeName") or ""))
        claim = claim_of(self._view, node) if node is not None else None
        if claim is None:
            return ""
        found = condition(claim, "DisruptionReason")
        return str(found["reason"]) if found is not None and found["status"] == "True" else "Forceful Termination"


class Drain:
    """Empties a node. `protection_may_end`: whether the core release knows durations of karpenter.sh/do-not-disrupt."""

    def __init__(
        self,
        view: View,
        writer: Writer,
        sink: Sink,
        clock: Clock,
        evictions: Evictions,
        *,
        protection_may_end: bool,
    ) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock
        self._evictions = evictions
        self._may_end = protection_may_end

    def step(self, node: Object, deadline: int | None) -> str | None:
        """Asks the next tier to go. Returns what is still waited for, None when the node is empty."""
        now = self._clock.now
        pods = self._view.indexed("pods-by-node", name_of(node))
        waiting = [pod for pod in pods if is_waiting(pod, now)]
        for pod in waiting:
            self._expire(pod, deadline, now)
        groups = tiers(waiting)
        for group in groups:
            if group:
                free = [pod for pod in group if is_evictable(pod, now, protection_may_end=self._may_end)]
                self._evictions.add(free)
                return f"{len(waiting)} pods are waiting to be evicted"
        return None

    def _expire(self, pod: Object, deadline: int | None, now: int) -> None:
        """Deletes a pod that would otherwise outlive the node's deadline, with the time that is left."""
        if deadline is None:
            return
        if is_terminating(pod) and parse(metadata_of(pod)["deletionTimestamp"]) <= deadline:
            return
        grace = spec_of(pod).get("terminationGracePeriodSeconds")
        if grace is None or now <= deadline - int(grace) * SECOND:
            return
        left = max((deadline - now) // SECOND, 1)
        text = (
            f"Deleting the pod to accommodate the terminationTime {_go_time(deadline)} of the node. The pod was granted "
            f"{left} seconds of grace-period of its {grace} terminationGracePeriodSeconds. This bypasses the PDB of the "
            "pod and the do-not-disrupt annotation."
        )
        self._sink.event(pod, "Normal", "Disrupted", text)
        with ignoring(404):
            self._writer.delete("Pod", name_of(pod), namespace=namespace_of(pod), grace_period_seconds=left)


def _go_time(moment: int) -> str:
    """A moment as Go prints one with %v: `2026-01-01 00:00:14 +0000 UTC`."""
    text = render(moment)
    return f"{text[:10]} {text[11:19]} +0000 UTC"
