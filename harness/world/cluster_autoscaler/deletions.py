"""Nodes on their way out: marked, looked at once more, drained, and then their machine is deleted; or they stay after all.

Sources: autoscaler core/scaledown/actuation/{actuator,drain,group_deletion_scheduler,delete_in_batch}.go.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field

from harness.clusterautoscaler.budgets import Budgets
from harness.clusterautoscaler.drainability.outcomes import Context
from harness.clusterautoscaler.drainability.rules import pods_to_move
from harness.clusterautoscaler.pods import evictable_daemons, grace_seconds, is_daemon_set_pod, is_mirror_pod
from harness.clusterautoscaler.profile import Profile
from harness.engine.access import Access
from harness.engine.clock import nanoseconds
from harness.engine.engine import DONE, Result, Router
from harness.kube.api.objects import Object, name_of, namespace_of, uid_of
from harness.kube.api.status import ApiError
from harness.kube.scheduling.pods import is_terminal
from harness.world.cluster_autoscaler.marks import NodeMarks
from harness.world.cluster_autoscaler.pools import AutoscaledPools
from harness.world.cluster_autoscaler.reports import Reports
from lazyrecords import dataclass

__all__ = ["NodeDeletions"]

_RETRY_SECONDS = 10.0  # DefaultEvictionRetryTime
_LOOK_SECONDS = 5.0
_HEADROOM_SECONDS = 30.0  # DefaultPodEvictionHeadroom


class _Aborted(Exception):
    """The node stays; the text is the reason."""


@dataclass(slots=True)
class _Deletion:
    """One node on its way. `since`: when the evictions began; `evicted` are the uids of the pods that go."""

    group: str
    drained: bool
    since: int | None = None
    evicted: dict[str, Object] = field(default_factory=dict)
    left: dict[str, Object] = field(default_factory=dict)
    gone_by: int | None = None


class NodeDeletions:
    """The deletions that are under way; a key is the name of a node."""

    name = "cluster-autoscaler-deletions"
    backoff = (5.0, 60.0)

    def __init__(self, access: Access, profile: Profile, pools: AutoscaledPools, reports: Reports) -> None:
        self._engine, self._view, self._writer = access.engine, access.view, access.writer
        self._clock, self._profile, self._pools, self._reports = access.clock, profile, pools, reports
        self._marks = NodeMarks(access.view, access.writer, access.clock)
        self._under_way: dict[str, _Deletion] = {}

    def watches(self) -> Mapping[str, Router]:
        """Watch nothing: the start of a deletion queues its key."""
        return {}

    @property
    def nodes(self) -> Mapping[str, bool]:
        """The nodes under way, each with whether it is drained."""
        return {name: deletion.drained for name, deletion in self._under_way.items()}

    def by_group(self) -> dict[str, int]:
        """Return how many nodes of each group are under way."""
        counts: dict[str, int] = {}
        for deletion in self._under_way.values():
            counts[deletion.group] = counts.get(deletion.group, 0) + 1
        return counts

    def pods(self) -> list[Object]:
        """Return the pods that still have to leave nodes that are drained, but for those that end already (currentlyDrainedPods)."""
        return [
            pod
            for name, deletion in self._under_way.items()
            if deletion.drained
            for pod in self._present(name)
            if not (is_daemon_set_pod(pod) or is_mirror_pod(pod) or pod["metadata"].get("deletionTimestamp"))
        ]

    def start(self, group: str, node: Object, *, drained: bool) -> None:
        """Mark a node and begin to delete it a few seconds later."""
        name = name_of(node)
        self._marks.to_be_deleted(name)
        self._reports.about(node, "ScaleDown", "marked the node as toBeDeleted/unschedulable")
        self._under_way[name] = _Deletion(group, drained)
        self._engine.enqueue(self, name, after=self._profile.node_delete_delay_after_taint)

    def reconcile(self, key: Hashable) -> Result:
        """Take a node's deletion one step further."""
        name = str(key)
        deletion, node = self._under_way.get(name), self._view.get("Node", name)
        if deletion is None:
            return DONE
        if node is None:
            del self._under_way[name]
            return DONE
        try:
            after = self._step(name, deletion)
        except _Aborted as reason:
            del self._under_way[name]
            self._marks.stays(name)
            self._reports.failed(node, str(reason), drained=deletion.drained)
            return DONE
        if after is not None:
            return Result(after)
        del self._under_way[name]
        self._pools.remove(deletion.group, name)
        self._reports.removed(node, drained=deletion.drained)
        return DONE

    def _step(self, name: str, deletion: _Deletion) -> float | None:
        """Return the seconds until the next step; None where the machine can go."""
        if deletion.since is None:
            self._begin(name, deletion)
        if not deletion.drained:
            return None
        if deletion.left:
            return self._evict(name, deletion)
        return self._await(name, deletion)

    def _begin(self, name: str, deletion: _Deletion) -> None:
        """Look at the node once more, for pods may have come meanwhile; list the pods that go."""
        now, pods = self._clock.now, self._present(name)
        context = Context(now, Budgets(self._view.list("PodDisruptionBudget")), self._lookup)
        moves = pods_to_move(pods, context, self._profile)
        if moves.blocked is not None:
            raise _Aborted(f'GetPodsToMove for "{name}" returned error: {moves.blocked.text}')
        if not deletion.drained and moves.pods:
            raise _Aborted(f'failed to delete empty node "{name}", new pods scheduled')
        if not deletion.drained and moves.on_completion:
            raise _Aborted(f'failed to delete empty node "{name}", active on-completion pods present')
        deletion.since = now
        daemons = [pod for pod in pods if is_daemon_set_pod(pod)]
        profile = self._profile
        by_default = (
            profile.daemonset_eviction_for_occupied_nodes
            if deletion.drained
            else profile.daemonset_eviction_for_empty_nodes
        )
        if deletion.drained:
            going = [pod for pod in pods if not is_mirror_pod(pod) and not is_daemon_set_pod(pod)]
            deletion.left = {uid_of(pod): pod for pod in going}
            deletion.evicted = dict(deletion.left)
        for pod in (*deletion.left.values(), *evictable_daemons(daemons, by_default=by_default)):
            self._reports.about(pod, "ScaleDown", "deleting pod for node scale down")
        for pod in evictable_daemons(daemons, by_default=by_default):
            self._refusal(pod)

    def _evict(self, name: str, deletion: _Deletion) -> float:
        """Evict the pods that are left, and again every 10 s those that may not go yet."""
        refusals: dict[str, str] = {}
        for uid, pod in list(deletion.left.items()):
            refusal = self._refusal(pod)
            if refusal is None:
                del deletion.left[uid]
            else:
                refusals[uid] = refusal
        if not deletion.left:
            seconds = self._profile.max_graceful_termination_sec + _HEADROOM_SECONDS
            deletion.gone_by = self._clock.now + nanoseconds(seconds)
            return _LOOK_SECONDS
        assert deletion.since is not None
        if self._clock.now < deletion.since + nanoseconds(self._profile.max_pod_eviction_time):
            return _RETRY_SECONDS
        problems = []
        for uid, pod in deletion.left.items():
            self._reports.about(pod, "ScaleDownFailed", "failed to delete pod for ScaleDown", warning=True)
            place = f"{namespace_of(pod)}/{name_of(pod)}"
            problems.append(f"failed to evict pod {place} within allowed timeout (last error: {refusals[uid]})")
        raise _Aborted(f"Failed to drain node /{name}, due to following errors: [{' '.join(problems)}]")

    def _await(self, name: str, deletion: _Deletion) -> float | None:
        """Wait for the evicted pods to be gone, not just ended: upstream gets each by its name (waitPodsToDisappear)."""
        there = {uid_of(pod) for pod in self._view.indexed("pods-by-node", name)}
        if there.isdisjoint(deletion.evicted):
            return None
        assert deletion.gone_by is not None
        if self._clock.now < deletion.gone_by:
            return _LOOK_SECONDS
        raise _Aborted(f"Failed to drain node /{name}: pods remaining after timeout")

    def _refusal(self, pod: Object) -> str | None:
        """Evict a pod; return why it may not go, None where it goes or is gone."""
        seconds, most = grace_seconds(pod), self._profile.max_graceful_termination_sec
        if most > 0:
            seconds = min(seconds, most)
        try:
            self._writer.evict(name_of(pod), namespace_of(pod), grace_period_seconds=seconds)
        except ApiError as error:
            return None if error.code == 404 else error.message
        return None

    def _present(self, node: str) -> Sequence[Object]:
        return [pod for pod in self._view.indexed("pods-by-node", node) if not is_terminal(pod)]

    def _lookup(self, kind: str, name: str, namespace: str) -> Object | None:
        return self._view.get(kind, name, namespace)
