"""The days of the recordings of Azure in the simulation."""

from __future__ import annotations

from collections.abc import Mapping

from fakeazure.catalog import Catalogue
from fakeazure.catalog.images import DEFINITIONS, published_date, released
from fakeazure.catalog.prices.book import static_source
from fakeazure.catalog.prices.rows import list_source

__all__ = ["recorded_days"]


def recorded_days() -> Mapping[str, str]:
    """Return each kind of recording with its newest day (ISO)."""
    region = Catalogue.load().region("eastus")
    sizes = region.sources(region.skus[0]["name"]).values()
    return {
        "sizes": max(source.date for source in sizes),
        "prices, static table": static_source().date,
        "prices, retail list": list_source().date,
        "node images": max(published_date(version)[:10] for name in DEFINITIONS for version in released(name)),
    }
