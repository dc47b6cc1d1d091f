"""Simulations that are kept for others which would come to the same.

A simulation is a function of what it reads: the shapes of its pods in the order in which they are tried, the nodes that have room for one
of them, what the domains of its topology groups count, labels of namespaces,
NodePools, instance types and limits. It never reads nodes without room, nor pods
that none of its groups counts. So most of what happens in a cluster leaves most simulations as they were, and candidates with equal pods
share one. The plain way, without this module: ``HARNESS_EXACT=1``.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cached_property

from harness.karpenter.scheduling.context import SchedulingContext
from harness.karpenter.scheduling.masks import few_bits
from harness.karpenter.scheduling.nodeclaims.planned import PlannedNodeClaim, SchedulingEvent, SchedulingResults
from harness.karpenter.scheduling.nodes.consolidate_after import ConsolidateAfterWindow
from harness.karpenter.scheduling.pods.queue import QueuedPod, place_of
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.karpenter.scheduling.reasons.pods import Reason
from harness.karpenter.scheduling.topology.cluster_group import ClusterGroup
from harness.kube.api.objects import Object
from lazyrecords import dataclass

__all__ = ["KeptSimulations", "Question"]

_MOST_OF_EACH = 4
_MOST = 2048


class Question:
    """A simulation's inputs: pods in the order in which they are tried, without the nodes ``leaving``.

    ``settling`` are nodes that take only pods for which ``exempt`` is true.
    """

    def __init__(
        self,
        context: SchedulingContext,
        pods: Sequence[Object],
        leaving: frozenset[str],
        settling: ConsolidateAfterWindow,
        exempt: Callable[[Object], bool],
    ) -> None:
        self._context, self._leaving, self._settling, self._exempt = context, leaving, settling, exempt
        self._cluster, self._inverse = context.topology
        queued = [context.queued(pod) for pod in pods]
        self.queue: Sequence[QueuedPod] = sorted(queued, key=place_of)
        choosing = dict.fromkeys(
            [pod.shape for pod in queued if not pod.shape.plain]
        )  # the first of them makes a group
        self.key: Hashable = tuple([pod.shape for pod in self.queue]), tuple(choosing)
        self._moving = frozenset([pod.key for pod in queued if not pod.shape.deferred])
        self._excluded = self._moving & self._cluster.running.keys
        self._providers = context.provider_ids(leaving)
        self._gone = context.positions(leaving)

    def groups(self, groups: Sequence[ClusterGroup]) -> Hashable:
        """Equal where the domains of these topology groups count the same."""
        return tuple(
            [(group.content, frozenset(group.difference(self._excluded, self._providers).items())) for group in groups]
        )

    def nodes(self, shapes: Sequence[PodShape]) -> Hashable:
        """Equal where the same nodes have room for any of these pods, and the same of these take the same pods."""
        room = self._context.room
        mask = room.accepting_any(shapes) & ~self._gone
        settles = self._settling.among(mask)
        if not settles:
            return room.contents(mask)
        positions = [place for place, position in enumerate(few_bits(mask)) if settles >> position & 1]
        return room.contents(mask), tuple(positions), tuple([self._exempt(pod.pod) for pod in self.queue])

    def surroundings(self, by_hostname: bool) -> Hashable | None:
        """Equal where everything else is the same that simulations read; None where nothing tells.

        ``by_hostname``: whether the hostnames of all nodes count.
        """
        if self._inverse_left is None:
            return None
        cluster = self._cluster
        return (
            *(cluster, self._context.model, cluster.namespace_labels, cluster.inverse_content),
            *(self._inverse_left, self._limits_left),
            self._hosts if by_hostname or self._inverse.by_identity else None,
        )

    @cached_property
    def _inverse_left(self) -> Hashable | None:
        return self._inverse.difference(self._moving)

    @cached_property
    def _limits_left(self) -> Hashable:
        return tuple(
            [
                (pool, tuple(sorted((name, quantity.nano) for name, quantity in limits.items())))
                for pool, limits in self._context.limits_left(self._leaving).items()
            ]
        )

    @cached_property
    def _hosts(self) -> frozenset[str]:
        return frozenset(self._context.hostnames(self._leaving))


@dataclass(frozen=True, slots=True)
class _Kept:
    """Results, with pods by their place in the queue, and what was read: ``shapes`` are those that nodes were asked about."""

    shapes: Sequence[PodShape]
    groups: Sequence[ClusterGroup]
    by_hostname: bool
    read: tuple[Hashable, Hashable, Hashable]
    events: tuple[SchedulingEvent, ...]
    seconds: float
    existing: Mapping[str, Sequence[int]]
    planned: Sequence[tuple[PlannedNodeClaim, Sequence[int]]]
    errors: Sequence[tuple[int, Reason]]

    def answers(self, question: Question) -> bool:
        """Return whether a simulation would read the same."""
        surroundings, groups, nodes = self.read
        return (
            groups == question.groups(self.groups)
            and surroundings == question.surroundings(self.by_hostname)
            and nodes == question.nodes(self.shapes)
        )

    def results_for(self, queue: Sequence[QueuedPod], ignored: Mapping[str, str]) -> SchedulingResults:
        """The results with these pods."""
        return SchedulingResults(
            tuple([planned.with_pods([queue[place].pod for place in places]) for planned, places in self.planned]),
            {node: tuple([queue[place].pod for place in places]) for node, places in self.existing.items()},
            {queue[place].key: reason for place, reason in self.errors},
            ignored,
            self.events,
            seconds=self.seconds,
        )


class KeptSimulations:
    """The last simulations of a cluster, by the shapes of their pods."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, list[_Kept]] = {}

    def find(self, question: Question, ignored: Mapping[str, str], time_limit: float) -> SchedulingResults | None:
        """The results of a simulation within so many virtual seconds; None where nothing tells. ``ignored`` are pods that take no part."""
        for simulation in self._kept.get(question.key, ()):
            if simulation.seconds < time_limit and simulation.answers(question):
                return simulation.results_for(question.queue, ignored)
        return None

    def keep(
        self,
        question: Question,
        shapes: Sequence[PodShape],
        groups: Sequence[ClusterGroup],
        results: SchedulingResults,
    ) -> None:
        """Keep the results of a simulation that asked nodes about these shapes and copied these topology groups."""
        by_hostname = any(group.group.by_hostname for group in groups) or any(shape.required_anti for shape in shapes)
        surroundings = question.surroundings(by_hostname)
        if surroundings is None or results.timed_out or results.momentary:
            return
        places = {id(pod.pod): place for place, pod in enumerate(question.queue)}
        keys = {pod.key: place for place, pod in enumerate(question.queue)}
        if len(self._kept) >= _MOST:
            self._kept.clear()
        simulations = self._kept.setdefault(question.key, [])
        simulations.insert(
            0,
            _Kept(
                [shape.fresh() for shape in shapes],
                groups,
                by_hostname,
                (surroundings, question.groups(groups), question.nodes(shapes)),
                results.events,
                results.seconds,
                {node: [places[id(pod)] for pod in pods] for node, pods in results.existing.items()},
                [(planned, [places[id(pod)] for pod in planned.pods]) for planned in results.nodeclaims],
                [(keys[pod], reason) for pod, reason in results.errors.items()],
            ),
        )
        del simulations[_MOST_OF_EACH:]
