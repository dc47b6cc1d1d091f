"""The GPU driver of a size (kaz ``pkg/utils/gpu.go``)."""

from collections.abc import Mapping

from harness.karpenter.releases import ProviderRelease
from lazyrecords import dataclass

__all__ = ["GpuDriver", "gpu_driver"]


@dataclass(frozen=True, slots=True)
class GpuDriver:
    """Kind (``cuda``, ``cuda-lts``, ``grid``, ``grid-v20``), driver version and image suffix."""

    kind: str
    version: str
    image: str


# These sizes take one driver for compute and graphics.
_GRID = frozenset(
    f"standard_{name}"
    for name in (
        "nv6ads_a10_v5",
        "nv12ads_a10_v5",
        "nv18ads_a10_v5",
        "nv36ads_a10_v5",
        "nv72ads_a10_v5",
        "nv36adms_a10_v5",
        "nc8ads_a10_v4",
        "nc16ads_a10_v4",
        "nc32ads_a10_v4",
    )
)


@dataclass(frozen=True, slots=True)
class _Drivers:
    """The drivers of one release; ``grid_v20`` is of sizes that older releases do not know."""

    cuda: GpuDriver
    grid: GpuDriver
    grid_v20: GpuDriver

    @property
    def nc_v1(self) -> GpuDriver:
        """The last one for the first NC sizes, out of the image of the others."""
        return GpuDriver("cuda", "470.82.01", self.cuda.image)


_OLD_GRID = GpuDriver("grid", "550.144.06", "20250512225043")
_GRID_570 = GpuDriver("grid", "570.211.01", "20260522192315")
_GRID_V20 = GpuDriver("grid-v20", "595.58.03", "20260609172331")
_DRIVERS: Mapping[str, _Drivers] = {
    "1.4.0": _Drivers(GpuDriver("cuda", "550.144.03", "20250328201547"), _OLD_GRID, _OLD_GRID),
    "1.13.1": _Drivers(GpuDriver("cuda", "580.126.09", "20260126030251"), _GRID_570, _GRID_V20),
    "1.14.0": _Drivers(GpuDriver("cuda-lts", "580.159.04", "20260629214430"), _GRID_570, _GRID_V20),
}
"""By the first release that is known to have them (``ProviderRelease.gpu_drivers``)."""


def gpu_driver(size: str, release: ProviderRelease) -> GpuDriver:
    """The driver of an Nvidia size."""
    name, drivers = size.lower(), _DRIVERS[release.gpu_drivers]
    if "_xl_rtxpro6000bse_v6" in name:
        return drivers.grid_v20
    if name in _GRID:
        return drivers.grid
    return drivers.nc_v1 if name.startswith("standard_nc") and "_v" not in name else drivers.cuda
