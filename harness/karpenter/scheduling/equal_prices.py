"""The order of sizes with equal prices, which in the provider is that of a Go map.

It lists what is sold in the order of a map and keeps that list until something in it changes (kaz
pkg/providers/instancetype/instancetypes.go List); core sorts by price alone and names the first 60 or 600 in a NodeClaim, and the
first 15 to go from spot to spot (core pkg/cloudprovider/types.go OrderByPrice, from 1.5.0). So chance decides which sizes of one price
are named (docs/reference/chance.md).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.masks import bits
from harness.kube.go.sort import sort_slice

__all__ = ["EqualPrices"]

_PLACES = range(1 << 30)  # small enough for the length of a range on machines of 32 bits, too (a browser)


class EqualPrices:
    """Sorts sizes by price; those with equal prices as ``draw(name, values)`` decides, with new draws for each list of the provider.

    Without ``draw`` their order is the one in which Go's sort leaves a list that was sorted by name.
    """

    __slots__ = ("_cheapest", "_draw", "_places")

    def __init__(self, draw: Callable[[str, Sequence[int]], int] | None = None) -> None:
        self._draw = draw
        self._places: dict[tuple[str, int], int] = {}
        self._cheapest: dict[tuple[str, int, tuple[int, ...], tuple[int, ...]], int] = {}

    def sort(self, types: list[int], prices: Sequence[float], index: CatalogIndex, first: int | None = None) -> None:
        """Sort positions in ``index``, in place. ``prices`` are by position.

        Where only the ``first`` ones matter, ties are drawn among those of equal price at that border alone.
        """
        if self._draw is None:
            sort_slice(types, prices.__getitem__)
            return
        types.sort(key=prices.__getitem__)
        start = 0
        for end in range(1, len(types) + 1):
            if end == len(types) or prices[types[end]] != prices[types[start]]:
                if end - start > 1 and (first is None or start < first < end):
                    types[start:end] = sorted(types[start:end], key=lambda position: self._place(position, index))
                start = end

    def cheapest(self, count: int, accepted: tuple[int, ...], masks: Sequence[int], index: CatalogIndex) -> int:
        """The ``count`` cheapest types by the accepted offerings, as a mask; the list before the sort has the types of each mask in
        turn."""
        key = (index.edition, count, accepted, tuple(masks))
        chosen = self._cheapest.get(key)
        if chosen is None:
            types = [position for mask in masks for position in bits(mask)]
            self.sort(types, index.prices(accepted), index, first=count)
            chosen = self._cheapest[key] = sum(1 << position for position in types[:count])
        return chosen

    def _place(self, position: int, index: CatalogIndex) -> Any:
        """The drawn sort key of a size in the provider's list; the name decides between equal draws, which are rare."""
        key = (index.edition, position)
        place = self._places.get(key)
        name = index.types[position].name
        if place is None:
            assert self._draw is not None
            place = self._places[key] = self._draw(f"sizes/{index.edition}/{name}", _PLACES)
        return place, name
