"""Values that others write for what a label of Karpenter's on Azure says: other units, longer names, names of other clouds."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.labels.azure import SKU_CPU, SKU_FAMILY, SKU_GPU_NAME, SKU_MEMORY, SKU_VERSION
from harness.kube.api.labels import ARCH, ZONE

__all__ = ["VendorSize", "in_own_words", "sizes_like", "vendor_size"]

_AMOUNT = re.compile(r"(\d+)\s*(Ki|Mi|Gi|Ti|K|M|G|T|)(?:B|iB)?", re.IGNORECASE)
_MIB: Mapping[str, int] = {"": 1024, "g": 1024, "m": 1, "t": 1024 * 1024}
"""MiB in a unit by its first letter; a bare number that no size has is GiB."""
_BYTES = 1024 * 1024  # in a MiB
_WORD = re.compile(r"[A-Za-z0-9]+")
_VERSION = re.compile(r"v?(\d+)", re.IGNORECASE)
_CPUS = re.compile(r"(\d+?)(000m|\s*v?cpus?|\s*cores?)", re.IGNORECASE)
_ZONE = re.compile(r"[a-z]+(?:-[a-z]+)+-?\d(?P<behind>-?)(?P<letter>[a-f])")
"""`us-east-1a` (AWS), `us-central1-b` (GCP)."""

_AWS = re.compile(r"(?P<letters>[a-z]+)(?P<generation>\d)(?P<features>[a-z-]*)(?:\.(?P<times>\d*)(?P<size>[a-z]+))?")
_GCP = re.compile(r"(?P<letters>[a-z]+)\d(?P<features>[ad]?)-(?P<kind>standard|highmem|highcpu)-(?P<cpus>\d+)")
_AWS_FAMILIES: Mapping[str, str] = {"m": "D", "t": "D", "c": "F", "r": "E", "x": "M", "i": "L", "g": "N", "p": "N"}
"""General purpose, compute, memory and the like (docs.aws.amazon.com/ec2, Instance types; learn.microsoft.com, VM sizes)."""
_GCP_FAMILIES: Mapping[str, str] = {"standard": "D", "highmem": "E", "highcpu": "F"}
_AWS_CPUS: Mapping[str, int] = {"large": 2, "xlarge": 4}
_ARM_OF_GCP = ("t2a", "c4a")


@dataclass(frozen=True, slots=True)
class VendorSize:
    """A size of AWS or GCP in Azure's words: the family, and vCPUs (0 where it names a family alone) and architecture."""

    family: str
    cpus: int
    arch: str


def in_own_words(key: str, value: str, values: Collection[str]) -> str | None:
    """The known value of a label that somebody else writes as `value`; None where there is none, or where it cannot be told."""
    reader = _READERS.get(key)
    return reader(value, values) if reader is not None else None


def _memory(value: str, values: Collection[str]) -> str | None:
    """MiB, as `karpenter.azure.com/sku-memory` counts (kaz pkg/providers/instancetype/instancetype.go), for GiB, and for bytes."""
    parsed = _AMOUNT.fullmatch(value)
    if parsed is None:
        return None
    amount, unit = int(parsed[1]), parsed[2].lower()[:1]
    readings = [amount * _MIB[unit]] if unit in _MIB else []
    readings += [] if unit else [amount // _BYTES]
    return next((text for reading in readings if (text := str(reading)) in values), None)


def _gpu(value: str, values: Collection[str]) -> str | None:
    """`T4` for `Tesla-T4`, `nvidia-tesla-t4`, `NVIDIA-A100-SXM4-80GB`."""
    words = {word.lower() for word in _WORD.findall(value)}
    named = [candidate for candidate in values if candidate.lower() in words]
    return named[0] if len(named) == 1 else None


def _family(value: str, values: Collection[str]) -> str | None:
    """`D` for `Dsv5` and `Standard_D4s_v5`, and for `m5` of AWS: the longest family that the name begins with."""
    vendor = vendor_size(value)
    if vendor is not None:
        return vendor.family if vendor.family in values else None
    text = value.removeprefix("Standard_").upper()
    return max((candidate for candidate in values if text.startswith(candidate)), key=len, default=None)


def _zone(value: str, values: Collection[str]) -> str | None:
    """The zone of the same number: `us-east-1a` is the first."""
    parsed = _ZONE.fullmatch(value)
    if parsed is None:
        return None
    number = "abcdef".index(parsed["letter"]) + 1
    return next((candidate for candidate in sorted(values) if candidate.endswith(f"-{number}")), None)


def _version(value: str, values: Collection[str]) -> str | None:
    parsed = _VERSION.fullmatch(value)
    return parsed[1] if parsed is not None and parsed[1] in values else None


def _cpu(value: str, values: Collection[str]) -> str | None:
    parsed = _CPUS.fullmatch(value)
    return parsed[1] if parsed is not None and parsed[1] in values else None


_READERS: Mapping[str, Callable[[str, Collection[str]], str | None]] = {
    SKU_MEMORY: _memory,
    SKU_GPU_NAME: _gpu,
    SKU_FAMILY: _family,
    SKU_VERSION: _version,
    SKU_CPU: _cpu,
    ZONE: _zone,
}


def vendor_size(name: str) -> VendorSize | None:
    """A size or family of AWS (`m5.xlarge`, `c7g`) or GCP (`n2-standard-4`) in Azure's words; None for any other name."""
    if (parsed := _GCP.fullmatch(name)) is not None:
        arm = name.partition("-")[0] in _ARM_OF_GCP
        return VendorSize(_GCP_FAMILIES[parsed["kind"]], int(parsed["cpus"]), "arm64" if arm else "amd64")
    parsed = _AWS.fullmatch(name)
    if parsed is None or parsed["letters"] not in _AWS_FAMILIES:
        return None
    size, times = parsed["size"], parsed["times"]
    cpus = 4 * int(times) if times and size == "xlarge" else _AWS_CPUS.get(size or "", 0)
    if size is not None and not cpus:
        return None
    return VendorSize(_AWS_FAMILIES[parsed["letters"]], cpus, "arm64" if "g" in parsed["features"] else "amd64")


def sizes_like(vendor: VendorSize, types: Iterable[InstanceType]) -> list[str]:
    """The sizes of the family, vCPUs and architecture of another cloud's size, the cheapest first."""
    wanted = {SKU_FAMILY: vendor.family, SKU_CPU: str(vendor.cpus), ARCH: vendor.arch}
    alike = [
        instance_type
        for instance_type in types
        if all(
            key in instance_type.requirements and instance_type.requirements[key].has(value)
            for key, value in wanted.items()
        )
    ]
    prices = {
        instance_type.name: min((offering.price for offering in instance_type.offerings), default=0.0)
        for instance_type in alike
    }
    return sorted(prices, key=lambda name: (prices[name], name))
