"""A value that nothing can be made of is a mistake at its place, one line each, and never a fault of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.command import call
from tests.migrate.pools import cluster, pool
from tests.migrate.test_reading_pools import TERRAFORM, terraform

_BARE = {key: value for key, value in pool().items() if key != "vmSize"}


def _scaled(scale: Any) -> dict[str, Any]:
    return cluster({**_BARE, "virtualMachinesProfile": {"scale": scale}})


def _of_profile(**profile: Any) -> dict[str, Any]:
    return cluster(pool(), autoScalerProfile=profile)


def _azurerm(**values: Any) -> dict[str, Any]:
    resource = {"type": "azurerm_kubernetes_cluster_node_pool", "values": TERRAFORM}
    return terraform(resource, {"type": "azurerm_kubernetes_cluster", "values": values})


MISTAKES = [
    (_of_profile(maxEmptyBulkDelete="nan"), "max-empty-bulk-delete: a whole number is expected, not 'nan'"),
    (_of_profile(maxEmptyBulkDelete="1e400"), "max-empty-bulk-delete: a whole number is expected, not '1e400'"),
    (_of_profile(maxEmptyBulkDelete="-1"), "max-empty-bulk-delete: a whole number is expected, not '-1'"),
    (
        _of_profile(scaleDownUtilizationThreshold="nan"),
        "scale-down-utilization-threshold: a number from 0 to 1 is expected, not 'nan'",
    ),
    (_scaled(5), "virtualMachinesProfile.scale: a map is expected"),
    (_scaled({"manual": "x"}), "virtualMachinesProfile.scale.manual: a list of maps is expected"),
    (_scaled({"manual": ["x"]}), "virtualMachinesProfile.scale.manual: a list of maps is expected"),
    (_scaled({"autoscale": ["x"]}), "virtualMachinesProfile.scale.autoscale: a map is expected"),
    ({"format_version": "1.0", "values": ["vm_size:"]}, "there is no agent pool in it"),
    ({"format_version": "1.0", "values": {"root_module": ["vm_size"]}}, "there is no agent pool in it"),
    (_azurerm(default_node_pool=5), "default_node_pool: a list of agent pools is expected"),
    (cluster(pool(minCount=5, maxCount=3, enableAutoScaling=True)), "minCount: 5 is above maxCount 3"),
    ([], "there is no agent pool in it"),
    ({}, "there is no agent pool in it"),
    (cluster(pool("Apps")), "agentPoolProfiles[0].name: 'Apps' is no name of an agent pool: at most 12 small letters"),
    (cluster(pool("abcdefghijklm")), "is no name of an agent pool"),
    (cluster(pool(count=-1)), "count: a number below 0"),
    (cluster(pool(maxCount=-3)), "maxCount: a number below 0"),
    (cluster(pool("a"), pool("a", vmSize="Standard_D2s_v5")), "a second agent pool a; the first one is in"),
]


@pytest.mark.parametrize(("value", "text"), MISTAKES)
def test_it_is_one_line(value: Any, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "described.json").write_text(json.dumps({**value, "vm_size": 0} if value else value))
    code, out, err = call(capsys, "migrate", str(tmp_path / "described.json"))
    assert (code, out) == (2, "")
    assert text in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("parameters", [[1], "x", 5])
def test_parameters_that_are_no_map(parameters: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "cluster.json").write_text(json.dumps(cluster(pool())))
    values = {"$schema": "https://example.com/deploymentParameters.json#", "parameters": parameters}
    (tmp_path / "values.json").write_text(json.dumps(values))
    code, out, err = call(capsys, "migrate", str(tmp_path / "cluster.json"), str(tmp_path / "values.json"))
    assert (code, out) == (2, "")
    assert "parameters: a map is expected" in err
    assert len(err.splitlines()) == 1


def test_sizes_of_an_older_list_of_autoscale_profiles(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = _scaled({"autoscale": [{"sizes": ["Standard_D4s_v5"], "minCount": 1, "maxCount": 3}]})
    (tmp_path / "cluster.json").write_text(json.dumps(value))
    code, out, err = call(capsys, "migrate", str(tmp_path / "cluster.json"))
    assert (code, err) == (0, "")
    assert "Standard_D4s_v5" in out


def test_all_mistakes_of_a_pool_are_told_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = pool(
        "A", maxPods="x", count="y", nodeLabels=[], tags=["t"], nodeTaints=["gpu"], virtualMachinesProfile={"scale": 5}
    )
    (tmp_path / "cluster.json").write_text(json.dumps(cluster(wrong, pool("b", minCount=-1))))
    code, _, err = call(capsys, "migrate", str(tmp_path / "cluster.json"))
    assert code == 2
    fields = [line.partition("agentPoolProfiles")[2].partition(":")[0] for line in err.splitlines()]
    assert sorted(fields) == [
        "[0].count",
        "[0].maxPods",
        "[0].name",
        "[0].nodeTaints",
        "[0].tags",
        "[0].virtualMachinesProfile.scale",
        "[1].minCount",
    ]


def test_a_dump_that_mentions_sizes_is_a_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "vmSize: Standard_D2s_v5"
    config = {"apiVersion": "example.com/v1", "kind": "Note", "metadata": {"name": "a"}, "data": {"terraform": text}}
    (tmp_path / "cluster.json").write_text(json.dumps(cluster(pool())))
    (tmp_path / "a.yaml").write_text(f"# {text}\n{yaml.safe_dump(config)}")
    listed = {"items": [{**config, "vmSize": "x", "metadata": {"name": "b"}}], "kind": "List", "apiVersion": "v1"}
    (tmp_path / "b.json").write_text(json.dumps(listed))
    files = [str(tmp_path / name) for name in ("cluster.json", "a.yaml", "b.json")]
    code, out, err = call(capsys, "migrate", *files)
    assert (code, err) == (0, "")
    assert "not simulated: Note a, b" in out
