"""What a world costs in words and as JSON: by month, NodePool and workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.wording import first_few
from harness.world import World
from harness.world.costs.breakdown import HOURS_OF_A_MONTH, breakdown

__all__ = ["cost_lines", "cost_value"]

FEW = 5


def cost_value(world: World) -> dict[str, Any]:
    """USD per hour by NodePool and by workload, with what is idle; the month has 730 hours."""
    parts = breakdown(world)
    total = sum(parts.nodepools.values())
    return {
        "usd_per_month": round(total * HOURS_OF_A_MONTH, 2),
        "nodepools": {name: round(usd, 6) for name, usd in sorted(parts.nodepools.items())},
        "workloads": {name: round(usd, 6) for name, usd in sorted(parts.workloads.items(), key=lambda one: -one[1])},
        "idle": round(parts.idle, 6),
    }


def cost_lines(cost: Mapping[str, Any]) -> Iterator[str]:
    """What a month costs, by NodePool where there are several, and by workload as far as there is room."""
    if not cost["usd_per_month"]:
        return

    def month(usd: float) -> str:
        return f"{usd * HOURS_OF_A_MONTH:,.2f}"

    pools = [f"{f'NodePool {name}' if name else 'other Nodes'} {month(usd)}" for name, usd in cost["nodepools"].items()]
    of_pools = f": {first_few(pools, FEW)}" if len(pools) > 1 else ""
    yield f"{cost['usd_per_month']:,.2f} USD per month of {HOURS_OF_A_MONTH} hours{of_pools}"
    workloads = [f"{name} {month(usd)}" for name, usd in cost["workloads"].items() if usd > 0]
    idle = f"idle {month(cost['idle'])}"
    yield f"by what pods request: {first_few(workloads, FEW)}, {idle}" if workloads else f"by what pods request: {idle}"
