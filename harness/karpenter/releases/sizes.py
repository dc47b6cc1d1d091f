"""Lists that the provider carries in its binary: sizes it knows, sizes known to have no price, GPU sizes.

Sources: kaz ``pkg/providers/instancetype/{skus.go,known_skus.yaml}``, ``pkg/providers/pricing/skus_missing_price.go``,
``pkg/utils/supported-gpus.yaml``. The files in `data` give, for each size, the releases whose lists
have it; a list is named by the first release that has it.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from lazyrecords import dataclass

__all__ = ["GpuSize", "gpu_sizes", "known_skus", "skus_without_price"]

_DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class GpuSize:
    """A size with GPUs that the provider supports. ``systems``: ``ubuntu``, ``azurelinux``."""

    manufacturer: str
    systems: frozenset[str]


def _rows(table: str, name: str) -> list[dict[str, str]]:
    """The rows of a table that are in the list of this name. Raises KeyError for a list that there is none of."""
    import csv

    text = (_DATA / f"{table}.csv").read_text(encoding="utf-8")
    rows = [row for row in csv.DictReader(text.splitlines()) if name in row["releases"].split("|")]
    if not rows:
        raise KeyError(f"{table} has no list {name!r}")
    return rows


@cache
def known_skus(name: str) -> frozenset[str]:
    """Names of the sizes in a release's list of known ones."""
    return frozenset(row["sku"] for row in _rows("known_skus", name))


@cache
def skus_without_price(name: str) -> frozenset[str]:
    """Names of the sizes that a release knows to have no price; ``""`` names the empty list."""
    return frozenset(row["sku"] for row in _rows("missing_prices", name)) if name else frozenset()


@cache
def gpu_sizes(name: str) -> Mapping[str, GpuSize]:
    """A release's GPU sizes by lower-case name."""
    return {
        row["sku"]: GpuSize(row["manufacturer"], frozenset(row["systems"].split("|")) - {""})
        for row in _rows("gpus", name)
    }
