"""`Microsoft.Compute/capacityReservationGroups` and the reservations in them: documents, views, and what they keep of the market.

Shapes as in azure-cli's recordings (test_capacity_reservation_operations); the instance views as Azure documents them
(learn.microsoft.com/azure/virtual-machines/capacity-reservation-overallocate).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import number, section, text, texts
from fakeazure.arm.errors import ArmError
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document, Request, Response
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.market.declared_reservations import DeclaredReservation
from fakeazure.resources.compute.virtual_machines import known_size
from fakeazure.resources.compute.vm_lifecycle import FULL_TYPE, NAMESPACE, group_of
from fakeazure.resources.kinds import Kind
from fakeazure.state import State
from fakeazure.store import Entry
from fakeazure.timers import timestamp
from lazyrecords import dataclass

_MEMBERS = "capacityReservations"
_MOST = 100_000  # ours, so that no request can fill the memory; Azure's bound is quota


def _fill_group(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    document.pop("etag", None)
    document["properties"].setdefault("reservationType", "Targeted")


def _fill(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """Take the quantity from the market, or refuse the request; size and zone of a reservation never change."""
    sku, zones = section(document, "sku"), texts(document, "zones")
    if old is not None:
        for name, before, after in (
            ("sku.name", text(section(old, "sku"), "name").lower(), text(sku, "name").lower()),
            ("zones", texts(old, "zones"), zones),
        ):
            if before != after:
                raise refuse("PropertyChangeNotAllowed", target=name, property=name)
    if len(zones) > 1:
        raise refuse("InvalidRequestContent", reason="a capacity reservation is in one zone at most", target="zones")
    size = known_size(state, text(sku, "name"), document["location"])
    capacity = number(sku, "capacity")
    if not 0 <= capacity <= _MOST or capacity != int(capacity):
        raise refuse(
            "InvalidRequestContent", reason=f"sku.capacity is a whole number from 0 to {_MOST}", target="sku.capacity"
        )
    zone, quantity = next(iter(zones), ""), int(capacity)
    if old is None or quantity != int(number(section(old, "sku"), "capacity")):
        failure = state.market.reserve(str(id_), id_.subscription, size, zone, quantity)
        if failure is not None:
            raise ArmError(failure)
    _complete(state, id_, document, old)


def _complete(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    document["etag"] = '"1"' if old is None else f'"{int(str(old["etag"]).strip(chr(34))) + 1}"'
    properties = document["properties"]
    old_properties = old["properties"] if old is not None else {}
    properties.setdefault("platformFaultDomainCount", 3)
    properties["reservationId"] = old_properties.get("reservationId") or guid_of(f"reservation{id_}")
    properties["timeCreated"] = properties["provisioningTime"] = old_properties.get("timeCreated") or timestamp(
        state.now()
    )


def _check_group(state: State, id_: ResourceId) -> None:
    if used := [str(member.id) for member in state.store.children(id_, _MEMBERS)] + associated(state, id_):
        raise refuse("ReservationInUse", id=id_, user=used[0])


def _check(state: State, id_: ResourceId) -> None:
    """Refuse to delete a reservation with VMs; the quantity of one without comes back to the market."""
    reservation = state.market.reservations.get(str(id_))
    if reservation is not None and reservation.vms:
        raise refuse("ReservationInUse", id=id_, user=_shown(state, reservation.vms)[0]["id"])
    state.market.reservations.drop(str(id_))


def associated(state: State, group: ResourceId) -> list[str]:
    """The VMs that name a group, allocated or not."""
    return [str(entry.id) for entry in state.store.list(FULL_TYPE) if group_of(entry.document).lower() == group.key]


def _shown(state: State, vms: Iterable[str]) -> list[dict[str, str]]:
    return [{"id": str(entry.id)} for vm in vms if (entry := state.store.get(vm)) is not None]


def _utilization(state: State, entry: Entry) -> dict[str, Any]:
    """The instance view of a reservation: its status and the VMs that are allocated against it."""
    reservation = state.market.reservations.get(str(entry.id))
    return {
        "statuses": [
            {
                "code": "ProvisioningState/succeeded",
                "level": "Info",
                "displayStatus": "Provisioning succeeded",
                "time": entry.document["properties"]["provisioningTime"],
            }
        ],
        "utilizationInfo": {
            "currentCapacity": reservation.quantity if reservation is not None else 0,
            "virtualMachinesAllocated": _shown(state, reservation.vms) if reservation is not None else [],
        },
    }


def _of_group(state: State, entry: Entry, *, view: bool) -> Document:
    members = list(state.store.children(entry.id, _MEMBERS))
    properties: dict[str, Any] = {**entry.document["properties"]}
    if members:
        properties[_MEMBERS] = [{"id": str(member.id)} for member in members]
    if vms := associated(state, entry.id):
        properties["virtualMachinesAssociated"] = [{"id": vm} for vm in vms]
    if view:
        views = [{"name": member.id.name, **_utilization(state, member)} for member in members]
        properties["instanceView"] = {_MEMBERS: views}
    return {**entry.document, "properties": properties}


def _of_member(state: State, entry: Entry, *, view: bool) -> Document:
    properties: dict[str, Any] = {**entry.document["properties"]}
    reservation = state.market.reservations.get(str(entry.id))
    if reservation is not None and reservation.vms:
        properties["virtualMachinesAssociated"] = _shown(state, reservation.vms)
    if view:
        properties["instanceView"] = _utilization(state, entry)
    return {**entry.document, "properties": properties}


@dataclass(frozen=True, slots=True)
class _Viewed(Kind):
    """A kind whose GET tells who uses the resource, and with `$expand=instanceView` how far."""

    def get(self, state: State, request: Request) -> Response:
        entry = state.found(self.id_of(state, request))
        view = "instanceview" in request.query.get("$expand", "").lower()
        return Response(200, body=(_of_member if self.parents else _of_group)(state, entry, view=view))


GROUPS = _Viewed(NAMESPACE, "capacityReservationGroups", ("zones",), fill=_fill_group, check=_check_group)
MEMBERS = _Viewed(NAMESPACE, _MEMBERS, ("sku", "zones"), parents=(GROUPS.name,), fill=_fill, check=_check)


def add_reservations(state: State, declared: Iterable[DeclaredReservation]) -> None:
    """Put the reservations of a world's description into the cluster's resource group; they were there before its stock was counted."""
    names = state.settings
    by_group: dict[str, list[DeclaredReservation]] = {}
    for reservation in declared:
        by_group.setdefault(reservation.group, []).append(reservation)
    for name, members in by_group.items():
        group = ResourceId(names.subscription, names.resource_group, NAMESPACE, (GROUPS.name,), (name,))
        zones = sorted({reservation.zone for reservation in members if reservation.zone})
        document = GROUPS.document(group, _zoned({}, zones), names.location)
        _fill_group(state, group, document, None)
        state.store.put(group, document)
        for reservation in members:
            id_ = group.child(_MEMBERS, reservation.name)
            size = known_size(state, reservation.size, names.location)
            state.market.reservations.reserve(
                str(id_), names.subscription, size, reservation.zone, reservation.quantity, there=True
            )
            body = _zoned(
                {"sku": {"name": size.name, "capacity": reservation.quantity}},
                [reservation.zone] if reservation.zone else [],
            )
            document = MEMBERS.document(id_, body, names.location)
            _complete(state, id_, document, None)
            state.store.put(id_, document)


def _zoned(body: Mapping[str, Any], zones: list[str]) -> dict[str, Any]:
    return {**body, "zones": zones} if zones else dict(body)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield from GROUPS.routes()
    yield from MEMBERS.routes()
