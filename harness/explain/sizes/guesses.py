"""Guesses of the catalogue that an answer turns on.

Everything but three fields of a size is recorded from Azure: its zones in the region, whether it is sold as spot there, and whether it
takes ultra disks there. A guess about one of them decides an answer in two cases: the answer is a launch of that size, and the launch uses
the field (a zone, spot, ultra disks that were asked for); or the size was refused for nothing else, and would have been the choice:
nothing was kept, or it is cheaper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from harness.engine.names import zone_label
from harness.explain.sizes.reasons import causes_of
from harness.karpenter.cloudprovider import DroppedSize
from harness.karpenter.labels.azure import PLACEMENT_SCOPE, REGIONAL_ZONE, SKU_ULTRA_SSD
from harness.karpenter.labels.core import CAPACITY_TYPE, SPOT
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.requirements import Conflicts, KeyConflict
from harness.karpenter.scheduling.reasons.verdicts import NodePoolExcludes, PodExcludes, TypeVerdict
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import labels_of, name_of, spec_of, status_of
from harness.world import World

__all__ = ["Turn", "guess_lines", "guesses_of", "of_choice", "of_node", "of_nodes", "of_size", "refused_by_guess"]

ZONES, LOW_PRIORITY, ULTRA = "zones", "LowPriorityCapable", "UltraSSDAvailable"
"""The catalogue's names of the fields."""

Guesses = Mapping[str, Mapping[str, str]]
"""Size → field → why it is a guess."""

_KEYS: Mapping[str, Set[str]] = {
    ZONE: {ZONES},
    PLACEMENT_SCOPE: {ZONES},
    CAPACITY_TYPE: {LOW_PRIORITY},
    SKU_ULTRA_SSD: {ULTRA},
}
"""Label key → the fields from which Karpenter computes it."""

_OFFERED = frozenset({ZONES, LOW_PRIORITY, ULTRA})
_SOLD_OUT: Set[str] = {LOW_PRIORITY}  # the zones fit then
_SENTENCES: Mapping[str, str] = {
    ZONES: "the zones of {sizes} in {region} are guessed ({reason}); with other zones the answer could differ",
    LOW_PRIORITY: "whether {region} sells {sizes} as spot is guessed ({reason}); the answer could differ",
    ULTRA: "whether {sizes} can use ultra disks in {region} is guessed ({reason}); the answer could differ",
}


@dataclass(frozen=True, slots=True)
class Turn:
    """A size that an answer names, and the fields of it that the answer turns on."""

    size: str
    fields: Set[str]


def of_size(world: World, size: str) -> Turn:
    """An answer about everything that Karpenter computes for a size; of one that is dropped, no such field is looked at."""
    dropped = isinstance(world.requirements_of(size), DroppedSize)
    return Turn(size, frozenset() if dropped else _read(world.release))


def of_choice(world: World, size: str) -> Turn:
    """A size that would be bought; nobody asked for ultra disks."""
    return Turn(size, of_size(world, size).fields - {ULTRA})


def of_node(size: str, zone: str, capacity_type: str, requirement_keys: Set[str] = frozenset()) -> Turn:
    """A launch: of the Node's zone if it has one, of spot, and of ultra disks where their key is among `requirement_keys`."""
    fields = {ZONES} if zone not in ("", REGIONAL_ZONE) else set()
    fields |= {LOW_PRIORITY} if capacity_type == SPOT else set()
    return Turn(size, frozenset(fields | ({ULTRA} if SKU_ULTRA_SSD in requirement_keys else set())))


def of_nodes(world: World, names: Set[str]) -> Iterator[Turn]:
    """The launches of Nodes; the requirements of their NodeClaims are what was asked for."""
    claims = {status_of(claim).get("nodeName"): claim for claim in world.list("NodeClaim")}
    for node in world.list("Node"):
        name, labels = name_of(node), labels_of(node)
        if name in names:
            requirement_keys = {
                str(requirement.get("key")) for requirement in spec_of(claims.get(name, {})).get("requirements") or ()
            }
            size, zone, capacity_type = (labels.get(key, "") for key in (INSTANCE_TYPE, ZONE, CAPACITY_TYPE))
            yield of_node(size, zone, capacity_type, requirement_keys)


def guesses_of(world: World, turns: Iterable[Turn]) -> dict[str, dict[str, str]]:
    """Size → field → reason, of the fields that the answer turns on and that are guesses; other sizes are left out."""
    region = world.caches.catalogue.region(world.region)
    guesses: dict[str, dict[str, str]] = {}
    for turn in turns:
        if turn.size in region.by_name and turn.fields:
            guessed = region.guessed(turn.size)
            for field in guessed.keys() & turn.fields:
                guesses.setdefault(turn.size, {})[field] = guessed[field]
    return dict(sorted(guesses.items()))


def refused_by_guess(world: World, verdicts: Sequence[TypeVerdict]) -> dict[str, dict[str, str]]:
    """The sizes that a guess alone speaks against, and that would have been the choice: nothing was kept, or they are cheaper."""
    cheapest = min((price for verdict in verdicts if verdict.kept for price in _prices(verdict)), default=None)
    places = [
        REGIONAL_ZONE,
        *(zone_label(world.region, zone) for zone in world.caches.catalogue.region(world.region).zones),
    ]
    turns = []
    for verdict in verdicts:
        if any(
            conflict.key == ZONE and not any(map(conflict.incoming.has, places)) for conflict in _conflicts(verdict)
        ):
            continue  # the region has no such zone, whatever the size's are
        if verdict.kept or (cheapest is not None and min(_prices(verdict), default=cheapest) >= cheapest):
            continue
        fields = _fields_against(verdict)
        if fields:
            turns.append(Turn(verdict.instance_type.name, fields))
    return guesses_of(world, turns)


def guess_lines(guesses: Guesses, region: str) -> Iterator[str]:
    """One line for all sizes of which the same is guessed for the same reason."""
    alike: dict[tuple[str, str], list[str]] = {}
    for size, fields in guesses.items():
        for field, reason in sorted(fields.items(), reverse=True):
            alike.setdefault((field, reason), []).append(size)
    for (field, reason), sizes in alike.items():
        yield _SENTENCES[field].format(sizes=", ".join(sizes), region=region, reason=reason)


def _read(release: ProviderRelease) -> Set[str]:
    """The fields that a release looks at."""
    ultra = {ULTRA} if SKU_ULTRA_SSD in release.offering_keys | release.computed_keys else set()
    return {ZONES, *ultra, *({LOW_PRIORITY} if release.spot_needs_low_priority else set())}


def _fields_against(verdict: TypeVerdict) -> Set[str]:
    """The fields that all reasons against a size come from; empty if one of them comes from elsewhere."""
    fields: set[str] = set()
    for cause in causes_of(verdict):
        offered = _SOLD_OUT if cause.subject == "available" else _OFFERED
        against = offered if cause.rule == "offerings" else _KEYS.get(cause.subject, frozenset())
        if (
            cause.rule == "offerings"
            and ULTRA in against
            and SKU_ULTRA_SSD not in {conflict.key for conflict in _conflicts(verdict)}
        ):
            against = against - {ULTRA}  # nobody asked for them
        if not against:
            return frozenset()
        fields |= against
    return fields


def _conflicts(verdict: TypeVerdict) -> Iterator[KeyConflict]:
    """Yield the conflicts of a size and its offerings."""
    for reason in verdict.reasons:
        if isinstance(reason, NodePoolExcludes | PodExcludes):
            yield from reason.conflicts.keys
    for offering in verdict.offerings:
        if isinstance(offering.conflict, Conflicts):
            yield from offering.conflict.keys


def _prices(verdict: TypeVerdict) -> list[float]:
    return [offering.offering.price for offering in verdict.offerings]
