"""Lists that the provider carries in its binary: sizes it knows, sizes known to have no price, GPU sizes.

Sources: kaz ``pkg/providers/instancetype/{skus.go,known_skus.yaml}``, ``pkg/providers/pricing/skus_missing_price.go``,
``pkg/utils/supported-gpus.yaml``. The files beside this module give, for each size, the numbers of the lists that have it.
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["GpuSize", "gpu_sizes", "known_skus", "skus_without_price"]

_DATA = Path(__file__).parent / "data"

_KNOWN_LISTS = {"1.4.0": "0", "1.12.2": "1", "1.13.1": "2", "1.14.0": "3"}
_PRICE_LISTS = {"1.4.0": "0", "1.6.5": "1", "1.12.2": "2"}
_GPU_LISTS = {"1.4.0": "0", "1.10.2": "1", "1.12.2": "2", "1.13.1": "3", "1.14.0": "4"}


@dataclass(frozen=True, slots=True)
class GpuSize:
    """A size with GPUs that the provider supports. ``systems``: ``ubuntu``, ``azurelinux``."""

    manufacturer: str
    systems: frozenset[str]


def _rows(name: str) -> list[dict[str, str]]:
    text = (_DATA / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


@cache
def known_skus(name: str) -> frozenset[str]:
    """Names of the sizes in a release's list of known ones."""
    number = _KNOWN_LISTS[name]
    return frozenset(row["sku"] for row in _rows("known_skus.csv") if number in row["lists"])


@cache
def skus_without_price(name: str) -> frozenset[str]:
    """Names of the sizes that a release knows to have no price; ``""`` names the empty list."""
    if not name:
        return frozenset()
    number = _PRICE_LISTS[name]
    return frozenset(row["sku"] for row in _rows("missing_prices.csv") if number in row["lists"])


@cache
def gpu_sizes(name: str) -> Mapping[str, GpuSize]:
    """A release's GPU sizes by lower-case name."""
    number = _GPU_LISTS[name]
    return {
        row["sku"]: GpuSize(row["manufacturer"], frozenset(row["systems"].split("|")) - {""})
        for row in _rows("gpus.csv")
        if number in row["registries"]
    }
