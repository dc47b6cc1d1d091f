"""Reads the recorded price lists (`recorded/` of the data folder): the ARM size of each row by rule, and the rows as they are stored.

`retail-vm-rows-DATE.csv.gz` has the rows of Azure's retail list as it writes them, without the ARM size; `vm-prices-REGION-DATE.csv.gz`
has one line a size, with prices on demand, on spot, reserved and of savings plans.
"""

from __future__ import annotations

import csv
import gzip
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

_PRIORITY = re.compile(r" (Spot|Low Priority)$")
_HOST = re.compile(r"Dedicated ?Host$")
_BASIC = re.compile(r" Basic( Windows)?$")
_PROMO = re.compile(r" promo ", re.IGNORECASE)
_ACTIVE_CORES = re.compile(r"([a-z]+\d+[a-z]*)-(\d+)([a-z]*)")
_SERIES = re.compile(r"(?:Virtual Machines )?([A-Z]+)")
_SPELLINGS = (
    ("rtx6k", "rtxpro6000bse"),
    ("nibh100", "noibh100"),
    ("isflh100", "isflexh100"),
    ("asra100v4", "asrv4"),
    ("v620v1", "v620"),
    ("m4168v2", "m416s8v2"),
)
"""What SKU names write otherwise than ARM does, as `fingerprint` sees it."""
PRICE_FILE_COLUMNS = (
    "linux", "linux_spot", "linux_reserved_1y", "linux_reserved_3y", "linux_savings_1y", "linux_savings_3y", "windows", "windows_spot",
)  # fmt: skip


def fingerprint(name: str) -> str:
    """A size's name without what SKU names and ARM write differently: case, blanks, where the number of active cores stands."""
    bare = re.sub(r"^standard_", "", name.strip().lower())
    bare = _ACTIVE_CORES.sub(r"\1\3-\2", bare, count=1)
    bare = re.sub(r"[ _]", "", bare)
    for written, arm in _SPELLINGS:
        bare = bare.replace(written, arm)
    return bare


def arm_size(product: str, sku: str, known: Mapping[str, str]) -> str:
    """The ARM name of a row's size. `known`: fingerprint → name, of sizes that Azure has listed or priced.

    Where only the product names the letters of its size right ("DCdsv3 Series", "D24ds v3"), they count. A row of no known size gets the
    name that the rule gives ("D2 v9": Standard_D2_v9); a dedicated host is "Dsv3_Type1".
    """
    bare = _PRIORITY.sub("", sku)
    if _HOST.search(product):
        named = f"{product.partition(' ')[0]} {bare}" if bare.startswith("Type") else bare
        return re.sub(r"[ -]Type ?", "_Type", named)
    bare = re.sub(r"^standard_", "", bare, flags=re.IGNORECASE)
    if _BASIC.search(product):
        return f"Basic_{bare}"
    if _PROMO.search(product) and not bare.lower().endswith("promo"):
        bare += " Promo"
    series = _SERIES.match(product)
    corrected = re.sub(r"^[A-Za-z]+", series[1], bare) if series is not None else bare
    listed = known.get(fingerprint(bare)) or known.get(fingerprint(corrected))
    return listed or "Standard_" + re.sub(r"(?<=[a-z])(v\d)$", r"_\1", bare.replace(" ", "_"))


def known_sizes(names: Iterable[str]) -> dict[str, str]:
    """Fingerprint → name."""
    return {fingerprint(name): name.strip() for name in sorted(names) if not name.startswith("Basic_")}


def rows_document(path: Path, names: Iterable[str]) -> dict[str, Any]:
    """All rows, a line for each product, SKU and meter with the prices of all regions; "" where a region has no such row.

    ValueError for a row that is no hour's use.
    """
    known = known_sizes(names)
    prices: dict[tuple[str, str, str], dict[str, str]] = {}
    counts: Counter[str] = Counter()
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["type"] != "Consumption" or row["unit"] != "1 Hour":
                raise ValueError(f"{path.name}: no price of an hour's use: {row}")
            counts[row["region"]] += 1
            key = (row["product_name"], row["sku_name"], row["meter_name"])
            prices.setdefault(key, {})[row["region"]] = row["usd"]
    regions = sorted(counts)
    products = sorted({product for product, _, _ in prices})
    place = {product: index for index, product in enumerate(products)}
    return {
        "source": "andy-diericks/azure-pricing-radar",
        "date": path.name.removeprefix("retail-vm-rows-").removesuffix(".csv.gz"),
        "regions": regions,
        "products": products,
        "rows": [
            [place[product], sku, "" if meter == sku else meter, arm_size(product, sku, known), _line(listed, regions)]
            for (product, sku, meter), listed in sorted(prices.items())
        ],
    }


def _line(listed: Mapping[str, str], regions: Sequence[str]) -> str:
    return ",".join(listed.get(region, "") for region in regions)


def price_file_document(path: Path) -> dict[str, Any]:
    """A price file of one region: size → its prices in the order of `columns`."""
    region, _, date = path.name.removeprefix("vm-prices-").removesuffix(".csv.gz").partition("-")
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        sizes = {row["size"]: ",".join(row[column] for column in PRICE_FILE_COLUMNS) for row in csv.DictReader(file)}
    return {
        "source": "sstybel/azure-vm-price-importer",
        "date": date,
        "region": region,
        "columns": PRICE_FILE_COLUMNS,
        "sizes": dict(sorted(sizes.items())),
    }
