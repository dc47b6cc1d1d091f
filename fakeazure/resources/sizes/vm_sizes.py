"""The older list of a region's sizes, and of those that a VM can be changed to: the same facts as the SKU list, fewer of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.routes import Route
from fakeazure.state import State

_OS_DISK = 1_047_552
"""MB that an OS disk may have."""


def described(state: State, location: str) -> list[Mapping[str, Any]]:
    """The sizes that can be had in a region, as `vmSizes` tells them."""
    rows: list[Mapping[str, Any]] = []
    for record in state.market.skus(location):
        size = state.market.size(record["name"], location)
        if size is None or size.restricted_everywhere:
            continue
        rows.append(
            {
                "name": size.name,
                "numberOfCores": size.vcpus,
                "osDiskSizeInMB": _OS_DISK,
                "resourceDiskSizeInMB": int(size.number("MaxResourceVolumeMB")),
                "memoryInMB": round(size.number("MemoryGB") * 1024),
                "maxDataDiskCount": int(size.number("MaxDataDiskCount")),
            }
        )
    return rows


def _of_region(state: State, request: Request) -> Response:
    return Response(200, body={"value": described(state, state.check_place(request, "locations/vmSizes"))})


def _of_vm(state: State, request: Request) -> Response:
    vm: ResourceId = state.id_of(request, "Microsoft.Compute", ("virtualMachines", "vm"))
    return Response(200, body={"value": described(state, state.found(vm).document["location"])})


def _of_set(state: State, request: Request) -> Response:
    set_: ResourceId = state.id_of(request, "Microsoft.Compute", ("availabilitySets", "set"))
    return Response(200, body={"value": described(state, state.found(set_).document["location"])})


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    compute = "providers/Microsoft.Compute"
    yield Route("GET", f"/subscriptions/{{subscription}}/{compute}/locations/{{location}}/vmSizes", _of_region)
    group = "/subscriptions/{subscription}/resourceGroups/{group}"
    yield Route("GET", f"{group}/{compute}/virtualMachines/{{vm}}/vmSizes", _of_vm)
    yield Route("GET", f"{group}/{compute}/availabilitySets/{{set}}/vmSizes", _of_set)
