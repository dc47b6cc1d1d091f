"""A VM's documents about itself: the instance document, scheduled events and the content of the attested document of
IMDS.

Shapes: learn.microsoft.com/azure/virtual-machines/instance-metadata-service (2021-02-01) and .../linux/scheduled-events (2020-07-01).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from ipaddress import ip_network
from typing import Any

from fakeazure.arm.bodies import items, section
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Document
from fakeazure.resources.compute import vm_lifecycle
from fakeazure.state import MachineFacts, State

_ATTESTED = 6 * 3600.0
"""Seconds that an attested document is good for."""


def instance(state: State, id_: ResourceId) -> dict[str, Any]:
    """`/metadata/instance`: the VM by its ARM document, and its network by those of its NICs."""
    document, facts = state.found(id_).document, state.vms[id_.key]
    return {
        "compute": _compute(state, id_, document),
        "network": {"interface": [_interface(state, nic) for nic in facts.nics]},
    }


def _compute(state: State, id_: ResourceId, document: Document) -> dict[str, Any]:
    properties = document["properties"]
    storage, system = section(properties, "storageProfile"), section(properties, "osProfile")
    image, linux = section(storage, "imageReference"), section(system, "linuxConfiguration")
    security, tags = section(properties, "securityProfile"), document.get("tags") or {}
    uefi, scale_set = (
        section(security, "uefiSettings"),
        str(section(properties, "virtualMachineScaleSet").get("id", "")),
    )
    keys = items(section(linux, "ssh"), "publicKeys") if "ssh" in linux else []
    return {
        "azEnvironment": "AzurePublicCloud",
        "customData": "",
        "evictionPolicy": str(properties.get("evictionPolicy", "")),
        "isHostCompatibilityLayerVm": "false",
        "licenseType": str(properties.get("licenseType", "")),
        "location": str(document["location"]),
        "name": id_.name,
        "offer": str(image.get("offer", "")),
        "osProfile": {
            "adminUsername": str(system.get("adminUsername", "")),
            "computerName": str(system.get("computerName", id_.name)),
            "disablePasswordAuthentication": _word(linux.get("disablePasswordAuthentication")),
        },
        "osType": str(section(storage, "osDisk").get("osType", "Linux")),
        "placementGroupId": "",
        "plan": {name: str(section(document, "plan").get(name, "")) for name in ("name", "product", "publisher")},
        "platformFaultDomain": "0",
        "platformUpdateDomain": "0",
        "priority": str(properties.get("priority", "Regular")),
        "provider": "Microsoft.Compute",
        "publicKeys": [{"keyData": str(key.get("keyData", "")), "path": str(key.get("path", ""))} for key in keys],
        "publisher": str(image.get("publisher", "")),
        "resourceGroupName": id_.group,
        "resourceId": str(id_),
        "securityProfile": {
            "encryptionAtHost": _word(security.get("encryptionAtHost")),
            "secureBootEnabled": _word(uefi.get("secureBootEnabled")),
            "securityType": str(security.get("securityType", "")),
            "virtualTpmEnabled": _word(uefi.get("vTpmEnabled")),
        },
        "sku": str(image.get("sku", "")),
        "storageProfile": _storage(storage, state.vms[id_.key]),
        "subscriptionId": id_.subscription,
        "tags": ";".join(f"{name}:{value}" for name, value in tags.items()),
        "tagsList": [{"name": name, "value": value} for name, value in tags.items()],
        "userData": str(properties.get("userData", "")),
        "version": str(image.get("exactVersion") or image.get("version", "")),
        "virtualMachineScaleSet": {"id": scale_set},
        "vmId": str(properties["vmId"]),
        "vmScaleSetName": scale_set.rpartition("/")[2],
        "vmSize": str(section(properties, "hardwareProfile")["vmSize"]),
        "zone": next(iter(document.get("zones") or ()), ""),
    }


def _word(value: object) -> str:
    """A yes or no as IMDS writes it, as text."""
    return "true" if value else "false"


def _storage(storage: Mapping[str, Any], facts: MachineFacts) -> dict[str, Any]:
    image = section(storage, "imageReference")
    names = ("id", "offer", "publisher", "sku", "version", "communityGalleryImageId", "sharedGalleryImageId")
    resource = facts.allocation.size.number("MaxResourceVolumeMB")  # MiB, as recorded: 14336 of a Standard_DS2_v2
    return {
        "dataDisks": [_disk(disk) for disk in items(storage, "dataDisks")] if storage.get("dataDisks") else [],
        "imageReference": {name: str(image.get(name, "")) for name in names},
        "osDisk": _disk(section(storage, "osDisk")),
        "resourceDisk": {"size": f"{resource:.0f}"},
    }


def _disk(disk: Mapping[str, Any]) -> dict[str, Any]:
    managed = section(disk, "managedDisk")
    shown: dict[str, Any] = {name: str(disk.get(name, "")) for name in ("caching", "createOption", "name")}
    shown["diskSizeGB"] = str(disk.get("diskSizeGB", ""))
    shown["managedDisk"] = {name: str(managed.get(name, "")) for name in ("id", "storageAccountType")}
    shown["writeAcceleratorEnabled"] = _word(disk.get("writeAcceleratorEnabled"))
    if "lun" in disk:
        shown["lun"] = str(disk["lun"])
    if "osType" in disk:
        settings = section(disk, "diffDiskSettings")
        shown |= {"osType": str(disk["osType"]), "diffDiskSettings": {"option": str(settings.get("option", ""))}}
    return shown


def _interface(state: State, nic: str) -> dict[str, Any]:
    entry = state.store.get(nic)
    properties = {} if entry is None else section(entry.document, "properties")
    shown: dict[str, list[dict[str, str]]] = {"IPv4": [], "IPv6": []}
    subnets: list[dict[str, str]] = []
    for configuration in items(properties, "ipConfigurations") if properties.get("ipConfigurations") else ():
        inner = section(configuration, "properties")
        address = {"privateIpAddress": str(inner.get("privateIPAddress", ""))}
        if inner.get("privateIPAddressVersion") == "IPv6":
            shown["IPv6"].append(address)
            continue
        public = state.store.get(str(section(inner, "publicIPAddress").get("id", "")))
        outside = "" if public is None else section(public.document, "properties").get("ipAddress", "")
        shown["IPv4"].append({**address, "publicIpAddress": str(outside)})
        if not subnets and (linked := state.addresses.get(str(section(inner, "subnet").get("id", "")).lower())):
            network = ip_network(linked.prefix)
            subnets.append({"address": str(network.network_address), "prefix": str(network.prefixlen)})
    return {
        "ipv4": {"ipAddress": shown["IPv4"], "subnet": subnets},
        "ipv6": {"ipAddress": shown["IPv6"]},
        "macAddress": str(properties.get("macAddress", "")).replace("-", ""),
    }


def scheduled_events(state: State, id_: ResourceId) -> dict[str, Any]:
    """`/metadata/scheduledevents`: what is about to happen to the VM."""
    facts = state.vms[id_.key]
    return {"DocumentIncarnation": facts.incarnation, "Events": list(facts.scheduled_events)}


def start_requests(state: State, id_: ResourceId, events: list[str]) -> bool:
    """Let events begin that the VM is ready for. Returns whether all of them are there."""
    event_ids = {str(event["EventId"]) for event in state.vms[id_.key].scheduled_events}
    if not events or not set(events) <= event_ids:
        return False
    vm_lifecycle.take(state, id_)
    return True


def attested(state: State, id_: ResourceId, nonce: str) -> dict[str, Any]:
    """Return the attested document's content about the VM, before it is signed."""
    compute = _compute(state, id_, state.found(id_).document)
    return {
        "licenseType": compute["licenseType"],
        "nonce": nonce or datetime.fromtimestamp(state.now(), UTC).strftime("%Y%m%d-%H%M%S"),
        "plan": compute["plan"],
        "sku": compute["sku"],
        "subscriptionId": compute["subscriptionId"],
        "timeStamp": {"createdOn": _day(state.now()), "expiresOn": _day(state.now() + _ATTESTED)},
        "vmId": compute["vmId"],
    }


def _day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%m/%d/%y %H:%M:%S -0000")
