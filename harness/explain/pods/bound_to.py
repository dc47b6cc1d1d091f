"""What a pod is bound to whatever the NodePools say: the zones of its disks, and a system that the provider makes no machines for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.explain.advice.candidates import required_terms
from harness.explain.advice.synonyms import OF_VIRTUAL_NODES
from harness.kube.api.labels import OS
from harness.kube.api.objects import name_of, namespace_of, spec_of
from harness.world import World

__all__ = ["binding_lines"]

_LINUX = "linux"


def binding_lines(world: World, pod: Mapping[str, Any]) -> Iterator[str]:
    """A line for each PersistentVolume that is in some zones only, and for an operating system that is never to be had."""
    for volume in spec_of(pod).get("volumes") or ():
        name = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if name is None and volume.get("ephemeral") is not None:
            name = f"{name_of(pod)}-{volume.get('name')}"
        claim = world.get("PersistentVolumeClaim", name, namespace_of(pod)) if name else None
        disk = world.get("PersistentVolume", str(spec_of(claim).get("volumeName") or "")) if claim is not None else None
        if claim is not None and disk is not None and (places := _places(disk)):
            yield f"its PersistentVolumeClaim {name} has the disk {name_of(disk)}, which is only in {places}"
    selector = spec_of(pod).get("nodeSelector") or {}
    if selector.get("type") == OF_VIRTUAL_NODES["type"]:
        yield f"Karpenter makes virtual machines only: type: {selector['type']} needs a virtual node of AKS (Azure Container Instances)"
    systems = [str(selector.get(OS) or _LINUX)]
    for _, _, one in required_terms(pod):
        values = [str(value) for value in one.get("values") or ()]
        if one["key"] == OS and one["operator"] == "In" and _LINUX not in values:
            systems += values
    for system in sorted({*systems} - {_LINUX}):
        # kaz pkg/providers/instancetype/instancetypes.go gives every size kubernetes.io/os In [linux]
        yield f"Karpenter on Azure makes Linux machines only: {OS}: {system} needs an agent pool of AKS"


def _places(disk: Mapping[str, Any]) -> str:
    """The zones in which a disk is, as its node affinity says them."""
    terms = ((spec_of(disk).get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    values = [
        str(value)
        for term in terms
        for one in term.get("matchExpressions") or ()
        if str(one.get("key", "")).endswith("/zone") and one.get("operator") == "In"
        for value in one.get("values") or ()
        if value
    ]
    return " or ".join(dict.fromkeys(values))
