"""Spot prices as fractions of the price on demand, as Azure's price list has them.

The fractions are recorded of nine regions of the United States (skypilot-org/skypilot-catalog, catalogs/v6/azure/vms.csv at 098741e):
there a size costs the same fraction in all of its family but for H100 and the like. Of other regions and of newer families they are a
guess. Karpenter's provider does not know them before it has read live prices, so the catalogue's own `spot_prices` are without discount.
"""

from __future__ import annotations

import re
from functools import lru_cache

_USUAL = 0.11
_DEARER_REGIONS = frozenset({"eastus2", "westus2", "northcentralus", "westcentralus"})
_DEARER = 0.13
_FAMILIES = (
    (re.compile(r"(Standard|Basic)_A\d+$"), 0.7),
    (re.compile(r"Standard_B\d+[a-z]*_v2$"), 0.275),
    (re.compile(r"Standard_DC\d+(as|ads)_v5$"), 0.7),
    (re.compile(r"Standard_DC\d+(as_cc|ads_cc|es|eds)_v5$"), 0.25),
    (re.compile(r"Standard_M\d+\w*_\d_v3$"), 0.25),
    (re.compile(r"Standard_N\w*_(A10|V620)_v\d$"), 0.25),
    (re.compile(r"Standard_N(C|D)\w*_H100_v5$"), 1.0),
)


@lru_cache(maxsize=8192)
def spot_fraction(size: str, region: str) -> float:
    """Price on spot by price on demand."""
    for pattern, fraction in _FAMILIES:
        if pattern.fullmatch(size):
            return fraction
    arm = re.fullmatch(r"Standard_[A-Z]+\d+p[a-z]*_v5", size) is not None
    return _DEARER if region in _DEARER_REGIONS and not arm else _USUAL
