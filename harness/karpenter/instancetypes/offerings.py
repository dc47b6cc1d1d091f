"""The offerings of a size: one per zone and capacity type (kaz ``instancetypes.go`` createOfferings, ``pkg/utils/zones``)."""

from collections.abc import Iterator, Mapping

from harness.engine.names import zone_label
from harness.karpenter.cloudprovider import Offering
from harness.karpenter.instancetypes.market import MISSING_PRICE, Prices, Usages
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.instancetypes.unavailable import UnavailableOfferings
from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.core import CAPACITY_TYPE, ON_DEMAND, SPOT
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.releases.sizes import known_skus, skus_without_price
from harness.karpenter.requirements import Requirement, Requirements
from harness.kube.api.labels import ZONE
from lazyrecords import dataclass

__all__ = ["Closed", "OfferingFactory", "arm_zone", "placement_scope"]

_Terms = tuple[float, bool]
"""A price in USD per hour, and whether the offering can be available at all."""

_ULTRA_YES, _ULTRA_NO = frozenset({"true", "false"}), frozenset({"false"})

# Zones of any other region do not count in releases that list the regions (kaz 1.4.0 zonalRegions).
_ZONAL = (
    "centraluseuap eastus2euap brazilsouth canadacentral centralus eastus eastus2 southcentralus usgovvirginia "
    "westus2 westus3 chilecentral mexicocentral francecentral italynorth germanywestcentral norwayeast northeurope "
    "uksouth westeurope swedencentral switzerlandnorth polandcentral spaincentral qatarcentral uaenorth "
    "israelcentral southafricanorth australiaeast centralindia japaneast koreacentral southeastasia eastasia "
    "chinanorth3 indonesiacentral japanwest newzealandnorth"
)
_ZONAL_REGIONS = frozenset(_ZONAL.split())


def arm_zone(label: str) -> str | None:
    """The ARM zone of a label value; None for regional ones (``0``, and the empty text of older releases)."""
    return None if label in (keys.REGIONAL_ZONE, "") else label[-1]


def placement_scope(zone: str) -> str:
    """``regional`` for the zone ``0``, else ``zonal``."""
    return keys.REGIONAL if zone == keys.REGIONAL_ZONE else keys.ZONAL


@dataclass(frozen=True, slots=True)
class Closed:
    """A reason why an offering is unavailable: ``what`` is ``mark``, ``quota``, ``price`` (none is known) or ``spot``
    (the size has no spot).

    ``name``: the quota, or the reason of the mark. ``left`` vCPUs of ``limit`` are left of a quota; a mark ends at ``until``, in
    the clock's seconds.
    """

    what: str
    name: str = ""
    left: int = 0
    limit: int = 0
    until: float = 0.0


class OfferingFactory:
    """Makes offerings for one region and release; equal requirement sets are shared between sizes, equal offerings between lists."""

    def __init__(self, release: ProviderRelease, region: str) -> None:
        self._release = release
        self._region = region
        self._shared: dict[tuple[str, str, bool], Requirements] = {}
        self._made: dict[tuple[str, _Terms, _Terms, tuple[bool, ...]], tuple[Offering, ...]] = {}
        self._places: dict[tuple[str, ...], tuple[tuple[str, str], ...]] = {}
        self._sets: dict[tuple[tuple[str, ...], frozenset[str], bool], tuple[tuple[Requirements, bool], ...]] = {}
        self._zones_count = not release.zonal_regions_listed or region in _ZONAL_REGIONS

    def zones(self, sku: Sku) -> tuple[str, ...]:
        """Zone label values in which the size is offered, sorted."""
        bare = sku.zones if self._zones_count else ()
        zonal = tuple(zone_label(self._region, zone) for zone in bare)
        if not self._release.regional_offerings:
            return zonal or ("",)
        return (keys.REGIONAL_ZONE, *zonal)

    def make(
        self, sku: Sku, prices: Prices, unavailable: UnavailableOfferings | None, usages: Usages
    ) -> tuple[Offering, ...]:
        """All offerings, by zone, on-demand before spot; those that cannot be had now are included as unavailable.

        Returns the same tuple for the same prices, quota and marks.
        """
        release, name = self._release, sku.name
        on_demand, on_demand_priced = self._price(name, prices.on_demand)
        spot, spot_priced = self._price(name, prices.spot)
        room = not release.quota_checked or usages.room_for(sku)
        may_on_demand = room and (on_demand_priced or not release.price_required)
        may_spot = (spot_priced or not release.price_required) and (
            sku.low_priority or not release.spot_needs_low_priority
        )
        failed: tuple[bool, ...] = ()
        if unavailable:
            failed = tuple([unavailable.why(sku, *place) is not None for place in self._places_of(sku)])
        key = (name, (on_demand, may_on_demand), (spot, may_spot), failed if any(failed) else ())
        offerings = self._made.get(key)
        if offerings is None:
            offerings = self._made[key] = tuple(self._each(sku, *key[1:]))
        return offerings

    def closed(
        self,
        sku: Sku,
        prices: Prices,
        unavailable: UnavailableOfferings,
        usages: Usages,
        *,
        zone: str,
        capacity_type: str,
    ) -> Closed | None:
        """Return why :meth:`make` returns an offering as unavailable: the most lasting reason; None where it is available."""
        release, spot = self._release, capacity_type == SPOT
        if spot and release.spot_needs_low_priority and not sku.low_priority:
            return Closed("spot")
        _, priced = self._price(sku.name, prices.spot if spot else prices.on_demand)
        if release.price_required and not priced:
            return Closed("price")
        if not spot and release.quota_checked and not usages.room_for(sku):
            usage = usages.by_name[sku.family or ""]
            return Closed("quota", sku.family or "", usage.limit - usage.current, usage.limit)
        mark = unavailable.why(sku, zone, capacity_type)
        return Closed("mark", mark.reason, until=mark.until) if mark is not None else None

    def _places_of(self, sku: Sku) -> tuple[tuple[str, str], ...]:
        """Zone and capacity type of each offering."""
        known_places = self._places.get(sku.zones)
        if known_places is None:
            places = [(zone, capacity_type) for zone in self.zones(sku) for capacity_type in (ON_DEMAND, SPOT)]
            known_places = self._places[sku.zones] = tuple(places)
        return known_places

    def _sets_of(self, sku: Sku) -> tuple[tuple[Requirements, bool], ...]:
        """The requirements of each offering, and whether it is spot; the same for sizes of the same zones."""
        regional = keys.SKU_ULTRA_SSD in self._release.offering_keys and sku.ultra_ssd(None)
        key = (sku.zones, sku.ultra_zones, regional)
        known_sets = self._sets.get(key)
        if known_sets is None:
            asks_ultra = keys.SKU_ULTRA_SSD in self._release.offering_keys
            sets = [
                (
                    self._requirements(zone, capacity_type, asks_ultra and sku.ultra_ssd(arm_zone(zone))),
                    capacity_type == SPOT,
                )
                for zone, capacity_type in self._places_of(sku)
            ]
            known_sets = self._sets[key] = tuple(sets)
        return known_sets

    def _each(self, sku: Sku, on_demand: _Terms, spot: _Terms, failed: tuple[bool, ...]) -> Iterator[Offering]:
        for number, (requirements, is_spot) in enumerate(self._sets_of(sku)):
            price, available = spot if is_spot else on_demand
            lost = bool(failed) and failed[number]
            unpriced = price in (0.0, MISSING_PRICE)
            yield Offering(requirements, price, available and not lost, unpriced=unpriced)

    def _price(self, name: str, prices: Mapping[str, float]) -> tuple[float, bool]:
        release = self._release
        if release.unknown_skus_cost_missing_price and name not in known_skus(release.known_skus):
            return MISSING_PRICE, False
        price = prices.get(name)
        if price:
            return float(price), True
        if not release.price_required:
            return MISSING_PRICE, False
        return (MISSING_PRICE, True) if name in skus_without_price(release.skus_without_price) else (0.0, False)

    def _requirements(self, zone: str, capacity_type: str, ultra: bool) -> Requirements:
        key = (zone, capacity_type, ultra)
        requirements = self._shared.get(key)
        if requirements is None:
            requirements = self._shared[key] = self._compute(zone, capacity_type, ultra)
        return requirements

    def _compute(self, zone: str, capacity_type: str, ultra: bool) -> Requirements:
        priority = frozenset({SPOT if capacity_type == SPOT else keys.REGULAR})
        values = {
            CAPACITY_TYPE: frozenset({capacity_type}),
            keys.AKS_SCALE_SET_PRIORITY: priority,
            keys.AKS_PRIORITY: priority,
            ZONE: frozenset({zone}),
            keys.PLACEMENT_SCOPE: frozenset({placement_scope(zone)}),
            keys.SKU_ULTRA_SSD: _ULTRA_YES if ultra else _ULTRA_NO,
        }
        wanted = self._release.offering_keys
        return Requirements(
            (Requirement(key, False, allowed) for key, allowed in values.items() if key in wanted),
            vocabulary=self._release.vocabulary,
        )
