"""The driver of Azure disks as AKS runs it: the zone label that it gives Nodes, and the volumes that it makes.

It is there as soon as a StorageClass or a PersistentVolume names it. A disk is made where a pod's Node is, once kube-scheduler
has chosen that Node (`volume.kubernetes.io/selected-node`). Not simulated: claims that wait for no pod, of which nobody here can
say in which zone they come to lie; attaching, and how many disks a size can hold; sizes, snapshots and clones.
Sources: azuredisk-csi-driver pkg/azuredisk/{nodeserver,controllerserver}.go (NodeGetInfo, CreateVolume); external-provisioner
pkg/controller; kubernetes pkg/volume/csi/nodeinfomanager.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any

from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import ADMIN, Change, ChangeType, Identity, Sink, View, Writer
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition_is,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.status import ignoring
from harness.kube.scheduling.volume_binding import BIND_COMPLETED, SELECTED_NODE
from harness.nodes.registry import Machines

__all__ = ["ZONE", "DiskDriver", "zone_label"]

DRIVER = "disk.csi.azure.com"
ZONE = "topology.disk.csi.azure.com/zone"
_NAMES = frozenset({DRIVER, "kubernetes.io/azure-disk"})
"""The driver, and the part of Kubernetes that it replaced, whose StorageClasses it serves."""

_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_ZONES = ("1", "2", "3", "4")
"""Of a zone-redundant disk: the driver names four, whatever the region has."""


class DiskDriver:
    """Labels Nodes, makes disks for claims, and deletes what is released; a key is (kind, namespace, name)."""

    name = "azure-disk-driver"
    backoff = (1.0, 300.0)

    def __init__(
        self,
        view: View,
        writer_for: Callable[[Identity], Writer],
        sink: Sink,
        machines: Machines,
        *,
        region: str,
        owns: Callable[[Object], bool] = lambda obj: True,
    ) -> None:
        """`owns` tells which objects it looks after; those of others have a driver of their own."""
        self._owns = owns
        self._view = view
        self._writer_for = writer_for
        self._writer = writer_for(ADMIN)
        self._sink = sink
        self._machines = machines
        self._region = region

    def watches(self) -> Mapping[str, Router]:
        """Nodes, claims and volumes; an object that names the driver concerns all Nodes."""
        return {
            "Node": _own,
            "PersistentVolumeClaim": _own,
            "PersistentVolume": self._of_volume,
            "StorageClass": self._of_class,
        }

    def _of_volume(self, change: Change) -> Iterable[Hashable]:
        yield from _own(change)
        if change.type is ChangeType.ADDED and _is_disk(change.object):
            yield from self._nodes()

    def _of_class(self, change: Change) -> Iterable[Hashable]:
        if change.type is ChangeType.ADDED and change.object.get("provisioner") in _NAMES:
            yield from self._nodes()
            for each in self._view.list("PersistentVolumeClaim"):
                yield ("PersistentVolumeClaim", namespace_of(each), name_of(each))

    def _nodes(self) -> Iterable[Hashable]:
        return [("Node", "", name_of(each)) for each in self._view.list("Node")]

    def reconcile(self, key: Hashable) -> Result:
        """Does what one Node, claim or volume needs of the driver."""
        assert isinstance(key, tuple)
        kind, namespace, name = key
        found = self._view.get(kind, name, namespace)
        if found is None or is_terminating(found) or not self._owns(found):
            return DONE
        if kind == "Node":
            self._label(found)
        elif kind == "PersistentVolumeClaim":
            self._provide(found)
        else:
            self._release(found)
        return DONE

    def _label(self, node: Object) -> None:
        """The kubelet writes the topology that the driver's node plugin returns at its registration: the zone, empty without one."""
        running = self._machines.of_node(name_of(node))
        if running is None or not condition_is(node, "Ready") or not self._is_there():
            return
        zone = self._zone(node)
        if labels_of(node).get(ZONE) == zone:
            return
        self._sink.asserted(name_of(node), "kubelet", {ZONE: (zone, "disk-driver")})
        writer = self._writer_for(Identity.node(name_of(node)))
        writer.patch("Node", name_of(node), {"metadata": {"labels": {ZONE: zone}}})

    def _zone(self, node: Object) -> str:
        running = self._machines.of_node(name_of(node))
        if running is None:  # a Node of the user's own
            return labels_of(node).get(ZONE, "")
        return zone_label(self._region, running.machine.zone)

    def _is_there(self) -> bool:
        return any(each.get("provisioner") in _NAMES for each in self._view.list("StorageClass")) or any(
            _is_disk(each) for each in self._view.list("PersistentVolume")
        )

    def _provide(self, claim: Object) -> None:
        """Makes the disk of a claim whose pod has a Node."""
        storage = self._view.get("StorageClass", spec_of(claim).get("storageClassName") or "")
        node = self._view.get("Node", annotations_of(claim).get(SELECTED_NODE, ""))
        bound = spec_of(claim).get("volumeName") or BIND_COMPLETED in annotations_of(claim)
        if bound or node is None or storage is None or storage.get("provisioner") not in _NAMES:
            return
        if self._view.get("PersistentVolume", _volume_name(claim)) is None:
            self._writer.create(_volume(claim, storage, self._places(storage, node)))

    def _places(self, storage: Object, node: Object) -> list[str]:
        """Zones from which a new disk can be reached; the empty one stands for Nodes without a zone."""
        parameters = {key.lower(): value for key, value in (storage.get("parameters") or {}).items()}
        sku = str(parameters.get("skuname") or parameters.get("storageaccounttype") or "")
        if sku.lower().endswith("zrs"):
            return [*(f"{self._region}-{zone}" for zone in _ZONES), ""]
        return [self._zone(node)]

    def _release(self, volume: Object) -> None:
        """A disk goes with its claim, where its class says so."""
        ours = annotations_of(volume).get(_PROVISIONED_BY) == DRIVER
        spec = spec_of(volume)
        if (
            not ours
            or spec.get("persistentVolumeReclaimPolicy") != "Delete"
            or status_of(volume).get("phase") != "Released"
        ):
            return
        with ignoring(404):
            self._writer.delete("PersistentVolume", name_of(volume))


def zone_label(region: str, zone: str) -> str:
    """The value of the driver's zone label on a machine in this zone (`1`); empty on a regional one."""
    return f"{region}-{zone}" if zone else ""


def _own(change: Change) -> Iterable[Hashable]:
    if change.type is not ChangeType.DELETED:
        yield (change.object["kind"], namespace_of(change.object), name_of(change.object))


def _is_disk(volume: Object) -> bool:
    return (spec_of(volume).get("csi") or {}).get("driver") == DRIVER or "azureDisk" in spec_of(volume)


def _volume_name(claim: Object) -> str:
    return f"pvc-{uid_of(claim)}"


def _volume(claim: Object, storage: Object, places: Iterable[str]) -> dict[str, Any]:
    wants, name = spec_of(claim), _volume_name(claim)
    terms = [{"matchExpressions": [{"key": ZONE, "operator": "In", "values": [place]}]} for place in places]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name, "annotations": {_PROVISIONED_BY: DRIVER}},
        "spec": {
            "accessModes": list(wants.get("accessModes") or ()),
            "capacity": {"storage": ((wants.get("resources") or {}).get("requests") or {}).get("storage", "1Gi")},
            "claimRef": {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "namespace": namespace_of(claim),
                "name": name_of(claim),
                "uid": uid_of(claim),
            },
            "csi": {"driver": DRIVER, "volumeHandle": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
            "persistentVolumeReclaimPolicy": storage.get("reclaimPolicy") or "Delete",
            "storageClassName": name_of(storage),
            "volumeMode": wants.get("volumeMode") or "Filesystem",
        },
    }
