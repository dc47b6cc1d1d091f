"""The subcommands: what they print, and the exit codes 0 ok, 1 an expectation failed, 2 bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.cli import COMMANDS, main
from harness.cli.output import fitted

GOOD = "scenario: x\nthen: [{requirements: {of: Standard_D4s_v5, are: {karpenter.azure.com/sku-cpu: 4}}}]\n"
WRONG = GOOD.replace(": 4}", ": 5}")
POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    metadata: {labels: {team: blue}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    code, out, err = call(capsys, *arguments, "--format", "json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_run(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "good.yaml").write_text(GOOD)
    (here / "wrong.yaml").write_text(WRONG)
    (here / "manifest.yaml").write_text(POOL)
    code, out, err = call(capsys, "run", "good.yaml")
    assert (code, err) == (0, "")
    assert out.startswith("1 passed (1 expectations) in ")
    code, out, _ = call(capsys, "run", ".", "--junit", "junit.xml", "--html", "page.html")
    assert code == 1
    assert "FAILED wrong.yaml::x" in out
    assert "wrong.yaml:2:51: then[0].requirements.are.karpenter.azure.com/sku-cpu" in out
    assert (here / "junit.xml").read_text().startswith("<?xml")
    assert "<!doctype html>" in (here / "page.html").read_text()
    code, out, _ = call(capsys, "run", ".", "-k", "good", "--format", "json")
    assert code == 0
    assert json.loads(out)["counts"] == {"passed": 1}


def test_bad_input_is_lines_and_exit_code_2(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "a.yaml").write_text("scenario: x\nthn: []\nthen: [{pods: {bnd: 1}}]\n")
    (here / "b.yaml").write_text("scenario: x\ngiven: {region: mars}\nthen: [{pods: {bound: 1}}]\n")
    code, out, err = call(capsys, "run", "a.yaml", "b.yaml", "none.yaml")
    assert (code, out) == (2, "")
    lines = err.splitlines()
    assert [line.split(": ")[0] for line in lines] == ["a.yaml:2:1", "a.yaml:3:16", "b.yaml:2:9", "none.yaml:1:1"]
    code, out, err = call(capsys, "run", "a.yaml", "--format", "json")
    assert (code, err) == (2, "")
    assert len(json.loads(out)["problems"]) == 2
    (here / "empty").mkdir()
    folder = "no scenarios found in empty (YAML files that begin with 'scenario: NAME', or lie in a folder scenarios)\n"
    assert call(capsys, "run", "empty") == (2, "", folder)
    (here / "good.yaml").write_text(GOOD)
    assert call(capsys, "run", "good.yaml", "-k", "qq") == (
        2,
        "",
        "no scenarios found whose id contains 'qq' in good.yaml\n",
    )
    assert call(capsys, "run", "good.yaml", "--html", "no/a.html") == (
        2,
        "",
        "--html no/a.html: there is no folder no\n",
    )
    assert call(capsys, "run", "good.yaml", "--junit", "empty") == (2, "", "--junit empty: is a folder\n")


def test_a_mistake_found_while_running_does_not_hide_other_cases(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = "scenario: late\nwhen: [{delete: [Pod/none]}]\nthen: [{pods: {bound: 0}}]\n---\n"
    (here / "a.yaml").write_text(late + WRONG)
    code, out, err = call(capsys, "run", "a.yaml")
    assert (code, err) == (2, "a.yaml:2:8: when: there is no Pod/none at this point\n")
    assert "FAILED a.yaml::x" in out
    code, out, _ = call(capsys, "run", "a.yaml", "--format", "json")
    assert code == 2
    value = json.loads(out)
    assert (value["counts"], len(value["problems"])) == ({"failed": 1}, 1)


TYPOS = """
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {imageFamly: Ubuntu2204}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  weigth: 5
  limits: {anything/goes: 5}
  template:
    metadata: {labels: {any: thing}}
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, value: [spot]}]
"""
TYPO_LINES = (
    "spec.imageFamly: unknown field 'imageFamly'; did you mean 'imageFamily'?",
    "spec.weigth: unknown field 'weigth'; did you mean 'weight'?",
    "spec.template.spec.requirements[0].value: unknown field 'value'; did you mean 'values' or 'minValues'?",
)


def test_unknown_fields_of_karpenters_resources(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The API server would drop them without a word; kubectl refuses them, as strict as it is by default."""
    header = "scenario: x\nthen: [{pods: {bound: 0}}]\n---"
    (here / "pods.yaml").write_text(TYPOS)
    (here / "x.yaml").write_text(header + TYPOS)
    (here / "wrong.yaml").write_text(header.replace("0", "many") + TYPOS)
    (here / "applied.yaml").write_text("scenario: x\nwhen: [{apply: [pods.yaml]}]\nthen: [{pods: {bound: 0}}]\n")
    commands = (("simulate", "pods.yaml"), ("explain", "pods.yaml"), ("run", "x.yaml"), ("run", "applied.yaml"))
    for command in commands:
        code, _, err = call(capsys, *command)
        assert code == 2
        assert tuple(line.partition(": ")[2] for line in err.splitlines()) == TYPO_LINES
    assert call(capsys, "simulate", "pods.yaml")[2].startswith("pods.yaml:5:8: ")
    lines = call(capsys, "run", "wrong.yaml")[2].splitlines()
    assert tuple(line.partition(": ")[2] for line in lines[1:]) == TYPO_LINES
    # whoever has CRDs of his own may have more fields, and whoever expects a refusal knows what he does
    (here / "crds").mkdir()
    expected = header.replace(
        "[{pods: {bound: 0}}]", "[{rejected: {object: NodePool/default}}, {rejected: {object: AKSNodeClass/default}}]"
    )
    (here / "x.yaml").write_text(expected + TYPOS)
    assert "unknown field" not in call(capsys, "run", "x.yaml")[2]


def test_a_node_class_that_is_refused_has_no_requirements(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "scenario: x\nthen: [{requirements: {of: Standard_D4s_v5, nodeclass: default, absent: [a]}}]\n---"
    refused = "\napiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\nspec: [a]\n"
    (here / "x.yaml").write_text(asked + refused)
    code, out, _ = call(capsys, "run", "x.yaml")
    assert code == 1
    assert "it is refused by crd-schema: spec: Invalid value" in out
    assert "Error" not in out


def test_requirements(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "requirements", "--size", "Standard_D4s_v5", "--region", "eastus")
    assert value["requirements"]["karpenter.azure.com/sku-cpu"] == {"operator": "In", "values": ["4"]}
    assert value["capacity"]["cpu"] == "4"
    assert value["dropped"] is None
    assert as_json(capsys, "requirements", "--size", "Standard_DC4as_v5")["dropped"]["filter"] == "confidential"
    arm = as_json(capsys, "requirements", "--size", "Standard_D4ps_v6")
    assert arm["requirements"]["kubernetes.io/arch"]["values"] == ["arm64"]
    regional = as_json(capsys, "requirements", "--size", "Standard_D2s_v3", "--region", "westcentralus")
    assert {offering["zone"] for offering in regional["offerings"]} == {"0"}


def test_requirements_within_a_nodepool(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pool.yaml").write_text(POOL)
    value = as_json(capsys, "requirements", "--size", "Standard_D4s_v5", "--nodepool", "pool.yaml")
    assert value["requirements"]["karpenter.sh/capacity-type"]["values"] == ["spot"]
    assert value["requirements"]["team"]["values"] == ["blue"]
    (here / "pool.yaml").write_text(POOL.replace("blue", "'-'"))
    code, _, err = call(capsys, "requirements", "--size", "Standard_D4s_v5", "--nodepool", "pool.yaml")
    assert code == 2
    assert err.startswith("pool.yaml:7:")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--size", "Standard_D4s_v55"), "unknown size 'Standard_D4s_v55' in eastus; did you mean 'Standard_D4s_v5'"),
        (("--size", "D4s_v5"), "unknown size 'D4s_v5' in eastus; did you mean 'Standard_D4s_v5'"),
        (("--size", "x", "--region", "eastu"), "unknown region 'eastu'; did you mean 'eastus'"),
        (("--size", "x", "--release", "1.14.9"), "unknown release '1.14.9'; did you mean '1.14.2'"),
    ],
)
def test_requirements_of_what_does_not_exist(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str
) -> None:
    code, out, err = call(capsys, "requirements", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"harness requirements: {text}")


def test_labels(capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "labels", "kubernetes.azure.com/mode", "agentpool", "team")
    rows = {row["key"]: row for row in value["labels"]}
    mode = rows["kubernetes.azure.com/mode"]
    assert (mode["pod"]["schedulable"], mode["nodepool"]["settable"], mode["written"]["value"]) == (True, True, "user")
    assert rows["agentpool"]["nodepool"]["layer"] == "crd-cel"
    assert rows["team"]["pod"]["outcome"] == "no-known-values"
    assert rows["team"]["written"]["on_node"] is False
    assert all(row[cell]["source"] for row in rows.values() for cell in ("pod", "nodepool", "written"))


def test_keys_of_labels() -> None:
    from harness.explain.labels import known_keys
    from harness.karpenter.releases import provider

    release = provider("1.14.0")
    keys = known_keys(release)
    assert len(keys) == len(set(keys))
    assert len(keys) >= 76
    assert release.vocabulary.well_known <= set(keys)


def test_defaults_and_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert as_json(capsys, "defaults")["1.14.0"]["provision_mode"] == "aksscriptless"
    assert "1.34.0" in call(capsys, "defaults", "--release", "v1.14.0")[1]
    code, _, err = call(capsys, "defaults", "--release", "2")
    assert code == 2
    assert err.startswith("harness defaults: unknown release '2'")
    assert json.loads(call(capsys, "schema")[1])["definitions"]["Header"]
    assert call(capsys, "schema", "--reference")[1].startswith("# Scenario files")


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])
    (line,) = capsys.readouterr().out.splitlines()
    assert caught.value.code == 0
    assert line.startswith("harness 0.")
    assert ", provider releases 1.4.0, 1.5.0, " in line
    assert line.endswith(", 1.14.2")


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit) as caught:
            main([name, "--help"])
        assert caught.value.code == 0
        assert "usage: harness" in capsys.readouterr().out


POD = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {nodeSelector: {team: blue}, containers: [{name: c, image: pause, resources: {requests: {cpu: "1"}}}]}
"""


def test_explain(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "pod.yaml").write_text(POD)
    (here / "pool.yaml").write_text(POOL)
    code, out, err = call(capsys, "explain", "pod.yaml")
    assert (code, err) == (0, "")
    assert "added, because no file has one: AKSNodeClass/default, NodePool/default" in out
    assert 'Karpenter says: incompatible requirements, label "team" does not have known values' in out
    assert "It would help to remove team: blue" in out
    value = as_json(capsys, "explain", "pod.yaml", "pool.yaml", "--pod", "web")
    assert value["pods"][0]["state"] == "bound"
    assert len(value["guessed"]) == 1
    code, out, _ = call(capsys, "explain", "pod.yaml", "--size", "Standard_DC4as_v5")
    assert "Standard_DC4as_v5: not an instance type, dropped by the filter confidential" in out
    assert "capabilities of Standard_DC4as_v5" in out
    code, _, err = call(capsys, "explain", "pod.yaml", "--size", "Standard_D4s_v55")
    assert code == 2
    assert err.startswith("harness explain: unknown size 'Standard_D4s_v55' in eastus; did you mean 'Standard_D4s_v5'")
    assert call(capsys, "explain", "pod.yaml", "--pod", "wep") == (
        2,
        "",
        "harness explain: there is no pod wep; did you mean 'default/web'?\n",
    )


def test_simulate(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "all.yaml").write_text(POD + "---" + POOL.replace("[spot]", "[on-demand]"))
    value = as_json(capsys, "simulate", "all.yaml", "--region", "westus2")
    assert value["pods"] == {"bound": 1, "pending": 0}
    assert value["price_per_hour"] > 0
    (node,) = value["nodes"]
    assert node["zone"].startswith("westus2-")
    assert node["bound"] == ["default/web"]
    assert node["labels"]["node.kubernetes.io/instance-type"] == node["size"]
    (claim,) = value["nodeclaims"]
    assert (claim["node"], claim["conditions"]["Initialized"]) == (node["name"], "True")
    value = as_json(capsys, "simulate", "all.yaml", "--fault", "SkuNotAvailable,times=1")
    assert [(one["status"], one["code"]) for one in value["refused_by_azure"]] == [(409, "SkuNotAvailable")]
    assert value["refused_by_azure"][0]["size"].startswith("Standard_")
    assert value["pods"] == {"bound": 1, "pending": 0}
    code, out, _ = call(capsys, "simulate", "all.yaml")
    assert "guessed, not recorded from Azure: zones" in out
    assert code == 0
    assert "1 node, 1 pod bound, 0 pending, 0." in out


def test_simulate_takes_what_kubectl_get_prints(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "got.yaml").write_text(
        """\
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- apiVersion: v1
  kind: Pod
  metadata:
    creationTimestamp: "2026-01-01T00:00:00Z"
    managedFields: []
    name: web
    namespace: default
    resourceVersion: "1234"
    uid: 11111111-2222-3333-4444-555555555555
    labels: {app: web}
  spec:
    containers:
    - {name: c, image: c, resources: {requests: {cpu: "1"}}}
    topologySpreadConstraints:  # as a server from 1.34 on stores it
    - maxSkew: 1
      topologyKey: topology.kubernetes.io/zone
      whenUnsatisfiable: DoNotSchedule
      labelSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}
      matchLabelKeys: [app]
  status: {phase: Pending}
"""
    )
    assert main(["simulate", "got.yaml", "--kubernetes", "1.34.0"]) == 0
    assert "1 pod bound, 0 pending" in capsys.readouterr().out


def test_simulate_that_does_not_settle_says_so(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "class.yaml").write_text(
        "apiVersion: karpenter.azure.com/v1beta1\nkind: AKSNodeClass\nmetadata: {name: default}\n---\n"
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c, image: c}]}\n"
    )
    main(["simulate", "class.yaml"])
    printed = capsys.readouterr().out
    assert "1 pending, 0.0000 USD per hour, not settled after" in printed
    assert "panic: runtime error: invalid memory address or nil pointer dereference [recovered]" in " ".join(
        printed.split()
    )


def test_lines_are_fitted_to_a_terminal_between_words() -> None:
    text = "Pod a: pending\n  Karpenter says: one two three four\n  verylongwordthatdoesnotfit"
    assert fitted(text, 22) == (
        "Pod a: pending\n  Karpenter says: one\n      two three four\n  verylongwordthatdoesnotfit"
    )


def test_many_refusals_are_summed_up(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "all.yaml").write_text(POD.replace("{team: blue}", "{karpenter.azure.com/sku-cpu: '2'}"))
    fault = ("--fault", "SkuNotAvailable,times=always")
    refused = as_json(capsys, "simulate", "all.yaml", *fault)["refused_by_azure"]
    sizes = {one["size"] for one in refused}
    _, out, _ = call(capsys, "simulate", "all.yaml", *fault)
    (line,) = [line for line in out.splitlines() if line.startswith("Azure refused")]
    assert line.startswith(f"Azure refused {len(refused)} requests with SkuNotAvailable for {len(sizes)} sizes: Stan")
    assert "not to be had now in the zones and priorities that fit" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--quota", "cores"), "--quota cores: NAME=N with a whole number"),
        (("--fault", "SkuNotAvailable,zon=1"), "--fault SkuNotAvailable,zon=1: unknown part 'zon=1'"),
        (
            ("--fault", "SkuNotAvailabel"),
            "--fault SkuNotAvailabel: unknown value 'SkuNotAvailabel'; did you mean 'SkuNotAvailable'?",
        ),
        (("--region", "eastu"), "unknown region 'eastu'; did you mean 'eastus' or "),
        (
            ("--quota", "lowPriorityCoers=1"),
            "--quota lowPriorityCoers=1: unknown usage 'lowPriorityCoers'; did you mean 'low",
        ),
        (("--mode", "scriptless"), "unknown provision mode 'scriptless'; did you mean 'aksscriptless'"),
        (("--region", "mars"), "unknown region 'mars'; one of australiacentral, "),
        (("--fault", "quota"), "--fault quota: unknown value 'quota'; known are AgentPoolNotFound, "),
        (
            ("--fault", "SkuNotAvailable,size=D4s_v5"),
            "--fault SkuNotAvailable,size=D4s_v5: unknown size 'D4s_v5'; did you mean 'Standard_D4s_v5'?",
        ),
        (
            ("--fault", "SkuNotAvailable,family=standardDSv3Famly"),
            "--fault SkuNotAvailable,family=standardDSv3Famly: unknown family 'standardDSv3Famly'; did you mean 'stand",
        ),
        (
            ("--fault", "SkuNotAvailable,zone=9"),
            "--fault SkuNotAvailable,zone=9: unknown zone '9'; zones are 1, 2, 3, regional",
        ),
        (
            ("--fault", "SkuNotAvailable,priority=spott"),
            "--fault SkuNotAvailable,priority=spott: unknown priority 'spott'; did you mean 'spot'?",
        ),
        (
            ("--fault", "SkuNotAvailable,zne=1"),
            "--fault SkuNotAvailable,zne=1: unknown part 'zne=1'; did you mean 'zone'?",
        ),
        (("--kubernetes", "latest"), "--kubernetes: a version such as 1.34.2 is expected, not 'latest'"),
        (("--kubernetes", "1.99"), "--kubernetes: Kubernetes 1.99 is not known here; known are 1.26 to 1.37"),
        (("--kubernetes", "1.3"), "--kubernetes: Kubernetes 1.3 is not known here"),
    ],
)
def test_simulate_of_what_does_not_exist(
    here: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], text: str
) -> None:
    (here / "pod.yaml").write_text(POD)
    code, out, err = call(capsys, "simulate", "pod.yaml", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"harness simulate: {text}")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("1}", "1.5.5}"), "pod.yaml:5:"),
        (('cpu: "1"', 'cpu: "-1"'), "pod.yaml:5:"),
        (("kind: Pod", "kind: Pood"), "pod.yaml:3:1: kind: there is no kind 'Pood' in v1; did you mean "),
        (("apiVersion: v1\n", ""), "pod.yaml:2:1: neither a scenario nor a Kubernetes object: 'apiVersion' missing"),
    ],
)
def test_manifests_that_are_refused(
    here: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], text: str
) -> None:
    (here / "pod.yaml").write_text(
        POD.replace('cpu: "1"}', "cpu: 1}").replace(*change) if "1}" in change[0] else POD.replace(*change)
    )
    code, out, err = call(capsys, "explain", "pod.yaml")
    assert (code, out) == (2, "")
    assert err.startswith(text)
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("labels", "agentpool", "--release", "1.6.5"),
        ("labels", "explain", "agentpool", "--release", "1.6.5"),
        ("labels", "diff", "1.6.5", "1.7.2"),
        ("upgrade-check", "--from", "1.6.5", "--to", "1.7.2", "web.yaml"),
    ],
)
def test_a_mode_that_the_release_does_not_know(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "web.yaml").write_text("{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: c}]}}")
    assert main([*arguments, "--mode", "aksmachineapi"]) == 2
    said = "provider 1.6.5 has no provision mode 'aksmachineapi'; it has aksscriptless, bootstrappingclient\n"
    assert capsys.readouterr().err.endswith(said)


def test_a_story_in_a_mode_goes_on_before_there_was_the_mode(capsys: pytest.CaptureFixture[str]) -> None:
    value = as_json(capsys, "labels", "explain", "agentpool", "--mode", "aksmachineapi")
    first, second, *_ = value["releases"]
    assert (first["last"], first["written"]) == ("1.6.8", "no")
    assert (second["first"], second["written"]) == ("1.7.0", "yes (kubelet (aks-rp): aksmanagedap)")
