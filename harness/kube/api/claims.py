"""The claims that a pod's volumes name.

Source: kubernetes staging/src/k8s.io/component-helpers/storage/ephemeral/ephemeral.go (VolumeClaimName).
"""

from __future__ import annotations

from harness.kube.api.objects import Object, name_of

__all__ = ["claim_name"]


def claim_name(pod: Object, volume: Object) -> str:
    """Return the name of the PersistentVolumeClaim of a pod's volume, also of one that it brings itself; "" for other volumes."""
    if volume.get("ephemeral") is not None:
        return f"{name_of(pod)}-{volume.get('name')}"
    name: str = (volume.get("persistentVolumeClaim") or {}).get("claimName") or ""
    return name
