"""`harness reality`: every fact of a dump is in one of three states, a difference is found where it stands, and no secret is shared."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli import main
from harness.testing import nodeclass, nodepool, pod
from harness.world import World

KINDS = ("AKSNodeClass", "NodePool", "NodeClaim", "Node")
SECRET = "hunter2-do-not-tell"


@cache
def _cluster() -> tuple[dict[str, Any], ...]:
    world = World(region="westeurope")
    world.apply(nodeclass(imageFamily="Ubuntu2204"), nodepool(), pod("web"))
    world.settle()
    return tuple(json.loads(json.dumps(obj)) for kind in KINDS for obj in world.list(kind))


def dump(folder: Path, change: Callable[[dict[str, Any]], None] = lambda node: None, kind: str = "Node") -> Path:
    objects = deepcopy(list(_cluster()))
    change(next(obj for obj in objects if obj["kind"] == kind))
    path = folder / "dump.yaml"
    path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "List", "items": objects}), encoding="utf-8")
    return path


def asked(path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, list[dict[str, Any]]]:
    code = main(["reality", str(path), "--region", "westeurope", "--format", "json"])
    return code, json.loads(capsys.readouterr().out)["facts"]


def test_a_dump_of_the_simulation_differs_in_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, facts = asked(dump(tmp_path), capsys)
    assert [fact for fact in facts if fact["state"] == "different"] == []
    assert code == 0
    assert {fact["object"].partition("/")[0] for fact in facts} == {"Node", "NodeClaim"}
    assert len([fact for fact in facts if fact["state"] == "equal"]) > 80


PLANTED: list[tuple[str, Callable[[dict[str, Any]], None]]] = [
    ("capacity.memory", lambda node: node["status"]["capacity"].update(memory="1Gi")),
    ("capacity.ephemeral-storage", lambda node: node["status"]["capacity"].update({"ephemeral-storage": "1Gi"})),
    ("capacity.cpu", lambda node: node["status"]["capacity"].update(cpu="3")),
    ("capacity.pods", lambda node: node["status"]["capacity"].update(pods="31")),
    ("allocatable.memory", lambda node: node["status"]["allocatable"].update(memory="1Gi")),
    ("allocatable.cpu", lambda node: node["status"]["allocatable"].update(cpu="17m")),
    ("nodeInfo.osImage", lambda node: node["status"]["nodeInfo"].update(osImage="Plan 9")),
    ("nodeInfo.architecture", lambda node: node["status"]["nodeInfo"].update(architecture="mips")),
    (
        "labels.karpenter.azure.com/sku-family",
        lambda node: node["metadata"]["labels"].pop("karpenter.azure.com/sku-family"),
    ),
    (
        "labels.karpenter.azure.com/sku-cpu",
        lambda node: node["metadata"]["labels"].update({"karpenter.azure.com/sku-cpu": "99"}),
    ),
    (
        "conditions.Ready",
        lambda node: next(c for c in node["status"]["conditions"] if c["type"] == "Ready").update(status="Unknown"),
    ),
    ("addresses.InternalIP", lambda node: node["status"].update(addresses=[])),
]


@pytest.mark.parametrize(("field", "change"), PLANTED, ids=[field for field, _ in PLANTED])
def test_a_planted_difference_is_found(
    field: str, change: Callable[[dict[str, Any]], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, facts = asked(dump(tmp_path, change), capsys)
    found = [fact for fact in facts if fact["state"] == "different"]
    assert field in {fact["field"] for fact in found}
    assert {fact["object"].partition("/")[0] for fact in found} == {"Node"}
    assert all(fact["place"].startswith(f"{tmp_path}/dump.yaml:") for fact in found)
    assert code == 1


def plant_secrets(node: dict[str, Any]) -> None:
    node["metadata"]["labels"].update({"example.com/owner": SECRET, "karpenter.azure.com/sku-name": SECRET})
    node["metadata"].setdefault("annotations", {})["note"] = SECRET
    node["status"]["nodeInfo"].update(
        osImage=f"Ubuntu {SECRET}", kubeletVersion=f"v1.34.0-{SECRET}", kernelVersion=SECRET
    )
    node["spec"]["taints"] = [{"key": SECRET, "effect": "NoSchedule", "value": SECRET}]
    node["status"]["capacity"][f"example.com/{SECRET}"] = "1"


def test_a_planted_secret_is_in_no_facts_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared = tmp_path / "facts.yaml"
    main(["reality", str(dump(tmp_path, plant_secrets)), "--region", "westeurope", "--facts", str(shared)])
    printed = capsys.readouterr().out
    text = shared.read_text(encoding="utf-8")
    assert text in printed  # shown before it is written
    assert SECRET not in text
    [entry] = yaml.safe_load(text)
    assert entry["facts"]["capacity.pods"] == "250"
    assert {"name", "uid", "where"} & entry.keys() == {"where"}


def test_what_nothing_can_be_said_of_is_counted_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def of_a_pool(node: dict[str, Any]) -> None:
        del node["metadata"]["labels"]["karpenter.sh/nodepool"]

    _, facts = asked(dump(tmp_path, of_a_pool), capsys)
    of_node = [fact for fact in facts if fact["object"].startswith("Node/")]
    assert {(fact["state"], fact["why"]) for fact in of_node} == {
        ("not comparable", "no NodePool of Karpenter made it: agent pools have no Nodes here")
    }


def of_an_agent_pool(obj: dict[str, Any]) -> None:
    del obj["metadata"]["labels"]["karpenter.sh/nodepool"]


def test_nothing_that_can_be_compared_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "node.yaml"
    node = deepcopy(next(obj for obj in _cluster() if obj["kind"] == "Node"))
    of_an_agent_pool(node)
    path.write_text(yaml.safe_dump(node), encoding="utf-8")
    assert main(["reality", str(path), "--region", "westeurope", "--facts", str(tmp_path / "facts.yaml")]) == 2
    out, err = capsys.readouterr()
    assert "not comparable" in out
    assert err == (
        "harness reality: nothing could be compared: no NodePool of Karpenter made it: agent pools have no Nodes here\n"
    )
    assert not (tmp_path / "facts.yaml").exists()


def test_files_without_a_node_are_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pool.yaml"
    path.write_text(yaml.safe_dump(next(obj for obj in _cluster() if obj["kind"] == "NodePool")), encoding="utf-8")
    assert main(["reality", str(path), "--format", "json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["facts"] == []
    assert err == "harness reality: nothing could be compared: there is no Node and no NodeClaim\n"


def test_json_stays_one_document_with_facts_to_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared = tmp_path / "facts.yaml"
    main(["reality", str(dump(tmp_path)), "--region", "westeurope", "--format", "json", "--facts", str(shared)])
    value = json.loads(capsys.readouterr().out)
    assert value["shared"] == yaml.safe_load(shared.read_text(encoding="utf-8"))  # shown before it is written


def test_it_has_no_option_that_it_does_not_heed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["reality", str(dump(tmp_path)), "--fail-on", "pending"])
    assert left.value.code == 2
    assert "--fail-on" in capsys.readouterr().err
