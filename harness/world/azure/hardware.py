"""Azure's virtual machines as the software on them sees them."""

from __future__ import annotations

import re

from fakeazure.catalog import Catalogue
from fakeazure.events import VirtualMachine
from harness.engine.names import ProviderId, VmId
from harness.nodes.machine import Hardware, Machine

__all__ = ["hardware_of", "machine_of", "vm_id_of"]

_IMAGE_GB = 30
_DEFINITION = re.compile("/images/([^/]+)", re.IGNORECASE)


def vm_id_of(vm: VirtualMachine) -> VmId:
    """The id by which machines are kept: ARM's, in small letters."""
    return VmId(vm.id.lower())


def machine_of(vm: VirtualMachine, catalogue: Catalogue, region: str) -> Machine:
    """A VM as its kubelet finds it."""
    return Machine(
        vm_id=vm_id_of(vm),
        name=vm.name,
        provider_id=ProviderId(vm.provider_id),
        region=vm.location,
        size=vm.size,
        zone=vm.zone,
        priority=vm.priority,
        hardware=hardware_of(vm.size, catalogue, region),
        custom_data=vm.custom_data,
        body=vm.machine,
        aks_labels=vm.aks_labels,
        os_disk_gb=_os_disk_gb(vm),
        image=_image(vm),
        address=vm.private_address,
    )


def _image(vm: VirtualMachine) -> str:
    """Return the definition of its image, as galleries name it; empty for an image of another kind."""
    profile = (vm.document.get("properties") or {}).get("storageProfile") or {}
    references = (profile.get("imageReference") or {}).values()
    match = next((match for value in references if (match := _DEFINITION.search(str(value)))), None)
    return match[1] if match is not None else ""


def _os_disk_gb(vm: VirtualMachine) -> int:
    """Return the size of its OS disk; that of the image where the VM's body has none."""
    profile = (vm.document.get("properties") or {}).get("storageProfile") or {}
    return int((profile.get("osDisk") or {}).get("diskSizeGB") or _IMAGE_GB)


def hardware_of(size: str, catalogue: Catalogue, region: str) -> Hardware:
    """Return the hardware that a size gives its operating system, by its SKU record."""
    record = catalogue.region(region).sku(size)
    facts = {pair["name"]: pair["value"] for pair in record.get("capabilities") or ()}
    return Hardware(
        cpus=int(facts.get("vCPUsAvailable") or facts.get("vCPUs") or 1),
        memory_gib=float(facts.get("MemoryGB") or 1),
        arch="arm64" if facts.get("CpuArchitectureType") == "Arm64" else "amd64",
        gpus=int(facts.get("GPUs") or 0),
        data_disks=int(facts["MaxDataDiskCount"]) if "MaxDataDiskCount" in facts else None,
    )
