"""Usages and prices of an account as a market, and `refresh`, which gets them by az."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from fakeazure import FakeAzure
from fakeazure.catalog import Catalogue
from fakeazure.catalog.errors import CatalogueError
from fakeazure.cli import run
from fakeazure.market.imports import prices_of, quota_of

Output = pytest.CaptureFixture[str]
USAGES: list[dict[str, Any]] = [  # as az prints them: numbers as texts
    {
        "currentValue": "4",
        "limit": "10",
        "name": {"localizedValue": "Total Regional vCPUs", "value": "cores"},
        "unit": "Count",
    },
    {"currentValue": 0, "limit": 100, "name": {"value": "standardDSv5Family"}},
    {"currentValue": 0, "limit": 5, "name": {"value": "PremiumDiskCount"}},
]


def item(size: str, usd: float, **facts: Any) -> dict[str, Any]:
    plain = {"armRegionName": "eastus", "productName": "Virtual Machines Dsv5 Series", "meterName": "x", "skuName": "x"}
    return {"armSkuName": size, "retailPrice": usd, "type": "Consumption", "unitOfMeasure": "1 Hour", **plain, **facts}


ITEMS = [
    item("Standard_D2s_v5", 0.2, isPrimaryMeterRegion=False),
    item("Standard_D2s_v5", 0.096),
    item("Standard_D2s_v5", 0.02, skuName="D2s v5 Spot"),
    item("Standard_D2s_v5", 0.5, productName="Virtual Machines Dsv5 Series Windows"),
    item("Standard_D2s_v5", 0.01, meterName="D2s v5 Low Priority"),
    item("Standard_D4s_v5", 1.0, armRegionName="westus"),
]


def listed(sku: str, meter: str, usd: float, end: str = "") -> dict[str, Any]:
    return {
        "armRegionName": "eastus",
        "productName": f"Virtual Machines Dsv5 Series{end}",
        "skuName": sku,
        "meterName": meter,
        "armSkuName": "Standard_D2s_v5",
        "retailPrice": usd,
    }


def written(path: Path, content: object) -> str:
    path.write_text(json.dumps(content))
    return str(path)


def test_usages_and_prices_become_one_market(tmp_path: Path, capsys: Output) -> None:
    market = tmp_path / "market.json"
    assert run(["import-usages", written(tmp_path / "usages.json", USAGES), "-o", str(market)]) == 0
    prices = written(tmp_path / "prices.json", [{"Items": ITEMS[:3], "NextPageLink": "x"}, {"Items": ITEMS[3:]}])
    assert run(["import-prices", prices, "--region", "eastus", "-o", str(market)]) == 0
    printed = capsys.readouterr().out
    assert "2 limits; 1 other entries ignored" in printed
    assert "eastus: 5 rows of 1 sizes, of 1 on spot; 1 other items ignored" in printed
    spec = json.loads(market.read_text())
    assert spec == {
        "quota": {"cores": 10, "standardDSv5Family": 100},
        "prices": [
            listed("x", "x", 0.096),
            listed("D2s v5 Spot", "x", 0.02),
            listed("x", "x", 0.5, " Windows"),
            listed("x", "D2s v5 Low Priority", 0.01),
            listed("x", "x", 0.2),
        ],
    }
    cloud = FakeAzure(azure=spec)
    assert cloud.market.quota.limit("eastus", "cores") == 10
    wanted = {"$filter": "armRegionName eq 'eastus' and armSkuName eq 'Standard_D2s_v5'"}
    answer = cloud.request("GET", "/api/retail/prices", query=wanted).body or {}
    assert [row["retailPrice"] for row in answer["Items"]] == [0.096, 0.02, 0.5, 0.01, 0.2]
    view = cloud.market.linux_view("eastus")
    assert (view.linux["Standard_D2s_v5"], view.spot["Standard_D2s_v5"]) == (0.096, 0.02)
    assert view.beside_linux["Standard_D2s_v5"] == (
        0.2,
    )  # a client that does not look at isPrimaryMeterRegion takes either


def test_a_limit_of_nothing_is_a_limit() -> None:
    limits = [("cores", 0), ("lowPriorityCores", -1), ("virtualMachines", True), ("standardDSv5Family", None)]
    usages = [{"name": {"value": name}, "limit": limit} for name, limit in limits]
    assert quota_of(usages, Catalogue.load()) == ({"cores": 0}, 3)


def test_prices_of_an_hours_use_alone_are_taken() -> None:
    items = [
        item("Standard_D2s_v5", 0.1, type="Reservation"),
        item("Standard_D2s_v5", 0.2, unitOfMeasure="1 Month"),
        item("Standard_D2s_v5", 0.3),
        item("Standard_D4s_v5", True),
        item("", 0.4),
        item("Standard_D2s_v5", 500, type="Reservation", reservationTerm="1 Year"),
    ]
    rows, others = prices_of(items, "eastus")
    assert ([(row.usd, row.term) for row in rows], others) == ([(0.3, ""), (500.0, "1 Year")], 4)


def test_a_whole_list_comes_back_as_it_was_served(tmp_path: Path) -> None:
    """Every row of polandcentral, which has reservations and savings plans, too."""
    query: dict[str, str] = {"$filter": "armRegionName eq 'polandcentral'", "api-version": "2023-01-01-preview"}
    cloud, pages = FakeAzure(), []
    while query:
        pages.append(cloud.request("GET", "/api/retail/prices", query=query).body or {})
        query = dict(parse_qsl(urlsplit(pages[-1]["NextPageLink"] or "").query))
    market = tmp_path / "market.json"
    assert run(["import-prices", written(tmp_path / "p", pages), "--region", "polandcentral", "-o", str(market)]) == 0
    again = FakeAzure(azure=json.loads(market.read_text()))
    assert sorted(again.market.price_list().rows("polandcentral")) == sorted(
        cloud.market.price_list().rows("polandcentral")
    )
    assert again.market.linux_view("polandcentral") == cloud.market.linux_view("polandcentral")


def test_prices_in_another_currency_are_refused() -> None:
    with pytest.raises(CatalogueError, match="prices in 'EUR': ask for them in USD"):
        prices_of([item("Standard_D2s_v5", 0.2, currencyCode="EUR")], "eastus")


@pytest.mark.parametrize(
    ("command", "content", "what"),
    [
        ("import-usages", "{", "not JSON: "),
        ("import-usages", "[]", "no usage of a region: give the output of az vm list-usage -o json"),
        ("import-usages", "5", "no list of usages"),
        ("import-usages", "[5]", "no list of usages: an entry is 5"),
        ("import-prices", '{"Items": []}', "no price of a size in eastus"),
        ("import-prices", '{"value": "x"}', "no list of prices"),
        ("import-prices", "[" * 100_000, "nested too deep"),
    ],
)
def test_a_file_of_something_else_is_one_line(
    command: str, content: str, what: str, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "file.json"
    path.write_text(content)
    assert run([command, str(path), *(["--region", "eastus"] if command == "import-prices" else [])]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"fakeazure: {path}")
    assert what in line


AZ = """#!{python}
import json, sys
words = sys.argv[1:]
if words[:2] == ["vm", "list-skus"]:
    print(open({skus!r}).read())
elif words[:2] == ["vm", "list-usage"]:
    print(open({usages!r}).read())
elif words[0] == "rest" and "armRegionName%20eq%20%27eastus%27" in words[words.index("--url") + 1]:
    print(open({prices!r}).read())
else:
    sys.exit("ERROR: not logged in")
"""


def test_refresh_is_what_an_account_is_offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    region = Catalogue.load().region("eastus")
    sold = [region.by_name[name] for name in ("Standard_D2s_v5", "Standard_D4s_v5")]
    program = tmp_path / "bin" / "az"
    program.parent.mkdir()
    script = AZ.format(
        python=sys.executable,
        skus=written(tmp_path / "s", sold),
        usages=written(tmp_path / "u", USAGES),
        prices=written(tmp_path / "p", {"Items": ITEMS}),
    )
    program.write_text(script)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "mine"
    assert run(["refresh", "--region", "eastus", "-o", str(folder)]) == 0
    assert "eastus: 2 sizes, 2 limits, prices of 1 sizes" in capsys.readouterr().out
    files = ["--skus", str(folder / "skus.json"), "--market", str(folder / "market.json")]
    assert run(["serve", "--http-port", "0", "--https-port", "-1", "--for", "0.1", *files]) == 0
    assert run(["refresh", "--region", "westus", "-o", str(folder)]) == 3
    assert "fakeazure: az rest: ERROR: not logged in" in capsys.readouterr().err


def test_refresh_without_az_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert run(["refresh", "--region", "eastus", "-o", str(tmp_path)]) == 3
    assert "refresh needs the program 'az', logged in; nothing else does" in capsys.readouterr().err
