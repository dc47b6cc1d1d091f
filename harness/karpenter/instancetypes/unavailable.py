"""The cache of offerings that are unavailable for a while after a failure (kaz ``pkg/cache/unavailableofferings.go``)."""

from collections.abc import Hashable

from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.labels.core import SPOT
from lazyrecords import dataclass

__all__ = ["DEFAULT_TTL", "WHOLE_FAMILY", "Mark", "UnavailableOfferings"]

DEFAULT_TTL = 180.0
"""Seconds that a mark lasts unless the failure says otherwise."""
WHOLE_FAMILY = -1
"""Threshold of a family that is blocked at any number of vCPUs."""

_ALL_SPOT = ("", "", SPOT)


@dataclass(frozen=True, slots=True)
class Mark:
    """The reason and the end (in the clock's seconds) of a mark of unavailability; ``vcpus`` is the threshold of a family mark."""

    reason: str
    until: float
    vcpus: int = 0


class UnavailableOfferings:
    """The marks of one controller. ``sequence`` grows with every change, so that lists can be cached by it.

    ``family_with_size``: marking a size also blocks the sizes of its family with as many or more vCPUs.
    """

    def __init__(self, *, family_with_size: bool = True) -> None:
        self._family_with_size = family_with_size
        self._offerings: dict[tuple[str, str, str], Mark] = {}
        self._families: dict[tuple[str, str, str], Mark] = {}
        self._changes: list[str | None] = []
        self.sequence = 0

    def __bool__(self) -> bool:
        return bool(self._offerings or self._families)

    @property
    def marked(self) -> Hashable:
        """All marks without reasons and times: lists built under equal values are equal."""
        families = frozenset((key, mark.vcpus) for key, mark in self._families.items())
        return frozenset(self._offerings), families

    def _changed(self, name: str | None) -> None:
        self.sequence += 1
        self._changes.append(name)

    def changed_since(self, sequence: int) -> frozenset[str] | None:
        """The sizes, and families in lower case, whose marks changed since this sequence number; None when any may have changed."""
        changes = frozenset(self._changes[sequence:])
        return None if None in changes else changes  # type: ignore[return-value]

    def mark(
        self, reason: str, sku: Sku, zone: str, capacity_type: str, *, now: float, ttl: float = DEFAULT_TTL
    ) -> int | None:
        """Marks a size in a zone (label value) for one capacity type.

        Returns as `mark_family` where its family is marked, too; else None.
        """
        self._offerings[(sku.name, zone, capacity_type)] = Mark(reason, now + ttl)
        self._changed(sku.name)
        if self._family_with_size:
            return self._mark_family(reason, sku, zone, capacity_type, sku.vcpus or 0, now + ttl)
        return None

    def mark_name(
        self, reason: str, name: str, zone: str, capacity_type: str, *, now: float, ttl: float = DEFAULT_TTL
    ) -> None:
        """Marks a size of which only the name is known; its family is not marked."""
        self._offerings[(name, zone, capacity_type)] = Mark(reason, now + ttl)
        self._changed(name)

    def mark_spot(self, reason: str, *, now: float, ttl: float = DEFAULT_TTL) -> None:
        """Marks all spot offerings."""
        self._offerings[_ALL_SPOT] = Mark(reason, now + ttl)
        self._changed(None)

    def mark_family(
        self, reason: str, sku: Sku, zone: str, capacity_type: str, *, now: float, ttl: float, vcpus: int = WHOLE_FAMILY
    ) -> int | None:
        """Marks the family of a size, all of it or from ``vcpus`` on. Returns the threshold in force, None for a size without a family."""
        return self._mark_family(reason, sku, zone, capacity_type, vcpus, now + ttl)

    def _mark_family(
        self, reason: str, sku: Sku, zone: str, capacity_type: str, vcpus: int, until: float
    ) -> int | None:
        if not sku.family:
            return None
        key = _family_key(sku.family, zone, capacity_type)
        present = self._families.get(key)
        # The lower threshold blocks more, so it stays; the time starts anew.
        least = vcpus if present is None else min(present.vcpus, vcpus)
        self._families[key] = Mark(reason, until, least)
        self._changed(key[0])
        return least

    def why(self, sku: Sku, zone: str, capacity_type: str) -> Mark | None:
        """The mark that makes an offering unavailable, or None. Call :meth:`expire` first when time has passed."""
        if not self._offerings and not self._families:
            return None
        if capacity_type == SPOT and _ALL_SPOT in self._offerings:
            return self._offerings[_ALL_SPOT]
        family = self._families.get(_family_key(sku.family, zone, capacity_type))
        if family is not None and (sku.vcpus or 0) >= family.vcpus:
            return family
        return self._offerings.get((sku.name, zone, capacity_type))

    def copy(self) -> "UnavailableOfferings":
        """A copy of the marks, which later changes do not reach."""
        other = UnavailableOfferings(family_with_size=self._family_with_size)
        other._offerings, other._families = dict(self._offerings), dict(self._families)
        other.sequence, other._changes = self.sequence, [*self._changes]
        return other

    @property
    def until(self) -> float | None:
        """When the next mark ends; None without any."""
        marks = (*self._offerings.values(), *self._families.values())
        return min((mark.until for mark in marks), default=None)

    def expire(self, now: float) -> None:
        """Remove the marks that have expired at ``now`` (the clock's seconds)."""
        for marks in (self._offerings, self._families):
            gone = [key for key, mark in marks.items() if mark.until <= now]
            for key in gone:
                del marks[key]
                self._changed(key[0] or None)


def _family_key(family: str, zone: str, capacity_type: str) -> tuple[str, str, str]:
    return family.lower(), zone.lower(), capacity_type.lower()
