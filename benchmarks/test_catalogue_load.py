"""How long it takes until a region's SKU list can be read: cold (nothing read yet), the next region, and once read."""

from __future__ import annotations

from typing import Any

from fakeazure.catalog import Catalogue, catalogue, tables, zones


def forget() -> None:
    """Drops whatever has been read."""
    for read in (catalogue._region, tables.sizes, tables.read, zones._recorded):
        read.cache_clear()


def test_first_region_cold(benchmark: Any) -> None:
    region = benchmark.pedantic(lambda: Catalogue.load().region("eastus"), setup=forget, rounds=30)
    assert len(region.skus) == 1424


def test_next_region(benchmark: Any) -> None:
    Catalogue.load().region("eastus")
    region = benchmark.pedantic(
        lambda: Catalogue.load().region("westus3"), setup=catalogue._region.cache_clear, rounds=30
    )
    assert len(region.skus) > 1000


def test_region_once_read(benchmark: Any) -> None:
    Catalogue.load().region("eastus")
    assert benchmark(lambda: Catalogue.load().region("eastus")).name == "eastus"
