"""Which simulations have the same outcome apart from the names of pods, so that one of them answers for all."""

from bisect import bisect
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.scheduling.filling import Filling, is_filler
from harness.karpenter.scheduling.ground import Ground
from harness.karpenter.scheduling.memory import ClusterMemory
from harness.karpenter.scheduling.nodeclaims import pod_key
from harness.karpenter.scheduling.queue import QueuedPod
from harness.karpenter.scheduling.shapes import PodShape
from harness.kube.api.objects import Object, spec_of
from lazyrecords import dataclass

__all__ = ["Alike", "Likeness"]

_Place = tuple[tuple[int, int, str, str], int, str]


@dataclass(frozen=True, slots=True)
class _Asking:
    """Pods as they are tried: rank, fit and key of each, in order.

    ``amounts`` are what they ask for; ``plain``: nothing but their fit decides, ``fillers``: nothing but amounts. ``shapes`` are by fit.
    """

    places: tuple[_Place, ...]
    amounts: frozenset[tuple[tuple[str, int], ...]]
    plain: bool
    fillers: bool
    shapes: Mapping[int, PodShape]

    @classmethod
    def of(cls, queued: Callable[[Object], QueuedPod], pods: Iterable[Object]) -> "_Asking":
        found = [queued(pod) for pod in pods]
        places = sorted((each.rank, each.shape.fit, each.key) for each in found)
        amounts = frozenset(each.shape.amounts for each in found)
        shapes = {each.shape.fit: each.shape for each in found}
        plain, fillers = all(each.shape.plain for each in found), all(is_filler(each.shape) for each in found)
        return cls(tuple(places), amounts, plain, fillers, shapes)


@dataclass(slots=True)
class _Row:
    """Pods that stand one after the other, from a place on, and tell the same."""

    symbol: Any
    places: Sequence[_Place]
    start: int
    count: int


@dataclass(frozen=True, slots=True)
class Foretold:
    """What can be told of a simulation before it is made: which pods no node takes (``key``, equal for rows of the same pods), and the
    names of those nodes that are not initialized and take a pod, by pod (``namespace/name``).

    ``overflow``: there are such pods. ``lasting``: what becomes of them has nothing to do with the nodes that there are. ``tried``: the
    number of all pods."""

    key: Hashable
    overflow: bool
    lasting: bool
    early: Mapping[str, str]
    tried: int


class _Line:
    """Pods in the order in which they are tried, and what there is to tell of each; those who tell the same are interchangeable."""

    def __init__(self, places: Sequence[_Place], symbol: Callable[[_Place], Hashable]) -> None:
        self.places, self.symbol = places, symbol
        self._symbols = [symbol(each) for each in places]
        self._starts: list[int] = []
        """Where the row of equal ones begins that each stands in."""
        for at, each in enumerate(self._symbols):
            goes_on = at and each == self._symbols[at - 1]
            self._starts.append(self._starts[-1] if goes_on else at)

    @cached_property
    def _ends(self) -> list[int]:
        """Where the row of equal ones ends that each stands in."""
        ends: list[int] = []
        for at in range(len(self._starts) - 1, -1, -1):
            goes_on = ends and self._starts[at + 1] == self._starts[at]
            ends.append(ends[-1] if goes_on else at + 1)
        return ends[::-1]

    def rows(self, joining: Sequence[_Place]) -> "Iterator[_Row]":
        """The line with others that join it, as rows of equal ones."""
        at, row = 0, None
        for number, place in enumerate(joining):
            until = bisect(self.places, place)
            symbol = self.symbol(place)
            if row is not None and at >= until and row.symbol == symbol:
                row.count += 1
                continue
            if row is not None:
                yield row
            yield from self._rows(at, until)
            at, row = max(at, until), _Row(symbol, joining, number, 1)
        if row is not None:
            yield row
        yield from self._rows(at, len(self.places))

    def _rows(self, at: int, until: int) -> "Iterator[_Row]":
        while at < until:
            end = min(self._ends[at], until)
            yield _Row(self._symbols[at], self.places, at, end - at)
            at = end

    def joined(self, places: Iterable[_Place]) -> Hashable:
        """Equal for pods that make the same line when they join this one."""
        found = []
        for place in places:
            at, symbol = bisect(self.places, place), self.symbol(place)
            if at and self._symbols[at - 1] == symbol:
                at = self._starts[at - 1]
            found.append((at, symbol))
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Alike:
    """``key`` is equal for simulations that are alike: what becomes of the pod at a place in one of them becomes of the pod at that
    place in the others.
    """

    key: Hashable
    _others: Sequence[_Place]
    _own: Sequence[_Place]

    @property
    def order(self) -> tuple[str, ...]:
        """The pods (``namespace/name``) in the order in which they are tried."""
        return tuple(key for _, _, key in sorted((*self._others, *self._own)))


class Likeness:
    """Of simulations without one node, over one snapshot, in which ``pending`` and ``displaced`` pods need a place anyway.

    ``exempt`` are pods that also nodes take which still settle.
    """

    def __init__(
        self,
        ground: Ground,
        memory: ClusterMemory,
        pending: Iterable[Object],
        displaced: Iterable[Object],
        exempt: Callable[[Object], bool],
    ) -> None:
        self._ground, self._exempt = ground, exempt
        self._asking: Callable[[Sequence[Object]], _Asking] = partial(_Asking.of, ground.queued)
        self._known = memory.of_pods((_Asking, ground.shapes), self._asking)
        self._others = [*pending, *displaced]
        self._anyway = self._asking(self._others)
        self._limited = any(spec_of(pool).get("limits") for pool in ground.nodepools)
        alone = not ground.running.repelling and ground.options.reservation_label is None
        self._tells = alone and self._anyway.plain
        self._rooms: dict[frozenset[tuple[tuple[str, int], ...]], int] = {}

    def _with_room(self, asking: _Asking) -> int:
        mask = self._rooms.get(asking.amounts)
        if mask is None:
            mask = 0
            for amounts in asking.amounts:
                mask |= self._ground.with_room(amounts)
            self._rooms[asking.amounts] = mask
        return mask

    @cached_property
    def _line(self) -> _Line:
        return _Line(self._anyway.places, _unexempted)

    @cached_property
    def _exempt_keys(self) -> frozenset[str]:
        return frozenset(pod_key(pod) for pod in self._others if self._exempt(pod))

    @cached_property
    def _exempt_line(self) -> _Line:
        return _exempting(self._anyway.places, self._exempt_keys)

    def _asked_by(self, moving: Sequence[Object]) -> _Asking:
        return (self._known if isinstance(moving, tuple) else self._asking)(moving)

    def _line_with(self, moving: Sequence[Object]) -> _Line:
        """Returns the line in which the exempt pods among these and the others are marked."""
        exempt = frozenset(pod_key(pod) for pod in moving if self._exempt(pod))
        return self._exempt_line if not exempt else _exempting(self._anyway.places, exempt | self._exempt_keys)

    def foretold(self, leaving: Collection[str], moving: Sequence[Object], *, settling: int) -> Foretold | None:
        """What can be told of the simulation without these nodes; None where pods ask for more than amounts."""
        if not self._tells or not self._anyway.fillers or self._ground.tolerates_preferences:
            return None
        own = self._asked_by(moving)
        if not own.fillers:
            return None
        room, line = self._ground.room, self._line
        if settling and settling & (self._with_room(self._anyway) | self._with_room(own)):
            line = self._line_with(moving)
        staying = (1 << len(room.existing)) - 1
        for name in leaving:
            if (position := room.position_of.get(name)) is not None:
                staying ^= 1 << position
        filling = Filling(room, staying, settling)
        early: dict[str, str] = {}
        overflow: list[tuple[int, int]] = []
        shapes, left = {**self._anyway.shapes, **own.shapes}, len(own.places) + len(line.places)
        tried = left
        for row in line.rows(own.places):
            fit, exempted = row.symbol
            taken = filling.take(shapes[fit], exempted, row.count)
            at = row.start
            for position, count in taken:
                if not (node := room.existing[position]).state.initialized:
                    early.update((key, node.name) for _, _, key in row.places[at : at + count])
                at += count
            left -= at - row.start
            if over := row.start + row.count - at:
                if overflow and overflow[-1][0] == fit:
                    over += overflow.pop()[1]
                overflow.append((fit, over))
            if len(shapes) == 1 and filling.is_full(shapes[fit]):
                overflow = [(fit, left)] if left else []  # of those that follow no one finds a node either
                break
        limited = frozenset(leaving) if self._limited else None
        return Foretold((tuple(overflow), limited), bool(overflow), not self._limited, early, tried)

    def of(self, node: str, moving: Sequence[Object], *, settling: int) -> Alike | None:
        """Alike are nodes whose pods, in the order in which they are tried among the others, ask for the same.

        ``settling`` are the nodes that take exempt pods only. ``moving`` is known again where it is a tuple.
        None where a simulation of its own has to tell: pods that look at where others are, and a node that has room for any of them.
        """
        if not self._tells:
            return None
        own = self._asked_by(moving)
        if not own.plain:
            return None
        position = self._ground.position_of.get(node)
        roomy = self._with_room(self._anyway) | self._with_room(own)
        if position is not None and roomy >> position & 1:
            return None
        taken = self._taken(position)
        if not settling & roomy:
            return Alike((self._line.joined(own.places), taken), self._line.places, own.places)
        line = self._line_with(moving)
        return Alike((line.joined(own.places), taken, line.symbol is not _unexempted), line.places, own.places)

    def _taken(self, position: int | None) -> Hashable:
        """What the node takes of its NodePool's limits."""
        if not self._limited or position is None:
            return None
        state = self._ground.existing[position].state
        capacity = sorted((name, quantity.nano) for name, quantity in state.capacity().items())
        return state.labels.get(NODEPOOL), tuple(capacity)


def _unexempted(place: _Place) -> tuple[int, bool]:
    return place[1], False


def _exempting(places: Sequence[_Place], named: frozenset[str]) -> _Line:
    return _Line(places, lambda place: (place[1], place[2] in named))
