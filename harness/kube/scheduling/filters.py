"""kube-scheduler's filters: whether a node can take a pod, and the plugin's sentence when it cannot.

The filters are those of the default profile, in its order; the first that fails a node gives its reason. Not simulated: the
allocation of devices.
Sources: kubernetes pkg/scheduler/framework/plugins/*.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.kube.api.labels import UNSCHEDULABLE
from harness.kube.api.objects import Object, spec_of
from harness.kube.api.quantity import Quantity
from harness.kube.api.versions import NEWEST, Version
from harness.kube.scheduling.node_affinity import named_nodes, required_matches
from harness.kube.scheduling.node_ports import KNOWS_SIDECARS, NodePort, node_ports, ports_of_sidecars
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.pods import pod_requests
from harness.kube.scheduling.spreading import InterPodAffinity, TopologySpread
from harness.kube.scheduling.taints import NO_EXECUTE, NO_SCHEDULE, tolerates
from harness.kube.scheduling.volume_binding import PodVolumes
from harness.kube.scheduling.volume_limits import EXCEEDED
from harness.kube.scheduling.volume_restrictions import VolumeRestrictions
from lazyrecords import dataclass

__all__ = ["NOT_NAMED", "NOT_SELECTED", "UNTOLERATED_TAINT", "Failure", "Filters"]

_UNSCHEDULABLE_TAINT = {"key": UNSCHEDULABLE, "effect": NO_SCHEDULE}
_ZERO = Quantity.parse("0")

UNTOLERATED_TAINT = "node(s) had untolerated taint"
"""The beginning of the reason about a taint; :class:`~harness.kube.scheduling.scheduler.Unschedulable` words it by version."""

NOT_SELECTED = "node(s) didn't match Pod's node affinity/selector"
NOT_NAMED = "node(s) didn't satisfy plugin(s) [NodeAffinity]"
"""The reason of nodes that are left out from the start, because the pod names others."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The reasons of one node against the pod. `helpless`: evicting other pods would not help (UnschedulableAndUnresolvable)."""

    node: str
    reasons: tuple[str, ...]
    helpless: bool


@dataclass(frozen=True, slots=True)
class Filters:
    """The demands of one pod on a node, with the pods of all nodes counted for spreading and affinity."""

    pod: Object
    named: frozenset[str] | None
    requests: Mapping[str, Quantity]
    ports: Sequence[NodePort]
    knows_sidecars: bool
    tolerations: Sequence[Mapping[str, object]]
    restrictions: VolumeRestrictions | None
    volumes: PodVolumes | None
    spread: TopologySpread | None
    affinity: InterPodAffinity | None

    @staticmethod
    def for_pod(
        pod: Object,
        nodes: Sequence[NodeInfo],
        volumes: PodVolumes | None = None,
        namespaces: Sequence[Object] = (),
        version: Version = NEWEST,
    ) -> Filters:
        """The filters of a pod over these nodes; ``namespaces`` are the cluster's Namespaces, ``version`` is Kubernetes'.

        Raises QuantityError.
        """
        knows_sidecars = version >= KNOWS_SIDECARS
        return Filters(
            pod,
            named_nodes(pod),
            pod_requests(pod),
            [*node_ports(pod), *(ports_of_sidecars(pod) if knows_sidecars else ())],
            knows_sidecars,
            spec_of(pod).get("tolerations") or (),
            VolumeRestrictions.for_pod(pod, nodes, volumes),
            volumes,
            TopologySpread.for_pod(pod, nodes),
            InterPodAffinity.for_pod(pod, nodes, namespaces),
        )

    @staticmethod
    def alone(pod: Object, version: Version = NEWEST) -> Filters:
        """The filters of a pod for which the pods of other nodes do not matter. Raises QuantityError."""
        return Filters.for_pod(pod, (), version=version)

    def failure(self, info: NodeInfo) -> Failure | None:
        """Return why this node cannot take the pod, None when it can."""
        if self.named is not None and info.name not in self.named:
            return Failure(info.name, (NOT_NAMED,), True)
        spec = spec_of(info.node)
        if spec.get("unschedulable") and not self._tolerates(_UNSCHEDULABLE_TAINT):
            return Failure(info.name, ("node(s) were unschedulable",), True)
        for taint in info.taints:
            if taint.get("effect") in (NO_SCHEDULE, NO_EXECUTE) and not self._tolerates(taint):
                text = f"{UNTOLERATED_TAINT} {{{taint['key']}: {taint.get('value') or ''}}}"
                return Failure(info.name, (text,), True)
        if not required_matches(self.pod, info.node):
            return Failure(info.name, (NOT_SELECTED,), True)
        if self.ports and self._clashes(info):
            return Failure(info.name, ("node(s) didn't have free ports for the requested pod ports",), False)
        short = info.insufficient(self.requests)
        if short:
            reasons = tuple("Too many pods" if name == "pods" else f"Insufficient {name}" for name in short)
            return Failure(info.name, reasons, self._never_fits(info))
        if self.restrictions is not None and (restriction := self.restrictions.failure(info)) is not None:
            return Failure(info.name, (restriction[0],), restriction[1])
        if self.volumes is not None and self.volumes.limits is not None and self.volumes.limits.exceeded(info):
            return Failure(info.name, (EXCEEDED,), False)
        if self.volumes is not None and (reasons := self.volumes.reasons(info.node)):
            return Failure(info.name, reasons, True)
        for plugin in (self.spread, self.affinity):
            if plugin is not None and (restriction := plugin.failure(info)) is not None:
                reason, helpless = restriction
                return Failure(info.name, (reason,), helpless)
        return None

    def _tolerates(self, taint: Mapping[str, str]) -> bool:
        return any(tolerates(toleration, taint) for toleration in self.tolerations)

    def _clashes(self, info: NodeInfo) -> bool:
        """Return whether a pod on the node holds a port that this one wants."""
        there = [*info.ports, *(info.ports_of_sidecars if self.knows_sidecars else ())]
        return any(wanted.conflicts(taken) for wanted in self.ports for taken in there)

    def _never_fits(self, info: NodeInfo) -> bool:
        """Return whether even the empty node is too small."""
        return any(quantity > info.allocatable.get(name, _ZERO) for name, quantity in self.requests.items())
