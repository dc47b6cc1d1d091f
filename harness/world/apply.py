"""What `kubectl apply` sends: the new manifest, and nulls for what the last one had and the new one has not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.objects import Object


def applied_patch(last: Object | None, new: Object) -> dict[str, Any]:
    """The merge patch that takes an object from what was applied last to what is applied now; what others set stays."""
    patch = {key: value for key, value in new.items() if key not in ("apiVersion", "kind", "status")}
    return _with_removals(last or {}, patch)


def _with_removals(last: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    patch: dict[str, Any] = {}
    for key, value in new.items():
        before = last.get(key)
        if isinstance(value, Mapping):
            patch[key] = _with_removals(before if isinstance(before, Mapping) else {}, value)
        else:
            patch[key] = value
    for key in last:
        if key not in new and key not in ("apiVersion", "kind", "status"):
            patch[key] = None
    return patch
