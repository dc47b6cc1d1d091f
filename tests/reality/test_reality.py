"""`harness reality`: every fact of a dump is in one of three states, a difference is found where it stands, and no secret is shared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.cli import main
from tests.reality.dumps import asked, dump, objects


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
    ("allocatable.cpu", lambda node: node["status"]["allocatable"].update(cpu="1899m")),
    ("capacity.cpu", lambda node: node["status"]["capacity"].update(cpu="1900m")),
    ("capacity.cpu", lambda node: node["status"]["capacity"].update(cpu="-2")),
    ("capacity.memory", lambda node: node["status"]["capacity"].update(memory="1e999")),
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


@pytest.mark.parametrize(
    ("field", "change"), PLANTED, ids=[f"{field} {number}" for number, (field, _) in enumerate(PLANTED)]
)
def test_a_planted_difference_is_found(
    field: str, change: Callable[[dict[str, Any]], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, facts = asked(dump(tmp_path, change), capsys)
    found = [fact for fact in facts if fact["state"] == "different"]
    assert field in {fact["field"] for fact in found}
    assert {fact["object"].partition("/")[0] for fact in found} == {"Node"}
    assert all(fact["place"].startswith(f"{tmp_path}/dump.yaml:") for fact in found)
    assert code == 1


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


BROKEN_POOLS: list[tuple[str, Callable[[dict[str, Any]], None]]] = [
    ("template", lambda pool: pool["spec"].update(template=None)),
    ("template is a list", lambda pool: pool["spec"].update(template=[None])),
    ("template.spec", lambda pool: pool["spec"]["template"].update(spec=None)),
    ("nodeClassRef", lambda pool: pool["spec"]["template"]["spec"].update(nodeClassRef=5)),
    ("spec", lambda pool: pool.update(spec=[None])),
]


@pytest.mark.parametrize(("field", "change"), BROKEN_POOLS, ids=[field for field, _ in BROKEN_POOLS])
def test_a_nodepool_that_is_refused_is_the_reason(
    field: str, change: Callable[[dict[str, Any]], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, facts = asked(dump(tmp_path, change, "NodePool"), capsys)
    (why,) = {fact["why"] for fact in facts}
    assert why.startswith("the simulation launches no machine of it: NodePool/default: spec.")
    assert code == 2


def test_a_condition_without_type_is_no_fact(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, facts = asked(dump(tmp_path, lambda node: node["status"]["conditions"].insert(0, {"status": "True"})), capsys)
    assert (code, [fact for fact in facts if fact["field"] in ("conditions.", "conditions.None")]) == (0, [])


BROKEN: list[tuple[str, str, Callable[[dict[str, Any]], None]]] = [
    ("NodeClaim", "spec", lambda claim: claim.update(spec=[None])),
    ("NodeClaim", "taints", lambda claim: claim["spec"].update(taints=[None])),
    ("NodeClaim", "allocatable", lambda claim: claim["status"].update(allocatable=5, capacity=[1])),
    ("Node", "conditions", lambda node: node["status"].update(conditions="x")),
    ("Node", "taints", lambda node: node["spec"].update(taints=[None])),
    ("Node", "nodeInfo", lambda node: node["status"].update(nodeInfo="x")),
]


@pytest.mark.parametrize(("kind", "field", "change"), BROKEN, ids=[f"{kind} {field}" for kind, field, _ in BROKEN])
def test_a_field_of_another_form_is_told_or_no_fact(
    kind: str, field: str, change: Callable[[dict[str, Any]], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["reality", str(dump(tmp_path, change, kind)), "--region", "westeurope"])
    out, err = capsys.readouterr()
    assert (code, field in err) == (2, True) if kind == "Node" else (code in (0, 1), " facts of 2 objects" in out)


def test_taints_of_one_key_are_two_facts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taints = [{"key": "team", "value": "blue", "effect": effect} for effect in ("NoSchedule", "NoExecute")]
    _, facts = asked(dump(tmp_path, lambda node: node["spec"].update(taints=taints)), capsys)
    told = {fact["field"]: fact["theirs"] for fact in facts if fact["field"].startswith("taints.")}
    assert told == {"taints.team:NoSchedule": "blue", "taints.team:NoExecute": "blue"}


def test_the_taint_of_a_cordoned_node_has_its_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    code, facts = asked(dump(tmp_path, lambda node: node["spec"].update(unschedulable=True, taints=[taint])), capsys)
    told = [(fact["state"], fact["why"]) for fact in facts if fact["field"].startswith("taints.")]
    assert (code, told) == (0, [("not comparable", "the Node is cordoned")])


@pytest.mark.parametrize(
    "absent",
    [lambda info: info.pop("kernelVersion"), lambda info: info.update(kernelVersion="")],
    ids=["no field", "an empty one"],
)
def test_no_version_is_not_another_version(
    absent: Callable[[dict[str, Any]], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, facts = asked(dump(tmp_path, lambda node: absent(node["status"]["nodeInfo"])), capsys)
    assert [(fact["field"], fact["theirs"]) for fact in facts if fact["state"] == "different"] == [
        ("nodeInfo.kernelVersion", "(absent)")
    ]
    assert code == 1


def of_an_agent_pool(obj: dict[str, Any]) -> None:
    del obj["metadata"]["labels"]["karpenter.sh/nodepool"]


def test_nothing_that_can_be_compared_is_no_success(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "node.yaml"
    node = next(obj for obj in objects() if obj["kind"] == "Node")
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
    path.write_text(yaml.safe_dump(next(obj for obj in objects() if obj["kind"] == "NodePool")), encoding="utf-8")
    assert main(["reality", str(path), "--format", "json"]) == 2
    out, err = capsys.readouterr()
    assert json.loads(out)["facts"] == []
    assert err == "harness reality: nothing could be compared: there is no Node and no NodeClaim\n"


NOT_LAUNCHED: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
    (
        "AKSNodeClass",
        lambda nodeclass: nodeclass["spec"].update(imageFamily="Plan9"),
        'AKSNodeClass/default: spec.imageFamily: Unsupported value: "Plan9"',
    ),
    (
        "NodePool",
        lambda pool: pool["spec"]["template"]["spec"]["nodeClassRef"].update(kind="Other"),
        "NodePool default is not used: its nodeClassRef names Other of group karpenter.azure.com, not AKSNodeClass of karpenter.azure.com",
    ),
    (
        "Node",
        lambda node: node["metadata"]["labels"].update({"node.kubernetes.io/instance-type": "Standard_D2_v99"}),
        "no instance type met all requirements",
    ),
]


@pytest.mark.parametrize(("kind", "change", "why"), NOT_LAUNCHED, ids=[kind for kind, _, _ in NOT_LAUNCHED])
def test_why_no_machine_is_launched_is_told(
    kind: str, change: Callable[[dict[str, Any]], None], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, facts = asked(dump(tmp_path, change, kind), capsys)
    reasons = {fact["why"] for fact in facts if fact["object"].startswith("Node/")}
    assert len(reasons) == 1
    assert reasons.pop().startswith(f"the simulation launches no machine of it: {why}")


def test_it_has_no_option_that_it_does_not_heed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        main(["reality", str(dump(tmp_path)), "--fail-on", "pending"])
    assert left.value.code == 2
    assert "--fail-on" in capsys.readouterr().err
