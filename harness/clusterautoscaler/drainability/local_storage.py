"""A pod stays that has local storage, unless its annotation names these volumes.

Sources: autoscaler simulator/drainability/rules/localstorage/rule.go, utils/drain/drain.go (HasBlockingLocalStorage).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.clusterautoscaler.drainability.outcomes import Context, Outcome, Reason, Status
from harness.kube.api.objects import Object, annotations_of, name_of, spec_of

__all__ = ["local_storage"]

_SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"


def local_storage(pod: Object, context: Context) -> Status | None:
    """Keep a pod with a hostPath, or an emptyDir that is on the disk."""
    safe = annotations_of(pod).get(_SAFE_VOLUMES, "").split(",")
    if not any(_is_local(volume) and volume.get("name") not in safe for volume in spec_of(pod).get("volumes") or ()):
        return None
    return Status(Outcome.BLOCKED, Reason.LOCAL_STORAGE, f"pod with local storage present: {name_of(pod)}")


def _is_local(volume: Mapping[str, Any]) -> bool:
    empty = volume.get("emptyDir")
    return volume.get("hostPath") is not None or (empty is not None and empty.get("medium") != "Memory")
