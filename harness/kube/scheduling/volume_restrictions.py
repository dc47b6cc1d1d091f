"""Volumes that not every pod may share: claims for one pod alone (ReadWriteOncePod), and disks that pods name themselves.

Source: kubernetes pkg/scheduler/framework/plugins/volumerestrictions/volume_restrictions.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.kube.api.objects import Object, namespace_of, spec_of
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.volume_binding import PodVolumes
from lazyrecords import dataclass

__all__ = ["VolumeRestrictions"]

_IN_USE = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_NO_DISK = "node(s) had no available disk"

_NAMED: Mapping[str, tuple[str, ...]] = {
    "gcePersistentDisk": ("pdName",),
    "awsElasticBlockStore": ("volumeID",),
    "iscsi": ("iqn",),
    "rbd": ("pool", "image"),
}
"""Kinds of disks, and the fields by which two are the same."""
_NEVER_SHARED = frozenset({"awsElasticBlockStore"})
_DEFAULTS: Mapping[str, str] = {"pool": "rbd"}


@dataclass(frozen=True, slots=True)
class VolumeRestrictions:
    """The restrictions that the volumes of one pod set to running pods."""

    disks: tuple[tuple[str, Object], ...]
    in_use: bool

    @staticmethod
    def for_pod(pod: Object, nodes: Sequence[NodeInfo], volumes: PodVolumes | None) -> VolumeRestrictions | None:
        """The restrictions of the pod over these nodes; None when there are none."""
        if not spec_of(pod).get("volumes"):
            return None
        disks = tuple(_disks(pod))
        alone = set(volumes.alone) if volumes is not None else set()
        namespace = namespace_of(pod)
        in_use = bool(alone) and any(
            not alone.isdisjoint(_claims(other)) for info in nodes for other in info.by_namespace.get(namespace, ())
        )
        return VolumeRestrictions(disks, in_use) if disks or in_use else None

    def failure(self, info: NodeInfo) -> tuple[str, bool] | None:
        """Return why this node cannot take the pod; evictions may help."""
        if self.disks and any(
            _same(mine, theirs) for mine in self.disks for pod in info.pods for theirs in _disks(pod)
        ):
            return _NO_DISK, False
        return (_IN_USE, False) if self.in_use else None


def _disks(pod: Object) -> list[tuple[str, Object]]:
    return [(kind, volume[kind]) for volume in spec_of(pod).get("volumes") or () for kind in _NAMED if volume.get(kind)]


def _claims(pod: Object) -> list[str]:
    volumes = spec_of(pod).get("volumes") or ()
    return [(volume.get("persistentVolumeClaim") or {}).get("claimName") or "" for volume in volumes]


def _same(mine: tuple[str, Object], theirs: tuple[str, Object]) -> bool:
    kind, disk = mine
    other_kind, other = theirs
    if kind != other_kind or (kind not in _NEVER_SHARED and disk.get("readOnly") and other.get("readOnly")):
        return False
    if kind == "rbd" and set(disk.get("monitors") or ()).isdisjoint(other.get("monitors") or ()):
        return False
    return all((disk.get(key) or _DEFAULTS.get(key)) == (other.get(key) or _DEFAULTS.get(key)) for key in _NAMED[kind])
