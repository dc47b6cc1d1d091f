"""`harness migrate` as a command: its folder, its mistakes."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.cli.command import POOL, as_json, call
from tests.migrate.pools import cluster, pool


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cluster.json").write_text(json.dumps(cluster(pool(podSubnetID="/x"), pool("sys", mode="System"))))
    return tmp_path


def test_it_writes_manifests_that_validate(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "migrate", "cluster.json", "-o", "nap")
    assert (code, err) == (0, "")
    assert out.splitlines()[0] == "westeurope, provider 1.14.0"
    assert "2 agent pools: 1 move, 1 stay" in out
    assert "  apps: podSubnetID /x: the AKSNodeClass has vnetSubnetID for Nodes and no subnet for pods" in out
    assert sorted(path.name for path in (here / "nap").iterdir()) == ["nodepools.yaml", "settings.md"]
    code, out, _ = call(capsys, "validate", "nap")
    assert (code, out) == (0, "provider 1.14.0: 2 objects, nothing refused\n")


def test_an_earlier_answer_is_kept_unless_told_otherwise(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert call(capsys, "migrate", "cluster.json", "-o", "nap")[0] == 0
    (here / "nap" / "nodepools.yaml").write_text("mine")
    code, _, err = call(capsys, "migrate", "cluster.json", "-o", "nap")
    assert (code, err) == (
        2,
        "harness migrate: --output nap: is not empty; --force writes over the files of an earlier run\n",
    )
    assert (here / "nap" / "nodepools.yaml").read_text() == "mine"
    assert call(capsys, "migrate", "cluster.json", "-o", "nap", "--force")[0] == 0
    assert (here / "nap" / "nodepools.yaml").read_text() != "mine"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["cluster.json", "-o", "."], "--output .: cluster.json is read, which lies there; name another folder"),
        (["cluster.json", "-o", "cluster.json"], "--output cluster.json: is a file, not a folder"),
        (["cluster.json", "-o", "no/nap"], "--output no/nap: there is no folder no"),
        (["cluster.json", "--release", "9.9.9"], "--release: unknown release"),
        (["pools.yaml"], "no file describes an agent pool, and no Node is of one"),
        (["absent.json"], "absent.json:1:1: cannot be read"),
        ([], "no file describes an agent pool"),
    ],
)
def test_a_mistake_is_one_line(here: Path, capsys: pytest.CaptureFixture[str], words: list[str], text: str) -> None:
    (here / "pools.yaml").write_text(POOL)
    code, out, err = call(capsys, "migrate", *words)
    assert (code, out) == (2, "")
    assert text in err
    assert len(err.splitlines()) == 1


def test_mistakes_of_pools_and_objects_are_told_together(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bad.json").write_text(json.dumps(cluster(pool(maxPods="x"))))
    (here / "bad.yaml").write_text("apiVersion: v1\nkind: Pod\nmetadata: {}\n")
    code, _, err = call(capsys, "migrate", "bad.json", "bad.yaml")
    assert code == 2
    assert [line.partition(":")[0] for line in err.splitlines()] == ["bad.json", "bad.yaml"]


def test_mistakes_of_options_and_files_are_told_together(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "bad.json").write_text('{"agentPoolProfiles": [{"name": "a", "count": "many", "vmSize": "x"}]}')
    words = ("--release", "9.9.9", "--region", "nowhere", "-o", "no/nap", "--html", "no/plan.html")
    code, out, err = call(capsys, "migrate", "cluster.json", "bad.json", *words)
    beginnings = ("--output no/nap: ", "--html no/plan.html: ", "--release: ", "--region: ")
    lines = err.splitlines()
    assert (code, out) == (2, "")
    assert [line for line in lines if line.startswith("bad.json:1:")] == lines[4:]
    assert all(line.startswith(f"harness migrate: {words}") for line, words in zip(lines, beginnings, strict=False))
    assert len(lines) >= 5
    assert sorted(path.name for path in here.iterdir()) == ["bad.json", "cluster.json"]


def test_a_template_that_cannot_be_evaluated_hides_no_other_mistake(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    template = {
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "resources": [
            {
                "type": "Microsoft.ContainerService/managedClusters/agentPools",
                "apiVersion": "2024-01-01",
                "name": "[parameters('absent')]",
                "properties": {},
            }
        ],
    }
    (here / "main.json").write_text(json.dumps(template))
    (here / "bad.yaml").write_text("kind: [")
    code, _, err = call(capsys, "migrate", "main.json", "bad.yaml", "--release", "9.9.9")
    assert code == 2
    beginnings = ["harness migrate: the template", "harness migrate: --release", "bad.yaml:"]
    assert all(any(line.startswith(begins) for line in err.splitlines()) for begins in beginnings), err


def test_names_of_the_dump_are_left_alone(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pools.yaml").write_text(POOL.replace("{name: default}", "{name: apps}", 1))
    found = as_json(capsys, "migrate", "cluster.json", "pools.yaml")
    assert [one["nodepool"] for one in found["moved"]] == ["apps-nap"]


def test_pools_may_come_by_standard_input(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.TextIOWrapper(io.BytesIO((here / "cluster.json").read_bytes()))
    monkeypatch.setattr(sys, "stdin", stream)
    assert [one["pools"] for one in as_json(capsys, "migrate", "-")["moved"]] == [["apps"]]


def test_files_of_an_earlier_run_do_not_stay_beside_the_new_ones(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nap = here / "nap"
    nap.mkdir()
    for name in ("patches.sh", "move.yaml", "mine.yaml"):
        (nap / name).write_text("# an earlier run's\n")
    assert call(capsys, "migrate", "cluster.json", "-o", "nap", "--force")[0] == 0
    assert sorted(path.name for path in nap.iterdir()) == ["mine.yaml", "nodepools.yaml", "settings.md"]


@pytest.mark.parametrize("name", ["settings.md", "patches.sh"])
def test_a_folder_in_the_place_of_a_file_leaves_all_as_it_was(
    name: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "nap" / name).mkdir(parents=True)
    code, out, err = call(capsys, "migrate", "cluster.json", "-o", "nap", "--force")
    assert (code, out, err) == (2, "", f"harness migrate: nap/{name}: is a folder\n")
    assert [path.name for path in (here / "nap").iterdir()] == [name]
