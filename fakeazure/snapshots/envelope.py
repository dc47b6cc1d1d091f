"""Checks of the ARM documents in a snapshot: the forms that a request is held to, and the parts that are read without a look."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from itertools import product
from types import MappingProxyType
from typing import Any

from fakeazure.arm.forms import Place, misfit
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.snapshots.values import Unreadable, at, shown
from fakeazure.store import Entry

_ALWAYS = ("id", "name", "type", "properties")
_ADDRESS = "properties.ipConfigurations.*"
_NIC = tuple(f"{_ADDRESS}.{part}" for part in ("id", "name", "properties.subnet.id", "properties.privateIPAddress"))
_COUNTS = ("pending", "inProgress", "successful")
_PARTS = (
    "frontendIPConfigurations",
    "backendAddressPools",
    "loadBalancingRules",
    "probes",
    "inboundNatRules",
    "outboundRules",
)
_WRITTEN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Microsoft.Resources/resourceGroups": ("location", "tags"),
        "Microsoft.Authorization/locks": ("properties.level",),
        "Microsoft.Authorization/roleAssignments": tuple(
            f"properties.{name}" for name in ("scope", "principalId", "roleDefinitionId")
        ),
        "Microsoft.Compute/virtualMachines": (
            "properties.vmId",
            "properties.provisioningState",
            "properties.hardwareProfile.vmSize",
            "properties.networkProfile.networkInterfaces.*.id",
        ),
        "Microsoft.Compute/virtualMachineScaleSets/virtualMachines": ("location", "properties.power"),
        "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/networkInterfaces": _NIC,
        "Microsoft.Compute/virtualMachineScaleSets/rollingUpgrades": (
            "location",
            "properties.runningStatus.code",
            *(f"properties.progress.{name}InstanceCount" for name in _COUNTS),
        ),
        "Microsoft.Network/networkInterfaces": _NIC,
        "Microsoft.Network/loadBalancers": tuple(
            f"properties.{kind}.*.{part}" for kind, part in product(_PARTS, ("id", "name", "properties"))
        ),
        "Microsoft.ContainerService/managedClusters": (
            "properties.nodeResourceGroup",
            "properties.currentKubernetesVersion",
        ),
        "Microsoft.ContainerService/managedClusters/agentPools/machines": tuple(
            f"properties.{name}" for name in ("hardware.vmSize", "status", "resourceId", "eTag")
        ),
    }
)
"""Type → the parts that this cloud itself writes into each of it, and reads without a look; `*` stands for each of a list."""
_BY_TYPE = MappingProxyType({name.lower(): parts for name, parts in _WRITTEN.items()})
_READ: Mapping[str, Callable[[str], object]] = MappingProxyType(
    {
        f"{_ADDRESS}.properties.privateIPAddress": ip_address,
        "properties.networkProfile.networkInterfaces.*.id": ResourceId.parse,
        "properties.resourceId": ResourceId.parse,
    }
)
"""Parts → how they are read, with a ValueError for what cannot be."""


def check_resource(entry: Entry, path: str) -> None:
    """Check a resource of the store, which is of the type and name that its document says. Unreadable."""
    check_envelope(entry.document, path)
    if str(entry.document["id"]).lower() != entry.id.key:
        raise Unreadable(f"{path}.id", "it is that of another resource")
    if str(entry.document["type"]).lower() != entry.id.type.lower():
        raise Unreadable(f"{path}.type", "it is that of another resource")
    if len(entry.id.types) == 1 and not entry.document.get("location"):
        raise Unreadable(f"{path}.location", "it is missing")


def check_envelope(document: Document, path: str) -> None:
    """Check a document of ARM. Unreadable, with the path to the first part that is wrong."""
    if (part_misfit := misfit(document)) is not None:
        place, form, value = part_misfit
        raise Unreadable(_path(path, place), f"{form.words} is expected, not {shown(value)}")
    for part in (*_ALWAYS, *_BY_TYPE.get(str(document.get("type")).lower(), ())):
        read = _READ.get(part, str)
        for place, value in _parts(document, part.split("."), ()):
            if value is None:
                raise Unreadable(_path(path, place), "it is missing")
            try:
                read(value)
            except ValueError as error:
                raise Unreadable(_path(path, place), ascii(str(error))[1:-1][:200]) from None


def _parts(value: Any, names: Sequence[str], place: Place) -> Iterator[tuple[Place, Any]]:
    """Yield each value at a path with its place; None where the path ends early."""
    if value is None or not names:
        yield place, value
    elif names[0] == "*":
        for index, part in enumerate(value):
            yield from _parts(part, names[1:], (*place, index))
    else:
        yield from _parts(value.get(names[0]), names[1:], (*place, names[0]))


def _path(path: str, place: Place) -> str:
    """Return the path to a place in a document; a name that may be anybody's stands in brackets."""
    for part in place:
        plain = isinstance(part, str) and part.isidentifier() and part.isascii()
        path = f"{path}.{part}" if plain else f"{path}[{part}]" if isinstance(part, int) else at(path, part)
    return path[:400]
