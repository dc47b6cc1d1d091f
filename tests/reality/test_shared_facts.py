"""`harness reality --facts`: no secret of a dump is in the file, and one command makes rows of the recorded machines of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli import main
from harness.reality.sharing import mistakes
from tests.reality.dumps import dump, objects, unpacked, written
from tests.recorded.__main__ import main as recorded
from tests.recorded.clusters import cluster_rows, take
from tests.recorded.rows import Verdict

SECRET = "hunter2-do-not-tell"
GUID = "5ec4e700-aaaa-bbbb-cccc-0123456789ab"
ADDRESS = "10.66.77.88"


def shared(path: Path, folder: Path) -> Path:
    facts = folder / "facts.yaml"
    main(["reality", str(path), "--region", "westeurope", "--facts", str(facts)])
    return facts


def _metadata(obj: dict[str, Any]) -> None:
    meta = obj["metadata"]
    meta.setdefault("labels", {})["example.com/owner"] = SECRET
    meta.setdefault("annotations", {})["note"] = SECRET
    meta["finalizers"] = [*meta.get("finalizers", []), f"example.com/{SECRET}"]
    meta["uid"] = GUID


def _named(items: list[dict[str, Any]]) -> None:
    for obj in items:
        if obj["kind"] in ("Node", "NodeClaim"):
            obj["metadata"]["name"] = SECRET


def _in_node(items: list[dict[str, Any]]) -> None:
    for obj in items:
        _metadata(obj)
        if obj["kind"] == "Node":
            obj["metadata"]["labels"]["karpenter.azure.com/sku-name"] = SECRET
            obj["status"]["nodeInfo"].update(
                osImage=f"Ubuntu {SECRET}", kubeletVersion=f"v1.34.0-{SECRET}", kernelVersion=SECRET, machineID=GUID
            )
            obj["spec"]["taints"] = [{"key": SECRET, "effect": "NoSchedule", "value": SECRET}]
            obj["status"]["capacity"][f"example.com/{SECRET}"] = "1"
            obj["status"]["conditions"].append({"type": SECRET, "status": "True", "reason": SECRET, "message": SECRET})


def _addresses(items: list[dict[str, Any]]) -> None:
    for obj in items:
        if obj["kind"] == "Node":
            obj["status"]["addresses"] = [
                {"type": "InternalIP", "address": ADDRESS},
                {"type": "Hostname", "address": SECRET},
            ]
            obj["spec"].update(podCIDR=f"{ADDRESS}/24", podCIDRs=[f"{ADDRESS}/24"])
            obj["status"]["images"] = [{"names": [f"{SECRET}.azurecr.io/app:1"], "sizeBytes": 1}]


def _ids(items: list[dict[str, Any]]) -> None:
    for obj in items:
        machine = f"azure:///subscriptions/{GUID}/resourceGroups/{SECRET}/providers/Microsoft.Compute/virtualMachines/x"
        if obj["kind"] in ("Node", "NodeClaim"):
            obj["spec" if obj["kind"] == "Node" else "status"]["providerID"] = machine


def _tags(items: list[dict[str, Any]]) -> None:
    for obj in items:
        if obj["kind"] == "AKSNodeClass":
            obj["spec"]["tags"] = {"owner": SECRET, SECRET: GUID}
        if obj["kind"] == "NodePool":
            obj["spec"]["template"].setdefault("metadata", {})["labels"] = {"team": SECRET}


def _env(items: list[dict[str, Any]]) -> None:
    container = {
        "name": "c",
        "image": f"{SECRET}/app",
        "env": [{"name": "PASSWORD", "value": SECRET}],
        "args": [SECRET],
    }
    items.append({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": SECRET}, "spec": {"containers": [container]}})


PLANTED = [_named, _in_node, _addresses, _ids, _tags, _env]


@pytest.mark.parametrize("plant", PLANTED, ids=[plant.__name__.strip("_") for plant in PLANTED])
def test_a_planted_secret_is_in_no_facts_file(
    plant: Callable[[list[dict[str, Any]]], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = objects()
    plant(items)
    facts = shared(written(tmp_path, items), tmp_path)
    text = facts.read_text(encoding="utf-8")
    assert text in capsys.readouterr().out  # shown before it is written
    assert not [word for word in (SECRET, GUID, ADDRESS, "00000000-1111", "aks-default", "mc_rg") if word in text]
    assert {entry["kind"] for entry in yaml.safe_load(text)} == {"Node", "NodeClaim"}
    assert yaml.safe_load(text)[-1]["facts"]["capacity.pods"] == "250"


def test_facts_become_rows_that_agree(tmp_path: Path) -> None:
    facts, table = shared(dump(tmp_path), tmp_path), tmp_path / "clusters.yaml"
    assert (take(facts, table), take(facts, table)) == (2, 0)  # each machine once
    rows = list(cluster_rows(table))
    assert {row.verdict for row in rows} <= {Verdict.EXACT}
    assert {row.field.partition(" ")[0] for row in rows} == {"Node", "NodeClaim"}
    assert len(rows) > 60


def test_what_differs_on_the_cluster_differs_in_the_table(tmp_path: Path) -> None:
    facts, table = shared(unpacked(tmp_path), tmp_path), tmp_path / "clusters.yaml"
    assert take(facts, table) == len(yaml.safe_load(facts.read_text(encoding="utf-8")))
    different = {row.field: (row.recorded, row.ours) for row in cluster_rows(table) if row.verdict is Verdict.DIFFERENT}
    assert different["Node allocatable.memory"][0].endswith("Gi")
    assert different["Node capacity.pods"] == ("110", "30")
    assert "Node capacity.cpu" not in different


def entry() -> dict[str, Any]:
    situation = {"release": "1.14.0", "region": "westeurope", "kubernetes": "1.34.0", "size": "Standard_D2s_v5"}
    return {"where": "a cluster of a user", "kind": "Node", **situation, "facts": {"capacity.cpu": "2"}}


STRANGE: list[tuple[str, Callable[[dict[str, Any]], Any], str]] = [
    ("a name", lambda entry: entry.update(where=SECRET), "where: not a value that is shared"),
    ("an unknown key", lambda entry: entry.update(owner="a"), "owner: not a value that is shared"),
    ("free text", lambda entry: entry["facts"].update({"capacity.cpu": SECRET}), "facts.capacity.cpu: not a value"),
    ("an annotation", lambda entry: entry["facts"].update({"annotations.a": "1"}), "facts.annotations.a: not a value"),
    (
        "tags",
        lambda entry: entry.update(nodeclass={"tags": {"a": "b"}}),
        "nodeclass: a field or a value that says more",
    ),
    ("no size", lambda entry: entry.pop("size"), "size is missing"),
    ("a number", lambda entry: entry.update(kubernetes=1.34), "kubernetes: not a value that is shared"),
    ("no fields", lambda entry: entry.update(nodeclass=None), "nodeclass: the fields of an AKSNodeClass are expected"),
    ("a list", lambda entry: entry.update(nodeclass=[]), "nodeclass: the fields of an AKSNodeClass are expected"),
    (
        "a fact that is a number",
        lambda entry: entry.update(facts={"capacity.cpu": 2}),
        "facts.capacity.cpu: not a value",
    ),
    ("no facts", lambda entry: entry.update(facts={}), "facts: fields and their values are expected"),
    ("another release", lambda entry: entry.update(release="9.9.9"), "release: not a value that is shared"),
]


@pytest.mark.parametrize(("name", "change", "text"), STRANGE, ids=[name for name, _, _ in STRANGE])
def test_a_file_of_a_stranger_is_not_trusted(
    name: str, change: Callable[[dict[str, Any]], Any], text: str, tmp_path: Path
) -> None:
    assert list(mistakes(entry())) == []
    strange, table = deepcopy(entry()), tmp_path / "clusters.yaml"
    change(strange)
    path = tmp_path / "facts.yaml"
    path.write_text(yaml.safe_dump([strange]), encoding="utf-8")
    with pytest.raises(ValueError, match="entry 1: ") as error:
        take(path, table)
    assert text in str(error.value)
    assert not table.exists()


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("a zone of another region", {"zone": "eastus-1"}),
    ("a disk that is too small", {"nodeclass": {"osDiskSizeGB": 5}}),
    ("a priority that Azure does not have", {"priority": "reserved"}),
]


@pytest.mark.parametrize("change", [change for _, change in REFUSED], ids=[name for name, _ in REFUSED])
def test_an_entry_without_a_machine_is_refused_before_anything_is_written(
    change: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, table = tmp_path / "facts.yaml", tmp_path / "clusters.yaml"
    path.write_text(yaml.safe_dump([entry(), {**entry(), **change}]), encoding="utf-8")
    with pytest.raises(SystemExit) as left:
        recorded(["--take", str(path)], table)
    assert left.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"{path}: entry 2: the simulation launches no machine of it: ")
    assert not table.exists()


def test_a_line_about_a_strangers_file_moves_no_cursor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text(yaml.safe_dump([{**entry(), "\x1b[2J": "a"}]), encoding="utf-8")
    with pytest.raises(SystemExit):
        recorded(["--take", str(path)], tmp_path / "clusters.yaml")
    assert "\x1b" not in capsys.readouterr().err


def _mode(items: list[dict[str, Any]]) -> None:
    for obj in items:
        if obj["kind"] in ("Node", "NodeClaim"):
            obj["metadata"]["labels"]["kubernetes.azure.com/mode"] = "system"
        if obj["kind"] == "NodePool":
            obj["spec"]["template"]["metadata"] = {"labels": {"kubernetes.azure.com/mode": "system"}}


@pytest.mark.parametrize(
    ("plant", "options", "why"),
    [
        (_mode, (), "what may be shared makes a machine with another labels.kubernetes.azure.com/mode"),
        (
            lambda items: None,
            ("--option", "vm-memory-overhead-percent=0.2"),
            "what may be shared makes a machine with another allocatable.memory",
        ),
    ],
    ids=["a label of the template", "an option"],
)
def test_machines_that_an_entry_does_not_make_are_left_out(
    plant: Callable[[list[dict[str, Any]]], None],
    options: tuple[str, ...],
    why: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    items = objects()
    plant(items)
    facts = tmp_path / "facts.yaml"
    main(["reality", str(written(tmp_path, items)), "--region", "westeurope", "--facts", str(facts), *options])
    out = capsys.readouterr().out
    assert f": {why}" in out
    assert "left out of the facts, " in out
    entries = yaml.safe_load(facts.read_text(encoding="utf-8"))
    table = tmp_path / "clusters.yaml"
    assert take(facts, table) == len(entries) < 2
    assert {row.verdict for row in cluster_rows(table)} <= {Verdict.EXACT}


@pytest.mark.parametrize("text", ["a: b", "[unclosed", "[1]", "[" * 3000])
def test_what_is_no_facts_file_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "facts.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"facts.yaml: "):
        take(path, tmp_path / "clusters.yaml")


def test_json_stays_one_document_with_facts_to_share(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shared = tmp_path / "facts.yaml"
    main(["reality", str(dump(tmp_path)), "--region", "westeurope", "--format", "json", "--facts", str(shared)])
    value = json.loads(capsys.readouterr().out)
    assert value["left_out"] == {}
    assert value["shared"] == yaml.safe_load(shared.read_text(encoding="utf-8"))  # shown before it is written
