"""Another zone, size or region in place of one that is asked for and not to be had: not yet tried."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.explain.advice.candidates import Candidate, Looked, Rank, required_terms
from harness.explain.advice.edits import Edit, of_requirement, setting
from harness.explain.advice.places import asked_by_nodepool, asked_by_pod, not_sold, regions_with
from harness.karpenter.instancetypes.vmsize import GRAMMARS
from harness.karpenter.scheduling.reasons.ledger import NodePoolExcludes, PodExcludes
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
        for zone in [one for one in zones if one not in present]:
            text = f"ask for {ZONE}: {zone} in place of {' or '.join(present)} in {where}"
            yield Candidate(Rank.OTHER, text, edit(zone), nodepool, subject=ZONE if nodepool else "")


def other_sizes(
    pod: Mapping[str, Any], nodepools: Sequence[Mapping[str, Any]], looked_at: Sequence[Looked], grammar: str
) -> Iterator[Candidate]:
    """For a size that is asked for those which are most like it, of those against which nothing else speaks."""
    fitting = {
        one.instance_type.name: min((each.offering.price for each in one.offerings if each.available), default=0.0)
        for entry in looked_at
        for one in entry.types()
        if not one.reasons
        or (
            len(one.reasons) == 1
            and isinstance(reason := one.reasons[0], NodePoolExcludes | PodExcludes)
            and [each.key for each in reason.conflicts.keys] == [INSTANCE_TYPE]
            and any(each.available for each in one.offerings)
        )
    }
    sizes = (each.instance_type for entry in looked_at for each in entry.types())
    cpus = {one.name: one.capacity["cpu"].nano // NANO for one in sizes}

    def order(size: str, wanted: str) -> tuple[object, ...]:
        return *_unlike(size, wanted, cpus, grammar), fitting[size], size

    for edit, nodepool, where, present in _asked(pod, nodepools, INSTANCE_TYPE):
        if len(present) > _MANY:
            continue
        others = [one for one in fitting if one not in present]
        for size in sorted(others, key=lambda one: order(one, present[0]))[:_FEW]:
            text = f"ask for {INSTANCE_TYPE}: {size} in place of {' or '.join(present)} in {where}"
            yield Candidate(Rank.OTHER, text, edit(size), nodepool, subject=INSTANCE_TYPE if nodepool else "")


def other_regions(world: World, pod: Mapping[str, Any], nodepools: Iterable[Mapping[str, Any]]) -> Iterator[Candidate]:
    """The regions nearest by name that sell what is not sold here; of a cluster without Nodes, since Nodes are where they are."""
    if any(one.get("kind") == "Node" for one in world.applied):
        return
    asked = [*asked_by_pod(pod), *(one for pool in nodepools for one in asked_by_nodepool(pool))]
    missing = [one for one in dict.fromkeys(asked) if not_sold(world, *one)]
    if not missing:
        return
    selling = set.intersection(*(set(regions_with(world, key, value)) for key, value in missing))
    wanted = " and ".join(value for _, value in missing)
    for region in sorted(selling, key=lambda one: (-_common(one, world.region), one))[:_FEW]:
        text = f"have the cluster in region {region}, which sells {wanted}"
        yield Candidate(Rank.OTHER, text, market={"region": region}, solver=False)


def _asked(
    pod: Mapping[str, Any], nodepools: Sequence[Mapping[str, Any]], key: str
) -> Iterator[tuple[Any, str | None, str, list[str]]]:
    """Of each place that asks for values of a key: what makes an edit of another value, the NodePool, the words, the values."""
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
    """How far a size is from another: architecture, family, vCPUs (old names do not say them), accelerator, features, version."""
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


def _common(one: str, other: str) -> int:
    """How many letters two names begin with alike."""
    return next(
        (index for index, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
