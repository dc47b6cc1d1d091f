"""Writes `derived-prices.json.gz`: what follows from the recorded price lists and the static table. `python -m tools.derived_prices`.

Surcharges, fractions and restored prices are computed from all recorded rows, which takes longer than most questions about a price.
"""

from __future__ import annotations

from typing import Any

from fakeazure.catalog.prices.book import static_prices
from fakeazure.catalog.prices.derived import FILE
from fakeazure.catalog.prices.elsewhere import can_be_spot, listed_names
from fakeazure.catalog.prices.linux import restored, surcharges
from fakeazure.catalog.prices.rows import CLOUD_SERVICES, LINUX_SPOT, WINDOWS, Kind, Priority, Software, observed
from fakeazure.catalog.prices.spot import usual_fractions
from fakeazure.catalog.regions import REGIONS
from fakeazure.catalog.tables import DATA, read
from tools.catalogue import packed


def document() -> dict[str, Any]:
    """The content of the file."""
    seen = observed()
    cloud_services, windows = surcharges(seen, CLOUD_SERVICES), surcharges(seen, WINDOWS)
    named = listed_names()
    misnamed = {
        size: kinds for size, kinds in named.items() if WINDOWS in kinds and not kinds[WINDOWS][0].endswith(" Windows")
    }
    windows_spot = Kind(Software.WINDOWS, Priority.SPOT)
    sizes = {*named, *(name.strip() for name in read("prices.json.gz")["names"])}
    return {
        "cloud_services": cloud_services,
        "windows": windows,
        "fractions": dict(usual_fractions(seen)),
        "restored": {region: restored(static_prices(region), seen) for region in sorted(REGIONS)},
        "spot": sorted(size for size in sizes if (LINUX_SPOT in named[size] if size in named else can_be_spot(size))),
        "beside_linux": {**cloud_services, **{size: windows[size] for size in misnamed}},
        "beside_spot": sorted(size for size, kinds in misnamed.items() if windows_spot in kinds),
    }


def main() -> int:
    """Writes the file; exit code 0."""
    (DATA / FILE).write_bytes(packed(document()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
