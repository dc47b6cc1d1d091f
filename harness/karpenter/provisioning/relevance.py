"""Whether a change of an object can change what a simulation finds."""

from __future__ import annotations

from harness.engine.ports import Change, ChangeType
from harness.kube.api.objects import Object, annotations_of, condition_is, is_terminating, labels_of, spec_of, status_of
from harness.kube.scheduling.pods import failed_to_schedule

KINDS = (
    "Pod",
    "Node",
    "NodeClaim",
    "NodePool",
    "AKSNodeClass",
    "DaemonSet",
    "Namespace",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StorageClass",
    "CSINode",
    "PodDisruptionBudget",
)


def matters(change: Change) -> bool:
    """Whether the change concerns anything that the scheduler reads."""
    new, old = change.object, change.old
    if change.type is not ChangeType.MODIFIED or old is None:
        return True
    if spec_of(new) is not spec_of(old) and spec_of(new) != spec_of(old):
        return True
    if labels_of(new) != labels_of(old) or is_terminating(new) != is_terminating(old):
        return True
    if new["kind"] == "Pod" and status_of(new).get("phase") != status_of(old).get("phase"):
        return True
    return _read_of_status(new) != _read_of_status(old)


def _read_of_status(obj: Object) -> object:
    kind, status = obj["kind"], status_of(obj)
    if kind == "Pod":
        return status.get("phase"), status.get("nominatedNodeName"), failed_to_schedule(obj), annotations_of(obj)
    if kind in ("Node", "NodeClaim"):
        return status.get("allocatable"), status.get("capacity"), status.get("providerID")
    if kind in ("NodePool", "AKSNodeClass"):
        return condition_is(obj, "Ready"), annotations_of(obj), status.get("localDNSState")
    return status
