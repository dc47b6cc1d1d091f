"""Capacity reservations: how many nodes each still takes, and which of them the NodeClaims of a simulation hold.

A NodeClaim holds one place in every reservation that it might be launched into, because nobody knows yet which it will be.

Core ``pkg/controllers/provisioning/scheduling/{reservationmanager,nodeclaim}.go``.
"""

from collections.abc import Iterable

from harness.karpenter.cloudprovider import RESERVED
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.requirement import Requirement
from harness.karpenter.scheduling.algebra import Algebra, RequirementSet
from harness.karpenter.scheduling.catalog import CatalogIndex
from harness.karpenter.scheduling.reasons.pods import ReservationsTaken

NONE: frozenset[str] = frozenset()


class Reservations:
    """The reservations behind the offerings of some lists of instance types, by the value of the label ``label``.

    Where offerings of one reservation disagree about its capacity, the smallest counts.
    """

    def __init__(self, indexes: Iterable[CatalogIndex], label: str) -> None:
        self._label = label
        self._left: dict[str, int] = {}
        self._held: dict[str, set[str]] = {}
        for index in indexes:
            for instance_type in index.types:
                for offering in instance_type.offerings:
                    if offering.capacity_type == RESERVED:
                        name, capacity = offering.reservation(label), offering.reservation_capacity
                        self._left[name] = min(self._left.get(name, capacity), capacity)

    def left(self, reservation: str) -> int:
        """Return how many more hosts can reserve it. Raises KeyError for a reservation that no offering names."""
        return self._left[reservation]

    def holds(self, host: str, reservation: str) -> bool:
        """Return whether the host has reserved it."""
        return reservation in self._held.get(host, NONE)

    def can_reserve(self, host: str, reservation: str) -> bool:
        """Return whether the host has reserved it or could. Raises KeyError for a reservation that no offering names."""
        return self.holds(host, reservation) or self._left[reservation] > 0

    def reserve(self, host: str, reservations: Iterable[str]) -> None:
        """Reserves each of them for the host, once. Raises ValueError when one has no capacity left."""
        held = self._held.setdefault(host, set())
        for name in sorted(set(reservations) - held):
            if self._left[name] < 1:
                raise ValueError(f"reservation {name} has no capacity left for {host}")
            self._left[name] -= 1
            held.add(name)

    def release(self, host: str, reservations: Iterable[str]) -> None:
        """Releases those of them that the host has reserved."""
        held = self._held.get(host, set())
        for name in held.intersection(reservations):
            held.remove(name)
            self._left[name] += 1

    def wanted(
        self, host: str, held: frozenset[str], index: CatalogIndex, requirements: RequirementSet, mask: int
    ) -> frozenset[str] | ReservationsTaken:
        """Return the reservations of a NodeClaim with these requirements and instance types, or the reason if it would
        lose its reserved capacity.
        """
        names: set[str] = set()
        full = other = False
        for position in index.offered(requirements.items)[1]:
            types = index.offering_types(position) & mask
            offering = index.offering_requirements(position)
            if not types:
                continue
            if RESERVED not in offering.get(CAPACITY_TYPE).values:
                other = True
            elif types & ~index.spent(position):
                names.add(min(offering.get(self._label).values, default=""))
            full = full or bool(types & index.spent(position))
        possible = frozenset(name for name in names if self.can_reserve(host, name))
        if possible:
            return possible
        if full and not names and not other:
            return ReservationsTaken(lost=False, full=True)
        return ReservationsTaken(lost=not names) if names or held else possible

    def pinned(self, algebra: Algebra, requirements: RequirementSet, held: frozenset[str]) -> RequirementSet:
        """The requirements of a finished NodeClaim: with places held, only reserved capacity, of those reservations."""
        if not held:
            return requirements
        items = {key: value for key, value in requirements.items.items() if key != CAPACITY_TYPE}
        items[CAPACITY_TYPE] = algebra.only(CAPACITY_TYPE, RESERVED)
        names = Requirement(self._label, False, held)
        return algebra.together(algebra.set_of(items.values()), {self._label: names})
