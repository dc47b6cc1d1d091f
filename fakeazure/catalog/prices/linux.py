"""Linux prices from the provider's static table, which has the price of a size's "Cloud Services" row in place of some.

A refresh of that table visits a size's rows in the order of a Go map, and the last one stays (kaz pkg/providers/pricing/pricing.go,
`categorizePrices`). The difference between both rows is the same in all recorded regions. So the price or the price without that
difference is the Linux price: whichever is nearer to another region's Linux price times the family's factor between both regions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import log
from typing import NamedTuple

from fakeazure.catalog.prices.rows import CLOUD_SERVICES, LINUX, Kind, Observed

_CORES = re.compile(r"\d+(-\d+)?")
_FAR = 0.05
"""A size whose price is further off than this, as a logarithm, says nothing of its family's factor."""


@lru_cache(maxsize=4096)
def family_of(size: str) -> str:
    """The family by the size's name: without the numbers of its cores."""
    return _CORES.sub("", size, count=1)


def surcharges(observed: Observed, kind: Kind = CLOUD_SERVICES) -> dict[str, float]:
    """Size → USD per hour by which its row of a kind is above its Linux row, in the middle of the regions that have both."""
    from statistics import median  # only who reads a price list needs it

    differences: dict[str, list[float]] = {}
    for prices in observed.values():
        linux = prices.get(LINUX, {})
        for size, usd in prices.get(kind, {}).items():
            if size in linux:
                differences.setdefault(size, []).append(usd - linux[size])
    return {size: median(values) for size, values in differences.items()}


class _Line(NamedTuple):
    """One size between two regions: what may be its Linux price in the one, and its Linux price in the other."""

    candidates: tuple[float, ...]
    reference: float

    def factors(self) -> tuple[float, float]:
        """The logarithms of the first and the last candidate's factor."""
        return log(self.candidates[0] / self.reference), log(self.candidates[-1] / self.reference)


def restored(static: Mapping[str, float], observed: Observed) -> dict[str, float]:
    """Size → Linux price in USD per hour, of the sizes of a static table that have "Cloud Services" rows somewhere.

    Without a recorded region that has the size nothing can be told, and the price stays as it is.
    """
    added = surcharges(observed)
    families: dict[str, list[str]] = {}
    for size, usd in static.items():
        if usd > 0:
            families.setdefault(family_of(size), []).append(size)
    prices: dict[str, float] = {}
    references = [(listed[LINUX], _region_factor(static, listed[LINUX], added)) for listed in observed.values()]
    for family in {family_of(size) for size in added if static.get(size, 0) > 0}:
        candidates = {size: _candidates(static[size], added.get(size)) for size in families[family]}
        misfits: dict[str, list[float]] = {}
        for linux, usual in references:
            lines = {size: _Line(values, linux[size]) for size, values in candidates.items() if size in linux}
            factor = _family_factor(list(lines.values()), usual)
            for size, line in lines.items():
                distances = [abs(log(usd / (line.reference * factor))) for usd in line.candidates]
                misfits[size] = [sum(pair) for pair in zip(misfits.get(size, [0.0] * 2), distances, strict=False)]
        for size, values in candidates.items():
            if size in added:
                best = min(zip(misfits.get(size, [0.0]), values, strict=False))
                prices[size] = best[1]
    return prices


def _candidates(usd: float, surcharge: float | None) -> tuple[float, ...]:
    if surcharge is None:
        return (usd,)
    less = round(usd - surcharge, max(3, len(repr(usd).partition(".")[2])))
    return (usd, less) if less > 0 else (usd,)


def _region_factor(static: Mapping[str, float], linux: Mapping[str, float], added: Iterable[str]) -> float:
    """The usual factor between two regions, of sizes that have no "Cloud Services" row."""
    from statistics import median

    ratios = [static[size] / usd for size, usd in linux.items() if static.get(size, 0) > 0 and size not in added]
    return median(ratios) if ratios else 1.0


def _family_factor(lines: Sequence[_Line], usual: float) -> float:
    """The factor between two regions on which most sizes of a family agree, of equal ones the nearest to the usual one."""
    factors = [usd / line.reference for line in lines for usd in line.candidates]
    possible = [line.factors() for line in lines]

    def badness(factor: float) -> tuple[float, float]:  # all regions together look at half a million lines here
        here = log(factor)
        misfit = sum([min(abs(first - here), abs(last - here), _FAR) for first, last in possible])
        return round(misfit, 2), abs(log(factor / usual))

    return min(factors, key=badness, default=usual)
