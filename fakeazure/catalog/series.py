"""What every size of a series has in common: the rule table that capabilities are derived from.

A rule is found by the series text of `naming.SizeName.series` (`Dds_v5`); the first whose pattern matches wins. Figures
are named profiles of `profiles.py`; sizes that follow no profile (GPU, HPC, B, A) have rows in `singles.py`. Sources:
the recorded samples, Microsoft's size pages and lists of feature support; `basis` says which of them carries a rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from fakeazure.catalog.naming import SizeName


class Basis(StrEnum):
    """What a rule rests on, best first."""

    RECORDED = "recorded"  # a recorded sample of the series agrees with the rule
    PUBLISHED = "published"  # checked against Microsoft's page of the series; what it is silent on is assumed
    ASSUMED = "assumed"  # by analogy with neighbouring series, or from memory of its page: not checked


@dataclass(frozen=True, slots=True)
class Local:
    """Local storage: GiB of temp disk and host cache, for each vCPU or for each GiB of memory; `temp_most` is the largest temp disk of
    the series (0: no limit), `nvme` names a layout.

    All zero: the series has none, and then no size of it can hold an ephemeral OS disk.
    """

    temp_per_vcpu: float = 0
    temp_per_gib: float = 0
    temp_fixed: int = 0
    temp_most: int = 0
    cache_per_vcpu: float = 0
    nvme: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """A rule: what a size gets beside its vCPUs, memory, GPUs and architecture.

    `accelerated_from` is the least vCPU count with accelerated networking (0: no size has it). `ultra` is "True",
    "False" (stated as False where the region states it) or "" (never stated). `placements` is the value of
    SupportedEphemeralOSDiskPlacements. `write_accelerators` is the number of vCPUs for each such disk. `zonal` False:
    sold by region only. `from_number`: the least number in the name (DS11 to DS15 are cut otherwise than DS1 to DS5).
    """

    pattern: str
    basis: Basis
    remote: str = ""
    cached: str = ""
    nics: str = "standard"
    local: Local = Local()
    hyperv: str = "V1,V2"
    acu: int = 0
    threads: int = 2
    paas: bool = False
    memory_preserving: bool = True
    encryption_at_host: bool = True
    accelerated_from: int = 1
    ephemeral: bool = True
    placements: str = "ResourceDisk,CacheDisk"
    ultra: str = "True"
    spot: bool = True
    trusted_launch_disabled: bool = False
    controllers: str = ""
    confidential: str = ""
    write_accelerators: int = 0
    zonal: bool = True
    from_number: int = 0

    def matches(self, name: SizeName) -> bool:
        """Whether this rule is for that size: by its series and, for the oldest ones, by the number in its name."""
        return name.number >= self.from_number and re.fullmatch(self.pattern, name.series) is not None


RECORDED, PUBLISHED, ASSUMED = Basis.RECORDED, Basis.PUBLISHED, Basis.ASSUMED
_NVME = "NvmeDisk"
_D5 = Local(temp_per_vcpu=37.5, temp_most=3800)
_DS5 = Local(temp_per_vcpu=37.5, temp_most=3800, cache_per_vcpu=25)
_V6 = Local(nvme="v6")

_OLD = Series(
    "",
    ASSUMED,
    remote="v2",
    cached="v2",
    nics="v2",
    hyperv="V1",
    threads=1,
    paas=True,
    encryption_at_host=False,
    ephemeral=False,
    ultra="",
)
_DV2 = replace(_OLD, basis=RECORDED, acu=210, accelerated_from=2, local=Local(temp_per_vcpu=50))
_DSV2 = replace(
    _DV2, cached="ds_v2", hyperv="V1,V2", paas=False, encryption_at_host=True, ephemeral=True,
    local=Local(temp_per_gib=2, cache_per_vcpu=43),
)  # fmt: skip
_DS11 = Local(temp_per_gib=2, cache_per_vcpu=36)
_V3 = replace(_OLD, basis=RECORDED, remote="v3", cached="v3", nics="standard", acu=160, threads=2)
_V3S = replace(
    _V3, cached="ds_v3", hyperv="V1,V2", paas=False, encryption_at_host=True, ephemeral=True, ultra="True",
    local=Local(temp_per_gib=2, cache_per_vcpu=25),
)  # fmt: skip
_V4 = Series("", ASSUMED, remote="v3", cached="v5", acu=195)
_V4A = Series("", ASSUMED, remote="v3", cached="ds_v3", acu=230)
_V5 = Series("", RECORDED, remote="intel_v5", cached="v5")
_V5A = Series("", PUBLISHED, remote="amd_v5", cached="v5", acu=230)
_V5P = Series(
    "", RECORDED, remote="intel_v5", cached="v5", nics="half", hyperv="V2", threads=1, trusted_launch_disabled=True
)
_V6I = Series(
    "", RECORDED, remote="intel_v6", cached="v5", hyperv="V2", controllers="NVMe", placements=_NVME, ultra="False"
)
_V6A = replace(_V6I, remote="amd_v6", acu=230, ultra="True")
_V6P = replace(
    _V6I,
    basis=PUBLISHED,
    remote="arm_v6",
    threads=1,
    ultra="True",
    trusted_launch_disabled=True,
    controllers="SCSI,NVMe",
)
_V7A = replace(_V6I, basis=PUBLISHED, remote="amd_v7", nics="amd_v7")
_TDX = replace(_V5, basis=ASSUMED, hyperv="V2", confidential="TDX", ultra="False")
_SNP = replace(_V5A, basis=ASSUMED, hyperv="V2", confidential="SNP", ultra="False")
_M = Series(
    "", RECORDED, remote="m", cached="m", nics="m", acu=160, memory_preserving=False, trusted_launch_disabled=True,
    write_accelerators=8, local=Local(temp_per_vcpu=32, cache_per_vcpu=99.125),
)  # fmt: skip
_M3 = replace(
    _M,
    basis=ASSUMED,
    remote="m_v3",
    acu=0,
    hyperv="V2",
    trusted_launch_disabled=False,
    local=Local(),
    controllers="SCSI,NVMe",
)
_LOCAL = Series(
    "", ASSUMED, remote="l_v3", cached="l", memory_preserving=False, placements="ResourceDisk",
    local=Local(temp_per_vcpu=10, nvme="l_v3"),
)  # fmt: skip
_HPC = Series("", ASSUMED, memory_preserving=False, threads=1, ultra="", placements="ResourceDisk")
_GPU = Series("", ASSUMED, memory_preserving=False, threads=1)
_F7 = replace(_V7A, basis=ASSUMED, threads=1)

SERIES: tuple[Series, ...] = (
    # A, D, DS, F, G: before 2017
    replace(_OLD, pattern="A", basis=RECORDED, acu=50, accelerated_from=0, spot=False, zonal=False),
    replace(_OLD, pattern="Am?_v2", acu=100, accelerated_from=0, local=Local(temp_per_vcpu=10)),
    replace(_DV2, pattern="D", basis=ASSUMED, acu=160, accelerated_from=0, zonal=False),
    replace(_DSV2, pattern="DS", basis=ASSUMED, acu=160, accelerated_from=0, zonal=False, local=_DS11, from_number=11),
    replace(_DSV2, pattern="DS", basis=ASSUMED, acu=160, accelerated_from=0, zonal=False),
    replace(_DV2, pattern="D_v2"),
    replace(_DSV2, pattern="DS_v2", basis=ASSUMED, local=_DS11, from_number=11),
    replace(_DSV2, pattern="DS_v2"),
    replace(_OLD, pattern="F", acu=210, accelerated_from=2, paas=False, local=Local(temp_per_vcpu=16)),
    replace(
        _DSV2, pattern="Fs", basis=ASSUMED, local=Local(temp_per_vcpu=4, cache_per_vcpu=12),
    ),
    replace(_OLD, pattern="G", acu=180, accelerated_from=0, local=Local(temp_per_gib=13.7), zonal=False),
    replace(_DSV2, pattern="GS", basis=ASSUMED, acu=180, accelerated_from=0, zonal=False,
            local=Local(temp_per_gib=2, cache_per_vcpu=132)),
    # v3 and Fsv2
    replace(_V3, pattern="[DE]i?_v3", local=Local(temp_per_vcpu=25)),
    replace(_V3S, pattern="[DE]i?s_v3"),
    replace(_V3S, pattern="Fs_v2", remote="fs_v2", nics="half", acu=195, local=Local(temp_per_vcpu=8, cache_per_vcpu=16)),
    # v4
    replace(_V4, pattern="[DE]s?_v4"),
    replace(_V4, pattern="[DE]d_v4", local=_D5),
    replace(_V4, pattern="[DE]ds_v4", local=_DS5),
    replace(_V4, pattern="Eis_v4"),
    replace(_V4, pattern="Eids_v4", local=_DS5),
    replace(_V4A, pattern="[DE]a_v4", cached="v3", local=Local(temp_per_vcpu=25)),
    replace(_V4A, pattern="[DE]i?as_v4", local=Local(temp_per_gib=2, cache_per_vcpu=25)),
    replace(_V4A, pattern="Eias_v4", local=Local(temp_per_gib=2, cache_per_vcpu=25)),
    # v5
    replace(_V5, pattern="[DE]i?l?s?_v5"),
    replace(_V5, pattern="[DE]i?d_v5", local=_D5),
    replace(_V5, pattern="[DE]i?l?ds_v5", local=_DS5),
    replace(_V5, pattern="Ei?bs_v5", basis=PUBLISHED, remote="ebs_v5", controllers="SCSI,NVMe"),
    replace(_V5, pattern="Ei?bds_v5", basis=PUBLISHED, remote="ebs_v5", controllers="SCSI,NVMe", local=_DS5),
    replace(_V5A, pattern="[DE]i?as_v5"),
    replace(_V5A, pattern="[DE]i?ads_v5", local=_DS5),
    replace(_V5P, pattern="[DE]pl?s_v5"),
    replace(_V5P, pattern="[DE]pl?ds_v5", local=_DS5),
    # v6 and v7
    replace(_V6I, pattern="[DE]i?l?s_v6"),
    replace(_V6I, pattern="[DE]i?l?ds_v6", local=_V6),
    replace(_V6I, pattern="[DE]n?l?s_v6|[DE]nl?ds_v6|Ebd?s_v6", basis=ASSUMED),
    replace(_V6A, pattern="[DE]al?s_v6"),
    replace(_V6A, pattern="[DE]al?ds_v6", basis=PUBLISHED, local=_V6),
    replace(_V6P, pattern="[DE]pl?s_v6"),
    replace(_V6P, pattern="[DE]pl?ds_v6", local=_V6),
    replace(_V7A, pattern="[DE]al?s_v7"),
    replace(_V7A, pattern="[DE]al?ds_v7", local=_V6),
    replace(_V6A, pattern="Fa[lm]?s_v6", basis=ASSUMED, threads=1),
    replace(_F7, pattern="Fa[lm]?s_v7"),
    replace(_F7, pattern="Fa[lm]?ds_v7", local=_V6),
    # FX
    Series("FXmds", ASSUMED, remote="fx_v1", cached="fx", nics="fx", hyperv="V2",
           local=Local(temp_per_vcpu=42, cache_per_vcpu=21)),
    replace(_V6I, pattern="FXms_v2", basis=PUBLISHED, remote="fx_v2", nics="fx"),
    replace(_V6I, pattern="FXmds_v2", basis=PUBLISHED, remote="fx_v2", nics="fx", local=_V6),
    # Burstable
    Series("B[lmt]?s", RECORDED, threads=1, spot=False, nics="standard", accelerated_from=12),
    replace(_V5, pattern="B[lt]?s_v2", basis=PUBLISHED, remote="burstable_v2", nics="burstable_v2"),
    replace(_V5A, pattern="Ba[lt]?s_v2", remote="burstable_v2", nics="burstable_v2", acu=0),
    replace(_V5P, pattern="Bp[lt]?s_v2", basis=PUBLISHED, remote="burstable_v2", nics="burstable_v2"),
    # Confidential
    replace(_V5, pattern="DCs?_v2", basis=ASSUMED, remote="dcs_v3", nics="dc_v3", hyperv="V2", threads=1, ultra="False",
            local=Local(temp_per_vcpu=50)),
    replace(_V5, pattern="DCs_v3", remote="dcs_v3", cached="dcs_v3", nics="dc_v3", hyperv="V2", threads=1, ultra="False"),
    replace(_V5, pattern="DCds_v3", basis=ASSUMED, remote="dcs_v3", cached="dcs_v3", nics="dc_v3", hyperv="V2",
            threads=1, ultra="False", local=Local(temp_per_vcpu=75, cache_per_vcpu=50)),
    replace(_SNP, pattern="[DE]Ci?as(_cc)?_v5"),
    replace(_SNP, pattern="[DE]Ci?ads(_cc)?_v5", local=_DS5),
    replace(_SNP, pattern="[DE]Cas_v6", remote="amd_v6", controllers="NVMe", placements=_NVME),
    replace(_SNP, pattern="[DE]Cads_v6", remote="amd_v6", controllers="NVMe", placements=_NVME, local=_V6),
    replace(_TDX, pattern="[DE]Ci?es_v5"),
    replace(_TDX, pattern="[DE]Ci?eds_v5", local=_DS5),
    replace(_TDX, pattern="[DE]Ces_v6", remote="intel_v6", controllers="NVMe", placements=_NVME),
    replace(_TDX, pattern="[DE]Ceds_v6", remote="intel_v6", controllers="NVMe", placements=_NVME, local=_V6),
    # Storage
    replace(_DSV2, pattern="Ls", basis=ASSUMED, acu=180, accelerated_from=0, remote="v3",
            local=Local(temp_per_vcpu=169.5)),
    replace(_LOCAL, pattern="Ls_v3", remote="intel_v5", memory_preserving=True),
    replace(_LOCAL, pattern="La?s_v[23]"),
    replace(_V6I, pattern="Ls_v4", basis=PUBLISHED, ultra="True", local=Local(nvme="l_v4")),
    replace(_V6A, pattern="Las_v4", basis=PUBLISHED, local=Local(nvme="l_v4")),
    replace(_V6A, pattern="Laos_v4", basis=PUBLISHED, remote="laos_v4", nics="laos_v4", local=Local(nvme="laos_v4")),
    # Memory
    replace(_M, pattern="M[mlt]?s"),
    replace(_M, pattern="Mm?", local=Local(temp_per_vcpu=64), ephemeral=False, ultra="", basis=ASSUMED),
    replace(_M, pattern="Mi?m?s_v2", basis=ASSUMED, hyperv="V2", local=Local()),
    replace(_M, pattern="Mi?dm?s_v2", basis=ASSUMED, local=Local(temp_per_vcpu=32)),
    replace(_M3, pattern="Mi?s_v3"),
    replace(_M3, pattern="Mi?ds_v3", local=Local(temp_fixed=400)),
    replace(_M3, pattern="Mbs_v3", basis=PUBLISHED, remote="mbs_v3"),
    replace(_M3, pattern="Mbds_v3", basis=PUBLISHED, remote="mbs_v3", local=Local(temp_fixed=400)),
    # GPU and FPGA
    replace(_GPU, pattern="NCr?s_v[23]", basis=RECORDED),
    replace(_GPU, pattern="NCas_T4_v3", basis=RECORDED),
    replace(_GPU, pattern="NCads_A100_v4", basis=RECORDED, hyperv="V2"),
    replace(_GPU, pattern="NCads_A10_v4", hyperv="V2"),
    replace(_GPU, pattern="NCadi?s_H100_v5", basis=PUBLISHED, hyperv="V2", controllers="SCSI,NVMe"),
    replace(_GPU, pattern="NCCads_H100_v5", hyperv="V2", controllers="SCSI,NVMe", confidential="SNP"),
    replace(_GPU, pattern="NDr?s_v2"),
    replace(_GPU, pattern="NDa(sr|msr_A100)_v4", basis=ASSUMED, hyperv="V2"),
    replace(_GPU, pattern="NDisr?_(H100|H200|MI300X)_v5", hyperv="V2", controllers="SCSI,NVMe"),
    replace(_GPU, pattern="NVs_v[23]", threads=2, ultra="False"),
    replace(_GPU, pattern="NVas_v4", threads=2, ultra="False"),
    replace(_GPU, pattern="NVadm?s_A10_v5", basis=PUBLISHED, threads=2, ultra="False"),
    replace(_GPU, pattern="NVadm?s_V710_v5", threads=2, hyperv="V2", ultra="False"),
    replace(_GPU, pattern="NGadm?s_V620", threads=2, ultra="False"),
    replace(_GPU, pattern="NPs", hyperv="V1", ultra="False", trusted_launch_disabled=True),
    # HPC
    replace(_HPC, pattern="HBrs_v[23]"),
    replace(_HPC, pattern="HBrs_v[45]"),
    replace(_HPC, pattern="HCr?s"),
    replace(_HPC, pattern="HXr?s"),
)  # fmt: skip
"""Every rule, the first match wins."""

NVME_LAYOUTS: dict[str, dict[int, tuple[int, int]]] = {
    # vCPUs: (disks, MiB each)
    "v6": {
        vcpus: (disks, gib * 1024)
        for vcpus, disks, gib in (
            (1, 1, 55), (2, 1, 110), (4, 1, 220), (8, 1, 440), (12, 2, 440), (16, 2, 440), (24, 3, 440), (32, 4, 440),
            (48, 6, 440), (64, 4, 880), (96, 6, 880), (128, 4, 1760), (160, 4, 2200), (192, 6, 1760),
        )
    },
    "l_v3": {vcpus: (vcpus // 8, 1_920_000_000_000 // 1_048_576) for vcpus in (8, 16, 32, 48, 64, 80)},
    "l_v4": {
        vcpus: (disks, gigabytes * 1_000_000_000 // 1_048_576)
        for vcpus, disks, gigabytes in (
            (2, 1, 480), (4, 2, 480), (8, 4, 480), (16, 4, 960), (32, 8, 960), (48, 6, 1920), (64, 8, 1920),
            (80, 10, 1920), (96, 12, 1920),
        )
    },
    "laos_v4": {
        vcpus: (disks, gigabytes * 1_000_000_000 // 1_048_576)
        for vcpus, disks, gigabytes in (
            (2, 3, 480), (4, 3, 960), (8, 6, 960), (12, 9, 960), (16, 6, 1920), (24, 9, 1920), (32, 12, 1920),
        )
    },
}  # fmt: skip
"""Local NVMe disks by vCPUs, by layout name."""

NVME_SPEEDS: dict[str, tuple[int, int, int, int]] = {
    # read IOPS, write IOPS, read bytes/s, write bytes/s, each for one vCPU
    "v6": (18_750, 7_500, 90_000_000, 45_000_000),
    "v7": (18_750, 7_500, 140_000_000, 70_000_000),
    "l_v4": (68_750, 27_500, 375_000_000, 187_500_000),
    "laos_v4": (90_000, 36_000, 550_000_000, 275_000_000),
}
"""Limits of all local NVMe disks together; series before v6 do not state them."""


def rule_for(name: SizeName) -> Series:
    """The rule for a size; LookupError if the table has none for its series."""
    for rule in SERIES:
        if rule.matches(name):
            return rule
    raise LookupError(f"no rule for the series {name.series!r} ({name.text})")
