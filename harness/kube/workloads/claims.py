"""The claims of a pod's ephemeral volumes.

Source: kubernetes pkg/controller/volume/ephemeral/controller.go.
"""

from __future__ import annotations

from typing import Any

from harness.kube.api.objects import Object, annotations_of, labels_of, metadata_of, name_of, owner_reference, spec_of

__all__ = ["ephemeral_claims"]


def ephemeral_claims(pod: Object) -> tuple[dict[str, Any], ...]:
    """The claims of a pod's ephemeral volumes, which the pod owns."""
    claims: list[dict[str, Any]] = []
    for volume in spec_of(pod).get("volumes") or ():
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is not None:
            meta = {
                "name": f"{name_of(pod)}-{volume.get('name')}",
                "namespace": metadata_of(pod).get("namespace") or "default",
                "labels": dict(labels_of(template)),
                "annotations": dict(annotations_of(template)),
                "ownerReferences": [owner_reference(pod)],
            }
            spec = dict(spec_of(template))
            claims.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec})
    return tuple(claims)
