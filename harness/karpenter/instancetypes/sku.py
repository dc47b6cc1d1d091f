"""A ``Microsoft.Compute/skus`` record, read once into the facts that Karpenter uses (skewer ``sku.go``)."""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from harness.karpenter.instancetypes.vmsize import Grammar, VmSize
from harness.kube.go.text import parse_int
from lazyrecords import dataclass

__all__ = ["Ephemeral", "Sku", "same_location"]

_MIB = 1 << 20
_GB = 10**9


@dataclass(frozen=True, slots=True)
class Ephemeral:
    """Room for an ephemeral OS disk: whole GB and the ARM placement (``NvmeDisk``, ``CacheDisk``, ``ResourceDisk``)."""

    size_gb: int
    placement: str


class Sku:
    """One record. Numbers are None when the record lacks them or they do not parse; zones are bare (``"1"``).

    ``local_disk`` is where an ephemeral OS disk would be, ``ephemeral`` the same for sizes that support one. ``ultra_zones`` are those
    in which ultra SSD can be attached.

    Capability names are compared without case for flags; for numbers and texts that depends on the grammar's library version.
    """

    __slots__ = (
        "_capabilities",
        "_flags",
        "accelerated_networking",
        "architecture",
        "ephemeral",
        "family",
        "gpus",
        "hyperv",
        "largest_local_disk_gb",
        "local_disk",
        "location_restricted",
        "low_priority",
        "memory_gib",
        "name",
        "premium_io",
        "record",
        "size",
        "ultra_zones",
        "vcpus",
        "vm_size",
        "zones",
    )

    def __init__(self, record: Mapping[str, Any], location: str, grammar: Grammar) -> None:
        self.record = record
        self.name: str = record.get("name") or ""
        self.family: str = record.get("family") or ""
        self.size: str = record.get("size") or ""
        caseless = grammar.caseless_names
        listed = record.get("capabilities") or ()
        # of equal names the first counts
        self._flags: dict[str, str | None] = {
            _folded(name): item.get("value") for item in reversed(listed) if (name := item.get("name")) is not None
        }
        self._capabilities: dict[str, str | None] = self._flags if caseless else dict(reversed([*_pairs(listed)]))
        self.vm_size: VmSize | None = grammar.parse(self.size)
        self.vcpus = self._integer("vCPUs", caseless)
        self.gpus = self._integer("GPUs", caseless)
        self.memory_gib = self._float("MemoryGB", caseless)
        self.architecture = self._text("CpuArchitectureType", caseless)
        self.premium_io = self.flag("PremiumIO")
        self.accelerated_networking = self.flag("AcceleratedNetworkingEnabled")
        self.low_priority = self.flag("LowPriorityCapable")
        self.hyperv = tuple(number for number in ("1", "2") if self.lists("HyperVGenerations", f"V{number}"))
        self.local_disk = self._local_disk(caseless)
        self.ephemeral = self.local_disk if self.flag("EphemeralOSDiskSupported") else None
        cache, resource = (
            self._integer("CachedDiskBytes", caseless) or 0,
            self._integer("MaxResourceVolumeMB", caseless) or 0,
        )
        self.largest_local_disk_gb = max(float(cache), float(resource * _MIB)) / float(_GB)
        self.location_restricted = _location_restricted(record, location)
        self.zones = _zones(record, location)
        self.ultra_zones: frozenset[str] = _ultra_zones(record)

    def __repr__(self) -> str:
        return f"Sku({self.name})"

    def flag(self, name: str) -> bool:
        """Return whether the capability says ``True``, in any case."""
        value = self._flags.get(_folded(name))
        return value is not None and value.casefold() == "true"

    def lists(self, name: str, value: str) -> bool:
        """Return whether the capability's text contains ``value``, without case and spaces."""
        text = self._flags.get(_folded(name))
        return text is not None and _normal(value) in _normal(text)

    def capability(self, name: str) -> str | None:
        """The text of a capability, whatever its name's case."""
        return self._flags.get(_folded(name))

    def ultra_ssd(self, zone: str | None) -> bool:
        """Return whether ultra SSD can be attached in a zone, or without one (None)."""
        return self.flag("UltraSSDAvailable") if zone is None else zone in self.ultra_zones

    def _text(self, name: str, caseless: bool) -> str | None:
        return self._capabilities.get(_folded(name) if caseless else name)

    def _integer(self, name: str, caseless: bool) -> int | None:
        text = self._text(name, caseless)
        return None if text is None else parse_int(text)

    def _float(self, name: str, caseless: bool) -> float | None:
        text = self._text(name, caseless)
        try:
            return None if text is None else float(text)
        except ValueError:
            return None

    def _local_disk(self, caseless: bool) -> Ephemeral | None:
        nvme = self._integer("NvmeDiskSizeInMiB", caseless) or 0
        if nvme > 0 and self.lists("SupportedEphemeralOSDiskPlacements", "NvmeDisk"):
            return Ephemeral(nvme * _MIB // _GB, "NvmeDisk")
        cache = self._integer("CachedDiskBytes", caseless) or 0
        if cache > 0:
            return Ephemeral(cache // _GB, "CacheDisk")
        resource = self._integer("MaxResourceVolumeMB", caseless) or 0
        if resource > 0:
            return Ephemeral(resource * _MIB // _GB, "ResourceDisk")
        return None


_folded = lru_cache(maxsize=4096)(str.casefold)


def same_location(a: str, b: str) -> bool:
    """Return whether two spellings name one location: case and spaces do not count."""
    return a == b or _normal(a) == _normal(b)


@lru_cache(maxsize=4096)
def _normal(text: str) -> str:
    return "".join(text.split()).lower()


def _pairs(capabilities: Any) -> Iterator[tuple[str, str | None]]:
    for item in capabilities or ():
        if item.get("name") is not None:
            yield item["name"], item.get("value")


def _restrictions(record: Mapping[str, Any], location: str) -> Iterator[Mapping[str, Any]]:
    for restriction in record.get("restrictions") or ():
        for value in restriction.get("values") or ():
            if same_location(value, location):
                yield restriction


def _location_restricted(record: Mapping[str, Any], location: str) -> bool:
    return bool(record.get("restrictions")) and any(
        restriction.get("type") == "Location" for restriction in _restrictions(record, location)
    )


def _zones(record: Mapping[str, Any], location: str) -> tuple[str, ...]:
    """The zones that have the size and do not restrict it, sorted."""
    zones: set[str] = set()
    restricted: set[str] = set()
    for info in record.get("locationInfo") or ():
        if info.get("location") is None or not same_location(info["location"], location):
            continue
        zones.update(info.get("zones") or ())
        for restriction in _restrictions(record, location):
            if restriction.get("type") == "Location":
                return ()
            restricted.update((restriction.get("restrictionInfo") or {}).get("zones") or ())
    return tuple(sorted(zones - restricted))


def _ultra_zones(record: Mapping[str, Any]) -> frozenset[str]:
    """The zones in which ultra SSD can be attached."""
    zones: list[str] = []
    for info in record.get("locationInfo") or ():
        for detail in info.get("zoneDetails") or ():
            capabilities = _pairs(detail.get("capabilities"))
            if any(
                _folded(name) == "ultrassdavailable" and (value or "").casefold() == "true"
                for name, value in capabilities
            ):
                zones += detail.get("name") or detail.get("Name") or ()  # ARM's JSON spells it either way
    return frozenset(zones)
