"""In-flight NodeClaims in the order in which a pod tries them: fewest pods first, equal ones where Go's sort leaves them.

Karpenter sorts before every pod. Between two sorts at most one NodeClaim has changed, so that the sort is usually one move; it is
run in full only where its samples would notice the change.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.karpenter.scheduling.masks import few_bits
from harness.kube.go.sort import INCREASING, choose_pivot, sort_keyed

if TYPE_CHECKING:
    from harness.karpenter.scheduling.nodeclaims.inflight import InflightNodeClaim

_INSERTION_LENGTH = 12
_SHIFTING_LENGTH = 50
_COUNT_BITS = 44
_MIDDLE = 1 << (_COUNT_BITS - 1)


class InflightOrder:
    """The NodeClaims, by identity number and in order; ``stable`` uses a stable sort throughout."""

    def __init__(self, stable: bool) -> None:
        self._stable = stable
        self.items: list[InflightNodeClaim] = []
        self.by_id: list[InflightNodeClaim] = []
        self._counts: list[int] = []
        self._ranks: list[int] = []
        self._rank_of: list[int] = []
        self._with_pods: dict[
            int, int
        ] = {}  # number of pods → NodeClaims with so many, as a bit mask by identity number
        self._front = self._back = _MIDDLE
        self._changed: int | None = None

    def append(self, nodeclaim: "InflightNodeClaim") -> None:
        """Add a NodeClaim, with its first pod, at the end."""
        self.by_id.append(nodeclaim)
        self.items.append(nodeclaim)
        self._counts.append(1)
        self._ranks.append(0)
        self._rank_of.append(0)
        self._with_pods[1] = self._with_pods.get(1, 0) | nodeclaim.bit
        self._changed = len(self.items) - 1

    def grew(self, nodeclaim: "InflightNodeClaim") -> None:
        """Note that the NodeClaim has one more pod; its place changes with the next sort."""
        position = bisect_left(self._ranks, self._rank_of[nodeclaim.id])
        count = self._counts[position]
        self._counts[position] = count + 1
        self._with_pods[count] ^= nodeclaim.bit
        self._with_pods[count + 1] = self._with_pods.get(count + 1, 0) | nodeclaim.bit
        self._changed = position

    def sort(self) -> None:
        """Bring the NodeClaims into order, as Karpenter does before each pod."""
        position = self._changed
        if position is None:
            return
        self._changed = None
        length = len(self.items)
        quick = self._stable or length <= _INSERTION_LENGTH or self._in_order(position)
        if not quick and length >= _SHIFTING_LENGTH:
            quick = choose_pivot(self._counts, 0, length)[1] == INCREASING
        if quick:
            self._move(position)
        else:
            self._sort_all()

    def _in_order(self, position: int) -> bool:
        counts = self._counts
        after = position + 1 == len(counts) or counts[position] <= counts[position + 1]
        return after and (position == 0 or counts[position - 1] <= counts[position])

    def _move(self, position: int) -> None:
        count = self._counts.pop(position)
        item = self.items.pop(position)
        self._ranks.pop(position)
        if count == 1:  # new: behind the others with one pod
            self._back += 1
            rank, place = count << _COUNT_BITS | self._back, bisect_right(self._counts, count)
        else:  # grown: in front of those that it has caught up with
            self._front -= 1
            rank, place = count << _COUNT_BITS | self._front, bisect_left(self._counts, count)
        self._counts.insert(place, count)
        self.items.insert(place, item)
        self._ranks.insert(place, rank)
        self._rank_of[item.id] = rank

    def _sort_all(self) -> None:
        sort_keyed(self._counts, self.items)
        self._front, self._back = _MIDDLE, _MIDDLE + len(self.items)
        for position, (count, item) in enumerate(zip(self._counts, self.items, strict=True)):
            rank = count << _COUNT_BITS | (_MIDDLE + position)
            self._ranks[position] = self._rank_of[item.id] = rank

    def candidates(self, mask: int) -> Iterator["InflightNodeClaim"]:
        """The NodeClaims whose bit (by identity number) is set, in order; to be asked for after a sort."""
        low = 0
        while mask:
            count = self._counts[low]
            high = bisect_right(self._counts, count, low)
            wanted = mask & self._with_pods[count]
            if wanted:
                mask ^= wanted
                yield from self._of_equal(wanted, low, high)
            low = high

    def _of_equal(self, mask: int, low: int, high: int) -> Iterator["InflightNodeClaim"]:
        """Yield the NodeClaims of a mask that have as many pods as all between two positions."""
        count = mask.bit_count()
        if count * count <= 4 * (high - low):
            for identity in sorted(few_bits(mask), key=self._rank_of.__getitem__):
                yield self.by_id[identity]
            return
        wanted = mask.to_bytes(len(self.by_id) // 8 + 1, "little")
        for position in range(low, high):
            item = self.items[position]
            if wanted[item.id >> 3] >> (item.id & 7) & 1:
                yield item
