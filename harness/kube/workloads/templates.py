"""Pods of a template, and the hash that tells templates apart.

Source: kubernetes pkg/controller/controller_utils.go (GetPodFromTemplate), pkg/controller/deployment/util/deployment_util.go.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any

from harness.kube.api.objects import Object, annotations_of, labels_of, metadata_of, name_of, owner_reference, spec_of

__all__ = ["TEMPLATE_PATHS", "pod_from_template", "same_template", "template_hash"]

TEMPLATE_PATHS: Mapping[str, tuple[str, ...]] = {
    "CronJob": ("spec", "jobTemplate", "spec", "template"),
    **dict.fromkeys(
        ("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job"), ("spec", "template")
    ),
}
"""Kind of workload → the place of its pod template."""

_SAFE = "bcdfghjklmnpqrstvwxz2456789"


def pod_from_template(owner: Object, template: Object, *, name: str | None = None) -> dict[str, Any]:
    """A pod of a workload, owned by it."""
    meta: dict[str, Any] = {
        "namespace": metadata_of(owner).get("namespace") or "default",
        "labels": dict(labels_of(template)),
        "ownerReferences": [owner_reference(owner)],
    }
    if metadata_of(template).get("annotations"):
        meta["annotations"] = dict(metadata_of(template)["annotations"])
    if name is None:
        meta["generateName"] = f"{name_of(owner)}-"
    else:
        meta["name"] = name
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": dict(spec_of(template))}


def template_hash(template: Mapping[str, Any], collisions: int = 0) -> str:
    """Return a name for a pod template, in the alphabet of `pod-template-hash`. `collisions`: how many times another template had it."""
    if collisions:
        template = {"": collisions, **template}
    number = zlib.crc32(json.dumps(template, sort_keys=True, separators=(",", ":")).encode())
    digits = ""
    while number:
        number, rest = divmod(number, len(_SAFE))
        digits += _SAFE[rest]
    return digits or _SAFE[0]


def same_template(template: Object, other: Object, *, without: str = "") -> bool:
    """Return whether two templates make the same pods, but for one label (EqualIgnoreHash)."""
    if template.get("spec") != other.get("spec") or annotations_of(template) != annotations_of(other):
        return False
    labels, others = labels_of(template), labels_of(other)
    if labels == others:
        return True
    return {key: labels[key] for key in labels if key != without} == {
        key: others[key] for key in others if key != without
    }
