"""Go's ``sort.Slice``: unstable, yet deterministic, and Kubernetes controllers' results depend on where it leaves equal elements.

Pattern-defeating quicksort as in Go 1.19 to 1.26 (``src/sort/zsortfunc.go``). Up to 12 elements it equals a stable sort.
"""

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")

_INSERTION_LENGTH = 12
_NINTHER_LENGTH = 50
_SHIFTING_LENGTH = 50
_REPAIRS = 5
_UINT64 = (1 << 64) - 1

UNKNOWN, INCREASING, DECREASING = range(3)


def sort_slice(items: list[T], key: Callable[[T], Any]) -> None:
    """Sort ``items`` in place by ascending key, equal keys where Go would leave them."""
    sort_keyed([key(item) for item in items], items)


def sort_keyed(keys: list[Any], items: list[T]) -> None:
    """Sort both lists in place by the keys."""
    _Sorter(keys, items).sort(0, len(keys), len(keys).bit_length())


def choose_pivot(keys: list[Any], low: int, high: int) -> tuple[int, int]:
    """The index of the pivot for keys[low:high], and what its samples say about the order: UNKNOWN, INCREASING or DECREASING."""
    length, swaps = high - low, 0
    left, middle, right = low + length // 4, low + length // 4 * 2, low + length // 4 * 3
    if length >= 8:
        if length >= _NINTHER_LENGTH:
            left, swaps = _median(keys, left - 1, left, left + 1, swaps)
            middle, swaps = _median(keys, middle - 1, middle, middle + 1, swaps)
            right, swaps = _median(keys, right - 1, right, right + 1, swaps)
        middle, swaps = _median(keys, left, middle, right, swaps)
    if swaps == 0:
        return middle, INCREASING
    return middle, DECREASING if swaps == 12 else UNKNOWN


def _median(keys: list[Any], a: int, b: int, c: int, swaps: int) -> tuple[int, int]:
    if keys[b] < keys[a]:
        swaps += 1
        a, b = b, a
    if keys[c] < keys[b]:
        swaps += 1
        b, c = c, b
    if keys[b] < keys[a]:
        swaps += 1
        a, b = b, a
    return b, swaps


class _Sorter:
    __slots__ = ("items", "keys")

    def __init__(self, keys: list[Any], items: list[Any]) -> None:
        self.keys, self.items = keys, items

    def swap(self, i: int, j: int) -> None:
        keys, items = self.keys, self.items
        keys[i], keys[j] = keys[j], keys[i]
        items[i], items[j] = items[j], items[i]

    def sort(self, low: int, high: int, bad_pivots: int) -> None:
        keys = self.keys
        balanced = partitioned = True
        while True:
            length = high - low
            if length <= _INSERTION_LENGTH:
                return self.insertion(low, high)
            if bad_pivots == 0:
                return self.heap(low, high)
            if not balanced:
                self.scatter(low, high)
                bad_pivots -= 1
            pivot, order = choose_pivot(keys, low, high)
            if order == DECREASING:
                keys[low:high] = keys[low:high][::-1]
                self.items[low:high] = self.items[low:high][::-1]
                pivot = high - 1 - (pivot - low)
                order = INCREASING
            if balanced and partitioned and order == INCREASING and self.repair(low, high):
                return None
            if low > 0 and not keys[low - 1] < keys[pivot]:
                low = self.partition_equal(low, high, pivot)
                continue
            middle, partitioned = self.partition(low, high, pivot)
            if middle - low < high - middle:
                balanced = middle - low >= length // 8
                self.sort(low, middle, bad_pivots)
                low = middle + 1
            else:
                balanced = high - middle >= length // 8
                self.sort(middle + 1, high, bad_pivots)
                high = middle

    def insertion(self, low: int, high: int) -> None:
        keys, items = self.keys, self.items
        for i in range(low + 1, high):
            key, item, j = keys[i], items[i], i
            while j > low and key < keys[j - 1]:
                keys[j], items[j] = keys[j - 1], items[j - 1]
                j -= 1
            keys[j], items[j] = key, item

    def heap(self, low: int, high: int) -> None:
        length = high - low
        for root in range((length - 1) // 2, -1, -1):
            self.sift_down(root, length, low)
        for end in range(length - 1, -1, -1):
            self.swap(low, low + end)
            self.sift_down(0, end, low)

    def sift_down(self, root: int, length: int, first: int) -> None:
        keys = self.keys
        while (child := 2 * root + 1) < length:
            if child + 1 < length and keys[first + child] < keys[first + child + 1]:
                child += 1
            if not keys[first + root] < keys[first + child]:
                return
            self.swap(first + root, first + child)
            root = child

    def partition(self, low: int, high: int, pivot: int) -> tuple[int, bool]:
        """Smaller keys left of the pivot's new index, the others right; and whether nothing had to move."""
        keys = self.keys
        self.swap(low, pivot)
        least = keys[low]
        i, j, untouched = low + 1, high - 1, True
        while True:
            while i <= j and keys[i] < least:
                i += 1
            while i <= j and not keys[j] < least:
                j -= 1
            if i > j:
                self.swap(j, low)
                return j, untouched
            self.swap(i, j)
            i, j, untouched = i + 1, j - 1, False

    def partition_equal(self, low: int, high: int, pivot: int) -> int:
        """Keys equal to the pivot left, greater ones right; none is smaller."""
        keys = self.keys
        self.swap(low, pivot)
        i, j = low + 1, high - 1
        while True:
            while i <= j and not keys[low] < keys[i]:
                i += 1
            while i <= j and keys[low] < keys[j]:
                j -= 1
            if i > j:
                return i
            self.swap(i, j)
            i, j = i + 1, j - 1

    def repair(self, low: int, high: int) -> bool:
        """Shift a few elements that are out of order; true when keys[low:high] is sorted then."""
        keys, i = self.keys, low + 1
        for _ in range(_REPAIRS):
            while i < high and not keys[i] < keys[i - 1]:
                i += 1
            if i == high:
                return True
            if high - low < _SHIFTING_LENGTH:
                return False
            self.swap(i, i - 1)
            if i - low >= 2:
                j = i - 1
                while j >= 1 and keys[j] < keys[j - 1]:
                    self.swap(j, j - 1)
                    j -= 1
            if high - i >= 2:
                j = i + 1
                while j < high and keys[j] < keys[j - 1]:
                    self.swap(j, j - 1)
                    j += 1
        return False

    def scatter(self, low: int, high: int) -> None:
        """Move a few elements with a xorshift generator that is seeded with the length."""
        length = high - low
        if length < 8:
            return
        random, modulus = length, 1 << length.bit_length()
        first = low + length // 4 * 2 - 1
        for i in range(3):
            random ^= (random << 13) & _UINT64
            random ^= random >> 7
            random ^= (random << 17) & _UINT64
            other = random & (modulus - 1)
            self.swap(first + i, low + (other - length if other >= length else other))
