"""CRD files in place of our tables: `given.crds`, `harness run --crds`, `harness dev answer --crds`, their mistakes in a line each."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from harness.cli import main
from harness.clusters.control_plane.crds import crd_manifests
from harness.karpenter.validation import crd_set

pytest.importorskip("cel_expr_python")

POOL = """---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  weight: 60
  template:
    metadata: {labels: {kubernetes.azure.com/podnetwork: overlay}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: []
"""
REFUSED = f"""
scenario: x
then: [{{rejected: {{object: NodePool/default, layer: crd-cel, key: kubernetes.azure.com/podnetwork}}}}]
{POOL}"""
HEAVY = f"""
scenario: x
given: {{crds: mine}}
then: [{{rejected: {{object: NodePool/default, layer: crd-schema, path: spec.weight}}}}]
{POOL.replace("kubernetes.azure.com/podnetwork", "team")}"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder `mine` with CRDs of 1.14.0, and one rule of ours: no weight above 50."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    for definition in crd_manifests(crd_set("1.14.0")):
        text = json.dumps(definition).replace('"maximum": 100', '"maximum": 50')
        (tmp_path / "mine" / f"{definition['metadata']['name']}.yaml").write_text(text)
    return tmp_path


def test_files_judge_in_place_of_the_tables(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "refused.yaml").write_text(REFUSED.replace("weight: 60", "weight: 50"))
    (here / "heavy.yaml").write_text(HEAVY)
    (here / "tables.yaml").write_text(HEAVY.replace("crds: mine", "crds: 1.14.0"))
    assert main(["run", "refused.yaml", "--crds", "mine"]) == 0
    assert main(["run", "refused.yaml", "--crds", "1.14.0"]) == 0
    assert main(["run", "heavy.yaml"]) == 0
    capsys.readouterr()
    assert main(["run", "tables.yaml"]) == 1
    assert "then[0].rejected" in capsys.readouterr().out
    assert main(["run", "tables.yaml", "--crds", "mine"]) == 0
    assert main(["run", "heavy.yaml", "--crds", "v1.13.1"]) == 1


BAD = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: x}\nspec: {}\n"


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (None, None, "unknown release 'other', and no directory "),
        ("readme.txt", "", "no CustomResourceDefinition in its YAML files"),
        ("bad.yaml", "a: [", "bad.yaml:2:1: not YAML: "),
        ("bad.yaml", BAD, "bad.yaml:4:1: not a CustomResourceDefinition of apiextensions.k8s.io/v1"),
    ],
)
@pytest.mark.parametrize("as_option", [True, False])
def test_what_cannot_be_used_is_one_line(
    here: Path, capsys: pytest.CaptureFixture[str], file: str | None, text: str | None, message: str, as_option: bool
) -> None:
    if file is not None and text is not None:
        (here / "other").mkdir()
        (here / "other" / file).write_text(text)
    (here / "heavy.yaml").write_text(HEAVY if as_option else HEAVY.replace("crds: mine", "crds: other"))
    assert main(["run", "heavy.yaml", *(("--crds", "other") if as_option else ())]) == 2
    error = capsys.readouterr().err
    own = f"{Path('other', file)}:" if ":" in message else "heavy.yaml:3:9: given.crds: "
    assert error.startswith("harness run: --crds: " if as_option else own)
    assert message in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("arguments", [("run", "heavy.yaml"), ("run", "heavy.yaml", "--crds", "mine")])
def test_without_the_engine(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    _without_engine(monkeypatch)
    (here / "heavy.yaml").write_text(HEAVY)
    assert main(arguments) == 3
    assert capsys.readouterr().err == (
        'evaluating CRD files needs a CEL engine: pip install "karpenter-azure-harness[crds]"\n'
    )


def test_answers(here: Path, capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    pool = {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "x"}, "spec": {"weight": 60}}
    line = json.dumps({"id": 1, "op": "validate_nodepool", "object": pool}).encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(line)))
    assert main(["dev", "answer", "--crds", "mine"]) == 0
    errors = json.loads(capfdbinary.readouterr().out)["answer"]["crd"]["errors"]
    assert "spec.weight in body should be less than or equal to 50" in {error["detail"] for error in errors}
    assert main(["dev", "answer", "--crds", "nowhere"]) == 2
    assert capfdbinary.readouterr().err == b"harness dev answer: nowhere: no such directory\n"
    _without_engine(monkeypatch)
    assert main(["dev", "answer", "--crds", "mine"]) == 3


def _without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from harness.clusters import cel_engine

    cel_engine._environment.cache_clear()
    cel_engine._check.cache_clear()
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)


def test_a_duration_that_only_these_crds_take(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """CRDs of other releases have other patterns; Karpenter's parser stays what it is (time.ParseDuration)."""
    for file in (here / "mine").glob("*nodepools*"):
        definition = json.loads(file.read_text())
        for version in definition["spec"]["versions"]:
            spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["template"]["properties"][
                "spec"
            ]
            spec["properties"]["expireAfter"].pop("pattern", None)
        file.write_text(json.dumps(definition))
    pool = (
        POOL.replace("      requirements: []", "      expireAfter: 1hr\n      requirements: []")
        .replace("60", "50")
        .replace("kubernetes.azure.com/podnetwork", "team")
    )
    (here / "x.yaml").write_text("scenario: x\nthen: [{pods: {bound: 0}}]\n" + pool)
    assert main(["run", "x.yaml", "--crds", "mine"]) == 2
    (said,) = [line.strip() for line in capsys.readouterr().out.splitlines() if "these CRDs take" in line]
    assert said.removeprefix("error: ").startswith(
        "x.yaml:13:7: spec.template.spec.expireAfter: these CRDs take '1hr', and Karpenter cannot read it: "
    )


def test_a_duration_of_a_budget_that_only_these_crds_take(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Unlike `expireAfter` it is a metav1.Duration, so `Never` is none either (core pkg/apis/v1/nodepool.go, Budget.Duration)."""
    for file in (here / "mine").glob("*nodepools*"):
        definition = json.loads(file.read_text())
        for version in definition["spec"]["versions"]:
            spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
            budgets = spec["disruption"]["properties"]["budgets"]
            budgets["items"]["properties"]["duration"].pop("pattern", None)
        file.write_text(json.dumps(definition))
    pool = POOL.replace("60", "50").replace("kubernetes.azure.com/podnetwork", "team")
    pool += """\
  disruption:
    consolidateAfter: Never
    budgets:
    - {nodes: "1"}
    - {nodes: "2", schedule: "@daily", duration: 1hr}
    - {nodes: "3", schedule: "@daily", duration: Never}
"""
    (here / "x.yaml").write_text("scenario: x\nthen: [{pods: {bound: 0}}]\n" + pool)
    assert main(["run", "x.yaml", "--crds", "mine"]) == 2
    first, second = (line for line in capsys.readouterr().out.splitlines() if "these CRDs take" in line)
    what = "spec.disruption.budgets[{}].duration: these CRDs take '{}', and Karpenter cannot read it: "
    assert what.format(1, "1hr") in first
    assert what.format(2, "Never") in second
    assert "x.yaml:18:" in first


@pytest.mark.parametrize("how", ["not served", "not there"])
def test_a_version_that_these_crds_do_not_serve(here: Path, how: str) -> None:
    """kube-apiserver has no such resource then, and kubectl no match for the kind."""
    from harness.clusters.crd_files import CrdFiles
    from harness.world import World

    for file in (here / "mine").glob("*aksnodeclasses*"):
        definition = json.loads(file.read_text())
        for version in definition["spec"]["versions"]:
            if version["name"] == "v1beta1":
                version |= {"served": False} if how == "not served" else {"name": "v1gamma1"}
        file.write_text(json.dumps(definition))
    world = World(crds=CrdFiles(here / "mine"))
    (refused,) = world.apply(
        {"apiVersion": "karpenter.azure.com/v1beta1", "kind": "AKSNodeClass", "metadata": {"name": "x"}, "spec": {}}
    )
    assert refused.text.startswith(
        'no matches for kind "AKSNodeClass" in version "karpenter.azure.com/v1beta1", which the CRDs of '
    )
    assert world.list("AKSNodeClass") == []


@pytest.mark.parametrize("command", ["simulate", "explain", "validate"])
def test_a_duration_that_is_too_long_for_karpenter(
    here: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    """The CRDs take any number of hours, and Go's durations end after 292 years: Karpenter's client cannot read its NodePools."""
    pool = POOL.replace("      requirements: []", "      expireAfter: 99999999h\n      requirements: []")
    (here / "x.yaml").write_text(pool)
    assert main([command, "x.yaml"]) == 2
    said = capsys.readouterr().err.splitlines()
    (line,) = [each for each in said if "expireAfter" in each]
    assert "the CRDs take '99999999h', and Karpenter cannot read it: time: invalid duration" in line
    assert line.endswith("for no end write Never")
