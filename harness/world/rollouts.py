"""`kubectl rollout`: the change of a workload by each of its verbs.

Source: kubectl pkg/polymorphichelpers/{objectrestarter,objectpauser,objectresumer,rollback}.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from harness.engine.ports import PatchType, View
from harness.kube.api.objects import (
    Object,
    annotations_of,
    controller_of,
    labels_of,
    metadata_of,
    name_of,
    spec_of,
    uid_of,
)

__all__ = ["VERBS", "Verb", "rollout_patch"]

Verb = Literal["restart", "pause", "resume", "undo"]
VERBS: tuple[Verb, ...] = ("restart", "pause", "resume", "undo")

_REVISION = "deployment.kubernetes.io/revision"
_HASH = "pod-template-hash"
_RESTARTED = "kubectl.kubernetes.io/restartedAt"
_DOING: Mapping[str, str] = {"restart": "restarting", "pause": "pausing", "resume": "resuming", "undo": "undoing"}


def rollout_patch(verb: Verb, workload: Object, view: View, now: str) -> tuple[Any, PatchType]:
    """Return the patch, and its type, that kubectl sends for this verb at a moment. Raises ValueError for a verb that kubectl refuses."""
    kinds = ("Deployment", "StatefulSet", "DaemonSet") if verb == "restart" else ("Deployment",)
    if workload["kind"] not in kinds:
        raise ValueError(f"{_DOING[verb]} is not supported for a {workload['kind']}, only for {', '.join(kinds)}")
    return _VERBS[verb](workload, view, now), "json" if verb == "undo" else "merge"


def _restart(workload: Object, view: View, now: str) -> Any:
    if spec_of(workload).get("paused"):
        raise ValueError("can't restart paused deployment (run rollout resume first)")
    template = spec_of(workload).get("template") or {}
    if annotations_of(template).get(_RESTARTED) == now:
        raise ValueError(
            "if restart has already been triggered within the past second, please wait before attempting to trigger another"
        )
    return {"spec": {"template": {"metadata": {"annotations": {_RESTARTED: now}}}}}


def _pause(workload: Object, view: View, now: str) -> Any:
    if spec_of(workload).get("paused"):
        raise ValueError("is already paused")
    return {"spec": {"paused": True}}


def _resume(workload: Object, view: View, now: str) -> Any:
    if not spec_of(workload).get("paused"):
        raise ValueError("is not paused")
    return {"spec": {"paused": False}}


def _undo(workload: Object, view: View, now: str) -> Any:
    if spec_of(workload).get("paused"):
        raise ValueError("cannot rollback a paused deployment; resume it first and try again")
    sets = [
        owned
        for owned in view.indexed("owned-by", uid_of(workload))
        if owned["kind"] == "ReplicaSet" and (controller_of(owned) or {}).get("uid") == uid_of(workload)
    ]
    sets.sort(key=_revision)
    if len(sets) < 2:
        raise ValueError(f'no rollout history found for deployment "{name_of(workload)}"')
    before = spec_of(sets[-2])["template"]
    labels = {key: value for key, value in labels_of(before).items() if key != _HASH}
    template = {**before, "metadata": {**metadata_of(before), "labels": labels}}
    return [{"op": "replace", "path": "/spec/template", "value": template}]


def _revision(replica_set: Object) -> int:
    text = annotations_of(replica_set).get(_REVISION, "")
    return int(text) if text.isdecimal() else 0


_VERBS: Mapping[str, Callable[[Object, View, str], Any]] = {
    "restart": _restart,
    "pause": _pause,
    "resume": _resume,
    "undo": _undo,
}
