"""The costs of a world in words and as JSON: by month, NodePool and workload."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.trace.prices import HOURS_OF_A_MONTH, UNCOUNTED, monthly
from harness.wording import counted, first_few
from harness.world import World
from harness.world.costs.breakdown import breakdown
from harness.world.costs.commitments import FleetCommitments, TermTotal
from harness.world.costs.disks import managed_os_disks
from harness.world.costs.prices import commitments

__all__ = ["cost_lines", "cost_value"]

FEW = 5


def cost_value(world: World) -> dict[str, Any]:
    """USD per hour by NodePool and by workload, with what is idle; the month has 730 hours."""
    parts = breakdown(world)
    total = sum(parts.nodepools.values())
    terms = commitments(world)
    disks = [{"count": count, "gb": size, "sku": sku} for count, size, sku in managed_os_disks(world)]
    return {
        "usd_per_hour": round(total, 6),
        "usd_per_month": round(total * HOURS_OF_A_MONTH, 2),
        "nodepools": {name: round(usd, 6) for name, usd in sorted(parts.nodepools.items())},
        "workloads": {
            name: round(usd, 6) for name, usd in sorted(parts.workloads.items(), key=lambda share: -share[1])
        },
        "idle": round(parts.idle, 6),
        "commitments": _committed(terms) if terms is not None else None,
        "os_disks": disks,
    }


def _committed(costs: FleetCommitments) -> dict[str, Any]:
    """Return the price on demand, and by term with the number of machines `without` such a price, which count on demand."""

    def by_term(totals: Mapping[str, TermTotal]) -> dict[str, Any]:
        return {term: {"usd_per_hour": round(total.usd, 6), "without": total.without} for term, total in totals.items()}

    return {
        "on_demand": {"usd_per_hour": round(costs.on_demand, 6)},
        "machines": costs.machines,
        "reserved": by_term(costs.reserved),
        "savings_plan": by_term(costs.savings),
    }


def cost_lines(cost: Mapping[str, Any]) -> Iterator[str]:
    """Yield the costs of a month, by NodePool where there are several, and by workload as far as there is room."""
    if not cost["usd_per_month"]:
        return

    pools = [
        f"{f'NodePool {name}' if name else 'other machines'} {monthly(usd)}" for name, usd in cost["nodepools"].items()
    ]
    of_pools = f": {first_few(pools, FEW)}" if len(pools) > 1 else ""
    yield f"{cost['usd_per_month']:,.2f} USD per month of {HOURS_OF_A_MONTH} hours{of_pools}"
    workloads = [f"{name} {monthly(usd)}" for name, usd in cost["workloads"].items() if usd > 0]
    idle = f"idle {monthly(cost['idle'])}"
    yield f"by what pods request: {first_few(workloads, FEW)}, {idle}" if workloads else f"by what pods request: {idle}"
    if cost["commitments"]:
        yield _commitment_line(cost["commitments"])
    yield _uncounted_line(cost["os_disks"])


def _commitment_line(costs: Mapping[str, Any]) -> str:
    """Return the monthly cost of the machines on demand with each commitment, beside that without."""
    kinds = [
        f"{words} {', '.join(_term_text(term, total, costs['machines']) for term, total in costs[kind].items())}"
        if costs[kind]
        else f"no price {words} is known"
        for kind, words in (("reserved", "reserved"), ("savings_plan", "with a savings plan"))
    ]
    on_demand = monthly(costs["on_demand"]["usd_per_hour"])
    return f"on demand {on_demand} USD per month of it; the same machines {'; '.join(kinds)}"


def _term_text(term: str, total: Mapping[str, Any], machines: int) -> str:
    """`204.98 for 1 year`; machines without such a price are counted beside it."""
    text = f"{monthly(total['usd_per_hour'])} for {term.lower()}"
    if not total["without"]:
        return text
    return f"{text} ({total['without']} of {counted(machines, 'machine')} at the price on demand, for want of this one)"


def _uncounted_line(disks: Sequence[Mapping[str, Any]]) -> str:
    """Return the line about uncounted parts of the cost; managed OS disks by number, size and SKU."""
    kinds = [f"{disk['count']} × {disk['gb']} GB {disk['sku']}" for disk in disks]
    managed = f" (managed OS disks of machines launched here: {first_few(kinds, FEW)})" if kinds else ""
    return f"{UNCOUNTED}{managed}"
