"""The market: one overlay over the catalogue, asked once per launch. List, usages, prices and PUT all read it, so they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from fakeazure.arm.errors import Failure
from fakeazure.arm.texts import failure
from fakeazure.catalog.locations import location_key
from fakeazure.catalog.prices.linux_view import LinuxView
from fakeazure.market.facts import CatalogueLike, RegionLike, Size, region_of
from fakeazure.market.faults import STUCK, Faults, constraints_of
from fakeazure.market.images import Images
from fakeazure.market.match import Subject
from fakeazure.market.price_list import PriceList
from fakeazure.market.prices import Prices
from fakeazure.market.quota import MACHINES, Charge, Quota, Shortage, charge_of
from fakeazure.market.reservations import Reservation, Reservations
from fakeazure.market.restrictions import Restrictions
from fakeazure.market.stock import Held, Stock
from lazyrecords import dataclass


@dataclass(frozen=True, slots=True)
class Allocation:
    """A launch that was accepted: its charge against quota, its stock, and how its operation will end.

    `failure` is the error at the end, None for success; `stuck` means that it never ends.
    """

    size: Size
    charge: Charge
    held: Held
    failure: Failure | None = None
    stuck: bool = False
    reserved: Reservation | None = None
    vm: str = ""
    """Id of the VM as `reserved` lists it; the reservation then has its vCPUs in quota and its stock."""


class Market:
    """Quota, restrictions, stock, faults and prices in all regions of one catalogue."""

    def __init__(
        self,
        catalogue: CatalogueLike,
        *,
        quota: Quota | None = None,
        restrictions: Restrictions | None = None,
        stock: Stock | None = None,
        faults: Faults | None = None,
        prices: Prices | None = None,
        images: Images | None = None,
    ) -> None:
        """Lay the given parts over `catalogue`; each is empty by default."""
        self.catalogue = catalogue
        self.quota = quota or Quota()
        self.restrictions = restrictions or Restrictions()
        self.stock = stock or Stock()
        self.faults = faults or Faults()
        self.prices = prices or Prices()
        self.images = images or Images()
        self.reservations = Reservations(self.quota, self.stock)
        self._families: dict[str, tuple[str, ...]] = {}
        self._lists: dict[tuple[str, int], Sequence[Mapping[str, Any]]] = {}
        self._sizes: dict[tuple[str, str, int], Size] = {}
        self._views: dict[tuple[str, int], LinuxView] = {}

    def forget(self) -> None:
        """Forget what was found out about sizes: the restrictions are others now."""
        self._lists, self._sizes = {}, {}

    def region(self, location: str) -> RegionLike | None:
        """A region by any spelling of its name; None if Azure has no such region."""
        return region_of(self.catalogue, location)

    def price_list(self) -> PriceList:
        """Azure's price list under what this world declares by now."""
        return PriceList(self.catalogue, self.prices.copy())

    def linux_view(self, location: str) -> LinuxView:
        """Return the list's prices for machines with Linux in one of the regions; the same object while nothing changes."""
        key = (location, self.prices.version)
        if key not in self._views:
            self._views = {key: PriceList(self.catalogue, self.prices).linux_view(location)}
        return self._views[key]

    def skus(self, location: str) -> Sequence[Mapping[str, Any]]:
        """The SKU list of a region as this subscription sees it; empty for an unknown region."""
        region = self.region(location)
        if region is None:
            return ()
        if not self.restrictions:
            return region.skus
        key = (location_key(location), self.restrictions.version)
        if key not in self._lists:
            self._lists = {old: rows for old, rows in self._lists.items() if old[1] == key[1]}
            self._lists[key] = [self.restrictions.overlay(record, key[0]) for record in region.skus]
        return self._lists[key]

    def size(self, name: str, location: str) -> Size | None:
        """The facts of a size in a region, restrictions included; the name compares without case."""
        place = location_key(location)
        key = (name.lower(), place, self.restrictions.version)
        if key not in self._sizes:
            region = self.region(place)
            record = _find(region, name) if region is not None else None
            if record is None:
                return None  # not kept: anybody can make up names
            self._sizes[key] = Size.of(self.restrictions.overlay(record, place), place)
        return self._sizes[key]

    def usages(self, subscription: str, location: str) -> list[dict[str, object]]:
        """The usages list of a region."""
        place = location_key(location)
        if place not in self._families:
            region = self.region(place)
            names = {str(record.get("family", "")) for record in region.skus} if region is not None else set()
            self._families[place] = tuple(sorted(names, key=lambda name: (name.lower(), name)))
        return self.quota.usages(subscription, place, self._families[place])

    def shortage(self, name: str, location: str, *, priority: str, subscription: str) -> Shortage | None:
        """The quota that one more VM of a size would exceed (priority `Spot` or `Regular`); None when there is room, or no such size."""
        size = self.size(name, location)
        if size is None:
            return None
        charge = charge_of(subscription, size.location, family=size.family, vcpus=size.vcpus, priority=priority)
        return self.quota.shortage(charge)

    def refusal(self, size: Size, subject: Subject, *, subscription: str, id_: str) -> Failure | None:
        """Return the reason why the subscription may not use this placement, whatever is in stock; None if it may."""
        facts: dict[str, object] = {
            "size": size.name,
            "location": size.location,
            "zone": subject.zone,
            "name": subject.name,
        }
        if size.restricted_everywhere:
            return failure("SkuNotAvailable", target="sku.name", facts=facts)
        if subject.zone:
            region = self.region(size.location)
            zones = tuple(region.zones) if region is not None else ()
            type_ = "Microsoft.Compute/virtualMachines"
            if subject.zone not in zones:
                return failure(
                    "InvalidAvailabilityZone", target="zones", type=type_, zones=",".join(zones), facts=facts
                )
            if subject.zone not in size.zones or subject.zone in size.restricted_zones:
                return failure(
                    "SkuNotAvailableInZones", target="sku.name", id=id_, subscription=subscription, facts=facts
                )
        if subject.priority == "Spot" and not size.has("LowPriorityCapable"):
            return failure("SpotNotSupported", target="priority", priority="Spot", size=size.name)
        if subject.reservation_group:
            if subject.priority == "Spot":
                return failure("SpotInReservation", target="priority")
            if self.reservations.matching(size, subject) is None:
                group = subject.reservation_group.rpartition("/")[2]
                return failure("NoMatchingReservation", target="capacityReservationGroup", group=group, facts=facts)
        return None

    def allocate(
        self, size: Size, subject: Subject, *, subscription: str, id_: str, now: float, within_quota: bool = False
    ) -> Allocation | Failure:
        """Accept a launch, or return the failure. Order: restrictions, declared faults, quota, stock.

        A free unit of a capacity reservation needs neither quota nor stock. `within_quota` says that the quota has been judged.

        A failure takes nothing. An allocation counts against quota at once, also if its operation will fail at the end.
        """
        refused = self.refusal(size, subject, subscription=subscription, id_=id_)
        if refused is not None:
            return refused
        fault = self.faults.take(subject, now, at_end=False)
        if fault is not None:
            return fault.failure(subject, id=id_, subscription=subscription)
        charge = charge_of(subscription, size.location, family=size.family, vcpus=size.vcpus, priority=subject.priority)
        reservation = self.reservations.matching(size, subject) if subject.reservation_group else None
        reserved = reservation is not None and not reservation.full
        if reserved:
            charge = replace(charge, amounts={MACHINES: 1})
        shortage = None if within_quota else self.quota.shortage(charge)
        if shortage is not None:
            return shortage.failure()
        stuck = False
        ends_in: Failure | None = None
        held = Held(())
        shelf = None if reserved else self.stock.empty_for(subject, size.vcpus)
        if shelf is not None:
            ends_in = out_of_stock(subject, shelf.error)
            if shelf.at_once:
                return ends_in
        else:
            late = self.faults.take(subject, now, at_end=True)
            if late is not None:
                stuck = late.what == STUCK
                ends_in = None if late.what == STUCK else late.failure(subject, id=id_, subscription=subscription)
            if ends_in is None and reservation is not None:
                self.reservations.join(reservation, id_.lower())
                charge = replace(charge, amounts={MACHINES: 1})
            elif ends_in is None:
                held = self.stock.take(subject, size.vcpus)
        self.quota.take(charge)
        return Allocation(size, charge, held, ends_in, stuck, None if ends_in else reservation, id_.lower())

    def exchange(
        self, old: Allocation, size: Size, subject: Subject, *, subscription: str, id_: str, now: float
    ) -> Allocation | Failure:
        """Give an existing VM another size, or return the failure; then it keeps what it had.

        Quota is asked for what the VM counts for more than before, as Azure's text says ("Additional Required").
        """
        charge = charge_of(subscription, size.location, family=size.family, vcpus=size.vcpus, priority=subject.priority)
        more = {name: count - old.charge.amounts.get(name, 0) for name, count in charge.amounts.items()}
        judged = not subject.reservation_group
        if judged:
            needed = Charge(subscription, size.location, {k: v for k, v in more.items() if v > 0})
            if (shortage := self.quota.shortage(needed)) is not None:
                return shortage.failure()
        self.release(old)
        allocation = self.allocate(size, subject, subscription=subscription, id_=id_, now=now, within_quota=judged)
        if isinstance(allocation, Failure):
            self._take_back(old)
        elif allocation.failure is not None:
            self.release(allocation)
            self._take_back(old)
            return allocation.failure
        return allocation

    def _take_back(self, allocation: Allocation) -> None:
        self.quota.take(allocation.charge)
        for shelf, amount in allocation.held.parts:
            shelf.left -= amount
        if allocation.reserved is not None:
            self.reservations.join(allocation.reserved, allocation.vm)

    def release(self, allocation: Allocation) -> None:
        """Give back all that a VM counted for and held."""
        self.quota.give_back(allocation.charge)
        self.stock.give_back(allocation.held)
        if allocation.reserved is not None:
            self.reservations.leave(allocation.reserved, allocation.vm)

    def reserve(self, id_: str, subscription: str, size: Size, zone: str, quantity: int) -> Failure | None:
        """Make a capacity reservation or change its quantity, all or nothing.

        Returns Azure's failure where quota or stock is short, else None.
        """
        lacking = self.reservations.reserve(id_, subscription, size, zone, quantity)
        if lacking is None:
            return None
        if isinstance(lacking, Shortage):
            return lacking.failure()
        return out_of_stock(Subject(size=size.name, zone=zone, location=size.location), lacking.error)


def out_of_stock(subject: Subject, code: str | None = None) -> Failure:
    """Azure's failure when there is no capacity: by placement and priority, or with the code that the shelf names."""
    if code is None:
        zonal = "Zonal" if subject.zone else ""
        spot = subject.priority == "Spot"
        code = f"Overconstrained{zonal}AllocationRequest" if spot else f"{zonal}AllocationFailed"
    return failure(
        code,
        size=subject.size,
        zone=subject.zone,
        location=subject.location,
        constraints=constraints_of(subject),
    )


def _find(region: RegionLike, name: str) -> Mapping[str, Any] | None:
    record = region.by_name.get(name)
    if record is not None:
        return record
    wanted = name.lower()
    return next((item for item in region.skus if item["name"].lower() == wanted), None)
