"""Prices of machines on demand if they were reserved, or in a savings plan, where the list has such prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fakeazure.catalog.prices.price_file import TERMS, price_file
from fakeazure.catalog.prices.rows import LINUX
from fakeazure.market.market import Market
from fakeazure.market.prices import ON_DEMAND
from lazyrecords import dataclass

__all__ = ["Commitments", "FleetCommitments", "TermTotal", "commitments_of", "committed"]


@dataclass(frozen=True, slots=True)
class Commitments:
    """One machine in USD per hour by term ("1 Year", "3 Years"): `reserved`, and with a savings plan; `on_demand` without either."""

    on_demand: float
    reserved: Mapping[str, float]
    savings: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TermTotal:
    """USD per hour of all machines at one term; `without`: the number of machines without such a price, which count on demand."""

    usd: float
    without: int


@dataclass(frozen=True, slots=True)
class FleetCommitments:
    """The prices of `machines` on demand together: `on_demand` in USD per hour, and the totals by term."""

    on_demand: float
    machines: int
    reserved: Mapping[str, TermTotal]
    savings: Mapping[str, TermTotal]


def commitments_of(market: Market, region: str, size: str, on_demand: float) -> Commitments | None:
    """Return the prices of one machine with Linux that costs `on_demand`; None where the region's list has none of them.

    The list says what a reservation costs for its whole term, and what a savings plan makes of an hour
    (https://learn.microsoft.com/rest/api/cost-management/retail-prices/azure-retail-prices).
    """
    rows = market.prices.declared_rows(size, region)
    if rows:
        linux = [row for row in rows if row.kind == LINUX]
        reserved = {row.term: row.usd / TERMS[row.term] for row in linux if row.term in TERMS}
        savings = {term: usd for row in linux if not row.term for term, usd in row.savings}
    elif market.prices.declares(size, region, ON_DEMAND) or (file := price_file(region)) is None:
        return None
    else:
        prices = file.sizes.get(size)
        reserved, savings = (dict(prices.reserved), dict(prices.savings)) if prices is not None else ({}, {})
    return Commitments(on_demand, reserved, savings) if reserved or savings else None


def committed(market: Market, region: str, machines: Iterable[tuple[str, float]]) -> FleetCommitments | None:
    """Return the prices of all machines on demand together; None where the list has such prices of none.

    `machines`: size and USD per hour on demand of each.
    """
    fleet = [commitments_of(market, region, size, usd) or Commitments(usd, {}, {}) for size, usd in machines]
    reserved = _totals([(machine.on_demand, machine.reserved) for machine in fleet])
    savings = _totals([(machine.on_demand, machine.savings) for machine in fleet])
    if not reserved and not savings:
        return None
    return FleetCommitments(sum(machine.on_demand for machine in fleet), len(fleet), reserved, savings)


def _totals(machines: Sequence[tuple[float, Mapping[str, float]]]) -> dict[str, TermTotal]:
    """Return the total of every term that any machine has. `machines`: USD per hour on demand, and by term."""
    return {
        term: TermTotal(
            sum(terms.get(term, on_demand) for on_demand, terms in machines),
            sum(term not in terms for _, terms in machines),
        )
        for term in sorted({term for _, terms in machines for term in terms})
    }
