"""Candidates from one look to the next: of a thousand nodes few are others than a moment ago, and only these are judged again.

All lists are in the order of provider ids, as core keeps its nodes. Objects are compared by identity: a machine's state, and a candidate,
are made anew with anything that they rest on, and never changed in place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from typing import Generic, Protocol, TypeVar

from harness.karpenter.disruption.events.nodes import Told
from harness.karpenter.scheduling.nodes.listed import ordered_changes
from harness.karpenter.scheduling.nodes.state import StateNode

__all__ = ["CandidateCache", "MethodFilterCache"]


class _Candidate(Protocol):
    """A candidate as this cache needs it; ``marked``: some of its pods have the annotation do-not-disrupt."""

    @property
    def state(self) -> StateNode: ...

    @property
    def marked(self) -> bool: ...


C = TypeVar("C", bound=_Candidate)


class _Places(Generic[C]):
    """Candidates in the order of their places, which are provider ids."""

    def __init__(self, places: Sequence[str] = (), items: Sequence[C] = ()) -> None:
        self._places, self.items = list(places), list(items)

    def copy(self) -> _Places[C]:
        return _Places(self._places, self.items)

    def put(self, place: str, item: C) -> None:
        at = bisect_left(self._places, place)
        self._places.insert(at, place)
        self.items.insert(at, item)

    def drop(self, place: str) -> C | None:
        """Remove and return the item at the place; None where there is none."""
        at = bisect_left(self._places, place)
        if at == len(self._places) or self._places[at] != place:
            return None
        del self._places[at]
        return self.items.pop(at)


class CandidateCache(Generic[C]):
    """Candidates that stay ones as long as their node does, for NodePools and instance types that are ``offers``.

    The others are judged at each look: a node that is none may be one later, as a budget of pods, an annotation that ends, a nomination
    or a command decides. So are those of these that are ``in_queue_or_nominated`` at the moment.
    """

    def __init__(self, offers: object) -> None:
        self.offers = offers
        self._nodes: Sequence[StateNode] = ()
        self._known: _Places[C] = _Places()
        self._machine_of: dict[str, str] = {}
        """The provider ids of those that are known, by the names of nodes."""
        self._questioned: dict[str, StateNode] = {}

    def look(
        self, nodes: Sequence[StateNode], in_queue_or_nominated: Collection[str], judge: Callable[[StateNode], C | None]
    ) -> list[C]:
        """All candidates among the nodes; ``judge`` is asked about those that are not known, in order."""
        gone, come = ordered_changes(self._nodes, nodes, _place)
        self._nodes = nodes
        for node in gone:
            self._forget(node)
        for node in come:
            self._questioned[node.provider_id] = node
        candidates, questioned = self._known.copy(), dict(self._questioned)
        for name in in_queue_or_nominated:
            place = self._machine_of.get(name)
            if place is not None and (candidate := candidates.drop(place)) is not None:
                questioned[place] = candidate.state
        for place in sorted(questioned):
            made = judge(questioned[place])
            if made is None:
                continue
            candidates.put(place, made)
            if not made.marked and place in self._questioned:
                self._keep(place, made)
        return candidates.items

    def _keep(self, place: str, candidate: C) -> None:
        del self._questioned[place]
        self._known.put(place, candidate)
        self._machine_of[candidate.state.name] = place

    def _forget(self, node: StateNode) -> None:
        self._questioned.pop(node.provider_id, None)
        candidate = self._known.drop(node.provider_id)
        if candidate is not None:
            del self._machine_of[candidate.state.name]


class MethodFilterCache(Generic[C]):
    """The candidates that a method takes, and what it says of them; it judges by the candidate and the release."""

    def __init__(self) -> None:
        self._candidates: Sequence[C] = ()
        self._taken: _Places[C] = _Places()
        self._said: dict[str, Sequence[Told]] = {}

    def look(
        self,
        candidates: Sequence[C],
        judge: Callable[[C], tuple[bool, Sequence[Told]]],
    ) -> tuple[list[C], list[Told]]:
        """Return the candidates that the method takes, and its events about all of them."""
        gone, come = ordered_changes(self._candidates, candidates, _place_of)
        self._candidates = candidates
        for candidate in gone:
            place = _place_of(candidate)
            self._said.pop(place, None)
            self._taken.drop(place)
        for candidate in come:
            place = _place_of(candidate)
            takes, events = judge(candidate)
            if events:
                self._said[place] = events
            if takes:
                self._taken.put(place, candidate)
        return list(self._taken.items), [candidate for place in sorted(self._said) for candidate in self._said[place]]


def _place(node: StateNode) -> str:
    return node.provider_id


def _place_of(candidate: C) -> str:
    return candidate.state.provider_id
