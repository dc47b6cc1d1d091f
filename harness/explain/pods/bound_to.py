"""Bindings of a pod that no NodePool can change: the zones of its disks, and a system that the provider makes no machines for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.explain.advice.candidates import required_terms
from harness.explain.advice.synonyms import OF_VIRTUAL_NODES
from harness.karpenter.instancetypes.filters import gpu_key
from harness.karpenter.instancetypes.sku import Sku
from harness.karpenter.instancetypes.vmsize import GRAMMARS
from harness.karpenter.labels.azure import AMD
from harness.karpenter.releases import KNOWN_RELEASES, provider
from harness.karpenter.releases.sizes import gpu_sizes
from harness.kube.api.claims import claim_name
from harness.kube.api.labels import OS
from harness.kube.api.objects import name_of, namespace_of, spec_of
from harness.kube.scheduling.pods import pod_requests
from harness.world import World
from harness.world.inputs import places_text

__all__ = ["binding_lines"]

_LINUX = "linux"
_AMD_GPU = "amd.com/gpu"


def binding_lines(world: World, pod: Mapping[str, Any]) -> Iterator[str]:
    """A line for each PersistentVolume that is in some zones only, and for an operating system that is never to be had."""
    for volume in spec_of(pod).get("volumes") or ():
        name = claim_name(pod, volume)
        claim = world.get("PersistentVolumeClaim", name, namespace_of(pod)) if name else None
        disk = world.get("PersistentVolume", str(spec_of(claim).get("volumeName") or "")) if claim is not None else None
        if claim is not None and disk is not None and (places := _places(disk)):
            yield f"its PersistentVolumeClaim {name} has the disk {name_of(disk)}, which is only in {places}"
    yield from _amd_line(world, pod)
    selector = spec_of(pod).get("nodeSelector") or {}
    if selector.get("type") == OF_VIRTUAL_NODES["type"]:
        yield f"Karpenter makes virtual machines only: type: {selector['type']} needs a virtual node of AKS (Azure Container Instances)"
    systems = [str(selector.get(OS) or _LINUX)]
    for _, _, expression in required_terms(pod):
        values = [str(value) for value in expression.get("values") or ()]
        if expression["key"] == OS and expression["operator"] == "In" and _LINUX not in values:
            systems += values
    for system in sorted({*systems} - {_LINUX}):
        # kaz pkg/providers/instancetype/instancetypes.go gives every size kubernetes.io/os In [linux]
        yield f"Karpenter on Azure makes Linux machines only: {OS}: {system} needs an agent pool of AKS"


def _amd_line(world: World, pod: Mapping[str, Any]) -> Iterator[str]:
    """Yield the sizes with whole GPUs of AMD, their regions, and the needs of a Node of them; nothing for a pod that asks for none.

    Sources: kaz pkg/utils/gpu.go (makers), pkg/providers/instancetype/{instancetype,instancetypes}.go (capacity, the filter by driver).
    """
    if not pod_requests(pod).get(_AMD_GPU):
        return
    release = world.release
    if not release.amd_gpu_capacity:
        first = next(version for version in KNOWN_RELEASES if provider(version).amd_gpu_capacity)
        yield f"Karpenter {release.version} counts no GPUs of AMD on any size, which {first} began with"
        return
    catalogue = world.caches.catalogue
    amd_keys = {key for key, gpu in gpu_sizes(release.gpu_registry).items() if gpu.manufacturer == AMD}
    named = {name for region in catalogue.regions for name in catalogue.names(region) if gpu_key(name) in amd_keys}
    regions = {name: catalogue.sellers(name) for name in sorted(named) if _gpus(world, name)}
    if not regions:
        return
    here = [name for name, selling in regions.items() if world.region in selling]
    places = tuple(dict.fromkeys(place for selling in regions.values() for place in selling))
    where = (
        f"sold in {world.region}: {', '.join(here)}"
        if here
        else f"none of them in {world.region}; {places_text(places)}"
    )
    yield f"whole GPUs of AMD have {' and '.join(regions)}, {where}; of other sizes with one Azure lists no whole number"
    yield (
        f"Karpenter launches them for an AKSNodeClass with spec.gpu.mode: None only, since AKS installs no driver of AMD; {_AMD_GPU} then "
        "comes from a device plugin that you run, and until it does the Node is not initialized"
    )


def _gpus(world: World, size: str) -> int:
    """Return the number of GPUs that Karpenter reads of a size."""
    catalogue = world.caches.catalogue
    region = catalogue.sellers(size)[0]
    return Sku(catalogue.region(region).sku(size), region, GRAMMARS[world.release.skewer]).gpus or 0


def _places(disk: Mapping[str, Any]) -> str:
    """The zones in which a disk is, as its node affinity says them."""
    terms = ((spec_of(disk).get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    values = [
        str(value)
        for term in terms
        for expression in term.get("matchExpressions") or ()
        if str(expression.get("key", "")).endswith("/zone") and expression.get("operator") == "In"
        for value in expression.get("values") or ()
        if value
    ]
    return " or ".join(dict.fromkeys(values))
