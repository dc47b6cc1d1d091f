"""Capacity reservations: a quantity of one size in one zone that is kept for the VMs of a group.

As Azure documents them (learn.microsoft.com/azure/virtual-machines/capacity-reservation-overview and -overallocate): the reservation
counts against quota whether or not VMs are in it, a VM within the quantity needs neither quota nor stock of its own, and a VM beyond it
(overallocated) needs both, as if there were no reservation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from fakeazure.market.facts import Size
from fakeazure.market.match import Subject
from fakeazure.market.quota import MACHINES, Charge, Quota, Shortage, charge_of
from fakeazure.market.stock import Held, Shelf, Stock
from lazyrecords import dataclass


@dataclass(slots=True)
class Reservation:
    """`quantity` VMs of one size in one zone or region; `free` of them are not part of the stock, since they were reserved before it."""

    key: str
    """Its ARM id in small letters."""
    subscription: str
    size: Size
    zone: str
    quantity: int = 0
    free: int = 0
    vms: list[str] = field(default_factory=list)
    """Ids of the VMs that are allocated against it, those beyond the quantity too."""
    units: int = 0
    """The number of VMs that it counts for in quota now."""
    held: list[Held] = field(default_factory=list)

    @property
    def group(self) -> str:
        """Its group's ARM id in small letters."""
        return self.key.rpartition("/capacityreservations/")[0]

    @property
    def full(self) -> bool:
        """Return whether one more VM is beyond the quantity."""
        return len(self.vms) >= self.quantity

    @property
    def subject(self) -> Subject:
        """The facts of one unit by which rules of the market select it."""
        size = self.size
        return Subject(
            "PUT",
            "virtualMachines",
            size=size.name,
            family=size.family,
            zone=self.zone,
            priority="Regular",
            location=size.location,
        )

    def charge(self, units: int) -> Charge:
        """Return the usage of so many units: their vCPUs, and no VM."""
        size = self.size
        single = charge_of(self.subscription, size.location, family=size.family, vcpus=size.vcpus, priority="Regular")
        amounts = {name: count * units for name, count in single.amounts.items() if name != MACHINES}
        return Charge(self.subscription, size.location, amounts)


class Reservations:
    """All capacity reservations of a world, over its quota and its stock."""

    def __init__(self, quota: Quota, stock: Stock) -> None:
        """Start with none."""
        self._quota = quota
        self._stock = stock
        self._all: dict[str, Reservation] = {}

    def get(self, key: str) -> Reservation | None:
        """A reservation by its ARM id; None if there is none."""
        return self._all.get(key.lower())

    def of(self, group: str) -> Iterator[Reservation]:
        """The reservations of a group, by its ARM id."""
        return (reservation for reservation in self._all.values() if reservation.group == group.lower())

    def matching(self, size: Size, subject: Subject) -> Reservation | None:
        """The reservation for such a VM in the group that it names: of its size, in its region and zone."""
        for reservation in self.of(subject.reservation_group):
            if (reservation.size.name, reservation.size.location, reservation.zone) == (
                size.name,
                size.location,
                subject.zone,
            ):
                return reservation
        return None

    def reserve(
        self, key: str, subscription: str, size: Size, zone: str, quantity: int, *, there: bool = False
    ) -> Shortage | Shelf | None:
        """Make a reservation, or change the quantity of one: all of it, or nothing. Returns what there is too little of.

        `there`: it was made before the world began, so its capacity is no part of the stock and nothing can refuse it.
        """
        present = self._all.get(key.lower())
        reservation = present if present is not None else Reservation(key.lower(), subscription, size, zone)
        more = max(quantity, len(reservation.vms)) - reservation.units
        if not there and more > 0:
            lacking = self._quota.shortage(reservation.charge(more)) or self._stock.empty_for(
                reservation.subject, size.vcpus, more
            )
            if lacking is not None:
                return lacking
        reservation.quantity, reservation.free = quantity, quantity if there else min(reservation.free, quantity)
        self._all[reservation.key] = reservation
        self._settle(reservation)
        return None

    def drop(self, key: str) -> None:
        """Take a reservation away; nothing happens if it is not there."""
        reservation = self._all.pop(key.lower(), None)
        if reservation is not None:
            reservation.quantity, reservation.free, reservation.vms = 0, 0, []
            self._settle(reservation)

    def join(self, reservation: Reservation, vm: str) -> None:
        """Allocate a VM against a reservation; the caller has checked that this is allowed."""
        reservation.vms.append(vm)
        self._settle(reservation)

    def leave(self, reservation: Reservation, vm: str) -> None:
        """Remove a VM from a reservation: its unit is free again, or the overallocation is smaller."""
        if vm in reservation.vms:
            reservation.vms.remove(vm)
            self._settle(reservation)

    def _settle(self, reservation: Reservation) -> None:
        """Update quota and stock to what the reservation takes now: its quantity, or its VMs where they are more."""
        units = max(reservation.quantity, len(reservation.vms))
        self._quota.give_back(reservation.charge(reservation.units))
        self._quota.take(reservation.charge(units))
        reservation.units = units
        while len(reservation.held) > units - reservation.free:
            self._stock.give_back(reservation.held.pop())
        while len(reservation.held) < units - reservation.free:
            reservation.held.append(self._stock.take(reservation.subject, reservation.size.vcpus))
