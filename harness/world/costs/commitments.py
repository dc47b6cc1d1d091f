"""Prices of machines on demand if they were reserved, or in a savings plan, where the list has such prices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from fakeazure.catalog.prices.price_file import TERMS, price_file
from fakeazure.catalog.prices.rows import LINUX
from fakeazure.market.market import Market
from fakeazure.market.prices import ON_DEMAND
from lazyrecords import dataclass

__all__ = ["Commitments", "commitments_of", "committed"]


@dataclass(frozen=True, slots=True)
class Commitments:
    """USD per hour by term ("1 Year", "3 Years"): `reserved`, and with a savings plan; `on_demand` without either.

    `machines`: how many have such prices; `others` have none and count on demand.
    """

    on_demand: float
    reserved: Mapping[str, float]
    savings: Mapping[str, float]
    machines: int = 1
    others: int = 0


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


def committed(market: Market, region: str, machines: Iterable[tuple[str, float]]) -> Commitments | None:
    """Return the prices of all machines on demand together; None where the list has such prices of none.

    `machines`: size and USD per hour on demand of each. A size whose list lacks a term counts on demand in it.
    """
    sizes = [(size, usd, commitments_of(market, region, size, usd)) for size, usd in machines]
    with_terms = [commitments for _, _, commitments in sizes if commitments is not None]
    if not with_terms:
        return None
    totals: list[dict[str, float]] = []
    for kind in ("reserved", "savings"):
        terms = sorted({term for commitments in with_terms for term in getattr(commitments, kind)})
        totals.append(
            {
                term: sum(
                    getattr(commitments, kind).get(term, usd) if commitments is not None else usd
                    for _, usd, commitments in sizes
                )
                for term in terms
            }
        )
    on_demand = sum(usd for _, usd, _ in sizes)
    return Commitments(on_demand, totals[0], totals[1], len(with_terms), len(sizes) - len(with_terms))
