"""Sizes for which Karpenter believes another price than Azure bills, and the launches that this decided.

Azure bills the Linux price. Karpenter believes what it drew where the price list has two rows for a size (`karpenter/provider/pricing`), or
what the table that it brings along says while it has not read the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.karpenter.labels.core import CAPACITY_TYPE, ON_DEMAND, SPOT
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object, labels_of, name_of, spec_of, status_of
from harness.trace.prices import hourly
from harness.world import World

__all__ = ["AtRisk", "Mistaken", "at_risk", "mistaken_prices", "price_lines"]

_FEW = 3  # sizes that are told of one kind
_NEAR = 1e-6  # USD: the list has six decimals


@dataclass(frozen=True, slots=True)
class Mistaken:
    """A price that Karpenter mistakes, USD per hour. `taken`: the size that it launched; another one where that was cheaper as billed.

    `taken_believed`, `taken_billed` are those of the launched size. `nodes`: the Nodes that were launched so.
    """

    size: str
    capacity_type: str
    believed: float
    billed: float
    taken: str
    taken_believed: float
    taken_billed: float
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AtRisk:
    """A size of which the list has several rows that Karpenter takes: USD per hour by row, the billed one, the one believed now.

    `guess`: why these rows are a guess, "" if they are not.
    """

    size: str
    capacity_type: str
    rows: tuple[float, ...]
    billed: float | None
    believed: float | None
    guess: str


def at_risk(world: World) -> list[AtRisk]:
    """The sizes at risk of a toss in the world's region, by name."""
    tables = _believed(world)
    return [
        AtRisk(
            toss.size,
            toss.capacity_type,
            toss.usd,
            world.price(toss.size, toss.capacity_type).usd,
            tables[toss.capacity_type].get(toss.size),
            world.azure.prices.guess(toss.size),
        )
        for toss in world.azure.prices.price_list.tosses
        if world.instance_types.sku(toss.size) is not None
    ]


def mistaken_prices(world: World) -> list[Mistaken]:
    """The mistaken prices that decided launches: of the launched size, and of sizes that would have been cheaper as billed."""
    if not world.simulated or world.list("NodeOverlay"):
        return []  # a real one's prices are in no object; an overlay's are meant
    tables, at_risk = _believed(world), frozenset(toss.size for toss in world.azure.prices.price_list.tosses)
    claims = {status_of(claim).get("nodeName"): claim for claim in world.list("NodeClaim")}
    mistaken_by_place: dict[tuple[str, str, str], Mistaken] = {}
    for node in world.list("Node"):
        claim = claims.get(name_of(node))
        if claim is None:
            continue
        size, kind = (labels_of(node).get(key, "") for key in (INSTANCE_TYPE, CAPACITY_TYPE))
        kind = SPOT if kind == SPOT else ON_DEMAND
        for other in (size, *sorted((_launchable(claim) & at_risk) - {size})):
            mistaken = _judge(world, tables[kind], kind, size, other)
            if mistaken is not None:
                key = (size, kind, other)
                nodes = (*(mistaken_by_place[key].nodes if key in mistaken_by_place else ()), name_of(node))
                mistaken_by_place[key] = Mistaken(*_facts(mistaken), nodes)
    return list(mistaken_by_place.values())


def _facts(mistaken: Mistaken) -> tuple[str, str, float, float, str, float, float]:
    return (
        mistaken.size,
        mistaken.capacity_type,
        mistaken.believed,
        mistaken.billed,
        mistaken.taken,
        mistaken.taken_believed,
        mistaken.taken_billed,
    )


def _judge(world: World, table: Mapping[str, float], kind: str, taken: str, size: str) -> Mistaken | None:
    """Return the mistaken price if it speaks for the launched size."""
    prices = world.price(size, kind).usd, world.price(taken, kind).usd
    believed, taken_believed = table.get(size), table.get(taken)
    if None in prices or not believed or not taken_believed:
        return None
    billed, taken_billed = prices
    assert billed is not None
    assert taken_billed is not None
    if abs(believed - billed) < _NEAR:
        return None
    decided = size == taken or (billed < taken_billed - _NEAR and believed > taken_believed)
    return Mistaken(size, kind, believed, billed, taken, taken_believed, taken_billed) if decided else None


def _launchable(claim: Object) -> frozenset[str]:
    """The sizes that a NodeClaim could have been launched as."""
    return frozenset(
        str(value)
        for requirement in spec_of(claim).get("requirements") or ()
        if requirement.get("key") == INSTANCE_TYPE and requirement.get("operator") == "In"
        for value in requirement.get("values") or ()
    )


def _believed(world: World) -> Mapping[str, Mapping[str, float]]:
    """The prices of the provider's newest list of instance types, by capacity type."""
    prices = world.instance_types.prices_in_use
    return {ON_DEMAND: prices.on_demand, SPOT: prices.spot}


def price_lines(world: World, mistaken: Iterable[Mistaken] | None = None) -> Iterator[str]:
    """Yield a line for each mistaken price that decided a launch."""
    lines = [
        _line(price, _why(world, price.size)) for price in (mistaken_prices(world) if mistaken is None else mistaken)
    ]
    yield from lines[:_FEW]
    if len(lines) > _FEW:
        yield f"… and {len(lines) - _FEW} more prices that Karpenter mistakes (harness explain --prices has all sizes at risk)"


def _why(world: World, size: str) -> str:
    if world.instance_types.reads_prices:
        guess = world.azure.prices.guess(size)
        return "the price list has two rows for it" + (f" (guessed: {guess})" if guess else "")
    return "Karpenter goes by the table that it brings along"


def _line(mistaken: Mistaken, why: str) -> str:
    spot = " on spot" if mistaken.capacity_type == SPOT else ""
    believed, billed = hourly(mistaken.believed), hourly(mistaken.billed)
    if mistaken.size == mistaken.taken:
        return f"Karpenter took {mistaken.size}{spot} for {believed}, Azure bills {billed} USD/h: {why}"
    return (
        f"Karpenter took {mistaken.taken}{spot}, which Azure bills at {hourly(mistaken.taken_billed)} USD/h, over {mistaken.size}: "
        f"Azure bills {billed}, Karpenter believes {believed}: {why}"
    )
