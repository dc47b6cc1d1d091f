"""The evaluation of NodeOverlays: which of them apply to which instance types, and which are refused.

Core ``pkg/controllers/nodeoverlay/{controller,store}.go``, ``pkg/apis/v1alpha1/nodeoverlay{,_validation}.go``,
``pkg/cloudprovider/types.go`` (AdjustedPrice).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.requirements import Requirements
from harness.karpenter.validation.runtime import joined, requirement_findings, wording_of
from harness.kube.api.objects import Object, labels_of, name_of, spec_of
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import parse_list
from lazyrecords import dataclass

__all__ = ["CONFLICT", "RUNTIME_VALIDATION", "Evaluation", "Verdict", "adjusted_price", "evaluate"]

RUNTIME_VALIDATION, CONFLICT = "RuntimeValidation", "Conflict"
"""Reasons why the condition ValidationSucceeded of a NodeOverlay is false."""

_RESTRICTED = ("cpu", "memory", "ephemeral-storage", "pods")
"""The resources that no overlay may name (core WellKnownResources)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict about one NodeOverlay: reason and message of its condition when it does not apply, both empty when it does."""

    reason: str = ""
    message: str = ""


@dataclass(slots=True)
class _Update:
    """The changes to one instance type for one NodePool; ``last_weight`` is that of the last overlay that changed ``last_resources``.

    ``prices``: change and weight by the requirements of the offering, as text.
    """

    prices: dict[str, tuple[str, int]] = field(default_factory=dict)
    capacity: dict[str, Quantity] = field(default_factory=dict)
    last_resources: frozenset[str] = frozenset()
    last_weight: int = 0


class Evaluation:
    """The result for all NodeOverlays: ``verdicts`` by overlay; ``nodepools`` are the names of those that were evaluated."""

    def __init__(self, verdicts: Mapping[str, Verdict], updates: Mapping[str, Mapping[str, _Update]]) -> None:
        self.verdicts = verdicts
        self._updates = updates
        self._applied: dict[tuple[str, int], tuple[Sequence[InstanceType], Sequence[InstanceType]]] = {}

    @property
    def nodepools(self) -> frozenset[str]:
        return frozenset(self._updates)

    def apply(self, nodepool: str, types: Sequence[InstanceType]) -> Sequence[InstanceType]:
        """The instance types of a NodePool with overlays applied; the same result for the same list.

        Raises KeyError for a NodePool that was not evaluated.
        """
        updates = self._updates[nodepool]
        if not updates:
            return types
        entry = self._applied.get((nodepool, id(types)))
        if entry is None:
            made = [_updated(item, update) if (update := updates.get(item.name)) else item for item in types]
            entry = self._applied[nodepool, id(types)] = types, made
        return entry[1]


def evaluate(
    overlays: Iterable[Object],
    nodepools: Iterable[Object],
    types: Mapping[str, Sequence[InstanceType]],
    release: ProviderRelease,
) -> Evaluation:
    """Evaluates the overlays by weight, the heaviest first, then by name in descending order.

    ``types`` are the provider's instance types by the name of the NodePool; NodePools without an entry are left out. An overlay that
    changes somewhere what one of the same weight before it has changed applies nowhere.
    """
    pools = [pool for pool in nodepools if name_of(pool) in types]
    updates: dict[str, dict[str, _Update]] = {name_of(pool): {} for pool in pools}
    verdicts: dict[str, Verdict] = {}
    bases = {name_of(pool): _labels_of_template(pool, release.vocabulary) for pool in pools}
    for overlay in sorted(overlays, key=lambda item: (_weight(item), name_of(item)), reverse=True):
        problem = _problem(overlay, release)
        if problem:
            verdicts[name_of(overlay)] = Verdict(RUNTIME_VALIDATION, problem)
            continue
        wanted = Requirements.from_node_selector(spec_of(overlay).get("requirements"), vocabulary=release.vocabulary)
        matches = {pool: _selected(bases[pool], wanted, types[pool]) for pool in updates}
        if any(_in_conflict(overlay, updates[pool], matches[pool]) for pool in updates):
            verdicts[name_of(overlay)] = Verdict(CONFLICT, "conflict with another overlay")
            continue
        for pool, matched in matches.items():
            _keep(overlay, updates[pool], matched, first_wins=release.core.first_overlay_capacity_wins)
        verdicts[name_of(overlay)] = Verdict()
    return Evaluation(verdicts, updates)


def adjusted_price(price: float, change: str) -> float:
    """A price in USD per hour after an overlay: replaced by an amount, or changed by a signed amount or percentage; never below 0."""
    if not change:
        return price
    if change[0] not in "+-":
        return float(change)
    changed = price * (1 + float(change[:-1]) / 100) if change.endswith("%") else price + float(change)
    return changed if changed >= 0 else 0.0


def _selected(base: Requirements, wanted: Requirements, types: Sequence[InstanceType]) -> Mapping[str, Sequence[str]]:
    """By instance type, the requirements (as text) of the offerings that an overlay selects; ``base`` are the NodePool's labels."""
    keys = wanted.keys()
    added = [base[key] for key in keys if key in base]
    offerings_by_type = {}
    for instance_type in types:
        own = [instance_type.requirements[key] for key in keys if key in instance_type.requirements]
        if Requirements((*added, *own), vocabulary=wanted.vocabulary).compatible(wanted) is None:
            offerings = [str(offering.requirements) for offering in instance_type.compatible_offerings(wanted)]
            if offerings:
                offerings_by_type[instance_type.name] = offerings
    return offerings_by_type


def _labels_of_template(pool: Object, vocabulary: Vocabulary) -> Requirements:
    labels = labels_of(spec_of(pool).get("template") or {})
    own = Requirements.from_labels({NODEPOOL: name_of(pool)}, vocabulary=vocabulary)
    return own.add(*Requirements.from_labels(labels, vocabulary=vocabulary).values())


def _weight(overlay: Object) -> int:
    return int(spec_of(overlay).get("weight") or 0)


def _change(overlay: Object) -> str | None:
    spec = spec_of(overlay)
    price = spec.get("price")
    return spec.get("priceAdjustment") if price is None else price


def _problem(overlay: Object, release: ProviderRelease) -> str:
    """The error of Karpenter's own validation, which the API server does not check; empty when there is none."""
    spec, wording = spec_of(overlay), wording_of(release)
    problems = []
    for requirement in spec.get("requirements") or ():
        reason = joined(requirement_findings(requirement, wording))
        if reason is not None:
            problems.append(f"invalid value: {reason} in requirements, restricted")
        if requirement.get("operator") == "NotIn" and not requirement.get("values"):
            problems.append(f"key {requirement.get('key')} with operator NotIn must have a value defined")
    for name in _RESTRICTED:
        if name in (spec.get("capacity") or {}):
            problems.append(f"invalid capacity: {name} in resource, restricted")
    return "; ".join(problems)


def _in_conflict(overlay: Object, updates: Mapping[str, _Update], matches: Mapping[str, Sequence[str]]) -> bool:
    """Return whether an overlay of the same weight has changed the same price or resource before."""
    weight, change = _weight(overlay), _change(overlay)
    capacity = frozenset(spec_of(overlay).get("capacity") or ())
    for name, offerings in matches.items():
        update = updates.get(name)
        if update is None:
            continue
        if change is not None and any(
            (price := update.prices.get(offering)) is not None and price[1] == weight for offering in offerings
        ):
            return True
        if update.last_weight == weight and capacity & update.last_resources:
            return True
    return False


def _keep(
    overlay: Object, updates: dict[str, _Update], matches: Mapping[str, Sequence[str]], *, first_wins: bool
) -> None:
    """Note the changes of the overlay. A price that a heavier one has changed stays."""
    weight, change, capacity = _weight(overlay), _change(overlay), parse_list(spec_of(overlay).get("capacity"))
    for name, offerings in matches.items():
        if change is None and not capacity:
            continue
        update = updates.setdefault(name, _Update())
        if change is not None:
            for offering in offerings:
                price = update.prices.get(offering)
                update.prices[offering] = (price[0] if price is not None else change), weight
        if capacity:
            update.capacity = {**capacity, **update.capacity} if first_wins else {**update.capacity, **capacity}
            update.last_resources, update.last_weight = frozenset(capacity), weight


def _updated(instance_type: InstanceType, update: _Update) -> InstanceType:
    changes: dict[str, Any] = {}
    if update.capacity:
        changes["capacity"] = {**instance_type.capacity, **update.capacity}
        changes["capacity_overlaid"] = True
    if update.prices:
        changes["offerings"] = tuple(_repriced(offering, update) for offering in instance_type.offerings)
    return replace(instance_type, **changes)


def _repriced(offering: Offering, update: _Update) -> Offering:
    price_change = update.prices.get(str(offering.requirements))
    if price_change is None:
        return offering
    unpriced = offering.unpriced and price_change[0][:1] in ("", "+", "-")  # an adjusted stand-in is one still
    return replace(
        offering, price=adjusted_price(offering.price, price_change[0]), price_overlaid=True, unpriced=unpriced
    )
