"""Prices in words, so that a substitute figure is never taken for a price."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.wording import first_few

__all__ = [
    "HOURS_OF_A_MONTH",
    "UNCOUNTED",
    "guessed_text",
    "hourly",
    "monthly",
    "price_text",
    "saving_text",
    "supposed_text",
    "unpriced_sizes_text",
    "unpriced_text",
]

HOURS_OF_A_MONTH = 730
"""Hours of a month, as Azure's pricing calculator counts."""
UNCOUNTED = "this is the price of machines with Linux: disks, network and AKS itself are not in it, no price of theirs is recorded"
_FEW = 5


def hourly(usd: float) -> str:
    """`0.1920`: USD per hour, or in all, as every text has them."""
    return f"{usd:,.4f}"


def monthly(usd: float) -> str:
    """`140.16`: USD of a month by the price of an hour, as it is before it is rounded."""
    return f"{usd * HOURS_OF_A_MONTH:,.2f}"


def guessed_text(sizes: Sequence[str], why: str) -> str:
    """The line of an answer in which prices on spot are guesses."""
    return f"the price on spot of {first_few(sizes, _FEW)} is guessed: {why}"


def unpriced_sizes_text(sizes: Sequence[str]) -> str:
    """The line of an answer in which machines have no price."""
    return f"no price is known of {first_few(sizes, _FEW)}: counted as nothing"


def price_text(usd: float, *, unpriced: bool = False) -> str:
    """`0.0960 USD/h`; for an offering without a price the figure that Karpenter uses."""
    return f"no known price (Karpenter reckons with {usd:g} USD/h)" if unpriced else f"{usd:.4f} USD/h"


def supposed_text(spot_discount: str) -> str:
    """The line of every answer in a world whose spot is supposed to cost less than on demand by this, `70%`."""
    return f"supposed: spot costs {spot_discount} less than on demand"


def unpriced_text(unpriced: Mapping[str, float]) -> str:
    """`Karpenter knows no price of Standard_D8s_v5 and reckons with 999 USD/h`: sizes, each with what stands for its price."""
    by_figure: dict[float, list[str]] = {}
    for size, usd in sorted(unpriced.items()):
        by_figure.setdefault(usd, []).append(size or "a size that is not sold")
    clauses = [f"of {' and '.join(sizes)} and reckons with {usd:g} USD/h" for usd, sizes in by_figure.items()]
    return f"Karpenter knows no price {', '.join(clauses)}"


def saving_text(savings: float, unpriced: Mapping[str, float]) -> str:
    """Return `saves 0.288 USD/h`, `costs 0.1 USD/h more`, or that it is unknown: a decision about nodes in Karpenter's figures."""
    if unpriced:
        return f"what it saves is not known: {unpriced_text(unpriced)}"
    return f"saves {round(savings, 6):g} USD/h" if savings >= 0 else f"costs {round(-savings, 6):g} USD/h more"
