"""The provider's own code as witness: which prices it is sure of, and which it draws (`fetched-prices.json`, recorded in 20 runs)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from harness.karpenter.labels.core import ON_DEMAND, SPOT
from harness.world import World

RECORDED: dict[str, Any] = json.loads((Path(__file__).parent / "fetched-prices.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("region", RECORDED["regions"])
def test_the_tosses_are_those_of_the_real_code(region: str) -> None:
    recorded = RECORDED["regions"][region]
    listed = World(region=region).azure.prices.price_list
    tossed = {f"{toss.capacity_type} {toss.size}": {float(usd) for usd in toss.usd} for toss in listed.tosses}
    several = {key: usd for key, usd in tossed.items() if len(usd) > 1}
    assert {key: {float(usd) for usd in counts} for key, counts in recorded["tossed"].items()} == several
    assert all(sum(counts.values()) == RECORDED["runs"] for counts in recorded["tossed"].values())
    tables = {ON_DEMAND: dict(listed.certain.on_demand), SPOT: dict(listed.certain.spot)}
    for toss in listed.tosses:
        tables[toss.capacity_type][toss.size] = toss.usd[0]
    certain = [
        f"{kind} {size} {float(usd)!r}"
        for kind, table in tables.items()
        for size, usd in table.items()
        if f"{kind} {size}" not in several
    ]
    digest = hashlib.sha256("\n".join(sorted(certain)).encode()).hexdigest()[:16]
    assert (len(certain), digest) == (recorded["certain"], recorded["digest"])


def test_both_rows_are_drawn_about_equally_often() -> None:
    """Each row of a pair is the last one in half of the orders in which Go visits a map."""
    for recorded in RECORDED["regions"].values():
        counts = [count for pair in recorded["tossed"].values() for count in pair.values()]
        assert 0.4 < sum(counts[::2]) / sum(counts) < 0.6
