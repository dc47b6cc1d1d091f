"""All machines in Karpenter's cluster state, updated by what has changed since the last look.

Core ``pkg/controllers/state/cluster.go``, which informers feed. A look here is given all objects; those that are others than before
are found by their identity, since objects are never changed in place, and only what rests on them is made anew.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any

from harness.karpenter.labels.core import INITIALIZED, NODEPOOL
from harness.karpenter.scheduling.nodes.listed import Listed
from harness.karpenter.scheduling.nodes.order import Place
from harness.karpenter.scheduling.nodes.per_node_index import Find, PerNodeIndex
from harness.karpenter.scheduling.nodes.state import Parts, StateNode, provider_id_of
from harness.karpenter.scheduling.remembered import Memory, remembered
from harness.karpenter.scheduling.snapshot import ClusterSnapshot
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object, labels_of, name_of, spec_of, status_of

__all__ = ["Fleet", "StateNodes"]

_Stand = tuple[int, str]
_Names = Sequence[str]

Make = Callable[[Parts], StateNode]


class Fleet:
    """The machines of one moment, by provider id and by the name of the Node, and the pods, by the name of their Node.

    It is the same object as long as nothing changes; ``remembered`` keeps results about it. ``launched``: the number of NodeClaims that
    have a machine.
    """

    def __init__(
        self,
        by_provider: Mapping[str, StateNode],
        by_node: Mapping[str, StateNode],
        placed: Mapping[str, Sequence[Object]],
        launched: int,
        owner: "StateNodes",
    ) -> None:
        self._owner = owner
        self.by_provider, self.by_node, self.launched = by_provider, by_node, launched
        self.nodes: Sequence[StateNode] = list(by_provider.values())
        self._placed = placed
        self.unbound: Sequence[Object] = placed.get("", ())
        self.remembered = Memory()

    @remembered
    def having(self, find: Find) -> Mapping[str, Any]:
        """Return the true results of ``find`` for the machines, by provider id, in the order of ``nodes``."""
        return self._owner.having(find, self)

    @remembered
    def counts(self, find: Find) -> Mapping[Any, int]:
        """Count the machines by the result of ``find``."""
        return self._owner.counts(find, self)

    @remembered
    def in_order(self, place: Place) -> Sequence[StateNode]:
        """The machines that have a place (`place`), in its order."""
        return self._owner.in_order(place, self)

    def strays(self) -> Iterator[Object]:
        """The pods that are on none of the Nodes, or bound to none, in no order."""
        return (pod for name in self._placed.keys() - self.by_node.keys() for pod in self._placed[name])

    def bound_to(self, node: str) -> Sequence[Object]:
        """The pods that are bound to a Node of this name."""
        return self._placed.get(node, ()) if node else ()


class _Machine:
    """Nodes and NodeClaims of one provider id, by name; ``place`` is where it stands among the others.

    ``names`` are those of its Nodes that core keeps, in order.
    """

    __slots__ = ("claims", "names", "nodes", "place", "state")

    def __init__(self) -> None:
        self.claims: dict[str, Object] = {}
        self.nodes: dict[str, Object] = {}
        self.names: list[str] = []
        self.place: tuple[int, str] | None = None
        self.state: StateNode | None = None

    def counted(self) -> list[str]:
        """The names of its Nodes that core keeps, in order."""
        if len(self.nodes) == 1:
            return [name for name, node in self.nodes.items() if _counts(node)]
        return [name for name, node in sorted(self.nodes.items(), key=_first) if _counts(node)]

    def marked(self, deleting: frozenset[str]) -> bool:
        """Return whether the machine is marked for deletion, by its NodeClaim's name or a Node's.

        Marks are kept by provider id: a Node that does not count yet shares its NodeClaim's.
        """
        if not deleting:
            return False
        marked = bool(self.claims) and max(self.claims) in deleting
        counts = bool(self.claims)
        for name, node in sorted(self.nodes.items(), key=_first):
            counts = counts or _counts(node)
            marked = marked or (counts and name in deleting)
        return marked


class StateNodes:
    """State nodes from one look to the next; a machine whose objects are the same keeps its state node."""

    def __init__(self) -> None:
        self._claims, self._nodes, self._csinodes, self._pods = Listed(), Listed(), Listed(), Listed()
        self._deleting: frozenset[str] = frozenset()
        self._machines: dict[str, _Machine] = {}
        self._machine_of_claim: dict[str, str] = {}
        self._machine_of_node: dict[str, str] = {}
        self._csinode_of: dict[str, Object] = {}
        self._placed: dict[str, list[Object]] = {}
        self._standing: list[tuple[tuple[int, str], str]] = []
        """Machines in order: by their NodeClaims, then those that have none by their Nodes."""
        self._names: list[tuple[str, str]] = []
        """The Nodes that count, in order, and their machines."""
        self._in_standing: list[str] = []
        self._in_names: list[str] = []
        """The machines of both, without what puts them in order."""
        self._fleet: Fleet | None = None
        self._per_node = PerNodeIndex()

    def look(self, snapshot: ClusterSnapshot, make: Make) -> Fleet:
        """The machines of a snapshot. Raises what ``make`` raises, and starts anew after that."""
        try:
            return self._look(snapshot, make)
        except BaseException:
            self.__dict__.update(StateNodes().__dict__)
            raise

    def _look(self, snapshot: ClusterSnapshot, make: Make) -> Fleet:
        touched = self._take_members(snapshot)
        names = self._take_csinodes(snapshot.csinodes) | self._take_pods(snapshot.pods)
        for name in snapshot.deleting ^ self._deleting:
            names.add(name)
            if name in self._machine_of_claim:
                touched.add(self._machine_of_claim[name])
        self._deleting = snapshot.deleting
        touched.update(self._machine_of_node[name] for name in names if name in self._machine_of_node)
        if self._fleet is not None and not touched and not names:
            return self._fleet
        changes = [self._renew(provider, snapshot, make) for provider in touched]
        machines = self._machines
        if self._fleet is None:
            self._standing = sorted(
                (machine.place, provider) for provider, machine in machines.items() if machine.place is not None
            )
            self._names = sorted((name, provider) for provider, machine in machines.items() for name in machine.names)
            self._in_standing = [provider for _, provider in self._standing]
            self._in_names = [provider for _, provider in self._names]
        renewed = {
            provider: state
            for provider in touched
            if provider in machines and (state := machines[provider].state) is not None
        }
        if self._fleet is None or any(moved for moved, _ in changes):
            states = {**self._fleet.by_provider, **renewed} if self._fleet is not None else renewed
            by_provider = dict(zip(self._in_standing, map(states.__getitem__, self._in_standing), strict=True))
        else:
            by_provider = {**self._fleet.by_provider, **renewed}
        if self._fleet is None or any(renamed for _, renamed in changes):
            by_node = dict(zip(map(_named, self._names), map(by_provider.__getitem__, self._in_names), strict=True))
        else:
            by_node = dict(self._fleet.by_node)
            by_node.update((name, state) for provider, state in renewed.items() for name in machines[provider].names)
        for provider in touched:
            self._per_node.change(provider, by_provider.get(provider))
        self._fleet = Fleet(by_provider, by_node, dict(self._placed), len(self._machine_of_claim), self)
        return self._fleet

    def having(self, find: Find, fleet: Fleet) -> dict[str, Any]:
        """See :meth:`Fleet.having`; a fleet of an earlier look is asked as a whole."""
        if fleet is not self._fleet:
            return {provider: value for provider, state in fleet.by_provider.items() if (value := find(state))}
        values = self._per_node.having(find, fleet.by_provider)
        return {
            provider: values[provider]
            for provider in sorted(values, key=lambda provider: (self._machines[provider].place, provider))
        }

    def counts(self, find: Find, fleet: Fleet) -> dict[Hashable, int]:
        """See :meth:`Fleet.counts`."""
        upkeep = self._per_node if fleet is self._fleet else PerNodeIndex()
        return upkeep.counts(find, fleet.by_provider)

    def in_order(self, place: Place, fleet: Fleet) -> list[StateNode]:
        """See :meth:`Fleet.in_order`."""
        upkeep = self._per_node if fleet is self._fleet else PerNodeIndex()
        return upkeep.in_order(place, fleet.by_provider)

    def _take_members(self, snapshot: ClusterSnapshot) -> set[str]:
        """Record NodeClaims and Nodes; return their machines."""
        touched = set()
        gone, come = self._claims.update(snapshot.nodeclaims)
        for claims, takes in ((gone, False), (come, True)):
            for member in claims:
                machine = str(status_of(member).get("providerID") or "")
                if machine:
                    touched.add(machine)
                    _set(self._machine(machine).claims, self._machine_of_claim, member, machine, takes)
        gone, come = self._nodes.update(snapshot.nodes)
        for nodes, takes in ((gone, False), (come, True)):
            for member in nodes:
                machine = provider_id_of(member)
                touched.add(machine)
                _set(self._machine(machine).nodes, self._machine_of_node, member, machine, takes)
        return touched

    def _machine(self, provider_id: str) -> _Machine:
        machine = self._machines.get(provider_id)
        if machine is None:
            machine = self._machines[provider_id] = _Machine()
        return machine

    def _take_csinodes(self, csinodes: Sequence[Object]) -> set[str]:
        gone, come = self._csinodes.update(csinodes)
        for csinode in gone:
            self._csinode_of.pop(name_of(csinode), None)
        self._csinode_of.update((name_of(csinode), csinode) for csinode in come)
        return {name_of(csinode) for csinode in (*gone, *come)}

    def _take_pods(self, pods: Sequence[Object]) -> set[str]:
        """Record pods; return the names of the Nodes that they are, or were, bound to."""
        gone, come = self._pods.update(pods)
        left, numbers = set(map(id, gone)), self._pods.numbers
        new: dict[str, list[Object]] = {_node_of(pod): [] for pod in gone}
        for pod in come:
            name = _node_of(pod)
            if name in new:
                new[name].append(pod)
            else:
                new[name] = [pod]
        for name, pods_there in new.items():
            if before := self._placed.get(name):
                pods_there.extend([pod for pod in before if id(pod) not in left])
                pods_there.sort(key=lambda pod: numbers[id(pod)])
            if pods_there:
                self._placed[name] = pods_there
            else:
                self._placed.pop(name, None)
        return set(new)

    def _renew(self, provider_id: str, snapshot: ClusterSnapshot, make: Make) -> tuple[bool, bool]:
        """Make the state node of a machine anew where its objects have changed; return the result of :meth:`_stands`."""
        machine = self._machines[provider_id]
        before, was, named = machine.state, machine.place, machine.names
        counted = machine.names = machine.counted()
        claim = machine.claims[max(machine.claims)] if machine.claims else None
        node = machine.nodes[counted[-1]] if counted else None
        if claim is None and node is None:
            machine.place = machine.state = None
            _forget(before)
            if not machine.nodes:
                del self._machines[provider_id]
            return self._stands(provider_id, (was, None), (named, counted))
        csinode = self._csinode_of.get(name_of(node)) if node is not None else None
        parts = Parts(node, claim, machine.marked(self._deleting), self._pods_on(counted, snapshot), csinode)
        if before is None or not before.parts.same_as(parts):
            machine.state = make(parts)
            _forget(before)
        machine.place = (0, min(machine.claims)) if machine.claims else (1, counted[0])
        return self._stands(provider_id, (was, machine.place), (named, counted))

    def _pods_on(self, names: Sequence[str], snapshot: ClusterSnapshot) -> Sequence[Object]:
        """The pods that are bound to Nodes of these names, which are one machine."""
        if len(names) < 2:
            return self._placed.get(names[0], ()) if names else ()
        return [pod for pod in snapshot.pods if _node_of(pod) in names]

    def _stands(
        self, machine: str, places: tuple[_Stand | None, _Stand | None], names: tuple[_Names, _Names]
    ) -> tuple[bool, bool]:
        """Put a machine in its order, as before, after: by its place and the names of its Nodes; return which of them
        changed.

        At the first look all are put in order when they are made.
        """
        changed = places[0] != places[1], names[0] != names[1]
        if self._fleet is None:
            return changed
        if changed[0] and places[0] is not None:
            at = bisect_left(self._standing, (places[0], machine))
            del self._standing[at], self._in_standing[at]
        if changed[0] and places[1] is not None:
            at = bisect_left(self._standing, (places[1], machine))
            self._standing.insert(at, (places[1], machine))
            self._in_standing.insert(at, machine)
        if changed[1]:
            for name in names[0]:
                at = bisect_left(self._names, (name, machine))
                del self._names[at], self._in_names[at]
            for name in names[1]:
                at = bisect_left(self._names, (name, machine))
                self._names.insert(at, (name, machine))
                self._in_names.insert(at, machine)
        return changed


def _forget(state: StateNode | None) -> None:
    """Frees what is remembered about a machine as it was: it refers to the machine, and Python finds such a circle only late."""
    if state is not None:
        state.remembered.clear()


def _set(members: dict[str, Object], machine_of: dict[str, str], obj: Object, machine: str, takes: bool) -> None:
    name = name_of(obj)
    if takes:
        members[name], machine_of[name] = obj, machine
    else:
        members.pop(name, None)
        machine_of.pop(name, None)


def _node_of(pod: Object) -> str:
    spec = pod.get("spec")
    return (spec and spec.get("nodeName")) or ""


_named = itemgetter(0)


def _first(item: tuple[str, Object]) -> str:
    return item[0]


def _counts(node: Object) -> bool:
    """Return whether core's cluster state has a Node: one of a NodePool needs a provider id, and an instance type or
    the label initialized.
    """
    labels = labels_of(node)
    if not labels.get(NODEPOOL):
        return True
    return bool(spec_of(node).get("providerID") and (labels.get(INSTANCE_TYPE) or labels.get(INITIALIZED)))
