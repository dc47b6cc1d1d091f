"""The instance type that a launch will choose, found without looking at all of them.

The provider keeps, of the types that a NodeClaim allows, the one with the best offering: price, then spot before on-demand,
then zonal before regional, then name; older releases the one with the lowest price, then name. Types are looked at from the cheapest
on, until none that follows can be better.
Source: kaz pkg/providers/allocationstrategy.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.launch import LaunchTypes, claim_requirements
from harness.karpenter.launch.choice import Rank, rank
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.requirements import Requirements
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object
from harness.latest import LatestOf

_ORDERS = 32
"""The number of lists whose order is kept."""


class PriceOrder:
    """The instance types of one list by their best available offering, over all capacity types or of one."""

    __slots__ = ("_best", "_by_capacity", "_types")

    def __init__(self, types: Sequence[InstanceType], best: BestRanks) -> None:
        self._types, self._best = types, best
        self._by_capacity: dict[str | None, list[tuple[Rank, InstanceType]]] = {}

    def of(self, capacity_type: str | None) -> Sequence[tuple[Rank, InstanceType]]:
        """Rank and type, best first, of the types with an available offering of this capacity type (None: of any)."""
        ordered = self._by_capacity.get(capacity_type)
        if ordered is None:
            ordered = []
            for item in self._types:
                best = self._best.of(item, capacity_type)
                if best is not None:
                    ordered.append((best, item))
            ordered.sort(key=lambda entry: (entry[0], entry[1].name))
            self._by_capacity[capacity_type] = ordered
        return ordered


class BestRanks:
    """The rank of the best available offering of each type. Lists share offerings, so that a list with few new ones costs little."""

    def __init__(self) -> None:
        # the offerings are kept, so that their identity is not used again; so are the requirements, of which offerings share a few
        self._found: dict[tuple[int, str | None], tuple[Sequence[Offering], Rank | None]] = {}
        self._places: dict[int, tuple[Requirements, str, Rank]] = {}

    def of(self, item: InstanceType, capacity_type: str | None) -> Rank | None:
        """The rank among the offerings of a capacity type, of any for None; None when none is available."""
        key = (id(item.offerings), capacity_type)
        entry = self._found.get(key)
        if entry is None:
            ranks = [
                (offering.price, *place[1:])
                for offering in item.available_offerings
                for kind, place in (self._place(offering),)
                if capacity_type is None or kind == capacity_type
            ]
            entry = self._found[key] = item.offerings, min(ranks, default=None)
        return entry[1]

    def _place(self, offering: Offering) -> tuple[str, Rank]:
        """The capacity type and the rank; of the latter only the parts behind the price depend on the requirements alone."""
        place = self._places.get(id(offering.requirements))
        if place is None:
            place = self._places[id(offering.requirements)] = (
                offering.requirements,
                offering.capacity_type,
                rank(offering),
            )
        return place[1:]


class PriceOrders:
    """The orders of lists that are in use, by identity of the list."""

    def __init__(self) -> None:
        self._best = BestRanks()
        self._found: LatestOf[Sequence[InstanceType], PriceOrder] = LatestOf(_ORDERS)

    def of(self, types: Sequence[InstanceType]) -> PriceOrder:
        """The order of a list that does not change."""
        return self._found.of(types, lambda: PriceOrder(types, self._best))


def best_types(
    claim: Object, types: LaunchTypes, release: ProviderRelease, orders: PriceOrders
) -> Sequence[InstanceType]:
    """The instance type that will be launched, as the only item; empty when the NodeClaim allows none.

    Where the release does not rank offerings, the type with the lowest price is launched (`launch/choice.py`, _first_type).
    """
    wanted = claim_requirements(claim, release)
    capacity = wanted.get(CAPACITY_TYPE)
    single = next(iter(capacity.values)) if not capacity.complement and len(capacity.values) == 1 else None
    named = wanted.get(INSTANCE_TYPE)
    best: tuple[tuple[float, ...], str] | None = None
    cheapest: InstanceType | None = None
    for least, item in orders.of(types.compared).of(single):
        if best is not None and _counted(least, release) > best[0]:
            break
        if not named.has(item.name) or not types.allows(item, claim, wanted, release):
            continue
        ranks = [rank(offering) for offering in item.compatible_offerings(wanted) if offering.available]
        key: tuple[tuple[float, ...], str] = (_counted(min(ranks), release), item.name)
        if best is None or key < best:
            best, cheapest = key, item
    return () if cheapest is None else (cheapest,)


def _counted(full_rank: Rank, release: ProviderRelease) -> tuple[float, ...]:
    """The part of a rank that a release compares: all of it, in older releases only the price."""
    return full_rank if release.ranks_offerings else full_rank[:1]
