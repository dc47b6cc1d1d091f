"""Instance types that worlds share: lists and single sizes by what they were made from."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.instancetypes import InstanceTypeList, SkuBook
from harness.karpenter.provider.selection import PriceOrders
from harness.latest import Latest

__all__ = ["Same", "SharedLists"]

_LISTS, _SIZES = 24, 4096
"""The numbers of lists, and of single sizes, that are kept for all worlds."""


class SharedLists:
    """Instance types that worlds with the same inputs share; no content depends on which world came first.

    `book` holds the records of regions as they were read, for all releases.
    """

    def __init__(self, book: SkuBook | None = None) -> None:
        self.book = book or SkuBook()
        self.price_orders = PriceOrders()
        self._lists: Latest[Hashable, InstanceTypeList] = Latest(_LISTS)
        self._sizes: Latest[Hashable, InstanceType | DroppedSize] = Latest(_SIZES)

    def get(self, key: Hashable, build: Callable[[], InstanceTypeList]) -> InstanceTypeList:
        """The list for this key, built at first use."""
        return self._lists.of(key, build)

    def size(self, key: Hashable, build: Callable[[], InstanceType | DroppedSize]) -> InstanceType | DroppedSize:
        """The one size for this key, built at first use."""
        return self._sizes.of(key, build)


class Same:
    """An object in a key, compared by identity. The key keeps it alive, so that no other object can get its address."""

    __slots__ = ("it",)

    def __init__(self, it: object) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.it is other.it

    def __hash__(self) -> int:
        return id(self.it)
