"""The main loop: one look at the cluster each scan interval.

A look is left out where neither the cluster nor the autoscaler's memory has changed since the last one, and no time of its own is over: its
result would be the same. Upstream may begin a loop earlier (--frequent-loops-enabled); here the interval holds, as AKS documents it.
Source: autoscaler core/static_autoscaler.go (RunOnce), clusterstate/clusterstate.go.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping

from harness.clusterautoscaler.backoff import Backoff
from harness.clusterautoscaler.budgets import Budgets
from harness.clusterautoscaler.cooldown import Cooldown
from harness.clusterautoscaler.drainability.outcomes import Context
from harness.clusterautoscaler.expanders.choice import Draw
from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.pending import are_all_new, old_enough, to_help
from harness.clusterautoscaler.pods import created
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.readiness import is_cluster_healthy, is_group_healthy
from harness.clusterautoscaler.scaledown.parallelism import cropped
from harness.clusterautoscaler.scaledown.planner import Planner, candidates
from harness.clusterautoscaler.scaledown.removal import Hints
from harness.clusterautoscaler.scaledown.unneeded import Removable
from harness.clusterautoscaler.scaleup.orchestrator import BACKED_OFF, NOT_READY, plan_scale_up
from harness.clusterautoscaler.snapshot import Cycle
from harness.engine.access import Access
from harness.engine.clock import SECOND, nanoseconds
from harness.engine.engine import Result, Router, Wait
from harness.engine.ports import Change
from harness.kube.api.objects import Object, name_of, with_spec
from harness.kube.api.versions import Version
from harness.world.agent_pools import PoolRefused
from harness.world.cluster_autoscaler.deletions import NodeDeletions
from harness.world.cluster_autoscaler.marks import NodeMarks
from harness.world.cluster_autoscaler.pools import AutoscaledPools
from harness.world.cluster_autoscaler.priorities import read_priorities
from harness.world.cluster_autoscaler.reports import Reports
from harness.world.cluster_autoscaler.requests import ScaleUpRequests
from harness.world.cluster_autoscaler.situation import Situation

__all__ = ["ClusterAutoscaler"]

_SCAN = "scan"
_KINDS = ("ConfigMap", "DaemonSet", "Node", "PersistentVolumeClaim", "Pod", "PodDisruptionBudget")


class ClusterAutoscaler:
    """The autoscaler; its only key is the scan."""

    name = "cluster-autoscaler"
    backoff = (10.0, 60.0)

    def __init__(
        self,
        access: Access,
        profile: Profile,
        pools: AutoscaledPools,
        deletions: NodeDeletions,
        reports: Reports,
        draw: Draw,
        version: Callable[[], Version],
    ) -> None:
        self._access, self._view, self._clock = access, access.view, access.clock
        self._profile, self._pools, self._deletions, self._draw = profile, pools, deletions, draw
        self._version = version
        self._reports = reports
        self._marks = NodeMarks(access.view, access.writer, access.clock)
        self._start = access.clock.now
        self._planner, self._cooldown, self._group_backoff = Planner(profile), Cooldown(), Backoff(profile)
        self._requests = ScaleUpRequests(profile, self._reports, self._group_backoff)
        self._hints, self._cycle = Hints(), Cycle()

    def watches(self) -> Mapping[str, Router]:
        """Watch all that a look depends on: the next one takes place when the interval is over."""
        return dict.fromkeys(_KINDS, self._changed)

    def begin(self) -> None:
        """Queue the first look."""
        self._access.engine.enqueue(self, _SCAN)

    def _changed(self, change: Change) -> Iterable[Hashable]:
        return (_SCAN,)

    def reconcile(self, key: Hashable) -> Result:
        """Look at the cluster, where an interval is over."""
        interval = nanoseconds(self._profile.scan_interval)
        early = -(self._clock.now - self._start) % interval
        if early:
            return Result(early / SECOND)
        memory = self._memory()
        progress, other = self._look()
        if self._memory() != memory:
            other = self._clock.now
        times = [moment for moment in (progress, other) if moment is not None]
        after = self._until(min(times)) if times else None
        return Result(after, Wait.POLL if progress is None else Wait.PROGRESS, busy=self._profile.scan_interval)

    def _memory(self) -> tuple[object, ...]:
        """Return what one look leaves for the next; where it stays the same, so does the result of a look."""
        unneeded, unremovable = self._planner.unneeded.since, self._planner.unremovable.until
        hints = dict(self._hints.kept), dict(self._planner.hints.kept)
        return self._cycle.last, hints, dict(unneeded), dict(unremovable)

    def _until(self, moment: int) -> float:
        """Return the seconds until the first look after a moment."""
        return max(self._profile.scan_interval, (moment - self._clock.now) / SECOND)

    def _look(self) -> tuple[int | None, int | None]:
        """Do what upstream's loop does; return when the next look makes progress by itself, and when it could matter else."""
        version = self._version()
        situation = Situation.of_cluster(self._view, self._pools, self._profile, self._clock, version, self._cycle)
        now, groups = situation.now, situation.groups
        self._group_backoff.forget(now)
        self._requests.update(groups, situation.readiness, now)
        times = [self._requests.until, self._group_backoff.until, situation.startup_until]
        if not is_cluster_healthy(situation.readiness.values(), len(situation.nodes), self._profile):
            self._planner.unneeded.clear()
            self._reports.status("ClusterUnhealthy", "Cluster is unhealthy", warning=True)
            return None, min((time for time in times if time is not None), default=None)
        situation.add_upcoming(self._requests.expected(groups, situation.readiness, now))
        evicted = [with_spec(pod, nodeName="") for pod in self._deletions.pods()]
        waiting = to_help(situation.unschedulable, evicted, situation.snapshot, self._hints, self._profile)
        pods, waiting = waiting, old_enough(waiting, now, self._profile)
        old = set(map(id, waiting))
        young = [pod for pod in pods if id(pod) not in old]
        progress = [created(pod) + nanoseconds(self._profile.new_pod_scale_up_delay) for pod in young]
        all_new = bool(waiting) and are_all_new(waiting, now)
        if all_new or (waiting and self._scale_up(situation, waiting)):
            progress.append(now)
        progress += self._scale_down(situation, held=all_new)
        times += list(self._planner.unremovable.until.values())
        return min(progress, default=None), min((time for time in times if time is not None), default=None)

    def _scale_up(self, situation: Situation, pods: list[Object]) -> bool:
        """Let groups grow for these pods; return whether other pods are helped by the next look."""
        groups, now = situation.groups, situation.now
        unsafe = {group.id: reason for group in groups.values() if (reason := self._unsafe(situation, group))}
        priorities = read_priorities(self._view, self._reports) if self._profile.expander == "priority" else None
        scale_up = plan_scale_up(
            pods,
            list(groups.values()),
            situation.templates,
            situation.snapshot,
            self._profile,
            unsafe,
            self._draw,
            priorities,
        )
        if not scale_up.resizes:
            self._reports.not_helped(scale_up)
            return False
        for resize in scale_up.resizes:
            self._reports.growing(resize)
            try:
                self._pools.resize(resize.group.id, resize.size)
            except PoolRefused as error:
                self._reports.refused(resize.group.id, str(error))
                self._group_backoff.fail(resize.group.id, now)
                return True
            self._requests.add(resize, now)
            self._reports.grown(resize)
        self._cooldown.scale_up = now
        self._reports.scaled_up(scale_up)
        return bool(scale_up.awaiting)

    def _unsafe(self, situation: Situation, group: NodeGroup) -> str | None:
        """Return why a group may not grow now (IsNodeGroupReadyToScaleUp)."""
        expected = group.target - self._requests.increase(group.id)
        if not is_group_healthy(group, situation.readiness.get(group.id), expected, self._profile):
            return NOT_READY
        return BACKED_OFF if self._group_backoff.is_backed_off(group.id, situation.now) else None

    def _scale_down(self, situation: Situation, *, held: bool) -> list[int]:
        """Find unneeded nodes and start on those that may go; return the moments at which more may."""
        now, groups, group_of = situation.now, situation.groups, situation.group_of
        under_way = self._deletions.nodes
        there = [node for node in situation.settled if name_of(node) not in under_way]
        context = Context(now, Budgets(self._view.list("PodDisruptionBudget")), self._view.get)
        self._planner.look(situation.snapshot, there, candidates(there, groups, group_of), context)
        unneeded = self._planner.unneeded
        ready = self._cooldown.until(self._profile)
        if not held and ready <= now and unneeded.nodes:
            self._start_on(situation, under_way)
        grouped = [node for node in situation.settled if name_of(node) in group_of]
        self._marks.candidates(grouped, unneeded.nodes)
        dues = [max(ready, unneeded.due(name, self._profile)) for name in unneeded.nodes]
        return [due for due in dues if due >= now]

    def _start_on(self, situation: Situation, under_way: Mapping[str, bool]) -> None:
        groups, group_of, deletions = situation.groups, situation.group_of, self._deletions.by_group()
        empty, drained = self._planner.to_delete(situation.now, groups, group_of, deletions)
        draining = sum(under_way.values())
        in_progress = (len(under_way) - draining, draining)
        first, later = cropped(empty, drained, group_of, in_progress, self._profile)
        for removable in first:
            self._delete(removable, group_of, drained=False)
        for removable in first:
            self._reports.emptying(name_of(removable.node))
        for removable in later:
            self._delete(removable, group_of, drained=True)
        for removable in later:
            name = name_of(removable.node)
            self._reports.draining(name, str(self._planner.utilization.get(name)), removable.moves.pods)
        if first or later:
            self._cooldown.deletion = situation.now

    def _delete(self, removable: Removable, group_of: Mapping[str, str], *, drained: bool) -> None:
        self._deletions.start(group_of[name_of(removable.node)], removable.node, drained=drained)
