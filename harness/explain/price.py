"""What the machines of a world cost."""

from __future__ import annotations

from harness.world import World

__all__ = ["price_per_hour"]


def price_per_hour(world: World) -> float:
    """USD per hour of all virtual machines that exist; one without a price counts as nothing."""
    market = world.cloud.market
    region = world.caches.catalogue.region(world.region)
    total = 0.0
    for vm in world.cloud.vms():
        on_demand = market.prices.on_demand(region, vm.size, world.region)
        spot = market.prices.spot(region, vm.size, world.region) if vm.priority == "Spot" else None
        total += (spot if spot is not None else on_demand) or 0.0
    return total
