"""The in-flight NodeClaims worth a try for a pod: all but those that are known to refuse it."""

from collections.abc import Sequence

from harness.karpenter.requirement import Requirement
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.nodeclaims.inflight import InflightNodeClaim
from harness.karpenter.scheduling.nodeclaims.order import InflightOrder
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.topology.group import TopologyGroup
from harness.karpenter.scheduling.topology.ties import Ties
from harness.karpenter.scheduling.topology.topology import Topology
from harness.kube.api.labels import HOSTNAME


class Candidates:
    """Sets of NodeClaims are bit masks by their identity number."""

    def __init__(self, algebra: Algebra, topology: Topology, order: InflightOrder) -> None:
        self._algebra, self._topology, self._order = algebra, topology, order
        self._ties = Ties()  # whichever domain it is: only whether there is one matters
        self._refused: dict[int, int] = {}
        self._members: dict[str, dict[Requirement | None, int]] = {}  # by what NodeClaims require of a key

    def refuse(self, nodeclaim: InflightNodeClaim, shape: PodShape) -> None:
        """The NodeClaim will never take a pod with this ``fit``."""
        self._refused[shape.fit] = self._refused.get(shape.fit, 0) | nodeclaim.bit

    def begun(self, nodeclaim: InflightNodeClaim) -> None:
        """A NodeClaim was added."""
        for key, members in self._members.items():
            present = nodeclaim.requirements.items.get(key)
            members[present] = members.get(present, 0) | nodeclaim.bit

    def narrowed(self, nodeclaim: InflightNodeClaim, before: RequirementSet, after: RequirementSet) -> None:
        """A pod added requirements to the NodeClaim."""
        if after is before:
            return
        for key, members in self._members.items():
            old, new = before.items.get(key), after.items.get(key)
            if old is not new:
                members[old] &= ~nodeclaim.bit
                members[new] = members.get(new, 0) | nodeclaim.bit

    def of(self, shape: PodShape, concerns: Sequence[TopologyGroup]) -> int:
        """The NodeClaims that did not refuse the pod and that each of its topology constraints, alone, allows."""
        candidates = ((1 << len(self._order.by_id)) - 1) & ~self._refused.get(shape.fit, 0)
        if not concerns or self._topology.is_blocked(shape):
            return 0 if concerns else candidates
        strict, own = shape.strict.items, len(shape.groups)
        blocking: list[TopologyGroup] = []
        for position, group in enumerate(concerns):
            if not candidates:
                break
            before = candidates
            selected = position >= own or group.selects(shape.namespace, shape.labels)
            if group.by_hostname:
                candidates &= ~group.blocked_hosts(selected, strict.get(HOSTNAME))
            elif not shape.volumes:
                candidates &= self._allowed(shape, group, selected, candidates)
            if candidates != before:
                blocking.append(group)
        if not candidates:
            self._topology.blocked(blocking)
        return candidates

    def _allowed(self, shape: PodShape, group: TopologyGroup, selected: bool, candidates: int) -> int:
        key, algebra = group.key, self._algebra
        members = self._members.get(key)
        if members is None:
            members = self._members[key] = {}
            for nodeclaim in self._order.by_id:
                present = nodeclaim.requirements.items.get(key)
                members[present] = members.get(present, 0) | nodeclaim.bit
        exists = algebra.exists(key)
        pod_domains = shape.strict.items.get(key) or exists
        wanted = shape.requirements.items.get(key)
        allowed = 0
        for present, mask in members.items():
            if not mask & candidates:
                continue
            node_domains = present or exists
            if wanted is not None:
                node_domains = algebra.intersect(node_domains, wanted)
            domains = group.next_domains(selected, pod_domains, node_domains, self._ties)
            if domains.values and (domains.has_intersection(node_domains) or node_domains.tolerates_absence):
                allowed |= mask
        return allowed
