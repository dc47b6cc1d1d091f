"""Resources without rules of their own: kept as they are PUT, read, changed and listed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.routes import Route
from fakeazure.guids import guid_of
from fakeazure.resources.kinds import Kind
from fakeazure.state import State
from fakeazure.timers import timestamp


def _set(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """An availability set: without a SKU it is a classic one."""
    document.setdefault("sku", {"name": "Classic"})
    properties = {"platformUpdateDomainCount": 5, "platformFaultDomainCount": 3, **document["properties"]}
    properties.pop("provisioningState", None)
    document["properties"] = {**properties, "virtualMachines": properties.get("virtualMachines") or []}


def _placement(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    document["properties"].setdefault("proximityPlacementGroupType", "Standard")


def _reservation_group(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """As in azure-cli's recordings (test_capacity_reservation_operations)."""
    document.pop("etag", None)
    document["properties"].setdefault("reservationType", "Targeted")


def _reservation(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """As in azure-cli's recordings; its group names it."""
    document["etag"] = '"1"' if old is None else f'"{int(str(old["etag"]).strip(chr(34))) + 1}"'
    properties = document["properties"]
    kept = old["properties"] if old is not None else {}
    properties.setdefault("platformFaultDomainCount", 3)
    properties["reservationId"] = kept.get("reservationId") or guid_of(f"reservation{id_}")
    properties["timeCreated"] = properties["provisioningTime"] = kept.get("timeCreated") or timestamp(state.now())
    group = state.found(id_.parent) if id_.parent is not None else None
    if group is not None:
        there = [one["id"] for one in group.document["properties"].get("capacityReservations", ())]
        named = [{"id": one} for one in dict.fromkeys([*there, str(id_)])]
        state.store.put(
            group.id, {**group.document, "properties": {**group.document["properties"], "capacityReservations": named}}
        )


COMPUTE, NETWORK = "Microsoft.Compute", "Microsoft.Network"
ROUTE_TABLES = Kind(NETWORK, "routeTables")
DISK_ENCRYPTION_SETS = Kind(COMPUTE, "diskEncryptionSets")

PLAIN = (
    ROUTE_TABLES,
    Kind(NETWORK, "routes", parents=("routeTables",), located=False),
    Kind(NETWORK, "applicationSecurityGroups"),
    DISK_ENCRYPTION_SETS,
    Kind(COMPUTE, "images"),
    Kind(COMPUTE, "availabilitySets", ("sku",), created=200, fill=_set),
    Kind(COMPUTE, "proximityPlacementGroups", ("zones",), fill=_placement),
    Kind(COMPUTE, "capacityReservationGroups", ("zones",), fill=_reservation_group),
    Kind(COMPUTE, "capacityReservations", ("sku", "zones"), parents=("capacityReservationGroups",), fill=_reservation),
    Kind(COMPUTE, "galleries"),
    Kind(COMPUTE, "images", parents=("galleries",)),
    Kind(COMPUTE, "versions", parents=("galleries", "images")),
)


def routes() -> Iterator[Route[State]]:
    """The rows of all plain kinds."""
    for kind in PLAIN:
        yield from kind.routes()
