"""The checks that a size supports a VM's wishes: image, OS disk, encryption, ultra disks. Pure; each returns a failure or None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.bodies import number, section, text
from fakeazure.arm.errors import Failure
from fakeazure.arm.texts import failure
from fakeazure.market.facts import Size
from fakeazure.resources.images import Image

MIB, GIB = 1024 * 1024, 1024**3
_GUEST_STATE_GIB = 1
_POOL_DISK_GIB = 128
"""The OS disk of a pool that names no size (AKS: the default of most sizes)."""


def image_mismatch(size: Size, image: Image) -> Failure | None:
    """The size cannot boot the image: other Hyper-V generation, other CPU architecture."""
    generations = [item.strip() for item in size.capabilities.get("hypervgenerations", "").split(",") if item.strip()]
    if generations and image.generation not in ("", *generations):
        return failure("HypervisorGeneration", size=size.name, generation=image.generation.removeprefix("V"))
    architecture = size.capabilities.get("cpuarchitecturetype", "x64")
    if architecture.lower() != image.architecture.lower():
        return failure("CpuArchitecture", size=size.name, needs=architecture, image=image.architecture)
    return None


def ephemeral_room(size: Size, placement: str) -> float:
    """Bytes for an ephemeral OS disk in `NvmeDisk`, `CacheDisk` or `ResourceDisk`."""
    if placement == "NvmeDisk":
        return size.number("NvmeDiskSizeInMiB") * MIB
    if placement == "ResourceDisk":
        return size.number("MaxResourceVolumeMB") * MIB
    return size.number("CachedDiskBytes")


def has_guest_state(properties: Mapping[str, Any]) -> bool:
    """Tell whether a VM keeps guest state on its ephemeral OS disk: one with Trusted Launch, or a confidential one."""
    kind = text(section(properties, "securityProfile"), "securityType")
    return kind.lower() in ("trustedlaunch", "confidentialvm")


def os_disk_mismatch(size: Size, disk: Mapping[str, Any], *, guest_state: bool = False) -> Failure | None:
    """An ephemeral OS disk that the size does not offer, or that is too large for its place.

    Without a placement Azure takes the cache disk where the size has one, else the resource disk. Azure counts GiB: it told 50 of a
    Standard_D2s_v3, whose cache has 53,687,091,200 bytes. Trusted Launch keeps 1 GiB for the VM's guest state (learn.microsoft.com,
    ephemeral-os-disks: a Standard_D2ads_v5 has a temporary disk of 75 GiB, and 74 are left); that it counts so for caches is a guess.
    """
    local = section(disk, "diffDiskSettings")
    if text(local, "option").lower() != "local":
        return None
    if not size.has("EphemeralOSDiskSupported"):
        return failure("EphemeralNotSupported", size=size.name)
    placement = text(local, "placement", "CacheDisk" if size.number("CachedDiskBytes") else "ResourceDisk")
    room = int(ephemeral_room(size, placement) // GIB)
    room = max(0, room - _GUEST_STATE_GIB) if guest_state else room
    if number(disk, "diskSizeGB") > room:
        return failure("EphemeralTooLarge", size=size.name, limit=room, placement=placement)
    return None


def pool_disk_mismatch(size: Size, properties: Mapping[str, Any]) -> Failure | None:
    """An agent pool that asks for an ephemeral OS disk where the size has no room for it, neither on its cache nor beside it."""
    if text(properties, "osDiskType").lower() != "ephemeral":
        return None
    cache = int(size.number("CachedDiskBytes"))
    disk = int(number(properties, "osDiskSizeGB") or _POOL_DISK_GIB) * GIB
    room = max(ephemeral_room(size, place) for place in ("CacheDisk", "ResourceDisk", "NvmeDisk"))
    return failure("VMCacheSizeTooSmall", size=size.name, cache=cache, disk=disk) if disk > room else None


def feature_mismatch(size: Size, properties: Mapping[str, Any], zone: str) -> Failure | None:
    """A feature that the size lacks: encryption at host, ultra disks in this zone."""
    if section(properties, "securityProfile").get("encryptionAtHost") and not size.has("EncryptionAtHostSupported"):
        return failure("EncryptionAtHost", size=size.name)
    if section(properties, "additionalCapabilities").get("ultraSSDEnabled") and not (
        size.zone_has("UltraSSDAvailable", zone) or size.has("UltraSSDAvailable")
    ):
        return failure("UltraSsd", size=size.name, zone=zone, location=size.location)
    return None
