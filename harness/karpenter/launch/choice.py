"""The choice of size, zone and capacity type for a NodeClaim.

Kaz ``pkg/cloudprovider/cloudprovider.go`` resolveInstanceTypes, ``pkg/providers/allocationstrategy``.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.instancetypes.offerings import placement_scope
from harness.karpenter.labels.azure import SKU_ULTRA_SSD
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL, ON_DEMAND, SPOT
from harness.karpenter.launch.failures.errors import LaunchError
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.requirements import Requirement, Requirements
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.resources import fits, parse_list
from lazyrecords import dataclass

__all__ = [
    "ApplyOverlays",
    "Choice",
    "LaunchTypes",
    "Rank",
    "Shuffle",
    "choose",
    "claim_requirements",
    "overlaid_types",
    "rank",
    "resolve_instance_types",
    "wants_ultra_ssd",
]

Shuffle = Callable[[list[Offering]], None]
"""Shuffles in place; where Go draws at random, the world's seeded generator does."""

ApplyOverlays = Callable[[str, Sequence[InstanceType]], Sequence[InstanceType]]
"""Returns instance types as NodeOverlays make them for the NodePool of a name, in the same order."""

Rank = tuple[float, int, int]

_CAPACITY_RANK = {SPOT: 0, ON_DEMAND: 1}
_SCOPE_RANK = {"zonal": 0, "regional": 1}


@dataclass(frozen=True, slots=True)
class Choice:
    """The instance type and the offering of it that is launched. ``ultra_ssd``: the NodeClaim requires ultra SSD."""

    instance_type: InstanceType
    offering: Offering
    ultra_ssd: bool

    @property
    def zone(self) -> str:
        return self.offering.zone

    @property
    def capacity_type(self) -> str:
        return self.offering.capacity_type

    @property
    def placement_scope(self) -> str:
        return placement_scope(self.zone)


def claim_requirements(nodeclaim: Mapping[str, Any], release: ProviderRelease) -> Requirements:
    """``spec.requirements`` of a NodeClaim."""
    items = (nodeclaim.get("spec") or {}).get("requirements")
    return Requirements.from_node_selector(items, vocabulary=release.vocabulary)


def resolve_instance_types(
    nodeclaim: Mapping[str, Any], wanted: Requirements, types: Sequence[InstanceType], release: ProviderRelease
) -> list[InstanceType]:
    """The instance types that meet the NodeClaim's requirements, have room for its requests and an available offering."""
    resources = (nodeclaim.get("spec") or {}).get("resources") or {}
    requests = parse_list(resources.get("requests"))
    allowed = release.allowed_at_create
    named = wanted.get(INSTANCE_TYPE)  # a NodeClaim names some of hundreds: the others need no closer look
    return [
        item
        for item in types
        if named.has(item.name)
        and wanted.compatible(item.requirements, allowed) is None
        and any(offering.available for offering in item.compatible_offerings(wanted))
        and fits(requests, item.allocatable)
    ]


@dataclass(frozen=True)
class LaunchTypes:
    """The instance types of an AKSNodeClass for a launch: ``filtered`` by what the NodeClaim asks for, ``compared`` by price.

    NodeOverlays make the two differ; the order and the names are the same (kaz ``pkg/cloudprovider/cloudprovider.go``
    resolveInstanceTypes, Create).
    """

    filtered: Sequence[InstanceType]
    compared: Sequence[InstanceType]

    @cached_property
    def _filtered_by_name(self) -> Mapping[str, InstanceType]:
        return {item.name: item for item in self.filtered}

    def allows(
        self, item: InstanceType, nodeclaim: Mapping[str, Any], wanted: Requirements, release: ProviderRelease
    ) -> bool:
        """Return whether the NodeClaim allows one of the compared types."""
        if self.filtered is not self.compared:
            item = self._filtered_by_name[item.name]
        return bool(resolve_instance_types(nodeclaim, wanted, (item,), release))

    def allowed(
        self, nodeclaim: Mapping[str, Any], wanted: Requirements, release: ProviderRelease
    ) -> list[InstanceType]:
        """The compared types that the NodeClaim allows."""
        left = {item.name for item in resolve_instance_types(nodeclaim, wanted, self.filtered, release)}
        return [item for item in self.compared if item.name in left]


def overlaid_types(
    nodeclaim: Mapping[str, Any], types: Sequence[InstanceType], apply: ApplyOverlays, release: ProviderRelease
) -> LaunchTypes:
    """The instance types of a launch while NodeOverlays count. Raises what ``apply`` raises.

    A NodeClaim that names no NodePool is launched as if there were none.
    """
    nodepool = ((nodeclaim.get("metadata") or {}).get("labels") or {}).get(NODEPOOL)
    if nodepool is None:
        return LaunchTypes(types, types)
    overlaid = apply(nodepool, types)
    return LaunchTypes(overlaid if release.filters_overlaid_types else types, overlaid)


def choose(
    wanted: Requirements, types: Sequence[InstanceType], release: ProviderRelease, shuffle: Shuffle | None = None
) -> Choice:
    """The cheapest compatible offering; ties between zones are decided by ``shuffle``, without one by the order of zones.

    Raises LaunchError when nothing is left.
    """
    chosen = _ranked(wanted, types, shuffle) if release.ranks_offerings else _first_type(wanted, types, shuffle)
    if chosen is None:
        raise LaunchError.capacity("no instance types available")
    ultra = SKU_ULTRA_SSD in release.offering_keys and wants_ultra_ssd(wanted)
    return Choice(chosen[0], chosen[1], ultra)


def wants_ultra_ssd(wanted: Requirements) -> bool:
    """Return whether the requirements allow nothing but ultra SSD: with both values, or without the key, the answer is no."""

    def accepts(value: str) -> bool:
        ultra = Requirements((Requirement(SKU_ULTRA_SSD, False, frozenset({value})),), vocabulary=wanted.vocabulary)
        return wanted.compatible(ultra) is None

    return accepts("true") and not accepts("false")


def _ranked(
    wanted: Requirements, types: Sequence[InstanceType], shuffle: Shuffle | None
) -> tuple[InstanceType, Offering] | None:
    best: tuple[Rank, str] | None = None
    best_offer: tuple[InstanceType, Offering] | None = None
    for item in types:
        offerings = [offering for offering in item.compatible_offerings(wanted) if offering.available]
        if not offerings:
            continue
        if shuffle is not None:
            shuffle(offerings)
        first = min(offerings, key=rank)
        key = (rank(first), item.name)
        if best is None or key < best:
            best, best_offer = key, (item, first)
    return best_offer


def rank(offering: Offering) -> Rank:
    """The sort key of an offering: price (USD per hour), spot before on-demand, zonal before regional; the smallest is best."""
    return (
        offering.price,
        _CAPACITY_RANK.get(offering.capacity_type, 2),
        _SCOPE_RANK[placement_scope(offering.zone)],
    )


def _first_type(
    wanted: Requirements, types: Sequence[InstanceType], shuffle: Shuffle | None
) -> tuple[InstanceType, Offering] | None:
    """Older releases: the cheapest type, then spot if the claim allows it, then any of the claim's zones."""

    def price(item: InstanceType) -> tuple[float, str]:
        prices = [offering.price for offering in item.compatible_offerings(wanted) if offering.available]
        return (min(prices, default=float("inf")), item.name)

    if not types:
        return None
    item = min(types, key=price)
    zones, capacity = wanted.get(ZONE), wanted.get(CAPACITY_TYPE)
    in_zone = [offering for offering in item.available_offerings if zones.has(offering.zone)]
    spot = capacity.has(SPOT) and any(offering.capacity_type == SPOT for offering in in_zone)
    left = [offering for offering in in_zone if offering.capacity_type == (SPOT if spot else ON_DEMAND)]
    if not left:
        return None
    if shuffle is not None:
        shuffle(left)
    return item, left[0]
