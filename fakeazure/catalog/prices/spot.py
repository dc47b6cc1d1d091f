"""Spot prices where none is recorded: the family's usual fraction of the price on demand in the nearest recorded
regions.

Recorded are the rows of five regions of Europe, polandcentral, and the fractions of nine regions of the United States
(`spot_discounts`). A region of the Americas goes by the latter, any other by the former.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from fakeazure.catalog.prices.derived import derived
from fakeazure.catalog.prices.linux import family_of
from fakeazure.catalog.prices.rows import LINUX, LINUX_SPOT, Observed
from fakeazure.catalog.spot_discounts import spot_fraction

_AMERICAS = frozenset({
    "brazilsouth", "brazilsoutheast", "canadacentral", "canadaeast", "centralus", "chilecentral", "eastus", "eastus2", "mexicocentral",
    "northcentralus", "southcentralus", "westcentralus", "westus", "westus2", "westus3",
})  # fmt: skip

Fractions = Mapping[str, float]
"""Family → price on spot by price on demand; "" is the fraction of most sizes."""


def usual_fractions(recorded: Observed) -> Fractions:
    """The most frequent fraction of each family over all recorded regions."""
    seen: dict[str, Counter[float]] = {"": Counter()}
    for prices in recorded.values():
        linux = prices.get(LINUX, {})
        for size, usd in prices.get(LINUX_SPOT, {}).items():
            if linux.get(size, 0) > 0:
                fraction = round(usd / linux[size], 4)
                seen.setdefault(family_of(size), Counter())[fraction] += 1
                seen[""][fraction] += 1
    return MappingProxyType({family: _usual(counts) for family, counts in seen.items() if counts})


def _usual(counts: Counter[float]) -> float:
    """The most frequent fraction, neighbours in the last place counted together; the smaller of equal ones."""
    return min(
        counts, key=lambda fraction: (-sum(n for near, n in counts.items() if abs(near - fraction) < 6e-4), fraction)
    )


def guessed_fraction(size: str, region: str) -> float:
    """Price on spot by price on demand of a size in a region whose spot prices are not recorded."""
    if region in _AMERICAS:
        return spot_fraction(size, region)
    return fraction_by(derived().fractions, size)


def fraction_by(fractions: Fractions, size: str) -> float:
    """The fraction of a size's family, or of most sizes."""
    return fractions.get(family_of(size), fractions[""])


def guess_reason(region: str) -> str:
    """Return the reason why a price on spot is a guess."""
    where = "nine regions of the United States" if region in _AMERICAS else "the recorded regions of Europe"
    return f"no list of {region} is recorded; this is the family's usual fraction of the price on demand in {where}"
