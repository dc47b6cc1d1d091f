"""Node images: the definitions that AKS publishes, and their versions.

Definitions, and the version of each on 2025-12-18, are those that karpenter-provider-azure recorded (pkg/fake/nodeimageversionsapi.go);
released versions are those of AKS's release notes, and of real Nodes (data/image-versions.csv).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

__all__ = ["DEFINITIONS", "GALLERIES", "SNAPSHOT", "published_date", "recorded_version", "released", "version_of_day"]

SNAPSHOT = "202512.18.0"

GALLERIES: Mapping[str, str] = MappingProxyType(
    {
        "AKSUbuntu": "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2",
        "AKSAzureLinux": "AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b",
    }
)
"""Shared gallery → public name of the community gallery with the same images."""

_UBUNTU = (
    "2004fipscontainerd",
    "2004gen2fipscontainerd",
    "2204containerd",
    "2204gen2containerd",
    "2204gen2arm64containerd",
    "2204gen2TLcontainerd",
    "2204fipscontainerd",
    "2204gen2fipscontainerd",
    "2404containerd",
    "2404gen2containerd",
    "2404gen2arm64containerd",
    "2404gen2TLcontainerd",
)
_AZURE_LINUX = (
    "V2",
    "V2gen2",
    "V2gen2arm64",
    "V2gen2TL",
    "V2fips",
    "V2gen2fips",
    "V3",
    "V3gen2",
    "V3gen2arm64",
    "V3gen2TL",
    "V3fips",
    "V3gen2fips",
    "V3gen2arm64fips",
)
DEFINITIONS: Mapping[str, str] = MappingProxyType(
    {**dict.fromkeys(_UBUNTU, "AKSUbuntu"), **dict.fromkeys(_AZURE_LINUX, "AKSAzureLinux")}
)
"""Image definition → shared gallery."""

_OLDER: Mapping[str, str] = MappingProxyType(
    {"2204fipscontainerd": "202404.09.0", "2204gen2fipscontainerd": "202404.09.0"}
)
_SERIES = ("2204", "2404", "V2", "V3")


def recorded_version(definition: str) -> str:
    """The version of a definition that was recorded."""
    return _OLDER.get(definition, SNAPSHOT)


def released(definition: str) -> tuple[str, ...]:
    """The versions of a definition that AKS's release notes tell since 2025-01, oldest first; none of those without notes.

    FIPS images of Ubuntu 20.04 have no notes, nor have those whose last version is older (`recorded_version`).
    """
    if definition in _OLDER:
        return ()
    return next((_notes()[series] for series in _SERIES if definition.startswith(series)), ())


def version_of_day(definition: str, day: str) -> str:
    """The last version that came out until the end of a day (an ISO date); the recorded one where no version is as old."""
    older = [version for version in released(definition) if published_date(version)[:10] <= day]
    return older[-1] if older else recorded_version(definition)


@cache
def _notes() -> Mapping[str, tuple[str, ...]]:
    text = (Path(__file__).parent / "data" / "image-versions.csv").read_text(encoding="utf-8")
    versions_by_series: dict[str, list[str]] = {series: [] for series in _SERIES}
    for line in text.splitlines()[1:]:
        series, _, version = line.partition(",")
        versions_by_series[series].append(version)
    return {series: tuple(versions) for series, versions in versions_by_series.items()}


def published_date(version: str) -> str:
    """The day that a version's name carries: `202512.18.0` → 2025-12-18."""
    month, _, rest = version.partition(".")
    day = rest.partition(".")[0]
    if len(month) == 6 and month.isdigit() and day.isdigit():
        return f"{month[:4]}-{month[4:]}-{int(day):02d}T00:00:00+00:00"
    return "2025-01-01T00:00:00+00:00"
