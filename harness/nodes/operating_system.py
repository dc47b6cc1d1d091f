"""The operating systems of AKS's images as a Node's status shows them, and the room that they leave on the OS disk.

Versions are examples: each image has its own. They appear in `kubectl get nodes -o wide` and decide nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping

from lazyrecords import dataclass

__all__ = ["OperatingSystem", "disk_capacity_ki", "node_software"]

_KI_PER_GIB = 1_016_256
_KI_OF_OTHERS = 194_640


@dataclass(frozen=True, slots=True)
class OperatingSystem:
    """The part of `status.nodeInfo` that depends on the image: name of the system, kernel, container runtime."""

    os_image: str
    kernel: str
    runtime: str


_SYSTEMS: Mapping[str, OperatingSystem] = {
    # a Node of Kubernetes 1.32.7 with 202510.03.1
    "2204": OperatingSystem("Ubuntu 22.04.5 LTS", "5.15.0-1096-azure", "containerd://1.7.28-1"),
    # a Node of Kubernetes 1.34.7
    "2404": OperatingSystem("Ubuntu 24.04.4 LTS", "6.8.0-1052-azure", "containerd://2.1.6-2"),
    # a Node of Kubernetes 1.35.8
    "V3": OperatingSystem("Microsoft Azure Linux 3.0", "6.6.150.1-1.azl3", "containerd://2.2.4"),
    # guesses: no recorded Node
    "V2": OperatingSystem("CBL-Mariner/Linux", "5.15.186.1-1.cm2", "containerd://1.6.26"),
    "2004": OperatingSystem("Ubuntu 20.04.6 LTS", "5.15.0-1089-azure-fips", "containerd://1.7.27-1"),
}
"""Operating systems by the beginning of the definition's name."""


def node_software(image: str) -> dict[str, str]:
    """Return the part of `status.nodeInfo` that the image decides; empty for an image that is not AKS's."""
    system = next((system for series, system in _SYSTEMS.items() if image.startswith(series)), None)
    if system is None:
        return {}
    return {
        "containerRuntimeVersion": system.runtime,
        "kernelVersion": system.kernel,
        "osImage": system.os_image,
    }


def disk_capacity_ki(os_disk_gb: int) -> int:
    """The size of the root file system in KiB on an OS disk of so many GB, which Azure counts as GiB.

    Exact for Ubuntu 22.04 with 100, 128 and 256 GB (tests/recorded/machines.yaml); other partitions and ext4's own tables are missing. For
    Ubuntu 24.04 and Azure Linux the same rule is a guess.
    """
    return max(0, _KI_PER_GIB * os_disk_gb - _KI_OF_OTHERS)
