"""Which nodes take which of many equal pods: worked out in one step for a row of them, where nothing but amounts decides."""

from collections.abc import Iterator, Mapping

from harness.karpenter.scheduling.nodes.room import Room
from harness.karpenter.scheduling.pods.shapes import PodShape

__all__ = ["EqualFilling", "Filling", "is_filler"]


def is_filler(shape: PodShape) -> bool:
    """Whether a node that could take the pod has only to have room for it, whatever other such pods were put on it."""
    return shape.plain and not shape.requirements.items


class Filling:
    """The nodes of one simulation, without those ``gone``; those that settle (``settling``) take exempt pods only.

    ``shapes`` are by fit.
    """

    def __init__(self, room: Room, shapes: Mapping[int, PodShape], gone: int, settling: int) -> None:
        self._room, self._shapes, self._gone, self._settling = room, shapes, gone, settling
        self._left: dict[int, dict[str, int]] = {}
        self._accepting: dict[int, int] = {}

    def take(self, fit: int, exempt: bool, count: int) -> list[tuple[int, int]]:
        """Puts a row of equal pods on nodes: positions, and how many of the row each takes, in order; the others find no node."""
        taken = []
        shape = self._shapes[fit]
        asked = [(name, amount) for name, amount in shape.amounts if amount]
        candidates = self._accepting.get(fit)
        if candidates is None:
            candidates = self._accepting[fit] = self._room.accepting(shape) & ~self._gone
        if not exempt:
            candidates &= ~self._settling
        while candidates and count:
            bit = candidates & -candidates
            candidates ^= bit
            position = bit.bit_length() - 1
            left = self._left.get(position)
            if left is None:
                left = self._left[position] = dict(self._room.existing[position].amounts)
            most = min((left[name] // amount for name, amount in asked), default=count + 1)
            if most <= count:  # else the node has room for another row
                self._accepting[fit] &= ~bit
            if most > 0:
                here = min(most, count)
                for name, amount in asked:
                    left[name] -= amount * here
                taken.append((position, here))
                count -= here
        return taken


class EqualFilling:
    """The same where all pods are equal: a node has room for a number of them, and those that are full are left behind."""

    def __init__(self, room: Room, shapes: Mapping[int, PodShape], gone: int, settling: int) -> None:
        (shape,) = shapes.values()
        staying = [each for each in room.capacities(shape) if not gone >> each[0] & 1]
        self._settling = settling
        self._positions = [position for position, _ in staying]
        self._left = [capacity for _, capacity in staying]
        self._first = {True: 0, False: 0}
        """Of those that are not full, by whether the pod is exempt."""

    def take(self, _fit: int, exempt: bool, count: int) -> Iterator[tuple[int, int]]:
        """Puts a row of pods on nodes: positions, and how many of the row each takes, in order; the others find no node."""
        positions, left, at = self._positions, self._left, self._first[exempt]
        while count and at < len(left):
            if not left[at] or not (exempt or not self._settling >> positions[at] & 1):
                at += 1
                continue
            here = min(left[at], count)
            left[at] -= here
            count -= here
            yield positions[at], here
        self._first[exempt] = at
