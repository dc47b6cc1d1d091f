"""Figures that grow with a size's vCPUs, as tables: data disks and their limits, cache limits, network interfaces.

A profile is either `Steps` (rows as Microsoft's size pages print them) or `PerCore` (so much for every vCPU up to a
ceiling, as all series before v4 are cut). Asked for a vCPU count between two rows, `Steps` scales the row below and
says so, and the record that used it marks the figure as guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

MB = 1_000_000
KIB_MB = 1_024_000
"""Older series state throughput in MB of 1,024,000 bytes."""


@dataclass(frozen=True, slots=True)
class Disks:
    """Remote storage of one size: data disks, uncached IOPS, uncached bytes per second; `exact` = not interpolated."""

    count: int
    iops: int
    throughput: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Cache:
    """Cached and temp storage limits of one size: IOPS, bytes per second read and written."""

    iops: int
    read: int
    write: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Steps:
    """Rows by vCPU count, ascending; each row is (vCPUs, figure, figure, …)."""

    rows: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, text: str) -> Steps:
        """Rows separated by `;`, figures by blanks."""
        return cls(tuple(tuple(int(figure) for figure in row.split()) for row in text.split(";")))

    def at(self, vcpus: int) -> tuple[tuple[int, ...], bool]:
        """The figures for `vcpus`, and whether they are a row's own (else the nearest row, scaled, last row capped)."""
        for row in self.rows:
            if row[0] == vcpus:
                return row[1:], True
        below = [row for row in self.rows if row[0] < vcpus]
        base = below[-1] if below else self.rows[0]
        ceiling = self.rows[-1]
        if base is ceiling:
            return base[1:], False
        return tuple(
            min(figure * vcpus // base[0], top) for figure, top in zip(base[1:], ceiling[1:], strict=True)
        ), False


@dataclass(frozen=True, slots=True)
class DiskSteps:
    """Rows of (vCPUs, data disks, uncached IOPS, uncached MB/s of 10^6 bytes)."""

    steps: Steps

    def at(self, vcpus: int) -> Disks:
        """The remote storage of a size with so many vCPUs."""
        (count, iops, megabytes), exact = self.steps.at(vcpus)
        return Disks(count, iops, megabytes * MB, exact)


@dataclass(frozen=True, slots=True)
class DisksPerCore:
    """So many data disks, IOPS and bytes per second for each vCPU, each up to a ceiling."""

    disks: int
    most_disks: int
    iops: int
    most_iops: int
    throughput: int
    most_throughput: int

    def at(self, vcpus: int) -> Disks:
        """The remote storage of a size with so many vCPUs."""
        return Disks(
            min(self.disks * vcpus, self.most_disks),
            min(self.iops * vcpus, self.most_iops),
            min(self.throughput * vcpus, self.most_throughput),
        )


@dataclass(frozen=True, slots=True)
class CacheSteps:
    """Rows of (vCPUs, cached IOPS, cached MB/s of 10^6 bytes); reads and writes alike."""

    steps: Steps

    def at(self, vcpus: int) -> Cache:
        """The cache limits of a size with so many vCPUs."""
        (iops, megabytes), exact = self.steps.at(vcpus)
        return Cache(iops, megabytes * MB, megabytes * MB, exact)


@dataclass(frozen=True, slots=True)
class CachePerCore:
    """So many cached IOPS and bytes per second for each vCPU; writes get 1/`write_share` of what reads get."""

    iops: int
    throughput: int
    write_share: int = 1

    def at(self, vcpus: int) -> Cache:
        """The cache limits of a size with so many vCPUs."""
        read = self.throughput * vcpus
        return Cache(self.iops * vcpus, read, read // self.write_share)


REMOTE: dict[str, DiskSteps | DisksPerCore] = {
    "v2": DisksPerCore(4, 64, 3200, 64000, 48 * MB, 960 * MB),
    "v3": DisksPerCore(2, 32, 1600, 80000, 24 * MB, 1200 * MB),
    "fs_v2": DisksPerCore(2, 32, 1600, 80000, 24 * MB, 1100 * MB),
    "intel_v5": DiskSteps(
        Steps.of(
            "2 4 3750 85; 4 8 6400 145; 8 16 12800 290; 16 32 25600 600; 20 32 32000 750; 32 32 51200 865;"
            "48 32 76800 1315; 64 32 80000 1735; 80 32 80000 2160; 96 32 80000 2600; 104 64 120000 4000; 128 64 120000 4000"
        )
    ),
    "amd_v5": DiskSteps(
        Steps.of(
            "2 4 3750 82; 4 8 6400 144; 8 16 12800 200; 16 32 25600 384; 20 32 32000 480; 32 32 51200 768;"
            "48 32 76800 1152; 64 32 80000 1200; 96 32 80000 1600; 112 64 120000 2000"
        )
    ),
    "burstable_v2": DiskSteps(Steps.of("2 4 3750 85; 4 8 6400 145; 8 16 12800 290; 16 32 25600 600; 32 32 51200 600")),
    "ebs_v5": DiskSteps(  # attached by SCSI; by NVMe they are faster
        Steps.of(
            "2 4 6000 170; 4 8 12100 350; 8 16 24200 680; 16 32 48400 1370; 32 32 96800 2740; 48 32 120000 4000;"
            "64 32 120000 4000; 96 32 120000 4000; 112 64 260000 8000"
        )
    ),
    "intel_v6": DiskSteps(
        Steps.of(
            "2 8 3750 106; 4 12 6400 212; 8 24 12800 424; 16 48 25600 848; 32 64 51200 1696; 48 64 76800 2544;"
            "64 64 102400 3392; 80 64 128000 4240; 96 64 153600 5088; 128 64 204800 6782; 192 64 260000 12000"
        )
    ),
    "arm_v6": DiskSteps(
        Steps.of(
            "2 8 3750 106; 4 12 6400 212; 8 24 12800 424; 16 48 25600 848; 32 64 51200 1696; 48 64 76800 2544;"
            "64 64 102400 3392; 96 64 153600 5000"
        )
    ),
    "amd_v6": DiskSteps(
        Steps.of(
            "2 4 4000 90; 4 8 7600 180; 8 16 15200 360; 16 32 30400 720; 32 32 57600 1440; 48 32 86400 2160;"
            "64 32 115200 2880; 96 32 175000 4320"
        )
    ),
    "amd_v7": DiskSteps(
        Steps.of(
            "2 10 4000 118; 4 12 8000 234; 8 26 16000 468; 16 48 32000 936; 32 64 64000 1872; 48 64 96000 2808;"
            "64 64 128000 3744; 96 64 192000 5663; 128 64 204800 7488; 160 64 212000 10344"
        )
    ),
    "fx_v1": DiskSteps(Steps.of("4 8 6700 104; 12 24 20000 314; 24 32 40000 629; 36 32 60000 944; 48 32 80000 1258")),
    "fx_v2": DiskSteps(
        Steps.of(
            "2 8 8000 273; 4 12 16000 545; 8 24 33000 1091; 12 48 49500 1636; 16 48 66000 2182; 24 48 98000 3273;"
            "32 64 130000 4364; 48 64 190000 6545; 64 64 220000 8727; 96 64 260000 10000"
        )
    ),
    "l_v3": DiskSteps(
        Steps.of(
            "8 16 12800 200; 16 32 25600 384; 32 32 51200 768; 48 32 76800 1152; 64 32 80000 1200; 80 32 80000 1400"
        )
    ),
    "laos_v4": DiskSteps(
        Steps.of(
            "2 4 4400 150; 4 8 8800 300; 8 16 17600 600; 12 32 26400 900; 16 32 35200 1200; 24 32 52800 1800;"
            "32 32 70400 2400"
        )
    ),
    "m": DisksPerCore(1, 64, 625, 80000, 15_625_000, 2000 * MB),
    "mbs_v3": DiskSteps(
        Steps.of(
            "16 64 44000 1000; 32 64 88000 2000; 48 64 88000 2000; 64 64 88000 2000; 96 64 260000 4000;"
            "128 64 260000 4000; 176 64 260000 6000; 416 64 130000 4000"
        )
    ),
    "m_v3": DiskSteps(
        Steps.of(
            "12 64 16250 390; 24 64 32500 780; 48 64 65000 1560; 96 64 65000 2000; 176 64 130000 4000;"
            "416 64 130000 4000; 624 64 130000 4000; 832 64 130000 4000"
        )
    ),
    "dcs_v3": DisksPerCore(4, 32, 1600, 80000, 24 * 1_048_576, 1200 * MB),
}
"""Data disks and uncached limits, by profile name."""

_CACHE_V5 = "2 9000 125; 4 19000 250; 8 38000 500; 16 75000 1000; 20 94000 1250; 32 150000 2000; 48 225000 3000;"
CACHED: dict[str, CacheSteps | CachePerCore] = {
    "v2": CachePerCore(3000, 48 * KIB_MB, write_share=2),
    "ds_v2": CachePerCore(4000, 32 * KIB_MB),
    "v3": CachePerCore(1500, 24 * KIB_MB, write_share=2),
    "ds_v3": CachePerCore(2000, 16 * KIB_MB),
    "v5": CacheSteps(Steps.of(_CACHE_V5 + "64 300000 4000; 96 450000 4000; 128 450000 4000")),
    "l": CachePerCore(500, 10 * MB),
    "fx": CachePerCore(10000, 85_750_000),
    "m": CachePerCore(1250, 12_500_000),
    # The API states this series' throughput as a million times its IOPS.
    "dcs_v3": CachePerCore(9625, 9_625_000_000),
}
"""Cached and temp storage limits, by profile name."""

NICS: dict[str, Steps] = {
    "standard": Steps.of("1 2; 2 2; 4 2; 8 4; 12 4; 16 8; 20 8; 24 8; 32 8; 48 8; 1000 8"),
    "half": Steps.of("1 2; 2 2; 4 2; 8 4; 16 4; 20 8; 32 8; 48 8; 1000 8"),
    "burstable_v2": Steps.of("2 2; 4 2; 8 2; 16 4; 32 4"),
    "v2": Steps.of("1 2; 2 2; 4 4; 8 8; 16 8; 20 8; 32 8"),
    "dc_v3": Steps.of("1 2; 2 2; 4 4; 8 8; 16 8; 24 8; 32 8; 48 8"),
    "m": Steps.of("8 4; 16 8; 32 8; 64 8; 1000 8"),
    "amd_v7": Steps.of("1 2; 2 2; 4 2; 8 4; 16 8; 32 8; 48 8; 64 8; 80 8; 96 8; 128 15; 160 15"),
    "fx": Steps.of("2 2; 4 2; 8 4; 12 4; 16 8; 24 8; 36 8; 48 8; 1000 8"),
    "laos_v4": Steps.of("2 2; 4 2; 8 4; 12 6; 16 8; 24 8; 32 8"),
}
"""Network interfaces by vCPUs, by profile name; between two rows the row below holds."""


def interfaces(profile: str, vcpus: int) -> int:
    """How many network interfaces a size with so many vCPUs takes."""
    return max((row for row in NICS[profile].rows if row[0] <= vcpus), default=NICS[profile].rows[0])[1]
