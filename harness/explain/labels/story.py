"""The whole story of one label key under one release: found out by trying, in every provision mode, and over all releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from harness.explain.labels.comparison import OTHER_VALUE, PROBED_SIZE, Cell, TriedSide, common_kubernetes, fingerprint
from harness.explain.labels.design_documents import Claim, Decision, Difference, claim_of, decisions, differences_of
from harness.explain.labels.probes import LabelProbe, PodFact, default_objects
from harness.explain.upgrade.trial import Trial, trial
from harness.karpenter.cloudprovider import DroppedSize
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, POLICIES, ProviderRelease, provider
from harness.world import World

__all__ = ["Computed", "Era", "Story", "tell"]

Object = Mapping[str, Any]
NewWorld = Callable[..., World]


@dataclass(frozen=True, slots=True)
class Computed:
    """The values of the key by size: how many sizes have one value, several, or none, and the most frequent values."""

    single: int
    several: int
    none: int
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Era:
    """A range of releases in which a key behaves the same."""

    first: str
    last: str
    pod: str
    nodepool: str
    written: str


@dataclass(frozen=True, slots=True)
class Story:
    """Everything about a key.

    ``roles`` say what the release knows it as, ``mismatch`` is a pod that asks for a value that no Node has, ``modes`` what is on the Node
    in each provision mode, ``conflict`` a NodePool that sets it to `conflict_value`.
    """

    key: str
    release: ProviderRelease
    region: str
    roles: tuple[str, ...]
    computed: Computed | None
    value: str
    cells: tuple[Cell, Cell, Cell]
    pod: PodFact
    mismatch: PodFact
    modes: Mapping[str, Cell]
    conflict_value: str
    conflict: Trial | None
    eras: tuple[Era, ...]
    claim: Claim | None
    decided: Mapping[str, tuple[Decision, Decision, Decision]]
    differences: tuple[Difference, ...]


def tell(key: str, new_world: NewWorld, releases: Sequence[str] = ALL_PROVIDER_RELEASES) -> Story:
    """The story of a key, compared over `releases`; `new_world` takes karpenter, provision_mode and options.

    Raises LookupError where a plain pod gets no Node.
    """
    world = new_world()
    release = world.release
    side = TriedSide(new_world)
    value = side.value_of(key)
    probe = LabelProbe(new_world)
    settable = probe.nodepool(key, value).settable
    values = sorted(release.vocabulary.known_values.get(key, ()))
    other = next((value_tried for value_tried in values if value_tried != value), OTHER_VALUE)
    return Story(
        key,
        release,
        world.region,
        tuple(_roles(key, release)),
        _computed(key, world),
        value,
        side.cells(key, value),
        probe.pod(key, value),
        probe.pod(key, OTHER_VALUE),
        {str(mode): _written(key, new_world, str(mode)) for mode in release.provision_modes},
        other,
        _conflict(key, other, new_world) if settable else None,
        tuple(_eras(key, value, world, new_world, releases)),
        claim_of(key),
        {name: decisions(policy, key) for name, policy in POLICIES.items()},
        differences_of(key),
    )


def _roles(key: str, release: ProviderRelease) -> Iterator[str]:
    vocabulary = release.vocabulary
    if key in vocabulary.normalized_keys:
        yield f"another name of {vocabulary.normalized_keys[key]}"
    if key in vocabulary.well_known:
        yield "well-known"
    if key in release.computed_keys:
        yield "a requirement of every size"
    if key in release.offering_keys:
        yield "a requirement of every offering"
    if key in release.base_keys:
        wins = "over" if key in release.winning_base_keys else "under"
        yield f"one of the provider's base labels for kubelet ({wins} other values)"
    if key in vocabulary.known_values:
        yield f"known values {', '.join(sorted(vocabulary.known_values[key]))}"
    if vocabulary.restricted(key) is not None:
        yield "restricted: users may not use it"


def _computed(key: str, world: World) -> Computed | None:
    if key not in world.release.computed_keys:
        return None
    counts: Counter[str] = Counter()
    single = several = none = 0
    for size in world.caches.catalogue.region(world.region).by_name:
        size_known = world.requirements_of(size)
        if isinstance(size_known, DroppedSize):
            continue
        values = size_known.requirements.get(key).values
        single += len(values) == 1
        several += len(values) > 1
        none += not values
        counts.update(values)
    return Computed(single, several, none, tuple(name for name, _ in counts.most_common(6)))


def _written(key: str, new_world: NewWorld, mode: str) -> Cell:
    return TriedSide(lambda **more: new_world(provision_mode=mode, **more)).written(key)


def _conflict(key: str, value: str, new_world: NewWorld) -> Trial:
    """A plain pod on a NodePool that sets the key to a value which Karpenter would not choose."""
    _, pool = default_objects()
    template = {**pool["spec"]["template"], "metadata": {"labels": {key: value}}}
    return trial(new_world(), {**pool, "spec": {**pool["spec"], "template": template}}, ())


def _eras(key: str, value: str, world: World, new_world: NewWorld, releases: Sequence[str]) -> Iterator[Era]:
    """All releases, those next to each other that behave the same taken together.

    A release whose record and CRDs are those of the one before is not tried again; and each is tried on a few sizes only, all with
    the same Kubernetes.
    """
    few = partial(
        new_world,
        caches=world.caches.only(world.region, _few_sizes(key, value, world)),
        kubernetes=common_kubernetes([provider(name) for name in releases]),
    )
    rows: list[tuple[str, str, str, str]] = []
    before: object = None
    for name in releases:
        inputs = fingerprint(provider(name))
        if inputs != before:
            behaviour = _behaviour(key, value, name, few)
        before = inputs
        rows.append((name, *behaviour))
    start = 0
    for index in range(1, len(rows) + 1):
        if index == len(rows) or rows[index][1:] != rows[start][1:]:
            first, pod, pool, written = rows[start]
            yield Era(first, rows[index - 1][0], pod, pool, written)
            start = index


def _few_sizes(key: str, value: str, world: World) -> frozenset[str]:
    """Sizes that have the value, and some that have not, spread over the families; with those whose Nodes are told of: where an
    ordinary Node has no such label all that have it, since older releases do not know the newest sizes."""
    sold = world.caches.catalogue.region(world.region).by_name
    having: list[str] = []
    alone: list[str] = []
    key = world.release.vocabulary.normalized_keys.get(key, key)
    if key in world.release.computed_keys:
        for size in sold:
            size_known = world.requirements_of(size)
            if isinstance(size_known, DroppedSize):
                continue
            values = size_known.requirements.get(key).values
            if value in values:
                having.append(size)
            if len(values) == 1:
                alone.append(size)
    others = sorted(sold.keys() - set(having))
    lone = () if PROBED_SIZE in alone else alone
    return frozenset((PROBED_SIZE, *lone, *_spread(having, 16), *_spread(others, 16)))


def _spread(names: Sequence[str], count: int) -> Sequence[str]:
    return names[:: max(1, len(names) // count)]


def _behaviour(key: str, value: str, name: str, new_world: NewWorld) -> tuple[str, str, str]:
    side = TriedSide(lambda **more: new_world(karpenter=provider(name).version, **more))
    pod, pool, written = side.cells(key, value)
    return str(pod), str(pool), str(written)


def sentences(claim: Claim) -> Sequence[tuple[str, bool | None]]:
    """The columns of a claim with their names."""
    return (
        ("documented by AKS", claim.aks_documented),
        ("observed on AKS", claim.aks_observed),
        ("schedulable with Karpenter", claim.schedulable),
        ("written under Karpenter", claim.written),
    )
