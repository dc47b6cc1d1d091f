"""Another zone, size or region in place of one that is asked for and not to be had: not yet tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.explain.advice.candidates import Candidate, Looked, Rank, required_terms
from harness.explain.advice.edits import Edit, of_requirement, setting
from harness.explain.advice.places import asked_by_nodepool, asked_by_pod, not_sold, regions_with
from harness.karpenter.instancetypes.vmsize import GRAMMARS
from harness.karpenter.scheduling.reasons.verdicts import NodePoolExcludes, PodExcludes
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import name_of, spec_of
from harness.kube.api.quantity import NANO
from harness.world import World

__all__ = ["other_regions", "other_sizes", "other_zones"]

_FEW = 2  # zones, sizes and regions that are proposed
_ARM = "p"  # the letter of Arm processors in the names of sizes
_MANY = 3  # values from which on a requirement leaves enough to choose from


def other_zones(
    pod: Mapping[str, Any], nodepools: Sequence[Mapping[str, Any]], zones: Sequence[str]
) -> Iterator[Candidate]:
    """For each of the zones of a region that the pod or a NodePool asks for the others."""
    for edit, nodepool, where, present in _asked(pod, nodepools, ZONE):
        if not set(present) & set(zones):
            continue  # a word that was mistaken
        for zone in [candidate for candidate in zones if candidate not in present]:
            text = f"ask for {ZONE}: {zone} in place of {' or '.join(present)} in {where}"
            yield Candidate(Rank.OTHER, text, edit(zone), nodepool, subject=ZONE if nodepool else "")


def other_sizes(
    pod: Mapping[str, Any], nodepools: Sequence[Mapping[str, Any]], looked_at: Sequence[Looked], grammar: str
) -> Iterator[Candidate]:
    """For a size that is asked for those which are most like it, of those against which nothing else speaks."""
    fitting = {
        verdict.instance_type.name: min(
            (offering.offering.price for offering in verdict.offerings if offering.available), default=0.0
        )
        for entry in looked_at
        for verdict in entry.types()
        if not verdict.reasons
        or (
            len(verdict.reasons) == 1
            and isinstance(reason := verdict.reasons[0], NodePoolExcludes | PodExcludes)
            and [conflict.key for conflict in reason.conflicts.keys] == [INSTANCE_TYPE]
            and any(offering.available for offering in verdict.offerings)
        )
    }
    sizes = (verdict.instance_type for entry in looked_at for verdict in entry.types())
    cpus = {size.name: size.capacity["cpu"].nano // NANO for size in sizes}

    def order(size: str, wanted: str) -> tuple[object, ...]:
        return *_unlike(size, wanted, cpus, grammar), fitting[size], size

    for edit, nodepool, where, present in _asked(pod, nodepools, INSTANCE_TYPE):
        if len(present) > _MANY:
            continue
        others = [size for size in fitting if size not in present]
        for size in sorted(others, key=lambda name: order(name, present[0]))[:_FEW]:
            text = f"ask for {INSTANCE_TYPE}: {size} in place of {' or '.join(present)} in {where}"
            yield Candidate(Rank.OTHER, text, edit(size), nodepool, subject=INSTANCE_TYPE if nodepool else "")


def other_regions(world: World, pod: Mapping[str, Any], nodepools: Iterable[Mapping[str, Any]]) -> Iterator[Candidate]:
    """The regions nearest by name that sell what is not sold here; of a cluster without Nodes, since Nodes are where they are."""
    if any(applied.get("kind") == "Node" for applied in world.applied):
        return
    demands = [*asked_by_pod(pod), *(demand for pool in nodepools for demand in asked_by_nodepool(pool))]
    missing = [demand for demand in dict.fromkeys(demands) if not_sold(world, *demand)]
    if not missing:
        return
    selling = set.intersection(*(set(regions_with(world, key, value)) for key, value in missing))
    wanted = " and ".join(value for _, value in missing)
    for region in sorted(selling, key=lambda name: (-_common(name, world.region), name))[:_FEW]:
        text = f"have the cluster in region {region}, which sells {wanted}"
        yield Candidate(Rank.OTHER, text, market={"region": region}, solver=False)


def _asked(
    pod: Mapping[str, Any], nodepools: Sequence[Mapping[str, Any]], key: str
) -> Iterator[tuple[Any, str | None, str, list[str]]]:
    """Yield the places that ask for values of a key: the maker of an edit to another value, the NodePool, the words, the values."""
    selector = spec_of(pod).get("nodeSelector") or {}
    if key in selector:
        yield (
            lambda value: setting(("spec", "nodeSelector"), key, value),
            None,
            "the pod's nodeSelector",
            [selector[key]],
        )
    for path, index, expression in required_terms(pod):
        if expression["key"] == key and expression["operator"] == "In":
            yield (
                lambda value, path=path, index=index: setting((*path, index), "values", [value]),
                None,
                "the pod's required node affinity",
                list(expression.get("values") or ()),
            )
    for pool in nodepools:
        for requirement in spec_of(spec_of(pool).get("template") or {}).get("requirements") or ():
            if requirement["key"] == key and requirement["operator"] == "In":
                yield (
                    lambda value, requirement=requirement: _of(requirement, value),
                    name_of(pool),
                    f"NodePool {name_of(pool)}",
                    list(requirement.get("values") or ()),
                )


def _of(requirement: Mapping[str, Any], value: str) -> Edit:
    def write(requirements: list[dict[str, Any]], index: int) -> None:
        requirements[index]["values"] = [value]

    return of_requirement(requirement, write)


def _unlike(size: str, wanted: str, cpus: Mapping[str, int], grammar: str) -> tuple[bool, bool, int, bool, int, bool]:
    """Return the distance of a size from another: architecture, family, vCPUs (old names do not say them), accelerator,
    features, version.
    """
    parse = GRAMMARS[grammar].parse
    own, other = parse(size.partition("_")[2]), parse(wanted.partition("_")[2])
    if own is None or other is None:
        return True, True, 0, True, 0, True
    letters, others = {*own.subfamily, *own.features}, {*other.subfamily, *other.features}
    return (
        (_ARM in letters) != (_ARM in others),
        own.family != other.family,
        abs(cpus.get(size, int(own.cpus)) - cpus.get(wanted, int(other.cpus))),
        own.accelerator != other.accelerator,
        len(letters ^ others),
        own.version != other.version,
    )


def _common(name: str, other: str) -> int:
    """Return how many letters two names begin with alike."""
    return next(
        (index for index, (a, b) in enumerate(zip(name, other, strict=False)) if a != b), min(len(name), len(other))
    )
