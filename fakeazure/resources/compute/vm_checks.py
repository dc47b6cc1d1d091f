"""Whether a size supports what a VM asks for: image, OS disk, encryption, ultra disks. Pure; each check returns a failure or None."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.bodies import number, section, text
from fakeazure.arm.errors import Failure
from fakeazure.arm.texts import failure
from fakeazure.market.facts import Size
from fakeazure.resources.images import Image

MIB, GB = 1024 * 1024, 1_000_000_000


def image_mismatch(size: Size, image: Image) -> Failure | None:
    """The size cannot boot the image: other Hyper-V generation, other CPU architecture."""
    generations = [item.strip() for item in size.capabilities.get("hypervgenerations", "").split(",") if item.strip()]
    if generations and image.generation not in generations:
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


def os_disk_mismatch(size: Size, disk: Mapping[str, Any]) -> Failure | None:
    """An ephemeral OS disk that the size does not offer, or that is too large for its place.

    Without a placement Azure takes the cache disk where the size has one, else the resource disk.
    """
    local = section(disk, "diffDiskSettings")
    if text(local, "option").lower() != "local":
        return None
    if not size.has("EphemeralOSDiskSupported"):
        return failure("EphemeralNotSupported", size=size.name)
    placement = text(local, "placement", "CacheDisk" if size.number("CachedDiskBytes") else "ResourceDisk")
    room = int(ephemeral_room(size, placement) // GB)
    if number(disk, "diskSizeGB") > room:
        return failure("EphemeralTooLarge", size=size.name, limit=room, placement=placement)
    return None


def feature_mismatch(size: Size, properties: Mapping[str, Any], zone: str) -> Failure | None:
    """A feature that the size lacks: encryption at host, ultra disks in this zone."""
    if section(properties, "securityProfile").get("encryptionAtHost") and not size.has("EncryptionAtHostSupported"):
        return failure("EncryptionAtHost", size=size.name)
    if section(properties, "additionalCapabilities").get("ultraSSDEnabled") and not (
        size.zone_has("UltraSSDAvailable", zone) or size.has("UltraSSDAvailable")
    ):
        return failure("UltraSsd", size=size.name, zone=zone, location=size.location)
    return None
