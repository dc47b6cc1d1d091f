"""The cost of a fleet of 40 Nodes, added up by hand: from Azure's rows by their names, with nothing of the product but the file of rows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
import yaml

from tests.cli.command import call

ROWS = Path(__file__).parents[2] / "fakeazure/catalog/data/retail-rows.json.gz"
FLEET = (
    ("gpu", "Standard_NC4as_T4_v3", "NC4as T4 v3", "on-demand", 2),
    ("on-demand", "Standard_E8s_v5", "E8s v5", "on-demand", 8),
    ("on-demand", "Standard_D8s_v5", "Standard_D8s_v5", "on-demand", 5),
    ("on-demand", "Standard_D16as_v5", "Standard_D16as_v5", "on-demand", 3),
    ("spot", "Standard_D8s_v5", "Standard_D8s_v5", "spot", 9),
    ("spot", "Standard_D8ads_v5", "Standard_D8ads_v5", "spot", 7),
    ("spot", "Standard_D4s_v5", "Standard_D4s_v5", "spot", 6),
)
"""NodePool, size, its name in Azure's list, capacity type, Nodes: all of westeurope."""
BY_HAND = {"Standard_E8s_v5": 0.608, "Standard_D16as_v5": 0.832, "Standard_D4s_v5": 0.042504}
"""Three prices read in the list of 2026-08-22 by eye: two on demand, one on spot."""


def rows_of(name: str, spot: bool) -> list[float]:
    """The prices of the Linux rows of that SKU name in westeurope."""
    document = json.loads(gzip.decompress(ROWS.read_bytes()))
    place = document["regions"].index("westeurope")
    found = []
    for product, sku, _, _, prices in document["rows"]:
        named = document["products"][product]
        if sku == name + (" Spot" if spot else "") and not named.endswith(
            ("Windows", "CloudServices", "Cloud Services")
        ):
            found.append(float(prices.split(",")[place]))
    return found


def price(name: str, capacity_type: str) -> float:
    (usd,) = rows_of(name, capacity_type == "spot")
    return usd


@pytest.fixture
def nodes(tmp_path: Path) -> Path:
    objects = []
    for pool, size, _, capacity_type, count in FLEET:
        for number in range(count):
            name = f"aks-{pool}-{size.rpartition('_')[0].lower().replace('_', '-')}-{number}"
            labels = {
                "karpenter.sh/nodepool": pool,
                "karpenter.sh/capacity-type": capacity_type,
                "node.kubernetes.io/instance-type": size,
                "topology.kubernetes.io/region": "westeurope",
                "topology.kubernetes.io/zone": f"westeurope-{1 + number % 3}",
            }
            metadata = {"name": name, "labels": labels}
            status = {"conditions": [{"type": "Ready", "status": "True"}], "allocatable": {"cpu": "4", "memory": "8Gi"}}
            objects.append({"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status})
    path = tmp_path / "nodes.yaml"
    path.write_text(yaml.safe_dump_all(objects))
    return path


def test_three_prices_are_those_that_one_reads_in_the_list() -> None:
    known = {size: price(name, kind) for _, size, name, kind, _ in FLEET if size in BY_HAND}
    assert known == BY_HAND


def test_the_total_and_each_nodepool_are_the_sums_of_rows(nodes: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pools: dict[str, float] = {}
    for pool, _, name, kind, count in FLEET:
        pools[pool] = pools.get(pool, 0.0) + count * price(name, kind)
    value = json.loads(call(capsys, "simulate", str(nodes), "--format", "json")[1])
    assert value["region"] == "westeurope"
    assert value["cost"]["nodepools"] == {pool: pytest.approx(usd, abs=1e-6) for pool, usd in pools.items()}
    assert value["price_per_hour"] == pytest.approx(sum(pools.values()), abs=1e-6)
    _, out, _ = call(capsys, "simulate", str(nodes))
    assert f"{sum(pools.values()):.4f} USD per hour" in out
    assert f"{sum(pools.values()) * 730:,.2f} USD per month of 730 hours" in out
    for pool, usd in pools.items():
        assert f"NodePool {pool} {usd * 730:,.2f}" in out
