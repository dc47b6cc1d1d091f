"""The disruption controller's knowledge at one moment, and the events of its turn."""

from collections.abc import Callable, Generator, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.disruption.events.nodes import NodeEvents, Told
from harness.karpenter.disruption.tally import Tally
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.karpenter.scheduling import CatalogIndexes, ClusterSnapshot, SchedulingEvent, SchedulingOptions
from harness.karpenter.scheduling.nodes.fleet import Fleet
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.remembered import Memory, remembered
from harness.karpenter.scheduling.simulation import Simulations
from harness.kube.api.objects import Object, name_of, spec_of
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.karpenter.releases import ProviderRelease

__all__ = ["Situation", "TurnGenerator", "TurnWait", "View", "after_waiting"]

T = TypeVar("T")

_PROVIDER_ID = attrgetter("provider_id")


class View:
    """The cluster at one moment, as Karpenter's cluster state has it. Nodes are in the order of their provider ids.

    ``nominated`` says until when nodes are nominated for pods, by the name of the Node, in nanoseconds since the start; ``queued`` names
    the Nodes of commands under way.
    """

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        instance_types: Mapping[str, Sequence[InstanceType]],
        *,
        release: "ProviderRelease",
        options: SchedulingOptions,
        indexes: CatalogIndexes | None = None,
        memory: ClusterMemory | None = None,
        nominated: Mapping[str, int] | None = None,
        queued: frozenset[str] = frozenset(),
    ) -> None:
        self.snapshot, self.instance_types, self.release = snapshot, instance_types, release
        self.now, self.queued = snapshot.now, queued
        self._memory = memory if memory is not None else ClusterMemory()
        self.simulations = Simulations(
            snapshot, instance_types, release=release, options=options, indexes=indexes, memory=self._memory
        )
        self.nodes: Sequence[StateNode] = self.simulations.state.fleet.in_order(_PROVIDER_ID)
        self.nominated: dict[str, int] = {}
        if nominated:
            called = {name_of(node.node): node.name for node in self.nodes if node.node is not None}
            # a Node that has not registered yet goes by the name of its NodeClaim
            self.nominated = {called.get(name, name): until for name, until in nominated.items()}
        self.remembered = Memory()
        """Results that hold at this moment only."""
        self.prices: dict[Hashable, float] = {}
        self.nodepools = {
            name_of(pool): pool
            for pool in sorted(snapshot.nodepools, key=name_of)
            if _node_class_of(pool) == options.node_class
        }

    @cached_property
    def types_by_name(self) -> dict[str, dict[str, InstanceType]]:
        """Instance types by NodePool and name; NodePools without any are left out."""
        by_name = {}
        for name in self.nodepools:
            types = self.instance_types.get(name)
            if types:
                by_name[name] = self._memory.by_name(types)
        return by_name

    @cached_property
    def wanted(self) -> dict[str, Object]:
        """NodePools by name, each the same object as long as its spec is the same; so their status may be out of date."""
        return {name: self._memory.nodepool(pool) for name, pool in self.nodepools.items()}

    @cached_property
    def offers(self) -> Sequence[object]:
        """NodePools and their instance types; the same object as at the look before while specs and instance types are the same."""
        types = self.types_by_name
        made = [part for name, pool in self.wanted.items() for part in (pool, types.get(name))]
        return self._memory.same(View, made)

    @cached_property
    def in_queue_or_nominated(self) -> frozenset[str]:
        """The names of the nodes that are in the queue of commands or nominated."""
        return self.queued.union(name for name, until in self.nominated.items() if until > self.now)

    def settled(self, about: Hashable, objects: Sequence[Any]) -> Sequence[Any]:
        """Return these objects; the same sequence as at the look before if each of them is the same object."""
        return self._memory.same(about, objects)

    @property
    def lasting(self) -> dict[Hashable, Any]:
        """Results that last over several looks, each with the objects on which it depends."""
        return self._memory.models

    @cached_property
    def node_by_name(self) -> dict[str, StateNode]:
        """State nodes by name: the Node's, before registration the NodeClaim's."""
        return _by_name(self.simulations.state.fleet)

    def is_nominated(self, node: StateNode) -> bool:
        """Return whether the node is nominated for a pod."""
        return self.nominated.get(node.name, self.now) > self.now

    def is_queued(self, node: StateNode) -> bool:
        """Return whether a command under way is about the node."""
        return node.node is not None and name_of(node.node) in self.queued

    @property
    def synced(self) -> bool:
        """Return whether every NodeClaim has a provider id, and the state has every Node (core's Cluster.Synced)."""
        fleet = self.simulations.state.fleet
        return fleet.launched == len(self.snapshot.nodeclaims) and len(fleet.by_node) == len(self.snapshot.nodes)


@remembered
def _by_name(fleet: Fleet) -> dict[str, StateNode]:
    return {node.name: node for node in fleet.in_order(_PROVIDER_ID)}


def _node_class_of(pool: Object) -> tuple[str, str]:
    reference = spec_of(spec_of(pool).get("template") or {}).get("nodeClassRef") or {}
    return reference.get("group") or "", reference.get("kind") or ""


@dataclass(frozen=True, slots=True)
class TurnWait:
    """The controller continues after so many seconds of virtual time."""

    seconds: float


TurnGenerator = Generator[TurnWait, None, T]
"""Work that waits in between: its caller lets the time pass, puts a new view into the situation, and resumes it."""


class Situation:
    """One turn of the controller: its view, its feature gates, and its events so far.

    ``terminates_first``: drifted nodes that leave no room for a replacement go before there is one (the gate TerminateFirstDrift).
    """

    def __init__(
        self, view: View, *, spot_to_spot: bool = False, terminates_first: bool = False, tally: Tally | None = None
    ) -> None:
        self.view, self.spot_to_spot, self.terminates_first = view, spot_to_spot, terminates_first
        self.tally = tally if tally is not None else Tally()
        options = view.simulations.options
        self.rules = disruption_rules_of(view.release.core, writes_deletion_costs=options.writes_deletion_costs)
        self.said: list[Told] = []
        """All events in order, with repetitions; the text of those about a node is not made yet."""
        self._events: dict[SchedulingEvent, None] = {}
        self._worded = 0
        self.judged: tuple[Simulations, int] | None = None
        """The simulations whose events about examined pods have been published, and the number of these events."""
        self._once: dict[int, tuple[Sequence[SchedulingEvent], int]] = {}
        self.totals: tuple[View | None, Mapping[str, Any]] = None, {}
        """The total costs of NodePools, by name, with the view that they belong to."""
        self.seconds = 0.0
        """The virtual time, in seconds, that simulations have taken so far."""
        self._passed = 0.0

    def catch_up(self) -> TurnGenerator[None]:
        """Let the time pass that simulations have taken since the last call."""
        behind = self.seconds - self._passed
        if behind > 0:
            self._passed = self.seconds
            yield TurnWait(behind)

    @property
    def events(self) -> tuple[SchedulingEvent, ...]:
        """The events so far, equal ones once."""
        for event in self.said[self._worded :]:
            self._events.update(dict.fromkeys((event,) if isinstance(event, SchedulingEvent) else event))
        self._worded = len(self.said)
        return tuple(self._events)

    def say(self, *events: SchedulingEvent) -> None:
        """Publishes events."""
        self.said.extend(events)

    def say_all(self, events: Iterable[SchedulingEvent]) -> None:
        """Publishes events."""
        if isinstance(events, NodeEvents):
            self.said.append(events)
        else:
            self.said.extend(events)

    def say_once(self, events: Sequence[SchedulingEvent]) -> None:
        """Publishes the events that were added to a growing list since the last call with it."""
        _, count = self._once.get(id(events), (events, 0))
        if len(events) > count:
            self.said.extend(events[count:])
            self._once[id(events)] = events, len(events)


def after_waiting(generator: TurnGenerator[T], wait: Callable[[float], None]) -> T:
    """Run a generator to its end. ``wait(seconds)`` lets the time pass and puts a new view into the situation."""
    while True:
        try:
            wanted = next(generator)
        except StopIteration as end:
            result: T = end.value
            return result
        wait(wanted.seconds)
