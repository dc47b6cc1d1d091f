"""Sizes that follow no profile, one row each: GPU, FPGA, HPC, burstable and the oldest sizes.

Columns: name without `Standard_`, temp disk GiB, host cache GiB, local NVMe as COUNTxGB, data disks, uncached IOPS and
10^3 bytes per second, cached IOPS and 10^3 bytes per second, network interfaces; `-` = not stated. Sources: the recorded
samples, Microsoft's size pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Single:
    """The figures of one size; throughputs in bytes per second, None = the size states none."""

    temp_gib: int
    cache_gib: int
    nvme: tuple[int, int] | None
    disks: int
    uncached_iops: int | None
    uncached_bytes: int | None
    cached_iops: int | None
    cached_bytes: int | None
    interfaces: int


_TABLE = """
A0               20    -    -        1    1600   24000   1000   20971.52   2
B1ls             4     30   -        2    160    10000   200    10240      2
B1s              4     30   -        2    320    22500   400    22528      2
B1ms             4     30   -        2    640    22500   800    22528      2
B2s              8     30   -        4    1280   22500   1600   22528      3
B2ms             16    30   -        4    1920   22500   2400   22528      3
B4ms             32    30   -        8    2880   35000   3600   35840      4
B8ms             64    30   -        16   4320   50000   4320   51200      4
B12ms            96    30   -        16   4320   50000   6480   76800      6
B16ms            128   30   -        32   4320   50000   8640   102400     8
B20ms            160   30   -        32   4320   50000   10800  124928     8
NC6s_v2          736   -    -        12   20000  200000  24000  210763.776 4
NC12s_v2         1474  -    -        24   40000  400000  48000  421527.552 8
NC24s_v2         2948  -    -        32   80000  800000  96000  843055.104 8
NC24rs_v2        2948  -    -        32   80000  800000  96000  843055.104 8
NC6s_v3          736   320  -        12   20000  300000  24000  210763.776 4
NC12s_v3         1474  640  -        24   40000  600000  48000  421527.552 8
NC24s_v3         2948  1280 -        32   80000  1200000 96000  843055.104 8
NC24rs_v3        2948  1280 -        32   80000  1200000 96000  843055.104 8
NC4as_T4_v3      176   36   -        8    12000  184320  8000   125829.12  2
NC8as_T4_v3      352   72   -        16   24000  368640  16000  251658.24  4
NC16as_T4_v3     352   144  -        32   48000  737280  32000  503316.48  8
NC64as_T4_v3     2816  576  -        32   80000  1200000 128000 2013265.92 8
NC8ads_A10_v4    350   200  1x960    8    6000   200000  16000  125000     2
NC16ads_A10_v4   700   400  1x960    16   20000  500000  32000  256000     4
NC32ads_A10_v4   1400  800  2x960    32   40000  1000000 64000  512000     8
NC24ads_A100_v4  64    256  1x960    8    30000  1024000 32000  256000     2
NC48ads_A100_v4  128   512  2x960    16   60000  2048000 64000  512000     4
NC96ads_A100_v4  256   1024 4x960    32   120000 4096000 128000 1024000    8
NC40ads_H100_v5  128   -    1x3840   8    100000 3000000 -      -          2
NC80adis_H100_v5 256   -    2x3840   16   240000 7000000 -      -          4
NCC40ads_H100_v5 800   -    -        8    30000  1000000 -      -          2
ND40rs_v2        2948  -    -        8    80000  800000  -      -          8
ND96asr_v4       2900  -    8x1000   16   80000  800000  -      -          8
ND96amsr_A100_v4 2900  -    8x1000   16   80000  800000  -      -          8
ND96isr_H100_v5  1000  -    8x3500   16   40800  612000  -      -          8
ND96isr_H200_v5  1000  -    8x3500   16   80000  1200000 -      -          8
ND96is_MI300X_v5 1000  -    8x3500   32   40800  612000  -      -          8
ND96isr_MI300X_v5 1000 -    8x3500   32   40800  612000  -      -          8
NV6s_v2          320   -    -        12   20000  200000  -      -          4
NV12s_v2         640   -    -        24   40000  400000  -      -          8
NV24s_v2         1280  -    -        32   80000  800000  -      -          8
NV12s_v3         320   160  -        12   20000  200000  -      -          4
NV24s_v3         640   320  -        24   40000  400000  -      -          8
NV48s_v3         1280  640  -        32   80000  800000  -      -          8
NV4as_v4         88    -    -        4    -      -       -      -          2
NV8as_v4         176   -    -        8    -      -       -      -          4
NV16as_v4        352   -    -        16   -      -       -      -          8
NV32as_v4        704   -    -        32   -      -       -      -          8
NV6ads_A10_v5    180   -    -        4    6400   100000  -      -          1
NV12ads_A10_v5   360   -    -        4    12800  200000  -      -          2
NV18ads_A10_v5   720   -    -        8    25600  384000  -      -          4
NV36ads_A10_v5   1440  -    -        16   51200  768000  -      -          4
NV36adms_A10_v5  2880  -    -        32   51200  768000  -      -          8
NV72ads_A10_v5   2880  -    -        32   80000  1200000 -      -          8
NV4ads_V710_v5   80    -    -        4    6400   100000  -      -          1
NV8ads_V710_v5   160   -    -        8    12800  200000  -      -          2
NV12ads_V710_v5  240   -    -        12   25600  384000  -      -          4
NV24ads_V710_v5  480   -    -        24   51200  768000  -      -          8
NV28adms_V710_v5 560   -    -        32   80000  1200000 -      -          8
NG8ads_V620_v1   256   -    -        8    -      -       -      -          2
NG16ads_V620_v1  512   -    -        16   -      -       -      -          4
NG32ads_V620_v1  1024  -    -        32   -      -       -      -          8
NG32adms_V620_v1 1024  -    -        32   -      -       -      -          8
NP10s            736   -    -        8    -      -       -      -          1
NP20s            1474  -    -        16   -      -       -      -          2
NP40s            2948  -    -        32   -      -       -      -          4
HB120rs_v2       480   -    1x960    8    -      -       -      -          8
HB120rs_v3       480   -    2x960    32   -      -       -      -          8
HB176rs_v4       480   -    2x1800   32   -      -       -      -          8
HB368rs_v5       480   -    8x1800   32   -      -       -      -          8
HC44rs           700   -    -        4    -      -       -      -          8
HX176rs          480   -    2x1800   32   -      -       -      -          8
M64bds_1_v3      3000  -    -        64   130000 6000000 40000  400000     8
M96bds_2_v3      4500  -    -        64   130000 8000000 40000  400000     8
M128bds_3_v3     6000  -    -        64   260000 8000000 160000 1600000    8
M176bds_4_v3     8000  -    -        64   260000 8000000 160000 1600000    8
M208s_v2         4096  -    -        64   40000  1000000 80000  800000     8
M208ms_v2        4096  -    -        64   40000  1000000 80000  800000     8
M416s_v2         8192  -    -        64   80000  2000000 250000 1600000    8
M416ms_v2        8192  -    -        64   80000  2000000 250000 1600000    8
M416s_8_v2       4096  -    -        64   80000  2000000 250000 1600000    8
M416s_9_v2       4096  -    -        64   80000  2000000 250000 1600000    8
M416s_10_v2      4096  -    -        64   80000  2000000 250000 1600000    8
A1_v2            10    -    -        2    1000   20000   1000   20480      2
A2_v2            20    -    -        4    2000   40000   2000   40960      2
A2m_v2           20    -    -        4    2000   40000   2000   40960      2
A4_v2            40    -    -        8    4000   80000   4000   81920      4
A4m_v2           40    -    -        8    4000   80000   4000   81920      4
A8_v2            80    -    -        16   8000   160000  8000   163840     8
A8m_v2           80    -    -        16   8000   160000  8000   163840     8
"""


def _optional(text: str, unit: int) -> int | None:
    return None if text == "-" else round(float(text) * unit)


@cache
def _singles() -> dict[str, Single]:
    table = {}
    for line in _TABLE.split("\n"):
        if not line:
            continue
        name, temp, cached, nvme, disks, iops, throughput, cache_iops, cache_bytes, interfaces = line.split()
        count, _, gigabytes = nvme.partition("x")
        table[f"Standard_{name}"] = Single(
            temp_gib=int(temp),
            cache_gib=_optional(cached, 1) or 0,
            nvme=None if nvme == "-" else (int(count), int(gigabytes) * 1_000_000_000 // 1_048_576),
            disks=int(disks),
            uncached_iops=_optional(iops, 1),
            uncached_bytes=_optional(throughput, 1000),
            cached_iops=_optional(cache_iops, 1),
            cached_bytes=_optional(cache_bytes, 1000),
            interfaces=int(interfaces),
        )
    return table


def single_for(name: str) -> Single | None:
    """The row of a size (or of its parent, for a constrained one), None if the size follows a profile."""
    return _singles().get(name)
