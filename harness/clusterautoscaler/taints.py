"""The taints that the autoscaler gives, and those that it leaves out where it looks at a node as an example.

Source: autoscaler utils/taints/taints.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from harness.kube.api.labels import UNINITIALIZED
from harness.kube.api.objects import Object, spec_of

__all__ = [
    "DELETION_CANDIDATE",
    "TO_BE_DELETED",
    "has_taint",
    "is_being_deleted",
    "is_startup_taint",
    "without_transient",
]

TO_BE_DELETED = "ToBeDeletedByClusterAutoscaler"
DELETION_CANDIDATE = "DeletionCandidateOfClusterAutoscaler"

_CONDITIONS = frozenset(
    f"node.kubernetes.io/{name}"
    for name in (
        *("not-ready", "unreachable", "unschedulable", "memory-pressure", "disk-pressure", "network-unavailable"),
        "pid-pressure",
    )
) | {UNINITIALIZED, "node.cloudprovider.kubernetes.io/shutdown"}
_STARTUP = ("ignore-taint.cluster-autoscaler.kubernetes.io/", "startup-taint.cluster-autoscaler.kubernetes.io/")
_PREFIXES = (*_STARTUP, "status-taint.cluster-autoscaler.kubernetes.io/")
_DELETION_SECONDS = 300  # MaxCloudProviderNodeDeletionTime; MaxKubernetesEmptyNodeDeletionTime is shorter


def has_taint(node: Object, key: str) -> bool:
    """Return whether a node has a taint with this key."""
    return any(taint.get("key") == key for taint in spec_of(node).get("taints") or ())


def is_startup_taint(key: str) -> bool:
    """Return whether a node with a taint of this key is not ready yet (IsStartupTaint)."""
    return key.startswith(_STARTUP)


def without_transient(taints: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the taints that a new node of the group would have, too (SanitizeTaints)."""
    return [taint for taint in taints if not _is_transient(str(taint.get("key")))]


def is_being_deleted(node: Object, unix: float) -> bool:
    """Return whether a node was marked for deletion a short while ago (IsNodeBeingDeleted); `unix` are seconds since 1970."""
    for taint in spec_of(node).get("taints") or ():
        if taint.get("key") == TO_BE_DELETED and str(taint.get("value") or "").isdecimal():
            return unix - int(taint["value"]) < _DELETION_SECONDS
    return False


def _is_transient(key: str) -> bool:
    return key in (TO_BE_DELETED, DELETION_CANDIDATE) or key in _CONDITIONS or key.startswith(_PREFIXES)
