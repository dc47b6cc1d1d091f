"""The limits of volumes that a node's drivers attach: kube-scheduler's NodeVolumeLimits.

A volume counts for the driver that its PersistentVolume, or the StorageClass of an unbound claim, names; one that several pods of a
node use counts once. Not simulated: volumes that are attached for no pod (VolumeAttachments), and those that a pod names inline.
Source: kubernetes pkg/scheduler/framework/plugins/nodevolumelimits/csi.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping

from harness.kube.api.claims import claim_name
from harness.kube.api.objects import Object, name_of, namespace_of, spec_of
from harness.kube.scheduling.placement import NodeInfo
from lazyrecords import dataclass

__all__ = ["EXCEEDED", "VolumeLimits"]

EXCEEDED = "node(s) exceed max volume count"
_MIGRATED: Mapping[str, str] = {
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
}
"""Names that a StorageClass may give to the drivers that were part of Kubernetes once."""


@dataclass(frozen=True, slots=True)
class VolumeLimits:
    """The volumes of one pod by their own names, each with its driver; `lookup` finds objects by kind, name and namespace."""

    volumes: Mapping[str, str]
    lookup: Callable[[str, str, str], Object | None]

    @staticmethod
    def for_pod(pod: Object, lookup: Callable[[str, str, str], Object | None]) -> VolumeLimits | None:
        """The limits that matter for a pod; None for one without attachable volumes."""
        volumes = dict(_attachable(pod, lookup))
        return VolumeLimits(volumes, lookup) if volumes else None

    def exceeded(self, info: NodeInfo) -> bool:
        """Return whether a driver of the node would have to attach more than its CSINode says."""
        csinode = self.lookup("CSINode", info.name, "")
        limits = _limits(csinode) if csinode is not None else {}
        if not any(driver in limits for driver in self.volumes.values()):
            return False
        attached: dict[str, str] = {}
        for pod in info.pods:
            attached.update(_attachable(pod, self.lookup))
        there = Counter(attached.values())
        wanted = Counter(driver for name, driver in self.volumes.items() if name not in attached)
        return any(there[driver] + count > limits[driver] for driver, count in wanted.items() if driver in limits)


def _limits(csinode: Object) -> dict[str, int]:
    """Driver → how many volumes it attaches; only those that say so."""
    drivers = spec_of(csinode).get("drivers") or ()
    counts = {driver["name"]: (driver.get("allocatable") or {}).get("count") for driver in drivers}
    return {name: int(count) for name, count in counts.items() if count is not None}


def _attachable(pod: Object, lookup: Callable[[str, str, str], Object | None]) -> Iterable[tuple[str, str]]:
    for volume in spec_of(pod).get("volumes") or ():
        name = claim_name(pod, volume)
        claim = lookup("PersistentVolumeClaim", name, namespace_of(pod)) if name else None
        if claim is None:
            continue
        bound = lookup("PersistentVolume", spec_of(claim).get("volumeName") or "", "")
        if bound is not None:
            driver, handle = _of_volume(bound)
        else:
            storage = lookup("StorageClass", spec_of(claim).get("storageClassName") or "", "")
            provisioner = (storage or {}).get("provisioner") or ""
            driver, handle = _MIGRATED.get(provisioner, provisioner), f"{namespace_of(claim)}/{name_of(claim)}"
        if driver:
            yield f"{driver}/{handle}", driver


def _of_volume(volume: Object) -> tuple[str, str]:
    """The driver of a PersistentVolume and its handle; both empty for a kind that nobody attaches."""
    spec = spec_of(volume)
    source = spec.get("csi")
    if source is not None:
        return source.get("driver") or "", source.get("volumeHandle") or ""
    disk = spec.get("azureDisk")
    return ("disk.csi.azure.com", disk.get("diskURI") or "") if disk is not None else ("", "")
