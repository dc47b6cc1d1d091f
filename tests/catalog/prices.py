"""How right restored and guessed prices are, measured by leaving out each recorded region in turn, as text for the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from fakeazure.catalog.prices.book import restored_prices, static_prices
from fakeazure.catalog.prices.linux import restored, surcharges
from fakeazure.catalog.prices.price_file import price_file
from fakeazure.catalog.prices.rows import CLOUD_SERVICES, LINUX, LINUX_SPOT, observed, recorded_regions, recorded_rows
from fakeazure.catalog.prices.spot import fraction_by, usual_fractions
from fakeazure.catalog.regions import REGIONS

PAGE = Path(__file__).parents[2] / "docs/reference/catalogue.md"
BEGIN, END = "<!-- python -m tests.catalog prices --write -->\n", "<!-- end of the figures -->\n"
LIST_ROUNDING = 0.0011
"""USD per hour: the list rounds Linux and "Cloud Services" prices of small sizes to a thousandth, each for itself."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A recorded region as it would be without its record. `spot_errors`: parts of the recorded price, in order of size."""

    region: str
    restored: int
    right: int
    exact: int
    surcharged: int
    spot_errors: tuple[float, ...]

    def percentile(self, part: float) -> float:
        """The spot error that this part of the sizes stays within."""
        return self.spot_errors[int(part * len(self.spot_errors))]


def held_out(region: str) -> HeldOut:
    """A region's prices by the static table and the other recorded regions, against its own."""
    others = {name: prices for name, prices in observed().items() if name != region}
    linux, spot = _recorded(region)
    static = static_prices(region)
    prices = {size: usd for size, usd in restored(static, others).items() if size in linux}
    fractions = usual_fractions(others)
    errors = (
        abs(fraction_by(fractions, size) * linux[size] / usd - 1) for size, usd in spot.items() if linux.get(size)
    )
    return HeldOut(
        region,
        len(prices),
        sum(abs(usd - linux[size]) < LIST_ROUNDING for size, usd in prices.items()),
        sum(usd == linux[size] for size, usd in prices.items()),
        sum(abs(static[size] - linux[size]) >= LIST_ROUNDING for size in prices),
        tuple(sorted(errors)),
    )


def _recorded(region: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    if region in observed():
        return observed()[region][LINUX], observed()[region][LINUX_SPOT]
    file = price_file(region)
    assert file is not None
    linux, spot = (
        {size: prices.by_kind[kind] for size, prices in file.sizes.items() if kind in prices.by_kind}
        for kind in (LINUX, LINUX_SPOT)
    )
    return linux, spot


def all_held_out() -> list[HeldOut]:
    """All regions with recorded prices."""
    return [held_out(region) for region in (*recorded_regions(), "polandcentral")]


def figures(measured: Sequence[HeldOut]) -> str:
    """The figures in Markdown."""
    lines = [
        "| region left out | restored Linux prices right | with the Windows price in the table | spot within 1 % | median error "
        "| 95th percentile |",
        "|---|---|---|---|---|---|",
    ]
    for one in measured:
        near = sum(error <= 0.01 for error in one.spot_errors)
        lines.append(
            f"| {one.region} | {one.right} of {one.restored} | {one.surcharged} | {near:,} of {len(one.spot_errors):,} "
            f"| {one.percentile(0.5):.1%} | {one.percentile(0.95):.1%} |"
        )
    errors = sorted(error for one in measured for error in one.spot_errors)
    near = sum(error <= 0.01 for error in errors)
    lines.append(
        f"| all | {sum(one.right for one in measured)} of {sum(one.restored for one in measured)} "
        f"| {sum(one.surcharged for one in measured)} | {near:,} of {len(errors):,} | {median(errors):.1%} "
        f"| {errors[int(0.95 * len(errors))]:.1%} |"
    )
    tables = {region: static_prices(region) for region in sorted(REGIONS)}
    changed = sum(usd != tables[region][size] for region in tables for size, usd in restored_prices(region).items())
    kinds = Counter(
        f"{row.kind.software}, {row.kind.priority}" for region in recorded_regions() for row in recorded_rows(region)
    )
    counted = "; ".join(f"{kind} {count:,}" for kind, count in kinds.most_common())
    both = sum(len(prices[CLOUD_SERVICES]) for prices in observed().values())
    return "\n".join(
        [
            *lines,
            "",
            f'The static table has a "Cloud Services" price in place of {changed:,} Linux prices. In the recorded lists {both} pairs of '
            f"region and size have both rows ({len(surcharges(observed()))} sizes).",
            f"Recorded rows by what they are the price of: {counted}.",
            "",
        ]
    )


def page_with(text: str) -> str:
    """The page with these figures in their place."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}{text}{END}{after}"
