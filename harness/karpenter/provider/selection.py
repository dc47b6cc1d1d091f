"""Which instance type a launch will buy, found without looking at all of them.

The provider keeps, of the types that a NodeClaim allows, the one with the best offering: price, then spot before on-demand,
then zonal before regional, then name. Types are looked at from the cheapest on, until none that follows can be better.
Source: kaz pkg/providers/allocationstrategy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.instancetypes.offerings import placement_scope
from harness.karpenter.labels.core import CAPACITY_TYPE, ON_DEMAND, SPOT
from harness.karpenter.launch import claim_requirements, resolve_instance_types
from harness.karpenter.releases import ProviderRelease
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object

_CAPACITY_RANK: Mapping[str, int] = {SPOT: 0, ON_DEMAND: 1}

Rank = tuple[float, int, int]


def rank(offering: Offering) -> Rank:
    """What makes an offering better than another: smaller is better."""
    regional = placement_scope(offering.zone) != "zonal"
    return (offering.price, _CAPACITY_RANK.get(offering.capacity_type, 2), int(regional))


class PriceOrder:
    """The types of one list by their best available offering, of any capacity type and by capacity type."""

    __slots__ = ("_best", "_by_capacity", "_types")

    def __init__(self, types: Sequence[InstanceType], best: BestRanks) -> None:
        self._types, self._best = types, best
        self._by_capacity: dict[str | None, list[tuple[Rank, InstanceType]]] = {}

    def of(self, capacity_type: str | None) -> Sequence[tuple[Rank, InstanceType]]:
        """Types that have such an offering, best first."""
        found = self._by_capacity.get(capacity_type)
        if found is None:
            found = []
            for item in self._types:
                best = self._best.of(item, capacity_type)
                if best is not None:
                    found.append((best, item))
            found.sort(key=lambda each: (each[0], each[1].name))
            self._by_capacity[capacity_type] = found
        return found


class BestRanks:
    """The best available offering of each type. Types are shared between lists, so that a list that hardly differs costs little."""

    def __init__(self) -> None:
        # the type is kept, so that its identity is not used again
        self._found: dict[tuple[int, str | None], tuple[InstanceType, Rank | None]] = {}

    def of(self, item: InstanceType, capacity_type: str | None) -> Rank | None:
        """The rank among the offerings of a capacity type, of any for None; None when none is available."""
        key = (id(item), capacity_type)
        found = self._found.get(key)
        if found is None:
            ranks = (
                rank(offering)
                for offering in item.available_offerings
                if capacity_type is None or offering.capacity_type == capacity_type
            )
            found = self._found[key] = item, min(ranks, default=None)
        return found[1]


class PriceOrders:
    """The orders of lists that are in use, by identity of the list."""

    def __init__(self) -> None:
        self._best = BestRanks()
        self._found: dict[int, tuple[Sequence[InstanceType], PriceOrder]] = {}

    def of(self, types: Sequence[InstanceType]) -> PriceOrder:
        """The order of a list that does not change."""
        known = self._found.get(id(types))
        if known is None or known[0] is not types:
            known = self._found[id(types)] = types, PriceOrder(types, self._best)
        return known[1]


def best_types(
    claim: Object, types: Sequence[InstanceType], release: ProviderRelease, orders: PriceOrders
) -> Sequence[InstanceType]:
    """The type that will be bought, alone; nothing when the NodeClaim allows none; all, where the release does not rank."""
    if not release.ranks_offerings:
        return types
    wanted = claim_requirements(claim, release)
    capacity = wanted.get(CAPACITY_TYPE)
    single = next(iter(capacity.values)) if not capacity.complement and len(capacity.values) == 1 else None
    named = wanted.get(INSTANCE_TYPE)
    best: tuple[Rank, str] | None = None
    found: InstanceType | None = None
    for least, item in orders.of(types).of(single):
        if best is not None and (least, item.name) > best:
            break
        if not named.has(item.name) or not resolve_instance_types(claim, wanted, (item,), release):
            continue
        ranks = [rank(offering) for offering in item.compatible_offerings(wanted) if offering.available]
        key = (min(ranks), item.name)
        if best is None or key < best:
            best, found = key, item
    return () if found is None else (found,)
