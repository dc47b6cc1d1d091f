"""Pods in the order in which they are tried, and what is the same of those that stand next to each other."""

from bisect import bisect
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property

from harness.karpenter.scheduling.likeness.asking import FIT, KEY, Asking, Place

__all__ = ["Line", "Runs", "Symbol"]

Symbol = tuple[int, bool]
"""What there is to tell of a pod: its fit, and whether also nodes take it which still settle."""

Runs = tuple[tuple[Symbol, int], ...]
"""A line as symbols, each with the number of pods in a row that have it; neighbours differ."""


class Line:
    """Pods that need a place anyway. Those with the same symbol are interchangeable.

    ``exempt`` are the keys of pods, among these and those that join them, which also nodes take that still settle.
    """

    def __init__(self, places: Sequence[Place], exempt: Collection[str] = ()) -> None:
        self.places, self._exempt = places, exempt
        self._symbols = [self._symbol(each) for each in places]
        self._starts: list[int] = []
        """Where the row of equal ones begins that each stands in."""
        for at, each in enumerate(self._symbols):
            goes_on = at and each == self._symbols[at - 1]
            self._starts.append(self._starts[-1] if goes_on else at)

    def _symbol(self, place: Place) -> Symbol:
        return place[FIT], place[KEY] in self._exempt

    @cached_property
    def _ends(self) -> list[int]:
        """Where the row of equal ones ends that each stands in."""
        ends: list[int] = []
        for at in range(len(self._starts) - 1, -1, -1):
            goes_on = ends and self._starts[at + 1] == self._starts[at]
            ends.append(ends[-1] if goes_on else at + 1)
        return ends[::-1]

    @cached_property
    def _whole(self) -> Runs:
        return tuple(self._between(0, len(self.places)))

    def is_of(self, symbol: Symbol) -> bool:
        """Whether all of them, if there are any, have this symbol."""
        whole = self._whole
        return not whole or (len(whole) == 1 and whole[0][0] == symbol)

    def _between(self, at: int, until: int) -> Iterator[tuple[Symbol, int]]:
        while at < until:
            end = min(self._ends[at], until)
            yield self._symbols[at], end - at
            at = end

    def runs(self, joining: Asking, *, alike: bool, where: Sequence[int] = ()) -> Runs:
        """The line with others that join it; ``alike``: none of those is exempt. ``where``: how many of the line each has before it."""
        whole = self._whole
        if not joining.count:
            return whole
        own = (joining.only, False) if alike and joining.only is not None else None
        if own is not None and self.is_of(own):
            return ((own, len(self.places) + joining.count),)
        places = joining.places
        if own is not None:
            first = bisect(self.places, places[0])
            if bisect(self.places, places[-1], first) == first:  # all stand together
                return _merged(
                    (*self._between(0, first), (own, joining.count), *self._between(first, len(self.places)))
                )
        found: list[tuple[Symbol, int]] = []
        at = 0
        if own is not None and len(places) > len(self.places):
            for place, symbol in zip(self.places, self._symbols, strict=True):
                until = bisect(places, place, at)
                found.append((own, until - at))
                found.append((symbol, 1))
                at = until
            return _merged((*found, (own, len(places) - at)))
        if own is not None and len(whole) == 1:
            return self._mingled(own, where or [bisect(self.places, place) for place in places])
        for place in places:
            until = bisect(self.places, place, at)
            found.extend(self._between(at, until))
            found.append((self._symbol(place), 1))
            at = until
        return _merged((*found, *self._between(at, len(self.places))))

    def _mingled(self, own: Symbol, places: Sequence[int]) -> Runs:
        """A line of equal pods with others, of another symbol, that stand at these places among them."""
        ((symbol, count),) = self._whole
        found: list[tuple[Symbol, int]] = []
        begun = row = 0
        for place in places:
            if place > begun:
                if row:
                    found.append((own, row))
                found.append((symbol, place - begun))
                begun, row = place, 0
            row += 1
        found.append((own, row))
        if begun < count:
            found.append((symbol, count - begun))
        return tuple(found)

    def joined(self, places: Iterable[Place]) -> Hashable:
        """Equal for pods that make the same line when they join this one."""
        found = []
        for place in places:
            at, symbol = bisect(self.places, place), self._symbol(place)
            if at and self._symbols[at - 1] == symbol:
                at = self._starts[at - 1]
            found.append((at, symbol))
        return tuple(found)


def _merged(found: Iterable[tuple[Symbol, int]]) -> Runs:
    """The same with equal neighbours as one."""
    runs: list[tuple[Symbol, int]] = []
    for symbol, count in found:
        if not count:
            continue
        if runs and runs[-1][0] == symbol:
            count += runs.pop()[1]
        runs.append((symbol, count))
    return tuple(runs)
