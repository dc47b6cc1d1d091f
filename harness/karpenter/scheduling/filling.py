"""Which nodes take which of many equal pods: worked out in one step for a row of them, where nothing but amounts decides."""

from harness.karpenter.scheduling.room import Room
from harness.karpenter.scheduling.shapes import PodShape

__all__ = ["Filling", "is_filler"]


def is_filler(shape: PodShape) -> bool:
    """Whether a node that could take the pod has only to have room for it, whatever other such pods were put on it."""
    return shape.plain and not shape.requirements.items


class Filling:
    """The nodes of one simulation that take pods (``staying``), of which those that settle (``settling``) take exempt ones only."""

    def __init__(self, room: Room, staying: int, settling: int) -> None:
        self._room, self._staying, self._settling = room, staying, settling
        self._left: dict[int, dict[str, int]] = {}
        self._accepting: dict[int, int] = {}

    def take(self, shape: PodShape, exempt: bool, count: int) -> list[tuple[int, int]]:
        """Puts a row of equal pods on nodes: positions, and how many of the row each takes, in order; the others find no node."""
        taken = []
        candidates = self._accepting.get(shape.fit)
        if candidates is None:
            candidates = self._accepting[shape.fit] = self._room.accepting(shape) & self._staying
        if not exempt:
            candidates &= ~self._settling
        while candidates and count:
            bit = candidates & -candidates
            candidates ^= bit
            position = bit.bit_length() - 1
            left = self._left.get(position)
            if left is None:
                left = self._left[position] = dict(self._room.existing[position].amounts)
            most = min((left.get(name, 0) // amount for name, amount in shape.amounts if amount), default=count + 1)
            if most <= count:  # else the node has room for another row
                self._accepting[shape.fit] &= ~bit
            if most > 0:
                here = min(most, count)
                for name, amount in shape.amounts:
                    left[name] = left.get(name, 0) - amount * here
                taken.append((position, here))
                count -= here
        return taken
