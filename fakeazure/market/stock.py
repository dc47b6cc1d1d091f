"""Stock: how much the platform has left per size, zone and priority. Without a shelf for it, there is always enough."""

from __future__ import annotations

from collections.abc import Iterable

from fakeazure.market.match import Subject, Where
from lazyrecords import dataclass

UNITS = ("vms", "cores")


@dataclass(slots=True)
class Shelf:
    """The stock for the launches that `where` is about: `left` VMs, or cores if `unit` says so.

    A launch that finds it empty ends in `error`, or in what Azure answers for such a placement; `at_once` makes the PUT itself
    fail instead of the operation that it starts.
    """

    where: Where
    left: int
    unit: str = "vms"
    error: str | None = None
    at_once: bool = False

    def need(self, vcpus: int) -> int:
        """Return the share of one VM."""
        return vcpus if self.unit == "cores" else 1


@dataclass(frozen=True, slots=True)
class Held:
    """The shares that one VM took, by the shelf that had them."""

    parts: tuple[tuple[Shelf, int], ...]


class Stock:
    """All shelves of a world."""

    def __init__(self, shelves: Iterable[Shelf] = ()) -> None:
        """Start with `shelves`."""
        self.shelves = list(shelves)

    def put(self, shelf: Shelf) -> Shelf:
        """Add a shelf, and return it; it can be refilled by setting `left`."""
        self.shelves.append(shelf)
        return shelf

    def empty_for(self, subject: Subject, vcpus: int, count: int = 1) -> Shelf | None:
        """The first shelf with too little left for `count` such launches; None when all have enough."""
        for shelf in self.shelves:
            if shelf.where.matches(subject) and shelf.left < count * shelf.need(vcpus):
                return shelf
        return None

    def take(self, subject: Subject, vcpus: int) -> Held:
        """Take one VM from every shelf that is about it."""
        parts = tuple((shelf, shelf.need(vcpus)) for shelf in self.shelves if shelf.where.matches(subject))
        for shelf, amount in parts:
            shelf.left -= amount
        return Held(parts)

    def give_back(self, held: Held) -> None:
        """Put back what a VM had taken."""
        for shelf, amount in held.parts:
            shelf.left += amount
