"""Candidates from one look to the next: of a thousand nodes few are others than a moment ago, and only these are judged again.

All lists are in the order of provider ids, as core keeps its nodes. Objects are compared by identity: a machine's state, and a candidate,
are made anew with anything that they rest on, and never changed in place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from typing import Generic, Protocol, TypeVar

from harness.karpenter.disruption.events.nodes import NodeEvents
from harness.karpenter.scheduling.nodeclaims.planned import SchedulingEvent
from harness.karpenter.scheduling.nodes.listed import ordered_changes
from harness.karpenter.scheduling.nodes.state import StateNode

__all__ = ["Eligible", "Unquestioned"]


class _Candidate(Protocol):
    """What counts of a candidate here; ``marked``: some of its pods have the annotation do-not-disrupt."""

    @property
    def state(self) -> StateNode: ...

    @property
    def marked(self) -> bool: ...


C = TypeVar("C", bound=_Candidate)


class Unquestioned(Generic[C]):
    """Candidates that stay ones as long as their node does, for NodePools and instance types that are ``offers``.

    The others are judged at each look: a node that is none may be one later, as a budget of pods, an annotation that ends, a nomination
    or a command decides. So are those of these that are ``barred`` at the moment.
    """

    def __init__(self, offers: object) -> None:
        self.offers = offers
        self._nodes: Sequence[StateNode] = ()
        self._known: dict[str, C] = {}
        self._order: list[str] = []
        """The provider ids of those that are known."""
        self._machine_of: dict[str, str] = {}
        """Their provider ids, by the names of nodes."""
        self._questioned: dict[str, StateNode] = {}

    def look(
        self, nodes: Sequence[StateNode], barred: Collection[str], judge: Callable[[StateNode], C | None]
    ) -> list[C]:
        """All candidates among the nodes; ``judge`` is asked about those that are not known, in order."""
        gone, come = ordered_changes(self._nodes, nodes, _place)
        self._nodes = nodes
        for node in gone:
            self._forget(node)
        for node in come:
            self._questioned[node.provider_id] = node
        places = self._order.copy()
        out = [self._machine_of[name] for name in barred if name in self._machine_of]
        for place in out:
            del places[bisect_left(places, place)]
        found = [*map(self._known.__getitem__, places)]
        asked = {**self._questioned, **{place: self._known[place].state for place in out}}
        for place in sorted(asked):
            made = judge(asked[place])
            if made is None:
                continue
            at = bisect_left(places, place)
            places.insert(at, place)
            found.insert(at, made)
            if not made.marked and place in self._questioned:
                self._keep(place, made)
        return found

    def _keep(self, place: str, candidate: C) -> None:
        del self._questioned[place]
        self._known[place] = candidate
        self._machine_of[candidate.state.name] = place
        self._order.insert(bisect_left(self._order, place), place)

    def _forget(self, node: StateNode) -> None:
        place = node.provider_id
        self._questioned.pop(place, None)
        known = self._known.pop(place, None)
        if known is not None:
            del self._machine_of[known.state.name]
            del self._order[bisect_left(self._order, place)]


class Eligible(Generic[C]):
    """The candidates that a method takes, and what it says of them; it judges by the candidate and the release."""

    def __init__(self) -> None:
        self._candidates: Sequence[C] = ()
        self._places: list[str] = []
        self._taken: list[C] = []
        self._said: dict[str, Sequence[SchedulingEvent | NodeEvents]] = {}

    def look(
        self,
        candidates: Sequence[C],
        judge: Callable[[C], tuple[bool, Sequence[SchedulingEvent | NodeEvents]]],
    ) -> tuple[list[C], list[SchedulingEvent | NodeEvents]]:
        """Those of the candidates that it takes, and what it says of all of them."""
        gone, come = ordered_changes(self._candidates, candidates, _place_of)
        self._candidates = candidates
        for each in gone:
            place = _place_of(each)
            self._said.pop(place, None)
            at = bisect_left(self._places, place)
            if at < len(self._places) and self._places[at] == place:
                del self._places[at], self._taken[at]
        for each in come:
            place = _place_of(each)
            takes, said = judge(each)
            if said:
                self._said[place] = said
            if takes:
                at = bisect_left(self._places, place)
                self._places.insert(at, place)
                self._taken.insert(at, each)
        return list(self._taken), [each for place in sorted(self._said) for each in self._said[place]]


def _place(node: StateNode) -> str:
    return node.provider_id


def _place_of(candidate: C) -> str:
    return candidate.state.provider_id
