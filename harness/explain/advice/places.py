"""Sizes and GPUs that somebody asks for by name: sold in other regions only, or dropped by a filter of the provider."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from harness.explain.advice.candidates import required_terms
from harness.karpenter.cloudprovider import DroppedSize
from harness.karpenter.instancetypes.vmsize import GRAMMARS
from harness.karpenter.labels.azure import SKU_GPU_NAME, SKU_NAME
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import name_of, spec_of
from harness.wording import first_few
from harness.world import World
from harness.world.inputs import places_text

__all__ = ["asked_by_nodepool", "asked_by_pod", "not_sold", "place_lines", "regions_with"]

_FEW = 3  # sizes that one filter drops and that are told one by one
_SIZES = (INSTANCE_TYPE, SKU_NAME)


def asked_by_pod(pod: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Key and value of each size and GPU that a pod asks for by name."""
    for key, value in (spec_of(pod).get("nodeSelector") or {}).items():
        if key in (*_SIZES, SKU_GPU_NAME):
            yield key, str(value)
    for _, _, expression in required_terms(pod):
        yield from _of(expression)


def asked_by_nodepool(pool: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The same for a NodePool."""
    for requirement in spec_of(spec_of(pool).get("template") or {}).get("requirements") or ():
        yield from _of(requirement)


def _of(expression: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if expression.get("key") in (*_SIZES, SKU_GPU_NAME) and expression.get("operator") == "In":
        yield from ((expression["key"], str(value)) for value in expression.get("values") or ())


def regions_with(world: World, key: str, value: str) -> tuple[str, ...]:
    """The regions that sell a size, or some size with a GPU of that name."""
    catalogue = world.caches.catalogue
    if key != SKU_GPU_NAME:
        return catalogue.sellers(value)
    grammar = world.release.skewer
    return tuple(
        region
        for region in catalogue.regions
        if any(value in name and _accelerator(name, grammar) == value for name in catalogue.names(region))
    )


@lru_cache(maxsize=4096)
def _accelerator(size: str, grammar: str) -> str | None:
    parsed = GRAMMARS[grammar].parse(size.partition("_")[2])
    return parsed.accelerator if parsed is not None else None


def not_sold(world: World, key: str, value: str) -> str:
    """`Standard_X is not sold in R; sold in …`; empty when it is sold here, or nowhere."""
    regions = regions_with(world, key, value)
    if not regions or world.region in regions:
        return ""
    subject = f"no size with the GPU {value}" if key == SKU_GPU_NAME else value
    verb = "is sold" if key == SKU_GPU_NAME else "is not sold"
    return f"{subject} {verb} in {world.region}; {places_text(regions)}"


def place_lines(
    world: World, demands: Iterable[tuple[str, str]], nodeclasses: Iterable[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield lines about the sizes that are asked for by name: not sold here, or dropped by a filter, with its facts.

    Where a filter drops many, they share a line.
    """
    classes = list(nodeclasses)
    dropped: dict[tuple[str, str], list[DroppedSize]] = {}
    for key, value in dict.fromkeys(demands):
        text = not_sold(world, key, value)
        if text:
            yield text
        elif key in _SIZES:
            for nodeclass in classes:
                size = world.instance_types.one(value, nodeclass)
                if isinstance(size, DroppedSize):
                    same = dropped.setdefault((name_of(nodeclass), size.filter), [])
                    if size not in same:
                        same.append(size)
    for (nodeclass_name, filter_), sizes in dropped.items():
        yield from _dropped_lines(nodeclass_name, filter_, sizes)


def _dropped_lines(nodeclass: str, filter_: str, sizes: Sequence[DroppedSize]) -> Iterator[str]:
    if len(sizes) > _FEW:
        some = first_few([dropped.name for dropped in sizes], _FEW)
        yield f"{some} are no instance types with AKSNodeClass {nodeclass}: the filter {filter_} drops them"
        return
    for size in sizes:
        facts = "".join(f", {name}: {fact}" for name, fact in size.details.items() if fact != "")
        yield f"{size.name} is no instance type with AKSNodeClass {nodeclass}: the filter {filter_} drops it{facts}"
