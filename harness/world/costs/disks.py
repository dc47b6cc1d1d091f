"""OS disks that Azure bills beside their machines: no price of a disk is recorded, so that answers name them and count nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from harness.world import World

__all__ = ["managed_os_disks"]


def managed_os_disks(world: World) -> Iterator[tuple[int, int, str]]:
    """Yield how many OS disks of a size in GB and a SKU the machines of Karpenter have, the most frequent first.

    An ephemeral OS disk lies on the machine's own storage and costs nothing
    (https://learn.microsoft.com/azure/virtual-machines/ephemeral-os-disks).
    """
    kinds: Counter[tuple[int, str]] = Counter()
    for vm in world.vms():
        properties = vm.document.get("properties") or {}
        disk = (properties.get("storageProfile") or {}).get("osDisk") or {}
        if disk and not disk.get("diffDiskSettings"):
            kinds[
                int(disk.get("diskSizeGB") or 0), str((disk.get("managedDisk") or {}).get("storageAccountType") or "")
            ] += 1
    for (size, sku), count in sorted(kinds.items(), key=lambda item: (-item[1], item[0])):
        yield count, size, sku
