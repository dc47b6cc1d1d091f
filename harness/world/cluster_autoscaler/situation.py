"""The cluster as one look sees it: nodes with their pods, groups and their templates, and the pods that fit nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.pending import is_unschedulable
from harness.clusterautoscaler.pods import is_expendable
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.readiness import GroupReadiness, readiness_by_group
from harness.clusterautoscaler.snapshot import Cycle, Snapshot, Surroundings
from harness.clusterautoscaler.templates import fresh_node
from harness.engine.clock import Clock, nanoseconds, parse
from harness.engine.ports import View
from harness.kube.api.objects import Object, metadata_of, name_of, spec_of, status_of
from harness.kube.api.versions import Version
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.volume_binding import PodVolumes
from harness.world.cluster_autoscaler.pools import AutoscaledPools

__all__ = ["Situation"]


class Situation:
    """One look; the snapshot is changed by it, the cluster is not."""

    def __init__(
        self,
        now: int,
        nodes: Sequence[Object],
        groups: Mapping[str, NodeGroup],
        group_of: Mapping[str, str],
        readiness: Mapping[str, GroupReadiness],
        templates: Mapping[str, NodeInfo],
        snapshot: Snapshot,
        unschedulable: Sequence[Object],
    ) -> None:
        self.now, self.nodes, self.groups, self.group_of = now, nodes, groups, group_of
        self.readiness, self.templates, self.snapshot = readiness, templates, snapshot
        self.unschedulable = unschedulable
        self.settled = list(nodes)
        """The nodes that are no longer starting."""
        self.startup_until: int | None = None
        """The moment at which a node that is starting counts as failed."""

    @staticmethod
    def of_cluster(
        view: View, pools: AutoscaledPools, profile: Profile, clock: Clock, version: Version, cycle: Cycle
    ) -> Situation:
        """Read the cluster."""
        nodes, now = view.list("Node"), clock.now
        cutoff = profile.expendable_pods_priority_cutoff
        by_node: dict[str, list[Object]] = {}
        unschedulable = []
        for pod in view.list("Pod"):
            place = spec_of(pod).get("nodeName") or status_of(pod).get("nominatedNodeName")
            if place and not is_expendable(pod, cutoff):
                by_node.setdefault(place, []).append(pod)
            elif is_unschedulable(pod):
                unschedulable.append(pod)
        infos = {name_of(node): NodeInfo(node, by_node.get(name_of(node), ())) for node in nodes}
        groups, group_of = pools.groups(), pools.members()
        surroundings = Surroundings(view.list("Namespace"), version, lambda pod: PodVolumes.for_pod(pod, view.get))
        situation = Situation(
            now,
            nodes,
            groups,
            group_of,
            readiness_by_group(nodes, group_of, now, profile),
            pools.templates(groups, infos, group_of, view.list("DaemonSet"), now),
            Snapshot(infos.values(), surroundings, cycle),
            unschedulable,
        )
        starting = {name for group in situation.readiness.values() for name in group.starting}
        if starting:
            startup = nanoseconds(profile.max_node_startup_time)
            times = [parse(metadata_of(infos[name].node)["creationTimestamp"]) for name in starting]
            situation.startup_until = min(times) + startup
        return situation

    def add_upcoming(self, counts: Mapping[str, int]) -> None:
        """Count so many nodes of each group as if they were there, in place of those that are starting."""
        for group, count in counts.items():
            for number in range(count):
                self.snapshot.add(fresh_node(self.templates[group], f"upcoming-{number}"))
            for name in self.readiness.get(group, GroupReadiness()).starting:
                self.snapshot.remove(name)
                self.settled = [node for node in self.settled if name_of(node) != name]
