"""A size's capabilities from its row and its series' rule, and which of them are guesses.

`describe` gives what is true of a size everywhere; zones, restrictions and ultra disks are a region's and are added by
`catalogue.py`. Capability names, spelling and order are those of the recorded samples; all values are text.
"""

from __future__ import annotations

from dataclasses import dataclass

from fakeazure.catalog.naming import SizeName, parse
from fakeazure.catalog.profiles import CACHED, REMOTE, Cache, Disks, interfaces
from fakeazure.catalog.series import NVME_LAYOUTS, NVME_SPEEDS, Basis, Series, rule_for
from fakeazure.catalog.singles import Single, single_for

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class SizeRow:
    """What the public tables say of a size: quota family, vCPUs (of the parent, if constrained), MiB, GPUs, architecture.

    `arch` is `amd64` or `arm64`.
    """

    name: str
    family: str
    vcpus: int
    memory_mib: int
    gpus: int
    arch: str


@dataclass(frozen=True, slots=True)
class Description:
    """A size as it is everywhere: capability pairs in the API's order, the guessed names, ultra disks, zones.

    `ultra` is "True", "False" or "" (never stated); `zonal` is False for sizes sold by region only.
    """

    capabilities: tuple[tuple[str, str], ...]
    guessed: frozenset[str]
    ultra: str
    zonal: bool


# Not on Microsoft's pages of the series, hence assumed unless a sample of the series is recorded.
_UNPUBLISHED = frozenset(
    {
        "ACUs",
        "CachedDiskBytes",
        "CapacityReservationSupported",
        "CombinedTempDiskAndCachedIOPS",
        "CombinedTempDiskAndCachedReadBytesPerSecond",
        "CombinedTempDiskAndCachedWriteBytesPerSecond",
        "DiskControllerTypes",
        "EncryptionAtHostSupported",
        "LowPriorityCapable",
        "SupportedEphemeralOSDiskPlacements",
        "TrustedLaunchDisabled",
        "vCPUsPerCore",
    }
)
# Rule or table gives these for every size, whatever the series.
_GIVEN = frozenset(
    {
        "CpuArchitectureType",
        "GPUs",
        "MemoryGB",
        "OSVhdSizeMB",
        "ParentSize",
        "PremiumIO",
        "RdmaEnabled",
        "vCPUs",
        "vCPUsAvailable",
    }
)


def describe(row: SizeRow) -> Description:
    """The capabilities of a size by its series' rule; LookupError when no rule covers the series."""
    name = parse(row.name)
    rule = rule_for(name)
    single = single_for(name.parent or row.name)
    figures = _Figures.of(row, name, rule, single)
    capabilities = tuple((key, value) for key, value in _capabilities(row, name, rule, figures) if value)
    return Description(capabilities, _guesses(rule, figures, {key for key, _ in capabilities}), rule.ultra, rule.zonal)


@dataclass(frozen=True, slots=True)
class _Figures:
    """The figures of a size, whether from its own row or its series' profiles; `scaled` names the interpolated ones."""

    temp_mib: int
    cache_bytes: int
    nvme: tuple[int, int] | None
    disks: int
    uncached: Disks | None
    cached: Cache | None
    nics: int
    scaled: frozenset[str]

    @classmethod
    def of(cls, row: SizeRow, name: SizeName, rule: Series, single: Single | None) -> _Figures:
        if single is not None:
            return cls._of_single(single, write_share=2 if rule.paas else 1)
        local = rule.local
        memory_gib = row.memory_mib / 1024
        temp_gib = local.temp_fixed + local.temp_per_vcpu * row.vcpus + local.temp_per_gib * memory_gib
        if local.temp_most:
            temp_gib = min(temp_gib, local.temp_most)
        scaled = set()
        nvme = None
        if local.nvme:
            layout = NVME_LAYOUTS[local.nvme]
            nvme = layout.get(row.vcpus)
            if nvme is None:
                nvme = (1, 55 * 1024 * row.vcpus)
                scaled |= {"NvmeDiskSizeInMiB", "NvmeSizePerDiskInMiB"}
        uncached = REMOTE[rule.remote].at(row.vcpus) if rule.remote else None
        if uncached is not None and not uncached.exact:
            scaled |= {"MaxDataDiskCount", "UncachedDiskIOPS", "UncachedDiskBytesPerSecond"}
        return cls(
            temp_mib=round(temp_gib * 1024),
            cache_bytes=round(local.cache_per_vcpu * row.vcpus * GIB),
            nvme=nvme,
            disks=uncached.count if uncached else 4,
            uncached=uncached,
            cached=CACHED[rule.cached].at(row.vcpus) if rule.cached else None,
            nics=interfaces(rule.nics, row.vcpus),
            scaled=frozenset(scaled),
        )

    @classmethod
    def _of_single(cls, single: Single, write_share: int) -> _Figures:
        uncached = None
        if single.uncached_iops is not None and single.uncached_bytes is not None:
            uncached = Disks(single.disks, single.uncached_iops, single.uncached_bytes)
        cached = None
        if single.cached_iops is not None and single.cached_bytes is not None:
            cached = Cache(single.cached_iops, single.cached_bytes, single.cached_bytes // write_share)
        return cls(
            temp_mib=single.temp_gib * 1024,
            cache_bytes=single.cache_gib * GIB,
            nvme=single.nvme,
            disks=single.disks,
            uncached=uncached,
            cached=cached,
            nics=single.interfaces,
            scaled=frozenset(),
        )


def _capabilities(row: SizeRow, name: SizeName, rule: Series, figures: _Figures) -> list[tuple[str, str]]:
    """All pairs in the API's order; a pair with an empty value is one that the size does not state."""
    # The first DC series takes premium disks and has no s in its names.
    premium = "s" in name.features or name.letters in ("DS", "GS", "DC")
    ephemeral = rule.ephemeral and (figures.temp_mib > 0 or figures.nvme is not None)
    # A size without premium disks has no host cache (recorded: E4d_v5, which still names the placement).
    cache = figures.cache_bytes if premium and ephemeral else 0
    placements = rule.placements if ephemeral else ""
    cached, uncached = figures.cached, figures.uncached
    available = row.vcpus if name.available is None else name.available
    return [
        ("MaxResourceVolumeMB", str(figures.temp_mib)),
        ("OSVhdSizeMB", "1047552"),
        ("vCPUs", str(row.vcpus)),
        ("MemoryPreservingMaintenanceSupported", str(rule.memory_preserving)),
        ("HyperVGenerations", rule.hyperv),
        ("DiskControllerTypes", rule.controllers),
        ("SupportedEphemeralOSDiskPlacements", placements),
        ("MemoryGB", f"{row.memory_mib / 1024:.10g}"),
        ("MaxDataDiskCount", str(figures.disks)),
        ("CpuArchitectureType", {"amd64": "x64", "arm64": "Arm64"}[row.arch]),
        ("MaxWriteAcceleratorDisksAllowed", _write_accelerators(row, rule)),
        ("LowPriorityCapable", str(rule.spot and not name.promo)),
        ("PremiumIO", str(premium)),
        ("VMDeploymentTypes", "IaaS,PaaS" if rule.paas and not name.promo else "IaaS"),
        ("vCPUsAvailable", str(available)),
        ("ACUs", str(rule.acu) if rule.acu else ""),
        ("GPUs", str(row.gpus) if row.gpus else ""),
        ("ParentSize", name.parent or ""),
        ("vCPUsPerCore", str(rule.threads)),
        ("CombinedTempDiskAndCachedIOPS", str(cached.iops) if cached else ""),
        ("CombinedTempDiskAndCachedReadBytesPerSecond", str(cached.read) if cached else ""),
        ("CombinedTempDiskAndCachedWriteBytesPerSecond", str(cached.write) if cached else ""),
        ("CachedDiskBytes", str(cache) if cache else ""),
        ("UncachedDiskIOPS", str(uncached.iops) if uncached else ""),
        ("UncachedDiskBytesPerSecond", str(uncached.throughput) if uncached else ""),
        *_nvme(row, name, rule, figures),
        ("ConfidentialComputingType", rule.confidential),
        ("EphemeralOSDiskSupported", str(ephemeral)),
        ("EncryptionAtHostSupported", str(rule.encryption_at_host)),
        ("CapacityReservationSupported", "False"),
        ("TrustedLaunchDisabled", "True" if rule.trusted_launch_disabled else ""),
        ("AcceleratedNetworkingEnabled", str(0 < rule.accelerated_from <= row.vcpus)),
        ("RdmaEnabled", str("r" in name.features)),
        ("MaxNetworkInterfaces", str(figures.nics)),
    ]


def _write_accelerators(row: SizeRow, rule: Series) -> str:
    return str(max(1, min(16, row.vcpus // rule.write_accelerators))) if rule.write_accelerators else ""


def _nvme(row: SizeRow, name: SizeName, rule: Series, figures: _Figures) -> list[tuple[str, str]]:
    if figures.nvme is None:
        return []
    disks, mib = figures.nvme
    pairs = [("NvmeDiskSizeInMiB", str(disks * mib)), ("NvmeSizePerDiskInMiB", str(mib))]
    speeds = NVME_SPEEDS.get("v7" if rule.local.nvme == "v6" and name.version == 7 else rule.local.nvme)
    if speeds is not None:
        names = ("NvmeMaxReadIops", "NvmeMaxWriteIops", "NvmeMaxReadBytesPerSecond", "NvmeMaxWriteBytesPerSecond")
        pairs += [(key, str(speed * row.vcpus)) for key, speed in zip(names, speeds, strict=True)]
    return pairs


def _guesses(rule: Series, figures: _Figures, present: set[str]) -> frozenset[str]:
    # Whether trusted launch is possible is told by the absence of a capability, so silence can be a guess too.
    stated = present | {"TrustedLaunchDisabled"}
    match rule.basis:
        case Basis.RECORDED:
            return figures.scaled
        case Basis.PUBLISHED:
            return frozenset(_UNPUBLISHED & stated) | figures.scaled | {"UltraSSDAvailable"}
        case Basis.ASSUMED:
            return frozenset(stated - _GIVEN) | {"UltraSSDAvailable"}
