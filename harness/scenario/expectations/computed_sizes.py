"""Sources of a size's requirements, amounts and offerings, and the filter that drops it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from harness.explain.sizes.fit import Misfit, asked_by, within
from harness.explain.sizes.shortages import Shortages
from harness.karpenter.cloudprovider import DroppedSize, InstanceType
from harness.karpenter.instancetypes.computed import of_offerings, of_region, of_sku
from harness.karpenter.labels import azure as keys
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, provider
from harness.kube.api.labels import ARCH
from harness.kube.api.quantity import Quantity
from harness.scenario.expectations.failure import ITEMS, FailedExpectation
from harness.scenario.expectations.matching import show
from harness.scenario.expectations.requirement_match import render
from harness.trace.prices import price_text
from harness.wording import listed

__all__ = ["amounts", "size_lines"]

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
"""The capabilities of Azure's record that a requirement comes from."""


def size_lines(failure: FailedExpectation, *, refused: bool) -> list[str]:
    """Return the sources of wrong values, of which there are none where an object is `refused`, and the command that prints all values."""
    return [*([] if refused else _reasons(failure)), f"all that is computed: {_command(failure)}"]


def _reasons(failure: FailedExpectation) -> list[str]:
    result = failure.run.world.requirements_of(
        failure.body.of, _object(failure, "NodePool"), _object(failure, "AKSNodeClass")
    )
    if isinstance(result, DroppedSize) or failure.part == "dropped":
        return list(_filters(failure, result))
    for field in ("are", "absent"):
        if key := failure.below(field):
            return list(_requirement(failure, key, result))
    for field in ("capacity", "allocatable"):
        if resource := failure.below(field):
            return amounts(failure, failure.body.of, field, resource, result)
    if failure.part.startswith("offering"):
        return _offerings(failure, result)
    return list(_fit(failure))


def _object(failure: FailedExpectation, kind: str) -> Any:
    name = failure.body.nodepool if kind == "NodePool" else failure.body.nodeclass
    if name is None:
        return None
    manifest = failure.run.manifest(f"{kind}/{name}")
    return failure.run.find(f"{kind}/{name}") or (manifest.object if manifest is not None else None)


def _command(failure: FailedExpectation) -> str:
    world = failure.run.world
    return f"harness requirements --size {failure.body.of} --region {world.region} --release {world.release.version}"


def _types(failure: FailedExpectation) -> Iterator[InstanceType | DroppedSize]:
    """Yield every size that the region sells."""
    world = failure.run.world
    for name in sorted(world.caches.catalogue.region(world.region).by_name):
        yield world.requirements_of(name, _object(failure, "NodePool"), _object(failure, "AKSNodeClass"))


def _filters(failure: FailedExpectation, result: InstanceType | DroppedSize) -> Iterator[str]:
    """Yield the filter with the facts that it reads, and the number of sizes that each filter drops."""
    world = failure.run.world
    if isinstance(result, DroppedSize):
        facts = f", which looked at {show(dict(result.details))}" if result.details else ""
        yield f"under {world.release.version} {result.name} is dropped by the filter {result.filter}{facts}"
    else:
        yield f"under {world.release.version} no filter drops {failure.body.of}"
    types = list(_types(failure))
    counts = Counter(dropped.filter for dropped in types if isinstance(dropped, DroppedSize))
    left = len(types) - counts.total()
    drops = ", ".join(f"{name} {number}" for name, number in counts.most_common())
    yield f"of the {len(types)} sizes that {world.region} sells {left} are offered; dropped are by {drops}"


def _place(failure: FailedExpectation, kind: str, *path: str | int) -> str:
    name = failure.body.nodepool if kind == "NodePool" else failure.body.nodeclass
    manifest = failure.run.manifest(f"{kind}/{name}")
    return f" ({manifest.document.position(path)})" if manifest is not None else ""


def _requirement(failure: FailedExpectation, key: str, result: InstanceType) -> Iterator[str]:
    """Yield the size's requirement of a key, the AKSNodeClass's change of it, and the NodePool's requirement."""
    world, body = failure.run.world, failure.body
    release = world.release
    own = result.requirements
    if key in own:
        yield f"{body.of} has {key} {render(own[key])}, {_origin(failure, key)}"
        if key in of_offerings(()):
            yield from (offering for offering in _offerings(failure, result) if ": not available" in offering)
    else:
        knows = [
            release
            for release in ALL_PROVIDER_RELEASES
            if key in provider(release).computed_keys | provider(release).offering_keys
        ]
        computed = f"; {_span(knows)} compute one" if knows else "; no release computes one"
        yield f"{release.version} computes no {key} for a size{computed}"
    plain = world.requirements_of(body.of)
    if body.nodeclass is not None and isinstance(plain, InstanceType):
        before = plain.requirements
        if render(before.get(key) if key in before else None) != render(own.get(key) if key in own else None):
            alone = render(before[key]) if key in before else "nothing"
            yield f"AKSNodeClass/{body.nodeclass} makes it so{_place(failure, 'AKSNodeClass')}; without it {alone}"
    yield from _pool_asks(failure, key)


def _origin(failure: FailedExpectation, key: str) -> str:
    """Return the part of the provider that decides a key."""
    world = failure.run.world
    if key in of_offerings(()):
        return "by its offerings that can be had now"
    if key in of_region(world.region, world.options):
        return "by the region and the controller's options"
    sku = world.instance_types.sku(failure.body.of)
    if sku is not None and key in of_sku(sku, world.release):
        capabilities = [f"{name} {sku.capability(name)}" for name in _CAPABILITIES.get(key, ()) if sku.capability(name)]
        return f"by Azure's record: {', '.join(capabilities)}" if capabilities else "by its name and Azure's record"
    return (
        f"by AKSNodeClass/{failure.body.nodeclass}"
        if failure.body.nodeclass
        else "by an AKSNodeClass that says nothing"
    )


def _span(releases: list[str]) -> str:
    return releases[0] if len(releases) == 1 else f"{releases[0]} to {releases[-1]}"


def _pool_asks(failure: FailedExpectation, key: str) -> Iterator[str]:
    """Yield a NodePool's requirement or label of a key, with its place."""
    pool, name = _object(failure, "NodePool"), failure.body.nodepool
    if pool is None:
        return
    template = (pool.get("spec") or {}).get("template") or {}
    labels: Mapping[str, str] = (template.get("metadata") or {}).get("labels") or {}
    any_requirement = False
    for index, requirement in enumerate((template.get("spec") or {}).get("requirements") or ()):
        if requirement.get("key") == key:
            any_requirement = True
            asks = f"{requirement.get('operator')} {show(requirement.get('values') or [])}"
            place = _place(failure, "NodePool", "spec", "template", "spec", "requirements", index)
            yield f"NodePool/{name} requires {key} {asks}{place}"
    if key in labels:
        place = _place(failure, "NodePool", "spec", "template", "metadata", "labels", key)
        yield f"NodePool/{name} sets the label {key}={labels[key]}{place}"
    elif not any_requirement:
        yield f"NodePool/{name} says nothing of it"


def _fit(failure: FailedExpectation) -> Iterator[str]:
    """Yield why a NodePool does not allow a size, and the sizes that it allows."""
    pool = _object(failure, "NodePool")
    if pool is None:
        return
    vocabulary = failure.run.world.release.vocabulary
    conflict = {sentence.partition(",")[0].removeprefix("key ") for sentence in _said(failure)}
    for key in asked_by(pool, vocabulary):
        if key in conflict:
            yield from _pool_asks(failure, key)
    types = [type_or_dropped for type_or_dropped in _types(failure) if isinstance(type_or_dropped, InstanceType)]
    fitting = [
        instance_type.name
        for instance_type in types
        if not isinstance(within(pool, instance_type.requirements, vocabulary), Misfit)
    ]
    names = f": {', '.join(fitting[:ITEMS])}{' …' if len(fitting) > ITEMS else ''}" if fitting else ""
    yield f"NodePool/{failure.body.nodepool} allows {len(fitting)} of {len(types)} sizes{names}"


def _said(failure: FailedExpectation) -> Iterator[str]:
    for difference in failure.verdict.differences:
        yield difference.actual


def amounts(
    failure: FailedExpectation, size: str, field: str, resource: str, computed: InstanceType | None = None
) -> list[str]:
    """Return the sources of an amount: the size's figure, and the parts that kubelet and the system keep of it."""
    world = failure.run.world
    try:
        kind = computed or world.requirements_of(size)
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


def _offerings(failure: FailedExpectation, result: InstanceType) -> list[str]:
    """Return each offering; for those that cannot be had, the reason."""
    world = failure.run.world
    shortages = Shortages(world, world.instance_types.unavailable)
    lines = []
    for offering in result.offerings:
        state = "available" if offering.available else f"not available: {shortages.why(failure.body.of, offering)}"
        price = (
            f"with {price_text(offering.price, unpriced=True)}" if offering.unpriced else f"at {offering.price:g} USD/h"
        )
        lines.append(f"{offering.zone or 'no zone'} {offering.capacity_type} {price}: {state}")
    return listed(lines, ITEMS + 2, "offerings")
