"""Resources without rules of their own: kept as they are PUT, read, changed and listed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fakeazure.arm.bodies import number
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.resources.kinds import Kind
from fakeazure.state import State


def _set(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """An availability set: without a SKU it is a classic one."""
    document.setdefault("sku", {"name": "Classic"})
    properties = {"platformUpdateDomainCount": 5, "platformFaultDomainCount": 3, **document["properties"]}
    properties.pop("provisioningState", None)
    document["properties"] = {**properties, "virtualMachines": properties.get("virtualMachines") or []}


def _placement(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    document["properties"].setdefault("proximityPlacementGroupType", "Standard")


def _hosts(state: State, id_: ResourceId, document: dict[str, Any], old: Document | None) -> None:
    """A group of dedicated hosts, which has none."""
    properties = document["properties"]
    properties.pop("provisioningState", None)
    if not number(properties, "platformFaultDomainCount"):
        reason = "Required parameter 'platformFaultDomainCount' is missing (null)."
        raise refuse("InvalidRequestContent", target="platformFaultDomainCount", reason=reason)
    properties.setdefault("supportAutomaticPlacement", False)
    properties["hosts"] = []


COMPUTE, NETWORK = "Microsoft.Compute", "Microsoft.Network"
ROUTE_TABLES = Kind(NETWORK, "routeTables")
DISK_ENCRYPTION_SETS = Kind(COMPUTE, "diskEncryptionSets")

PLAIN = (
    ROUTE_TABLES,
    Kind(NETWORK, "routes", parents=("routeTables",), located=False),
    Kind(NETWORK, "applicationSecurityGroups"),
    DISK_ENCRYPTION_SETS,
    Kind(COMPUTE, "availabilitySets", ("sku",), created=200, fill=_set),
    Kind(COMPUTE, "proximityPlacementGroups", ("zones",), fill=_placement),
    Kind(COMPUTE, "hostGroups", ("zones",), fill=_hosts),
    Kind(COMPUTE, "galleries"),
    Kind(COMPUTE, "images", parents=("galleries",)),
    Kind(COMPUTE, "versions", parents=("galleries", "images")),
)


def routes() -> Iterator[Route[State]]:
    """The rows of all plain kinds."""
    for kind in PLAIN:
        yield from kind.routes()
