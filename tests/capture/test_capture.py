"""`harness capture`: what leaves a cluster, and that the case runs and says what the cluster does today."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from harness.capture.case import captured
from harness.capture.selection import NothingNamed, Question
from harness.reading.manifests import manifests_of_text
from harness.scenario.expectations.verdicts import Outcome
from harness.scenario.language.dumps import Dump, sorted_dump
from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner
from harness.testing import deployment
from tests.capture.cluster import TELLTALES, cluster
from tests.cli.command import call
from tests.disruption.test_world import pool, world

GIVEN = {"karpenter": "1.14.0", "region": "westeurope", "kubernetes": "1.33.2"}
LONELY = "acme-shop/acme-lonely"


@pytest.fixture(scope="module")
def dump() -> Dump:
    return sorted_dump(manifests_of_text(json.dumps(cluster()), "dump.json"))


def outcome(text: str) -> Outcome:
    (scenario,) = load_text(text, file="case.yaml")
    return Runner().run(scenario.cases[0]).outcome


def objects(text: str) -> list[dict[str, object]]:
    return [one for one in yaml.safe_load_all(text) if "kind" in one]


QUESTIONS = [Question(), Question(keep_placement=True), Question(pod=LONELY), Question(pod=LONELY, keep_placement=True)]
QUESTIONS += [Question(pod="Deployment/acme-shop/acme-deployment-1"), Question(node="aks-acme-8a7b6c5d-vmss000001")]


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_nothing_of_the_cluster_is_left_and_the_case_runs(dump: Dump, question: Question) -> None:
    text = captured(dump, GIVEN, question, anonymise=True)
    left = [line for line in text.lower().splitlines() if any(word in line for word in TELLTALES)]
    assert not left
    assert outcome(text) is Outcome.PASSED


def test_the_same_dump_gives_the_same_bytes(dump: Dump) -> None:
    question = Question(pod=LONELY, keep_placement=True)
    assert captured(dump, GIVEN, question, anonymise=True) == captured(dump, GIVEN, question, anonymise=True)


def test_without_names_in_place_of_names_only_names_are_left(dump: Dump) -> None:
    """Secrets, environment, arguments, images, addresses and Azure's ids go in any case; labels stay."""
    text = captured(dump, GIVEN, Question(), anonymise=False)
    assert "acme-lonely" in text
    left = [
        word
        for word in ("xyzzy", "azurecr", "10.77.", "resourceGroups/acme", "ACME_KEY", "vault", "somebody")
        if word in text
    ]
    assert not left
    assert outcome(text) is Outcome.PASSED


def test_the_same_text_has_the_same_name_everywhere(dump: Dump) -> None:
    """A label of a NodePool, of pods and of the pods' selectors; a Node's name in its labels; a claim and who uses it."""
    text = captured(dump, GIVEN, Question(keep_placement=True), anonymise=True)
    found = objects(text)
    nodes = [one for one in found if one["kind"] == "Node"]
    assert len(nodes) == 6
    assert all(one["metadata"]["labels"]["kubernetes.io/hostname"] == one["metadata"]["name"] for one in nodes)  # type: ignore[index]
    pods = [one for one in found if one["kind"] == "Pod" and "nodeName" in one["spec"]]  # type: ignore[operator]
    assert len(pods) == 40
    assert {one["spec"]["nodeName"] for one in pods} == {one["metadata"]["name"] for one in nodes}  # type: ignore[index]
    assert not [one for one in found if one["kind"] == "Deployment"]  # their pods are there
    (claim,) = (one for one in found if one["kind"] == "PersistentVolumeClaim")
    assert text.count(f"claimName: {claim['metadata']['name']}") == 1  # type: ignore[index]


def test_a_pod_alone_keeps_its_reason(dump: Dump) -> None:
    text = captured(dump, GIVEN, Question(pod=LONELY), anonymise=True)
    kinds = [one["kind"] for one in objects(text)]
    assert sorted(kinds) == ["AKSNodeClass", "DaemonSet", "DaemonSet", "DaemonSet", "NodePool", "Pod"]
    (header,) = (one for one in yaml.safe_load_all(text) if "scenario" in one)
    assert {"pods": {"bound": 0, "pending": 1}} in header["then"]
    (reasons,) = (one["pods"]["pending"] for one in header["then"] if isinstance(one["pods"]["pending"], dict))
    assert "incompatible" in str(reasons)


def test_a_pod_that_is_not_there(dump: Dump) -> None:
    with pytest.raises(NothingNamed, match="there is no pod acme-shop/lonely"):
        captured(dump, GIVEN, Question(pod="acme-shop/lonely"), anonymise=True)


@pytest.mark.parametrize(
    "arguments", [(), ("--anonymise",), ("--anonymise", "--keep-placement"), ("--anonymise", "--node", "aks-acme-8a7b6c5d-vmss000001")]
)  # fmt: skip
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    (tmp_path / "dump.json").write_text(json.dumps(cluster()))
    case = tmp_path / "case.yaml"
    code, out, err = call(capsys, "capture", str(tmp_path / "dump.json"), *arguments, "-o", str(case))
    assert (code, err) == (0, "")
    assert out.startswith(f"{case}: ")
    assert call(capsys, "run", str(case))[0] == 0


def test_mistakes_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "dump.json").write_text(json.dumps(cluster()))
    code, _, err = call(capsys, "capture", str(tmp_path / "dump.json"), "--pod", "acme-shop/acme-lonly")
    assert code == 2
    assert err.startswith("harness capture: there is no pod acme-shop/acme-lonly; did you mean 'acme-shop/acme-lonely'")
    assert call(capsys, "capture")[0] == 2


def test_an_output_that_cannot_be_written_is_told_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = {tmp_path: "is a folder", tmp_path / "no" / "case.yaml": f"there is no folder {tmp_path / 'no'}"}
    for output, why in said.items():
        found = call(capsys, "capture", str(tmp_path / "none.yaml"), "-o", str(output))
        assert found == (2, "", f"harness capture: --output {output}: {why}\n")


def test_nothing_to_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dump, case = tmp_path / "dump.yaml", tmp_path / "case.yaml"
    dump.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n")
    code, out, err = call(capsys, "capture", str(dump), "-o", str(case))
    assert (code, out) == (2, "")
    assert err == "harness capture: there is nothing to capture: no object that decides where pods go\n"
    assert not case.exists()


def test_fields_of_a_newer_crd_are_left_out_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    newer = cluster()
    pool = next(one for one in newer["items"] if one["kind"] == "NodePool")
    pool["spec"]["template"]["spec"]["novelty"] = {"a": 1}
    dump, case = tmp_path / "dump.json", tmp_path / "case.yaml"
    dump.write_text(json.dumps(newer))
    code, _, err = call(capsys, "capture", str(dump), "--pod", LONELY, "-o", str(case))
    assert code == 0
    assert err.startswith(f"left out: {dump}:1:")
    assert err.endswith("spec.template.spec.novelty: unknown field 'novelty'\n")
    assert "novelty" not in case.read_text()
    assert call(capsys, "run", str(case))[0] == 0


HIDDEN = Path(__file__).with_name("hidden.yaml")


@pytest.mark.parametrize(
    "question",
    [(), ("--keep-placement",), ("--pod", "zorg-ns/zorg-p"), ("--node", "zorg-node"), ("--pod", "StatefulSet/zorg-ns/zorg-db")],
    ids=" ".join,
)  # fmt: skip
def test_nothing_is_left_wherever_it_hides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], question: tuple[str, ...]
) -> None:
    """Options of the controller, DNS zones, addresses of ports, fields of Nodes, parameters of classes: every place that is kept."""
    case = tmp_path / "case.yaml"
    code, _, err = call(capsys, "capture", str(HIDDEN), "--anonymise", *question, "-o", str(case))
    assert (code, err) == (0, "")
    left = [line for line in case.read_text().splitlines() if re.search(r"(?i)zorg|10\.77", line)]
    assert not left
    assert call(capsys, "run", str(case))[0] == 0


def test_what_decides_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each of these changes where pods go, or whether a Node goes."""
    case = tmp_path / "case.yaml"
    assert call(capsys, "capture", str(HIDDEN), "--anonymise", "-o", str(case))[0] == 0
    header, *manifests = yaml.safe_load_all(case.read_text())
    of = {one["kind"]: one for one in manifests}
    assert header["given"]["options"] == {"feature-gates": "StaticCapacity=true", "network-plugin": "azure"}
    template = of["NodePool"]["spec"]["template"]
    assert template["metadata"]["annotations"] == {"karpenter.sh/do-not-disrupt": "true"}
    assert {"operator": "Gt", "values": ["123456"]}.items() <= template["spec"]["requirements"][1].items()
    assert of["AKSNodeClass"]["spec"]["localDNS"]["mode"] == "Required"
    assert of["StorageClass"]["parameters"] == {"skuName": "Premium_ZRS"}
    assert of["StorageClass"]["metadata"]["annotations"] == {"storageclass.kubernetes.io/is-default-class": "true"}
    assert of["RuntimeClass"]["overhead"] == {"podFixed": {"cpu": "100m"}}
    assert [one["type"] for one in of["Node"]["status"]["conditions"]] == ["Ready"]
    spec = of["Pod"]["spec"]
    assert spec["runtimeClassName"] == of["RuntimeClass"]["metadata"]["name"]
    (term,) = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchFields"] == [{"key": "metadata.name", "operator": "NotIn", "values": ["node-1"]}]
    assert spec["containers"][0]["ports"][0]["hostIP"] == "192.0.2.1"


def test_a_class_that_is_only_the_default(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A claim of a StatefulSet that names no class gets the cluster's own."""
    case = tmp_path / "case.yaml"
    assert (
        call(capsys, "capture", str(HIDDEN), "--pod", "StatefulSet/zorg-ns/zorg-db", "--anonymise", "-o", str(case))[0]
        == 0
    )
    assert "kind: StorageClass" in case.read_text()


def test_why_a_node_stays_is_the_same_in_the_case(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    of = world(pool(), deployment("big", 4), deployment("small", 1, "500m"))
    of.apply(deployment("big", 0))
    of.settle()
    of.advance(25)
    kinds = ("NodePool", "AKSNodeClass", "Node", "NodeClaim", "Pod", "Deployment", "ReplicaSet")
    (tmp_path / "dump.yaml").write_text(
        yaml.safe_dump_all([json.loads(json.dumps(one)) for kind in kinds for one in of.list(kind)])
    )
    case, (node,) = tmp_path / "case.yaml", [one["metadata"]["name"] for one in of.list("Node")]
    told = call(capsys, "explain", str(tmp_path / "dump.yaml"), "--node", node)
    assert call(capsys, "capture", str(tmp_path / "dump.yaml"), "--node", node, "--anonymise", "-o", str(case))[0] == 0
    again = call(capsys, "explain", str(case), "--node", "node-1")
    assert told[0] == again[0] == 0
    answer = told[1][told[1].index("It can go: ") :].replace(node, "node-1")
    assert again[1].endswith(answer)


@pytest.mark.slow
def test_the_way_to_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """As docs/how-to/report-a-bug.md says it, to the end: 150 objects captured, made small, run and explained, and nothing of them left."""
    made = cluster()
    assert len(made["items"]) == 150
    (tmp_path / "dump.json").write_text(json.dumps(made))
    case, small = tmp_path / "case.yaml", tmp_path / "small.yaml"
    question = ("--pod", LONELY, "--anonymise")
    assert call(capsys, "capture", str(tmp_path / "dump.json"), *question, "-o", str(case))[0] == 0
    code, out, _ = call(capsys, "shrink", str(case), "--keep", "pending=label", "-o", str(small))
    assert code == 0
    assert "nothing more can go" in out
    text = small.read_text()
    assert len(text.encode()) < 1024
    assert len(objects(text)) <= 4
    assert not [word for word in TELLTALES if word in text.lower()]
    assert call(capsys, "run", str(small))[0] == 0
    code, out, _ = call(capsys, "explain", str(small))
    assert code == 0
    assert "Karpenter says: incompatible requirements, label " in out
