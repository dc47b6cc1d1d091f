"""Sizes whose figures Microsoft's pages print, transcribed from there, against the recorded list: two sources that agree.

Where the list has another figure than the page, the list's stands here: Karpenter reads the list.

Pages read: the size series pages of azure-compute-docs (Dadsv5, Ddsv5, Ebdsv5 with SCSI, Ddsv6,
Dadsv6, Dadsv7, Dpdsv6, Lsv3, Lsv4, Laosv4, FXmdsv2, Mbdsv3, NVadsA10v5, NCadsH100v5, Bsv2, Falsv6).
"""

from __future__ import annotations

import pytest

from fakeazure.catalog import Catalogue

GIB_IN_MIB = 1024

# size: local NVMe disks x GiB each (0 = none), temp disk GiB, data disks, uncached IOPS, uncached MB/s, interfaces
PAGES = {
    "Standard_D2ds_v5": (0, 0, 75, 4, 3750, 85, 2),
    "Standard_D48ds_v5": (0, 0, 1800, 32, 76800, 1315, 8),
    "Standard_D96ds_v5": (0, 0, 3600, 32, 80000, 2600, 8),
    "Standard_D8ads_v5": (0, 0, 300, 16, 12800, 200, 4),
    "Standard_D64ads_v5": (0, 0, 2400, 32, 80000, 1200, 8),
    "Standard_E16bds_v5": (0, 0, 600, 32, 48400, 1370, 8),
    "Standard_E112ibds_v5": (0, 0, 3800, 64, 260000, 4000, 8),  # the page: 8000
    "Standard_D2ds_v6": (1, 110, 0, 8, 3750, 106, 2),
    "Standard_D16ds_v6": (2, 440, 0, 48, 25600, 848, 8),
    "Standard_D96ds_v6": (6, 880, 0, 64, 153600, 5088, 8),
    "Standard_D8ads_v6": (1, 440, 0, 16, 15200, 360, 4),
    "Standard_D96ads_v6": (6, 880, 0, 32, 172800, 4320, 8),  # the page: 175000
    "Standard_D4ads_v7": (1, 220, 0, 12, 8000, 234, 2),
    "Standard_D128ads_v7": (4, 1760, 0, 64, 204800, 7488, 15),
    "Standard_D160ads_v7": (4, 2200, 0, 64, 212000, 10344, 15),
    "Standard_D32pds_v6": (4, 440, 0, 64, 51200, 1696, 8),
    "Standard_D96pds_v6": (6, 880, 0, 64, 153600, 5000, 8),
    "Standard_FX12mds_v2": (2, 440, 0, 48, 49500, 1636, 4),
    "Standard_FX96mds_v2": (6, 880, 0, 64, 260000, 10000, 8),
    "Standard_M48bds_v3": (0, 0, 400, 64, 88000, 2000, 8),
    "Standard_M176bds_4_v3": (0, 0, 8000, 64, 265000, 10000, 8),  # the page: 260000, 8000
    "Standard_NV6ads_A10_v5": (0, 0, 180, 4, 6400, 100, 2),  # the page: 1
    "Standard_NV36adms_A10_v5": (0, 0, 2880, 32, 51200, 768, 8),
}

# size: local NVMe disks x GB (10^9) each
DECIMAL_DISKS = {
    "Standard_L2s_v4": (1, 480),
    "Standard_L48s_v4": (6, 1920),
    "Standard_L96s_v4": (12, 1920),
    "Standard_L12aos_v4": (9, 960),
    "Standard_L80s_v3": (10, 1920),
    "Standard_NC80adis_H100_v5": (2, 3840),
}


@pytest.fixture(scope="module")
def sizes() -> dict[str, dict[str, str]]:
    """size → capability → value, of all regions together."""
    catalogue = Catalogue.load()
    return {
        name: {pair["name"]: pair["value"] for pair in record["capabilities"]}
        for region in catalogue.regions
        for name, record in catalogue.region(region).by_name.items()
    }


@pytest.mark.parametrize("name", PAGES)
def test_figures_are_those_of_the_page(name: str, sizes: dict[str, dict[str, str]]) -> None:
    disks, gib, temp, data_disks, iops, megabytes, interfaces = PAGES[name]
    said = sizes[name]
    assert said.get("NvmeDiskSizeInMiB", "0") == str(disks * gib * GIB_IN_MIB)
    assert said.get("NvmeSizePerDiskInMiB", "0") == str(gib * GIB_IN_MIB)
    assert said["MaxResourceVolumeMB"] == str(temp * GIB_IN_MIB)
    assert said["MaxDataDiskCount"] == str(data_disks)
    assert said["UncachedDiskIOPS"] == str(iops)
    assert said["UncachedDiskBytesPerSecond"] == str(megabytes * 1_000_000)
    assert said["MaxNetworkInterfaces"] == str(interfaces)
    assert said["EphemeralOSDiskSupported"] == "True"


@pytest.mark.parametrize("name", DECIMAL_DISKS)
def test_decimal_disks_are_told_in_mib(name: str, sizes: dict[str, dict[str, str]]) -> None:
    disks, gigabytes = DECIMAL_DISKS[name]
    mib = disks * gigabytes * 10**9 / 2**20
    assert 0 <= mib - int(sizes[name]["NvmeDiskSizeInMiB"]) < disks * 1024  # some are cut to whole GiB


@pytest.mark.parametrize(
    ("name", "capability", "value"),
    [
        ("Standard_D1_v2", "MemoryGB", "3.5"),
        ("Standard_B1ls", "MemoryGB", "0.5"),
        ("Standard_M16ms", "MemoryGB", "437.5"),
        ("Standard_F64-16ams_v7", "vCPUs", "80"),  # its parent has 64; Azure's own list says so since 2026-02-02
        ("Standard_F64-16ams_v7", "vCPUsAvailable", "16"),
        ("Standard_F64-16ams_v7", "ParentSize", "Standard_F64ams_v7"),
        ("Standard_E64s_v3", "MemoryGB", "432"),
        ("Standard_D4ps_v6", "CpuArchitectureType", "Arm64"),
        ("Standard_D4ps_v6", "HyperVGenerations", "V2"),
        ("Standard_D2_v3", "HyperVGenerations", "V1"),
        ("Standard_D4s_v5", "EphemeralOSDiskSupported", "False"),
        ("Standard_D4as_v4", "EphemeralOSDiskSupported", "True"),
        ("Standard_D2_v2_Promo", "LowPriorityCapable", "False"),
        ("Standard_B2s", "LowPriorityCapable", "False"),
        ("Standard_B2s", "AcceleratedNetworkingEnabled", "False"),
        ("Standard_DC4as_v5", "ConfidentialComputingType", "SNP"),
        ("Standard_DC4es_v6", "ConfidentialComputingType", "TDX"),
        ("Standard_HB120rs_v3", "RdmaEnabled", "True"),
        ("Standard_ND96asr_v4", "GPUs", "8"),
        ("Standard_DS14_v2", "CachedDiskBytes", str(576 * 2**30)),
        ("Standard_DS4_v2", "CachedDiskBytes", str(344 * 2**30)),
        ("Standard_E4_v5", "PremiumIO", "False"),
        ("Standard_L80s_v3", "MaxResourceVolumeMB", str(800 * 1024)),
        ("Standard_L80s_v3", "UncachedDiskBytesPerSecond", "2160000000"),
        ("Standard_L16s_v3", "MemoryPreservingMaintenanceSupported", "True"),
        ("Standard_B8s_v2", "MaxNetworkInterfaces", "4"),  # the page: 2
        ("Standard_B32ls_v2", "UncachedDiskBytesPerSecond", "865000000"),  # the page: 600000000
        ("Standard_B8s_v2", "EphemeralOSDiskSupported", "False"),
        ("Standard_F8als_v6", "EphemeralOSDiskSupported", "False"),
        ("Standard_F48als_v6", "UncachedDiskIOPS", "86400"),
        ("Standard_NC40ads_H100_v5", "HyperVGenerations", "V2"),
        # what rules once had otherwise, and Karpenter decides by
        ("Standard_D4ds_v5", "MaxResourceVolumeMB", "153600"),
        ("Standard_D4ds_v5", "SupportedEphemeralOSDiskPlacements", "ResourceDisk"),
        ("Standard_E4d_v4", "EphemeralOSDiskSupported", "False"),
        ("Standard_NC4as_T4_v3", "CachedDiskBytes", "154618822656"),
        ("Standard_M64", "EphemeralOSDiskSupported", "True"),
        ("Standard_M16bs_v3", "DiskControllerTypes", "NVMe"),
        ("Standard_D4ps_v6", "DiskControllerTypes", "SCSI"),
        ("Standard_DC4ads_v6", "DiskControllerTypes", "SCSI"),
        ("Standard_HB368rs_v5", "LowPriorityCapable", "False"),
        ("Standard_E4pds_v5", "LowPriorityCapable", "False"),
        ("Standard_D4s_v7", "vCPUs", "4"),
        ("Standard_D4ds_v7", "SupportedEphemeralOSDiskPlacements", "NvmeDisk"),
        ("Standard_E4_v4", "EncryptionAtHostSupported", "False"),
    ],
)
def test_a_size_is_what_its_page_says(name: str, capability: str, value: str, sizes: dict[str, dict[str, str]]) -> None:
    assert sizes[name][capability] == value
