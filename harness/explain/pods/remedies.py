"""Remedies for pods that Karpenter passes over: volumes that name nothing, scheduling gates, another scheduler."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.api.objects import name_of, namespace_of, spec_of
from harness.wording import did_you_mean
from harness.world import World

__all__ = ["gate_remedy", "scheduler_remedy", "volume_remedies"]

Object = Mapping[str, Any]


def volume_remedies(world: World, pod: Object) -> Iterator[str]:
    """One line for each PersistentVolumeClaim that is not there, and for each claim whose StorageClass is not, with the nearest that is."""
    namespace = namespace_of(pod)
    claims = {
        name_of(claim): claim for claim in world.list("PersistentVolumeClaim") if namespace_of(claim) == namespace
    }
    classes = [name_of(storage_class) for storage_class in world.list("StorageClass")]
    for volume in spec_of(pod).get("volumes") or ():
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if name is None:
            continue
        if name not in claims:
            yield f"there is no PersistentVolumeClaim {namespace}/{name}: {_hint(name, claims) or 'create it, or add it to the files'}"
            continue
        wanted = spec_of(claims[name]).get("storageClassName")
        if wanted and wanted not in classes and not spec_of(claims[name]).get("volumeName"):
            hint = _hint(wanted, classes) or "create it, or add it to the files"
            yield f"there is no StorageClass {wanted}, which PersistentVolumeClaim {namespace}/{name} asks for: {hint}"


def gate_remedy(pod: Object) -> str:
    """Return who has to act on a pod with scheduling gates."""
    gates = ", ".join(gate["name"] for gate in spec_of(pod)["schedulingGates"])
    return f"whoever is responsible for {gates} takes it out of spec.schedulingGates; no Node is made before"


def scheduler_remedy(pod: Object) -> str:
    """Return the task of another scheduler, and what to write where there is none."""
    name = spec_of(pod)["schedulerName"]
    return (
        f"a scheduler {name} in the cluster has to mark it Unschedulable before Karpenter makes a Node for it; "
        "where there is none, leave out spec.schedulerName"
    )


def _hint(name: str, names: Mapping[str, Any] | list[str]) -> str:
    return did_you_mean(name, list(names))
