"""Changes of objects that can change the result of a simulation."""

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
    """Return whether the change concerns anything that the scheduler reads."""
    new, old = change.object, change.old
    if change.type is not ChangeType.MODIFIED or old is None:
        return True
    spec, before = spec_of(new), spec_of(old)
    if spec is not before and spec != before:
        return True
    if labels_of(new) != labels_of(old) or is_terminating(new) != is_terminating(old):
        return True
    if new["kind"] == "Pod":
        return _pods_differ(new, old)
    return _read_of_status(new) != _read_of_status(old)


def _pods_differ(new: Object, old: Object) -> bool:
    """Return whether a pod differs in a part that a simulation reads; pods are most of what changes."""
    status, before = status_of(new), status_of(old)
    return (
        status.get("phase") != before.get("phase")
        or status.get("nominatedNodeName") != before.get("nominatedNodeName")
        or annotations_of(new) != annotations_of(old)
        or (
            status.get("conditions") is not before.get("conditions")
            and failed_to_schedule(new) != failed_to_schedule(old)
        )
    )


def _read_of_status(obj: Object) -> object:
    kind, status = obj["kind"], status_of(obj)
    if kind in ("Node", "NodeClaim"):
        return status.get("allocatable"), status.get("capacity"), status.get("providerID")
    if kind in ("NodePool", "AKSNodeClass"):
        return condition_is(obj, "Ready"), annotations_of(obj), status.get("localDNSState")
    return status
