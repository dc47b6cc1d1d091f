"""A machine as its own software sees it: identity, hardware and custom data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from harness.engine.names import ProviderId, VmId, zone_label
from lazyrecords import dataclass

GIB = 1 << 30
_KERNEL_BYTES = 128 << 20


@dataclass(frozen=True, slots=True)
class Hardware:
    """The hardware that the size of a VM gives its operating system. `memory_gib` is the size's figure, before the
    kernel takes its part.

    `data_disks`: the number of disks that can be attached; None where the size has no figure.
    """

    cpus: int
    memory_gib: float
    arch: str = "amd64"
    gpus: int = 0
    gpu_resource: str = "nvidia.com/gpu"
    data_disks: int | None = None

    @property
    def memory_bytes(self) -> int:
        """Return the MemTotal of `/proc/meminfo`.

        The rule fits all recorded Nodes (tests/recorded/machines.yaml): firmware and kernel keep 128 MiB and 1.6 %. It
        is right to 0.1 % from 16 GiB up, to 0.3 % at 8 and to 0.7 % at 4.
        """
        return max(0, int(self.memory_gib * GIB * 984 // 1000) - _KERNEL_BYTES) // 1024 * 1024


@dataclass(frozen=True, slots=True)
class Machine:
    """A running VM. `custom_data` is base64; `body` the AKS machine's ARM body for a VM that stands behind one; `os_disk_gb` as ARM has it.

    `zone` is the zone's number, empty for a regional VM; `aks_labels` are those that AKS itself puts into the kubelet's
    flags of its machines. `image` is the definition that it booted (`2204gen2containerd`), empty where it is unknown; `address` is
    its private one.
    """

    vm_id: VmId
    name: str
    provider_id: ProviderId
    region: str
    size: str
    zone: str
    priority: str
    hardware: Hardware
    custom_data: str = ""
    body: Mapping[str, Any] | None = None
    aks_labels: Mapping[str, str] = field(default_factory=dict)
    os_disk_gb: int = 128
    image: str = ""
    address: str = ""

    @property
    def topology_zone(self) -> str:
        """Return the zone as the cloud provider names it: `<region>-<n>`; for a regional VM its fault domain, always 0."""
        return zone_label(self.region, self.zone) if self.zone else "0"
