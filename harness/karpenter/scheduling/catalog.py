"""An index over one list of instance types: sets of types are integers with one bit per type.

Built once per list and shared between simulations; every answer is kept. A question about a thousand types is one AND of two integers.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.labels.core import CAPACITY_TYPE, ON_DEMAND, RESERVED, SPOT
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.requirement import Requirement
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.masks import bits
from harness.latest import LatestOf

NO_PRICE = float("inf")


class Amounts:
    """Bit masks of items by their amount of one resource."""

    def __init__(self, amounts: Sequence[int]) -> None:
        by_amount: dict[int, int] = {}
        for index, amount in enumerate(amounts):
            by_amount[amount] = by_amount.get(amount, 0) | 1 << index
        self.steps = sorted(by_amount)
        self.at_least = [0] * (len(self.steps) + 1)
        for position in range(len(self.steps) - 1, -1, -1):
            self.at_least[position] = self.at_least[position + 1] | by_amount[self.steps[position]]

    def holding(self, amount: int) -> int:
        """The mask of the items with at least this amount."""
        return self.at_least[bisect_left(self.steps, amount)]


class CatalogIndex:
    """Sets of one list of instance types, in its order.

    ``full`` has every bit; ``zero_fits`` those of types without a negative allocatable amount (no pod fits on one that has any).
    ``launchable``: a reserved offering without capacity left has no price (:attr:`SchedulingRules.launchable_offerings`).
    """

    def __init__(self, types: Sequence[InstanceType], vocabulary: Vocabulary, *, launchable: bool = False) -> None:
        self.types = tuple(types)
        self.vocabulary, self.launchable = vocabulary, launchable
        self.full = (1 << len(self.types)) - 1
        self.zero_fits = self._mask(lambda instance_type: instance_type.never_negative)
        self._by_key: dict[str, dict[Requirement, int]] = {}
        self._compatible: dict[Requirement, int] = {}
        self._allocatable: dict[str, Amounts] = {}
        self._capacity: dict[str, Amounts] = {}
        self._values: dict[tuple[str, Requirement | None], list[int]] = {}
        self._limited = frozenset(driver for instance_type in self.types for driver in instance_type.attach_limits)
        self._attaching: dict[tuple[str, int], int] = {}
        self._offering_sets: list[Requirements] = []
        self._offering_prices: list[dict[int, float]] = []
        self._spent: dict[int, int] = {}
        self._index_offerings()
        self.offering_keys = tuple(sorted({key for offering in self._offering_sets for key in offering}))
        self._offered: dict[tuple[Requirement | None, ...], tuple[int, tuple[int, ...]]] = {}
        self._prices: dict[tuple[int, ...], list[float]] = {}
        self._launch_prices: dict[tuple[int, ...], list[float]] = {}
        self._ranks: dict[tuple[int, ...], list[int]] = {}

    def _mask(self, holds: Callable[[InstanceType], bool]) -> int:
        return sum(1 << index for index, instance_type in enumerate(self.types) if holds(instance_type))

    @cached_property
    def price_overlaid(self) -> int:
        """The types of which a NodeOverlay changed a price."""
        return self._mask(lambda instance_type: any(offering.price_overlaid for offering in instance_type.offerings))

    @cached_property
    def capacity_overlaid(self) -> int:
        """The types of which a NodeOverlay changed the capacity."""
        return self._mask(lambda instance_type: instance_type.capacity_overlaid)

    def having(self, key: str) -> Mapping[Requirement, int]:
        """The distinct requirements on a key, each with the types that have it; indexed when a key is first asked for."""
        masks = self._by_key.get(key)
        if masks is None:
            masks = self._by_key[key] = self._index_requirements(key)
        return masks

    def _index_requirements(self, key: str) -> dict[Requirement, int]:
        """Types share most of their requirements, so that few have to be compared."""
        shared: dict[int, tuple[Requirement, list[int]]] = {}
        for index, instance_type in enumerate(self.types):
            requirement = instance_type.requirements.find(key)
            if requirement is None:
                continue
            same = shared.get(id(requirement))
            if same is None:
                shared[id(requirement)] = requirement, [index]
            else:
                same[1].append(index)
        masks: dict[Requirement, int] = {}
        for requirement, indexes in shared.values():
            every = len(indexes) == len(self.types)
            mask = self.full if every else sum([1 << index for index in indexes])
            masks[requirement] = masks.get(requirement, 0) | mask
        return masks

    def _index_offerings(self) -> None:
        positions: dict[Requirements, int] = {}
        by_identity: dict[int, int] = {}
        for index, instance_type in enumerate(self.types):
            for offering in instance_type.available_offerings:
                position = by_identity.get(id(offering.requirements))
                if position is None:
                    position = positions.setdefault(offering.requirements, len(self._offering_sets))
                    by_identity[id(offering.requirements)] = position
                    if position == len(self._offering_sets):
                        self._offering_sets.append(offering.requirements)
                        self._offering_prices.append({})
                prices = self._offering_prices[position]
                price = offering.price
                if index not in prices or price < prices[index]:
                    prices[index] = price
                if self.launchable and not offering.reservation_capacity and self._reserved(position):
                    self._spent[position] = self._spent.get(position, 0) | 1 << index
        self._offering_masks = [sum([1 << index for index in prices]) for prices in self._offering_prices]

    @cached_property
    def sold(self) -> tuple[tuple[Requirements, int], ...]:
        """All offerings, available or not: their requirements, and the types that share them."""
        shared: dict[int, tuple[Requirements, int]] = {}
        for index, instance_type in enumerate(self.types):
            for offering in instance_type.offerings:
                requirements, mask = shared.get(id(offering.requirements), (offering.requirements, 0))
                shared[id(requirements)] = requirements, mask | 1 << index
        return tuple(shared.values())

    @cached_property
    def sold_keys(self) -> frozenset[str]:
        """The keys that these offerings have requirements on."""
        return frozenset(key for offering, _ in self.sold for key in offering)

    def _reserved(self, position: int) -> bool:
        return RESERVED in self._offering_sets[position].get(CAPACITY_TYPE).values

    def spent(self, position: int) -> int:
        """The types for which a distinct offering is a reservation without capacity left; 0 unless ``launchable``."""
        return self._spent.get(position, 0)

    def compatible(self, requirement: Requirement) -> int:
        """The types that do not contradict the requirement; types that say nothing about the key do not."""
        mask = self._compatible.get(requirement)
        if mask is None:
            mask = self.full
            for theirs, sharing in self.having(requirement.key).items():
                if not theirs.has_intersection(requirement) and not (
                    theirs.tolerates_absence and requirement.tolerates_absence
                ):
                    mask &= ~sharing
            self._compatible[requirement] = mask
        return mask

    def compatible_with_all(self, items: Mapping[str, Requirement]) -> int:
        """The types that contradict none of the requirements."""
        mask = self.full
        for requirement in items.values():
            mask &= self.compatible(requirement)
        return mask

    def fits(self, resource: str, amount: int) -> int:
        """The types whose allocatable amount (in billionths) is at least ``amount``, see also ``zero_fits``."""
        amounts = self._allocatable.get(resource)
        if amounts is None:
            amounts = self._allocatable[resource] = Amounts(
                [q.nano if (q := t.allocatable.get(resource)) is not None else 0 for t in self.types]
            )
        return amounts.holding(amount)

    def within(self, resource: str, amount: int) -> int:
        """The types whose capacity is at most ``amount`` (in billionths)."""
        amounts = self._capacities(resource)
        return self.full & ~amounts.at_least[bisect_right(amounts.steps, amount)]

    def _capacities(self, resource: str) -> Amounts:
        amounts = self._capacity.get(resource)
        if amounts is None:
            amounts = self._capacity[resource] = Amounts(
                [q.nano if (q := t.capacity.get(resource)) is not None else 0 for t in self.types]
            )
        return amounts

    def largest_capacity(self, resource: str, mask: int) -> int:
        """The largest capacity (in billionths) among the types of ``mask``; 0 when none has the resource."""
        amounts = self._capacities(resource)
        holding = zip(amounts.steps, amounts.at_least, strict=False)
        return max((amount for amount, types in holding if types & mask), default=0)

    def offered(self, items: Mapping[str, Requirement]) -> tuple[int, tuple[int, ...]]:
        """The types with an available offering that the requirements accept, and which distinct offerings those are."""
        signature = tuple(items.get(key) for key in self.offering_keys)
        offered = self._offered.get(signature)
        if offered is None:
            mask, accepted = 0, []
            for position, offering in enumerate(self._offering_sets):
                if self.accepts(items, offering):
                    mask |= self._offering_masks[position]
                    accepted.append(position)
            offered = self._offered[signature] = (mask, tuple(accepted))
        return offered

    def accepts(self, items: Mapping[str, Requirement], offering: Requirements) -> bool:
        """Return whether the requirements accept an offering with these."""
        for key, theirs in offering.items():
            mine = items.get(key)
            if mine is None:
                if key not in self.vocabulary.well_known and not theirs.tolerates_absence:
                    return False
            elif not mine.has_intersection(theirs) and not (mine.tolerates_absence and theirs.tolerates_absence):
                return False
        return True

    def prices(self, accepted: tuple[int, ...]) -> list[float]:
        """By position, the lowest price of each type (USD per hour) among the accepted distinct offerings; NO_PRICE without one."""
        prices = self._prices.get(accepted)
        if prices is None:
            prices = [NO_PRICE] * len(self.types)
            for position in accepted:
                spent = self.spent(position)
                for index, price in self._offering_prices[position].items():
                    if price < prices[index] and not spent >> index & 1:
                        prices[index] = price
            self._prices[accepted] = prices
        return prices

    def launch_prices(self, accepted: tuple[int, ...]) -> list[float]:
        """By position, what each type may cost at launch (USD per hour): the highest price of the capacity type that it would be launched
        as.

        Reserved comes before spot, spot before on-demand (core ``pkg/cloudprovider/types.go``, WorstLaunchPrice).
        """
        prices = self._launch_prices.get(accepted)
        if prices is None:
            prices = [NO_PRICE] * len(self.types)
            for kind in (ON_DEMAND, SPOT, RESERVED):
                dearest: dict[int, float] = {}
                for position in accepted:
                    if self._offering_sets[position].get(CAPACITY_TYPE).has(kind):
                        spent = self.spent(position)
                        for index, price in self._offering_prices[position].items():
                            if not spent >> index & 1:
                                dearest[index] = max(dearest.get(index, price), price)
                for index, price in dearest.items():
                    prices[index] = price
            self._launch_prices[accepted] = prices
        return prices

    def by_price(self, accepted: tuple[int, ...], mask: int) -> list[int]:
        """The types of ``mask``, by price, then name."""
        ranks = self._ranks.get(accepted)
        if ranks is None:
            prices = self.prices(accepted)
            ranks = sorted(range(len(self.types)), key=lambda index: (prices[index], self.types[index].name))
            self._ranks[accepted] = ranks
        present = bin(mask)[:1:-1]
        size = len(present)
        return [index for index in ranks if index < size and present[index] == "1"]

    def cheapest_by_name(self, count: int, accepted: tuple[int, ...], mask: int) -> int:
        """The first ``count`` types of ``mask`` by price, equal ones by name."""
        return sum(1 << index for index in self.by_price(accepted, mask)[:count])

    @cached_property
    def edition(self) -> str:
        """A digest of the types and their available offerings; equal for lists that offer the same."""
        text = "/".join((*(instance_type.name for instance_type in self.types), *map(hex, self._offering_masks)))
        return blake2b(text.encode(), digest_size=8).hexdigest()

    def offering_requirements(self, position: int) -> Requirements:
        """The requirements of a distinct offering."""
        return self._offering_sets[position]

    def offering_types(self, position: int) -> int:
        """The types that have a distinct offering."""
        return self._offering_masks[position]

    def distinct_values(self, key: str, mask: int, admitted: Requirement | None = None) -> int:
        """Count the distinct values of ``key`` among the types of ``mask`` that ``admitted`` allows."""
        masks = self._values.get((key, admitted))
        if masks is None:
            by_value: dict[str, int] = {}
            for requirement, sharing in self.having(key).items():
                for value in requirement.values:
                    by_value[value] = by_value.get(value, 0) | sharing
            masks = [sharing for value, sharing in by_value.items() if admitted is None or admitted.has(value)]
            self._values[key, admitted] = masks
        return sum(1 for sharing in masks if sharing & mask)

    def attaching(self, driver: str, count: int) -> int:
        """The types whose nodes can attach so many volumes of a CSI driver; without a limit they can attach any number."""
        if driver not in self._limited:
            return self.full
        mask = self._attaching.get((driver, count))
        if mask is None:
            limits = [instance_type.attach_limits.get(driver, count) for instance_type in self.types]
            mask = self._attaching[driver, count] = sum(1 << i for i, limit in enumerate(limits) if limit >= count)
        return mask

    def attach_limits_of(self, name: str) -> Mapping[str, int]:
        """The limits of the type with this name, none where there is no such type."""
        if not self._limited:
            return {}
        return next((instance_type.attach_limits for instance_type in self.types if instance_type.name == name), {})

    def most_attached(self, driver: str, mask: int) -> int:
        """The largest limit for a CSI driver among the types of ``mask``; -1 without one."""
        return max((self.types[index].attach_limits.get(driver, -1) for index in bits(mask)), default=-1)

    def names(self, mask: int) -> list[str]:
        """Names of the types of ``mask``, in the order of the list."""
        return [self.types[index].name for index in bits(mask)]


_KEPT = 128  # lists; each change of availability or price makes a new one


class CatalogIndexes:
    """The latest indexes, by identity of the list; share one between all simulations with the same instance types."""

    def __init__(self, most: int = _KEPT) -> None:
        self._found: LatestOf[Sequence[InstanceType], CatalogIndex] = LatestOf(most)

    def of(self, types: Sequence[InstanceType], vocabulary: Vocabulary, *, launchable: bool = False) -> CatalogIndex:
        """The index over ``types``, which must not change afterwards."""

        def make() -> CatalogIndex:
            return CatalogIndex(types, vocabulary, launchable=launchable)

        index = self._found.of(types, make, launchable)
        return index if index.vocabulary == vocabulary else make()
