"""Which GPU driver a size gets (kaz ``pkg/utils/gpu.go``)."""

from dataclasses import dataclass

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
_GRID_DRIVER = GpuDriver("grid", "570.211.01", "20260522192315")
_GRID_V20_DRIVER = GpuDriver("grid-v20", "595.58.03", "20260609172331")
_NC_V1_DRIVER = GpuDriver("cuda", "470.82.01", "20260629214430")
_CUDA_DRIVER = GpuDriver("cuda-lts", "580.159.04", "20260629214430")


def gpu_driver(size: str) -> GpuDriver:
    """The driver of an Nvidia size."""
    name = size.lower()
    if "_xl_rtxpro6000bse_v6" in name:
        return _GRID_V20_DRIVER
    if name in _GRID:
        return _GRID_DRIVER
    return _NC_V1_DRIVER if name.startswith("standard_nc") and "_v" not in name else _CUDA_DRIVER
