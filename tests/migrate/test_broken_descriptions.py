"""Whatever a file that describes pools holds, the answer is an answer or a mistake at its place."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import call
from tests.migrate.pools import cluster, generated_pool
from tests.migrate.test_reading_pools import TERRAFORM, terraform

JUNK: list[Any] = [
    None,
    "",
    0,
    -1,
    1.5,
    True,
    [],
    {},
    "x",
    ["a"],
    {"a": 1},
    "9" * 21,
    [None],
    [[1]],
    {"a": {"b": None}},
    "\x1b[31m",
]


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


def described(chance: random.Random) -> Any:
    if chance.random() < 0.4:
        pool = {"mode": "managed", "type": "azurerm_kubernetes_cluster_node_pool", "values": copy.deepcopy(TERRAFORM)}
        values = {"location": "eastus", "default_node_pool": [{"name": "s", "vm_size": "Standard_D4s_v5"}]}
        return terraform(pool, {"type": "azurerm_kubernetes_cluster", "values": {**values, "network_profile": [{}]}})
    profile = {"scaleDownUnneededTime": "10m", "maxEmptyBulkDelete": "3", "scaleDownUtilizationThreshold": "0.5"}
    pools = [generated_pool(chance, f"pool{number}") for number in range(2)]
    return cluster(*pools, autoScalerProfile=profile, networkProfile={"networkPlugin": "azure"})


@pytest.mark.parametrize("seed", range(4))
def test_no_value_anywhere_is_a_fault_of_ours(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    chance = random.Random(f"broken {seed}")
    for _ in range(40):
        value = described(chance)
        path = chance.choice(list(paths(value)))
        place = value
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = copy.deepcopy(chance.choice(JUNK))
        Path("described.json").write_text(json.dumps(value))
        code, out, err = call(capsys, "migrate", "described.json", "--region", "eastus")
        assert code in (0, 2), path
        assert bool(err) == (code == 2), path
        assert "\x1b" not in out + err


@pytest.mark.parametrize("pools", [1.5, True, "x", {"a": 1}, ["a"], [None, {}]])
def test_a_list_of_pools_that_is_none_is_a_mistake(
    pools: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "cluster.json").write_text(json.dumps({"location": "eastus", "agentPoolProfiles": pools}))
    code, out, err = call(capsys, "migrate", str(tmp_path / "cluster.json"))
    assert (code, out) == (2, "")
    assert "agentPoolProfiles: a list of agent pools is expected" in err
