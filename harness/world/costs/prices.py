"""Prices of the machines of a world: new ones, and those that were there before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.karpenter.labels.azure import AKS_SCALE_SET_PRIORITY
from harness.karpenter.labels.core import CAPACITY_TYPE, SPOT
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object, labels_of, name_of
from harness.world import World
from harness.world.costs.commitments import FleetCommitments, committed
from harness.world.costs.machine_price import MachinePrice

__all__ = ["Totals", "commitments", "machine_prices", "node_capacity_type", "totals"]


def machine_prices(world: World) -> Mapping[str, MachinePrice]:
    """Node → the price of its machine, by its labels; Nodes of no known size are left out, Karpenter's and others alike."""
    prices: dict[str, MachinePrice] = {}
    for node in world.view.list("Node"):
        if _size_of(node):
            prices[name_of(node)] = world.price(_size_of(node), node_capacity_type(node))
    return prices


@dataclass(frozen=True, slots=True)
class Totals:
    """USD per hour of Nodes that were there before and still are, of machines that Karpenter made, and of Nodes that are gone.

    `existing_nodes` and `removed_nodes` count them. `unpriced` are sizes without a price, `as_on_demand` those whose spot price is
    not known, so that they count as on demand, `guessed` those whose price is a guess, and `guess` why.
    """

    existing: float
    new: float
    removed: float
    existing_nodes: int
    removed_nodes: int
    unpriced: tuple[str, ...]
    as_on_demand: tuple[str, ...]
    guessed: tuple[str, ...] = ()
    guess: str = ""


def totals(world: World) -> Totals:
    """The prices of all Nodes, by whether they were there before."""
    made = {str((claim.get("status") or {}).get("nodeName")) for claim in world.view.list("NodeClaim")}
    applied = [
        manifest for manifest in world.applied if manifest.get("kind") == "Node" and name_of(manifest) not in made
    ]
    there = {name_of(node) for node in world.view.list("Node")}
    old = [(_size_of(node), node_capacity_type(node)) for node in applied if name_of(node) in there]
    gone = [(_size_of(node), node_capacity_type(node)) for node in applied if name_of(node) not in there]
    machines = [(vm.size, SPOT if vm.priority == "Spot" else "") for vm in world.vms()]
    priced = {kind: world.price(*kind) for kind in {*old, *gone, *machines}}

    def total(kinds: Sequence[tuple[str, str]]) -> float:
        return sum(priced[kind].usd or 0.0 for kind in kinds)

    return Totals(
        total(old),
        total(machines),
        total(gone),
        len(old),
        len(gone),
        tuple(sorted({size for (size, _), price in priced.items() if price.usd is None and size})),
        tuple(sorted({size for (size, _), price in priced.items() if price.as_on_demand})),
        tuple(sorted({size for (size, _), price in priced.items() if price.guess})),
        next((price.guess for price in priced.values() if price.guess), ""),
    )


def commitments(world: World) -> FleetCommitments | None:
    """Return the cost of the machines on demand if they were reserved or in a savings plan; None without such prices in the region's
    list."""
    prices = machine_prices(world)
    machines = []
    for node in world.view.list("Node"):
        price = prices.get(name_of(node))
        if price is not None and price.usd is not None and node_capacity_type(node) != SPOT:
            machines.append((_size_of(node), price.usd))
    return committed(world.cloud.market, world.region, machines)


def _size_of(node: Object) -> str:
    return labels_of(node).get(INSTANCE_TYPE, "")


def node_capacity_type(node: Object) -> str:
    """Return `spot` for a Node of a spot machine, of Karpenter's or an agent pool's; else nothing."""
    return SPOT if SPOT in (labels_of(node).get(CAPACITY_TYPE), labels_of(node).get(AKS_SCALE_SET_PRIORITY)) else ""
