"""Where the requirements, amounts and offerings of a size come from, and which filter drops it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from harness.explain.sizes.fit import Misfit, asked_by, within
from harness.explain.sizes.shortages import Shortages
from harness.explain.traces.why import listed
from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.instancetypes.computed import of_offerings, of_region, of_sku
from harness.karpenter.labels import azure as keys
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, provider
from harness.kube.api.labels import ARCH
from harness.kube.api.quantity import Quantity
from harness.scenario.running.checks.requirement_match import render
from harness.scenario.running.checks.requirements import refusal_of
from harness.scenario.running.matching import show
from harness.scenario.running.reasons.asked import ITEMS, Asked
from harness.trace.prices import price_text

__all__ = ["amounts", "tell"]

_OVERHEADS = (
    ("kube_reserved", "kube-reserved"),
    ("system_reserved", "system-reserved"),
    ("eviction_threshold", "eviction threshold"),
)

_CAPABILITIES: Mapping[str, tuple[str, ...]] = {
    ARCH: ("CpuArchitectureType",),
    keys.SKU_CPU: ("vCPUs",),
    keys.AKS_CPU: ("vCPUs",),
    keys.SKU_MEMORY: ("MemoryGB",),
    keys.AKS_MEMORY: ("MemoryGB",),
    keys.SKU_GPU_COUNT: ("GPUs",),
    keys.SKU_EPHEMERAL_OS_SIZE: ("CachedDiskBytes", "MaxResourceVolumeMB", "NvmeDiskSizeInMiB"),
    keys.SKU_PREMIUM_STORAGE: ("PremiumIO",),
    keys.SKU_ACCELERATED_NETWORKING: ("AcceleratedNetworkingEnabled",),
    keys.SKU_HYPERV: ("HyperVGenerations",),
}
"""What of Azure's record a requirement comes from."""


def tell(asked: Asked) -> list[str]:
    """Who contributed what is not as expected, and the command that prints all that is computed."""
    return [*_reasons(asked), f"all that is computed: {_command(asked)}"]


def _reasons(asked: Asked) -> list[str]:
    if refusal_of(asked.body, asked.run) is not None:
        return []
    result = asked.run.world.requirements_of(asked.body.of, _object(asked, "NodePool"), _object(asked, "AKSNodeClass"))
    if isinstance(result, DroppedSize) or asked.part == "dropped":
        return list(_filters(asked, result))
    for field in ("are", "absent"):
        if key := asked.below(field):
            return list(_requirement(asked, key, result))
    for field in ("capacity", "allocatable"):
        if resource := asked.below(field):
            return amounts(asked, asked.body.of, field, resource, result)
    if asked.part.startswith("offering"):
        return _offerings(asked, result)
    return list(_fit(asked))


def _object(asked: Asked, kind: str) -> Any:
    name = asked.body.nodepool if kind == "NodePool" else asked.body.nodeclass
    if name is None:
        return None
    manifest = asked.run.manifest(f"{kind}/{name}")
    return asked.run.find(f"{kind}/{name}") or (manifest.object if manifest is not None else None)


def _command(asked: Asked) -> str:
    world = asked.run.world
    return f"harness requirements --size {asked.body.of} --region {world.region} --release {world.release.version}"


def _types(asked: Asked) -> Iterator[InstanceType | DroppedSize]:
    """Every size that the region sells."""
    world = asked.run.world
    for name in sorted(world.caches.catalogue.region(world.region).by_name):
        yield world.requirements_of(name, _object(asked, "NodePool"), _object(asked, "AKSNodeClass"))


def _filters(asked: Asked, result: InstanceType | DroppedSize) -> Iterator[str]:
    """The filter with the facts that it looked at, and how many sizes each filter drops."""
    world = asked.run.world
    if isinstance(result, DroppedSize):
        facts = f", which looked at {show(dict(result.details))}" if result.details else ""
        yield f"under {world.release.version} {result.name} is dropped by the filter {result.filter}{facts}"
    else:
        yield f"under {world.release.version} no filter drops {asked.body.of}"
    found = list(_types(asked))
    counts = Counter(one.filter for one in found if isinstance(one, DroppedSize))
    left = len(found) - counts.total()
    told = ", ".join(f"{name} {number}" for name, number in counts.most_common())
    yield f"of the {len(found)} sizes that {world.region} sells {left} are offered; dropped are by {told}"


def _place(asked: Asked, kind: str, *path: str | int) -> str:
    name = asked.body.nodepool if kind == "NodePool" else asked.body.nodeclass
    manifest = asked.run.manifest(f"{kind}/{name}")
    return f" ({manifest.document.position(path)})" if manifest is not None else ""


def _requirement(asked: Asked, key: str, result: InstanceType) -> Iterator[str]:
    """What the size says of a key, what the AKSNodeClass changes of it, and what the NodePool asks for."""
    world, body = asked.run.world, asked.body
    release = world.release
    own = result.requirements
    if key in own:
        yield f"{body.of} has {key} {render(own[key])}, {_origin(asked, key)}"
        if key in of_offerings(()):
            yield from (offering for offering in _offerings(asked, result) if ": not available" in offering)
    else:
        knows = [
            release
            for release in ALL_PROVIDER_RELEASES
            if key in provider(release).computed_keys | provider(release).offering_keys
        ]
        told = f"; {_span(knows)} compute one" if knows else "; no release computes one"
        yield f"{release.version} computes no {key} for a size{told}"
    plain = world.requirements_of(body.of)
    if body.nodeclass is not None and isinstance(plain, InstanceType):
        before = plain.requirements
        if render(before.get(key) if key in before else None) != render(own.get(key) if key in own else None):
            alone = render(before[key]) if key in before else "nothing"
            yield f"AKSNodeClass/{body.nodeclass} makes it so{_place(asked, 'AKSNodeClass')}; without it {alone}"
    yield from _pool_asks(asked, key)


def _origin(asked: Asked, key: str) -> str:
    """Which part of the provider decides a key."""
    world = asked.run.world
    if key in of_offerings(()):
        return "by its offerings that can be had now"
    if key in of_region(world.region, world.options):
        return "by the region and the controller's options"
    sku = world.instance_types.sku(asked.body.of)
    if sku is not None and key in of_sku(sku, world.release):
        said = [f"{name} {sku.capability(name)}" for name in _CAPABILITIES.get(key, ()) if sku.capability(name)]
        return f"by Azure's record: {', '.join(said)}" if said else "by its name and Azure's record"
    return f"by AKSNodeClass/{asked.body.nodeclass}" if asked.body.nodeclass else "by an AKSNodeClass that says nothing"


def _span(releases: list[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"


def _pool_asks(asked: Asked, key: str) -> Iterator[str]:
    """A NodePool's requirement or label of a key, with its place."""
    pool, name = _object(asked, "NodePool"), asked.body.nodepool
    if pool is None:
        return
    template = (pool.get("spec") or {}).get("template") or {}
    labels: Mapping[str, str] = (template.get("metadata") or {}).get("labels") or {}
    told = False
    for index, one in enumerate((template.get("spec") or {}).get("requirements") or ()):
        if one.get("key") == key:
            told = True
            asks = f"{one.get('operator')} {show(one.get('values') or [])}"
            place = _place(asked, "NodePool", "spec", "template", "spec", "requirements", index)
            yield f"NodePool/{name} requires {key} {asks}{place}"
    if key in labels:
        place = _place(asked, "NodePool", "spec", "template", "metadata", "labels", key)
        yield f"NodePool/{name} sets the label {key}={labels[key]}{place}"
    elif not told:
        yield f"NodePool/{name} says nothing of it"


def _fit(asked: Asked) -> Iterator[str]:
    """Yield why a size is not of those that a NodePool allows, and which are."""
    pool = _object(asked, "NodePool")
    if pool is None:
        return
    vocabulary = asked.run.world.release.vocabulary
    conflict = {one.partition(",")[0].removeprefix("key ") for one in _said(asked)}
    for key in asked_by(pool, vocabulary):
        if key in conflict:
            yield from _pool_asks(asked, key)
    types = [one for one in _types(asked) if isinstance(one, InstanceType)]
    fitting = [one.name for one in types if not isinstance(within(pool, one.requirements, vocabulary), Misfit)]
    names = f": {', '.join(fitting[:ITEMS])}{' …' if len(fitting) > ITEMS else ''}" if fitting else ""
    yield f"NodePool/{asked.body.nodepool} allows {len(fitting)} of {len(types)} sizes{names}"


def _said(asked: Asked) -> Iterator[str]:
    for difference in asked.verdict.differences:
        yield difference.actual


def amounts(asked: Asked, size: str, field: str, resource: str, found: InstanceType | None = None) -> list[str]:
    """How an amount comes about: what the size has, and what kubelet and the system keep of it."""
    world = asked.run.world
    try:
        kind = found or world.requirements_of(size)
    except LookupError:
        return []
    if not isinstance(kind, InstanceType):
        return []
    capacity = kind.capacity.get(resource)
    if capacity is None:
        return [f"{world.release.version} computes no {resource} for {size}"]
    if field == "capacity":
        return [f"Karpenter computes {resource} {capacity} for {size}"]
    parts = [(getattr(kind.overhead, name).get(resource), word) for name, word in _OVERHEADS]
    less = [f"- {amount} {word}" for amount, word in parts if amount is not None and amount != Quantity(0)]
    left = kind.allocatable.get(resource, "0")
    return [f"Karpenter computes for {size}: {resource} {capacity} {' '.join(less)} = {left}".replace("  ", " ")]


def _offerings(asked: Asked, result: InstanceType) -> list[str]:
    """Each offering; of those that cannot be had, what stands in the way."""
    world = asked.run.world
    shortages = Shortages(world, world.instance_types.unavailable)
    lines = []
    for offering in result.offerings:
        state = "available" if offering.available else f"not available: {shortages.why(asked.body.of, offering)}"
        price = (
            f"with {price_text(offering.price, unpriced=True)}" if offering.unpriced else f"at {offering.price:g} USD/h"
        )
        lines.append(f"{offering.zone or 'no zone'} {offering.capacity_type} {price}: {state}")
    return listed(lines, ITEMS + 2, "offerings")
