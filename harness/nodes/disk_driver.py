"""The driver of Azure disks as AKS runs it: its labels of Nodes, and the volumes that it makes.

It runs on every Node of AKS: a label has the zone, the CSINode the number of disks that can be attached. A disk is made
where a pod's Node is, once kube-scheduler has chosen that Node (`volume.kubernetes.io/selected-node`). Not simulated:
claims that wait for no pod, whose zone nobody here can know; attaching; sizes, snapshots and clones. Sources:
azuredisk-csi-driver pkg/azuredisk/{nodeserver,controllerserver}.go (NodeGetInfo, CreateVolume); external-provisioner
pkg/controller; kubernetes pkg/volume/csi/nodeinfomanager; recorded label lists and StorageClasses of AKS.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any

from harness.engine.engine import DONE, Result, Router
from harness.engine.names import zone_label
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
from harness.nodes.registry import Machines, Running

__all__ = ["ZONE", "DiskDriver", "csinode", "disk_zone", "storage_classes"]

DRIVER = "disk.csi.azure.com"
ZONE = "topology.disk.csi.azure.com/zone"
_NAMES = frozenset({DRIVER, "kubernetes.io/azure-disk"})
"""The driver, and the part of Kubernetes that it replaced, whose StorageClasses it serves."""

FILE_DRIVER = "file.csi.azure.com"
DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"
_CLASSES: Mapping[str, str] = {
    "default": "StandardSSD_LRS",
    "managed": "StandardSSD_LRS",
    "managed-csi": "StandardSSD_LRS",
    "managed-csi-premium": "Premium_LRS",
    "managed-premium": "Premium_LRS",
}
"""AKS's classes of disks, as recorded in 2024-10; the classes of files are left out."""
_UNKNOWN_SIZE = 16
_MIGRATED = "storage.alpha.kubernetes.io/migrated-plugins"
_MIGRATED_PLUGINS = "kubernetes.io/azure-disk,kubernetes.io/azure-file"
_PROVISIONED_BY = "pv.kubernetes.io/provisioned-by"
_ZONES = ("1", "2", "3", "4")
"""The zones of a zone-redundant disk: the driver names four, whatever the region has."""


class DiskDriver:
    """Labels Nodes, makes disks for claims, and deletes released ones; a key is (kind, namespace, name)."""

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
        """Watch Nodes, claims, volumes, and the classes of claims."""
        return {
            "Node": _own,
            "PersistentVolumeClaim": _own,
            "PersistentVolume": _own,
            "StorageClass": self._of_class,
        }

    def _of_class(self, change: Change) -> Iterable[Hashable]:
        if change.type is ChangeType.ADDED and change.object.get("provisioner") in _NAMES:
            for claim in self._view.list("PersistentVolumeClaim"):
                yield ("PersistentVolumeClaim", namespace_of(claim), name_of(claim))

    def reconcile(self, key: Hashable) -> Result:
        """Do the driver's part for one Node, claim or volume."""
        assert isinstance(key, tuple)
        kind, namespace, name = key
        obj = self._view.get(kind, name, namespace)
        if obj is None or is_terminating(obj) or not self._owns(obj):
            return DONE
        if kind == "Node":
            self._label(obj)
        elif kind == "PersistentVolumeClaim":
            self._provide(obj)
        else:
            self._release(obj)
        return DONE

    def plug(self, running: Running) -> None:
        """Register AKS's drivers as the kubelet does; those that a user put on the Node's CSINode stay, and go before these."""
        name = running.node_name
        node = self._view.get("Node", name)
        csi_node = self._view.get("CSINode", name)
        if node is None or not self._owns(node):
            return
        wanted = csinode(running, uid_of(node))
        writer = self._writer_for(Identity.node(name))
        if csi_node is None:
            writer.create(wanted)
            return
        present = spec_of(csi_node).get("drivers") or []
        names = {driver["name"] for driver in present}
        more = [driver for driver in wanted["spec"]["drivers"] if driver["name"] not in names]
        if more:
            writer.update({**csi_node, "spec": {**spec_of(csi_node), "drivers": [*present, *more]}})

    def _label(self, node: Object) -> None:
        """Write the topology that the driver's node plugin returns at its registration, as the kubelet does: the zone,
        empty without one."""
        running = self._machines.of_node(name_of(node))
        if running is None or not condition_is(node, "Ready"):
            return
        zone = disk_zone(self._region, running.machine.zone)
        if labels_of(node).get(ZONE) == zone:
            return
        self._sink.asserted(name_of(node), "kubelet", {ZONE: (zone, "disk-driver")})
        writer = self._writer_for(Identity.node(name_of(node)))
        writer.patch("Node", name_of(node), {"metadata": {"labels": {ZONE: zone}}})

    def _zone(self, node: Object) -> str:
        running = self._machines.of_node(name_of(node))
        if running is None:  # a Node of the user's own
            return labels_of(node).get(ZONE, "")
        return disk_zone(self._region, running.machine.zone)

    def _provide(self, claim: Object) -> None:
        """Make the disk of a claim whose pod has a Node."""
        storage = self._view.get("StorageClass", spec_of(claim).get("storageClassName") or "")
        node = self._view.get("Node", annotations_of(claim).get(SELECTED_NODE, ""))
        bound = spec_of(claim).get("volumeName") or BIND_COMPLETED in annotations_of(claim)
        if bound or node is None or storage is None or storage.get("provisioner") not in _NAMES:
            return
        if self._view.get("PersistentVolume", _volume_name(claim)) is None:
            self._writer.create(_volume(claim, storage, self._places(storage, node)))

    def _places(self, storage: Object, node: Object) -> list[str]:
        """Return the zones from which a new disk can be reached; the empty one stands for Nodes without a zone."""
        parameters = {key.lower(): value for key, value in (storage.get("parameters") or {}).items()}
        sku = str(parameters.get("skuname") or parameters.get("storageaccounttype") or "")
        if sku.lower().endswith("zrs"):
            return [*(zone_label(self._region, zone) for zone in _ZONES), ""]
        return [self._zone(node)]

    def _release(self, volume: Object) -> None:
        """Delete a released disk, where its class says so."""
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


def disk_zone(region: str, zone: str) -> str:
    """The value of the driver's zone label on a machine in this zone (`1`); empty on a regional one."""
    return zone_label(region, zone) if zone else ""


def csinode(running: Running, uid: str) -> dict[str, Any]:
    """Return the CSINode that the kubelet of a Node of AKS writes about its drivers.

    The driver of disks reports the size's number of data disks, 16 for an unknown size, and keeps none for itself
    (`reserved-data-disk-slot-num` is 0); the driver of files has no limit.
    """
    name, disks = running.node_name, running.machine.hardware.data_disks
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {
            "name": name,
            "annotations": {_MIGRATED: _MIGRATED_PLUGINS},
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}],
        },
        "spec": {
            "drivers": [
                {
                    "name": DRIVER,
                    "nodeID": name,
                    "topologyKeys": [ZONE],
                    "allocatable": {"count": _UNKNOWN_SIZE if disks is None else disks},
                },
                {"name": FILE_DRIVER, "nodeID": name, "topologyKeys": None},
            ]
        },
    }


def storage_classes(now: str) -> Iterator[dict[str, Any]]:
    """The StorageClasses of disks that every cluster of AKS has; their uids are the same in every cluster."""
    for number, (name, sku) in enumerate(_CLASSES.items(), start=1):
        default = {"annotations": {DEFAULT_CLASS: "true"}} if name == "default" else {}
        yield {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {
                "name": name,
                "uid": f"ffffffff-0000-4000-9000-{number:012x}",
                "resourceVersion": "0",
                "creationTimestamp": now,
                "labels": {"addonmanager.kubernetes.io/mode": "EnsureExists", "kubernetes.io/cluster-service": "true"},
                **default,
            },
            "provisioner": DRIVER,
            "parameters": {"skuname": sku},
            "reclaimPolicy": "Delete",
            "volumeBindingMode": "WaitForFirstConsumer",
            "allowVolumeExpansion": True,
        }


def _own(change: Change) -> Iterable[Hashable]:
    if change.type is not ChangeType.DELETED:
        yield (change.object["kind"], namespace_of(change.object), name_of(change.object))


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
