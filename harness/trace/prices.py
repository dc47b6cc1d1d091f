"""Prices in words, so that a substitute figure is never taken for a price."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["price_text", "saving_text", "supposed_text", "unpriced_text"]


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
