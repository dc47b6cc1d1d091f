"""The ledger of a pass: why each node, NodePool, instance type and offering took a pod or did not, noted while it is
decided.

Pass a :class:`Ledger` to :func:`~harness.karpenter.scheduling.solve`; without one nothing is noted and nothing is spent.

    ledger = Ledger()
    solve(snapshot, types, release=release, ledger=ledger)
    for entry in ledger.of("default/web-0"):     # in the order in which things were tried
        NodeTried(pod, step, node, reason)       # an existing node; reason is None when it took the pod
        Joined(pod, step, nodeclaim, nodepool)   # a NodeClaim in the making (its number) took the pod
        PoolTried(pod, step, nodepool, reason)   # a new NodeClaim of a NodePool; reason is None when it took the pod
        Relaxed(pod, step, dropped)              # the preference given up before step
    ledger.filtered                              # PoolFiltered: NodePools without a size that suits them, before any pod

``step`` counts relaxations from 0. ``reason`` is a value of :mod:`harness.karpenter.scheduling.reasons.pods`;
str() is Karpenter's sentence.

A PoolTried says what became of each size: ``entry.types()`` yields a TypeVerdict per instance type of the NodePool, with all its
reasons (the first decides; none: it stays) and an OfferingVerdict per offering; ``entry.removed()`` counts first reasons by kind.
Both are worked out when asked for, from the very sets that the pass used.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.algebra import Algebra
from harness.karpenter.scheduling.nodeclaims.inflight import Fit, InflightNodeClaim, port_conflict
from harness.karpenter.scheduling.nodeclaims.planned import pod_key
from harness.karpenter.scheduling.nodeclaims.templates import Template
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.reasons.funnel import Funnel, funnel_of_nodepool, funnel_of_pod
from harness.karpenter.scheduling.reasons.pods import Reason
from harness.karpenter.scheduling.reasons.verdicts import (
    BeyondLimit,
    NodePoolExcludes,
    NotOffered,
    OfferingVerdict,
    Overcommitted,
    PodExcludes,
    PortTaken,
    SizeJudges,
    TooSmall,
    TypeReason,
    TypeVerdict,
)
from harness.kube.api.objects import Object
from harness.kube.api.quantity import ZERO, Quantity
from harness.kube.api.resources import ResourceList, merge


@dataclass(frozen=True, slots=True)
class NodeTried:
    """An existing node was asked."""

    pod: str
    step: int
    node: str
    reason: Reason | None


@dataclass(frozen=True, slots=True)
class Joined:
    """The pod went on a NodeClaim that an earlier pod had started."""

    pod: str
    step: int
    nodeclaim: int
    nodepool: str


@dataclass(frozen=True, slots=True)
class Relaxed:
    """A preference was given up."""

    pod: str
    step: int
    dropped: str


@dataclass(frozen=True, slots=True)
class PoolTried:
    """A new NodeClaim of a NodePool was considered. ``requirements`` are those that sizes were judged by."""

    pod: str
    step: int
    nodepool: str
    reason: Reason | None
    requirements: Requirements
    requests: ResourceList
    limits: Mapping[str, Quantity]
    _template: Template = field(repr=False)
    _own: Requirements = field(repr=False)
    _shape: PodShape = field(repr=False)
    _judges: SizeJudges = field(repr=False)

    def types(self) -> Sequence[TypeVerdict]:
        """Return a verdict for each instance type of the NodePool, in the provider's order."""
        return self._judges.verdicts(self, self._types)

    def _types(self) -> Iterator[TypeVerdict]:
        judge = self._judges.of_offerings(self.requirements)
        for index, instance_type in enumerate(self._template.index.types):
            offerings = judge.of(instance_type)
            yield TypeVerdict(instance_type, tuple(self._reasons(index, instance_type, offerings)), offerings)

    def removed(self) -> Mapping[str, int]:
        """Return how many sizes each kind of reason removed first, by the name of its class; those kept count as ``kept``."""
        firsts = (type(v.reasons[0]).__name__ if v.reasons else "kept" for v in self.types())
        return Counter(firsts)

    def funnel(self) -> Funnel:
        """The same counts as masks, which take no time."""
        own = self._own
        return funnel_of_pod(self._template, own, self.requirements, self.requests, self.limits, self._shape)

    def _reasons(
        self, index: int, instance_type: InstanceType, offerings: tuple[OfferingVerdict, ...]
    ) -> Iterator[TypeReason]:
        for name, remaining in self.limits.items():
            capacity = instance_type.capacity.get(name, ZERO)
            if capacity > remaining:
                yield BeyondLimit(name, capacity, remaining)
        own = instance_type.requirements.intersects(self._own)
        if own is not None:
            yield NodePoolExcludes(own)
        else:
            together = instance_type.requirements.intersects(self.requirements)
            if together is not None:
                yield PodExcludes(together)
        yield from self._room(index, instance_type)
        if not any(verdict.usable for verdict in offerings):
            yield NotOffered()

    def _room(self, index: int, instance_type: InstanceType) -> Iterator[TypeReason]:
        groups = (group for group in self._template.groups if group.mask >> index & 1)
        group = next(groups, self._template.everywhere)
        if (conflict := port_conflict(self._shape, group.host_ports)) is not None:
            yield PortTaken(conflict)
        total = merge(self.requests, group.overhead)
        for name, requested in total.items():
            allocatable = instance_type.allocatable.get(name, ZERO)
            if requested > allocatable:
                yield TooSmall(name, requested, allocatable, group.takes(name))


@dataclass(frozen=True, slots=True)
class PoolFiltered:
    """A NodePool that no pod was tried with, since no size suits it. ``unmet``: keys with too few values for their ``minValues``."""

    nodepool: str
    requirements: Requirements
    unmet: Mapping[str, int]
    _template: Template = field(repr=False)
    _judges: SizeJudges = field(repr=False)

    def types(self) -> Sequence[TypeVerdict]:
        """Return a verdict for each instance type of the NodePool; where only ``minValues`` is missed, some have no reason against them."""
        return self._judges.verdicts(self, self._types)

    def _types(self) -> Iterator[TypeVerdict]:
        judge = self._judges.of_offerings(self.requirements)
        for instance_type in self._template.index.types:
            offerings = judge.of(instance_type)
            yield TypeVerdict(instance_type, tuple(self._reasons(instance_type, offerings)), offerings)

    def funnel(self) -> Funnel:
        """The first reasons as masks."""
        return funnel_of_nodepool(self._template, self.requirements)

    def _reasons(self, instance_type: InstanceType, offerings: tuple[OfferingVerdict, ...]) -> Iterator[TypeReason]:
        own = instance_type.requirements.intersects(self.requirements)
        if own is not None:
            yield NodePoolExcludes(own)
        yield from (Overcommitted(name) for name, left in instance_type.allocatable.items() if left.negative)
        if not any(verdict.usable for verdict in offerings):
            yield NotOffered()


Entry = NodeTried | Joined | Relaxed | PoolTried


class Ledger:
    """Collects entries. ``entries`` are in the order of the pass, over all pods; ``filtered`` precede it."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.filtered: list[PoolFiltered] = []
        self._steps: dict[str, int] = {}
        self._by_pod: dict[str, list[Entry]] = {}
        self._sorted = 0
        self._judges = SizeJudges()

    def of(self, pod: str) -> list[Entry]:
        """The entries of one pod (``namespace/name``)."""
        for entry in self.entries[self._sorted :]:
            self._by_pod.setdefault(entry.pod, []).append(entry)
        self._sorted = len(self.entries)
        return list(self._by_pod.get(pod, ()))

    # called by the scheduler

    def excluded(self, template: Template, unmet: Mapping[str, int], algebra: Algebra) -> None:
        public = algebra.public(template.requirements.items)
        self.filtered.append(PoolFiltered(template.name, public, dict(unmet), template, self._judges))

    def began(self, pod: Object) -> None:
        self._steps[pod_key(pod)] = 0

    def relaxed(self, pod: Object, dropped: str) -> None:
        key = pod_key(pod)
        self._steps[key] += 1
        self.entries.append(Relaxed(key, self._steps[key], dropped))

    def node(self, pod: Object, node: str, reason: Reason | None) -> None:
        key = pod_key(pod)
        self.entries.append(NodeTried(key, self._steps[key], node, reason))

    def joined(self, pod: Object, nodeclaim: InflightNodeClaim) -> None:
        key = pod_key(pod)
        self.entries.append(Joined(key, self._steps[key], nodeclaim.id, nodeclaim.template.name))

    def pool(
        self,
        pod: Object,
        shape: PodShape,
        template: Template,
        nodeclaim: InflightNodeClaim | None,
        outcome: "Fit | Reason",
        limits: Mapping[str, Quantity],
        algebra: Algebra,
    ) -> None:
        """``nodeclaim`` is None when limits forbade to start one."""
        key = pod_key(pod)
        judged = template.requirements
        if isinstance(outcome, Fit):
            judged = outcome.requirements
        elif nodeclaim is not None and nodeclaim.judged is not None:
            judged = nodeclaim.judged
        self.entries.append(
            PoolTried(
                key,
                self._steps[key],
                template.name,
                None if isinstance(outcome, Fit) else outcome,
                algebra.public(judged.items),
                shape.requests,
                dict(limits),
                template,
                algebra.public(template.requirements.items),
                shape,
                self._judges,
            )
        )
