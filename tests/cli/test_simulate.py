"""`harness explain` and `harness simulate`: what they print, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli import main
from harness.cli.output import fitted
from harness.explain.pods import render
from tests.cli.command import POOL, as_json, call

NEWEST = "{key: node.kubernetes.io/instance-type, operator: In, values: [Standard_D2s_v7]}"

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
    assert "It would help to set the label team: blue in NodePool default" in out
    value = as_json(capsys, "explain", "pod.yaml", "pool.yaml", "--pod", "web")
    assert value["pods"][0]["state"] == "bound"
    assert value["guessed"].keys() == {"Standard_D2pls_v6"}  # the cheapest on spot, in a zone that is a guess
    code, out, _ = call(capsys, "explain", "pod.yaml", "--size", "Standard_DC4as_v5")
    assert "Standard_DC4as_v5: not an instance type, dropped by the filter confidential" in out
    assert "guessed" not in out  # a dropped size's zones decide nothing
    code, out, _ = call(capsys, "explain", "pod.yaml", "--size", "Standard_D4s_v7")
    assert "the zones of Standard_D4s_v7 in eastus are guessed (those of standardDSv5Family" in out
    code, _, err = call(capsys, "explain", "pod.yaml", "--size", "Standard_D4s_v55")
    assert code == 2
    assert err.startswith(
        "harness explain: --size: unknown size 'Standard_D4s_v55' in eastus; did you mean 'Standard_D4s_v5'"
    )
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
    assert "guessed" not in out  # the zones of the cheapest size are recorded
    assert code == 0
    newest = POOL.replace("values: [spot]}]", f"values: [on-demand]}}, {NEWEST}]")
    (here / "newest.yaml").write_text(POD + "---" + newest)
    code, out, _ = call(capsys, "simulate", "newest.yaml")
    assert (
        "the zones of Standard_D2s_v7 in eastus are guessed (those of standardDSv5Family, the nearest family recorded in eastus);"
        " with other zones the answer could differ\n"
    ) in out
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
    (here / "all.yaml").write_text(
        POD.replace("{team: blue}", "{karpenter.azure.com/sku-cpu: '2', karpenter.azure.com/sku-family: E}")
    )
    fault = ("--fault", "SkuNotAvailable,times=always")
    refused = as_json(capsys, "simulate", "all.yaml", *fault)["refused_by_azure"]
    sizes = {one["size"] for one in refused}
    assert len(sizes) > 10
    _, out, _ = call(capsys, "simulate", "all.yaml", *fault)
    (line,) = [line for line in out.splitlines() if line.startswith("Azure refused")]
    assert line.startswith(f"Azure refused {len(refused)} requests with SkuNotAvailable for {len(sizes)} sizes: Stan")
    assert "Azure refuses it with SkuNotAvailable" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--quota", "cores"), "--quota cores: NAME=N with a whole number"),
        (("--fault", "SkuNotAvailable,zon=1"), "--fault SkuNotAvailable,zon=1: unknown part 'zon=1'"),
        (
            ("--fault", "SkuNotAvailabel"),
            "--fault SkuNotAvailabel: unknown value 'SkuNotAvailabel'; did you mean 'SkuNotAvailable'?",
        ),
        (("--region", "eastu"), "--region: unknown region 'eastu'; did you mean 'eastus' or "),
        (
            ("--quota", "lowPriorityCoers=1"),
            "--quota lowPriorityCoers=1: unknown usage 'lowPriorityCoers'; did you mean 'low",
        ),
        (("--mode", "scriptless"), "--mode: unknown provision mode 'scriptless'; did you mean 'aksscriptless'"),
        (("--region", "mars"), "--region: unknown region 'mars'; one of australiacentral, "),
        (("--quota", "foo=3"), "--quota foo=3: unknown usage 'foo'; known are availabilitySets, cores, "),
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


def test_replicas_that_wait_for_the_same_are_told_once(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    template = "{metadata: {labels: {app: web}}, spec: " + POD[POD.index("spec: ") + len("spec: ") :].strip() + "}"
    workload = "{{replicas: {count}, selector: {{matchLabels: {{app: web}}}}, template: {template}}}"
    words: list[object] = []
    monkeypatch.setattr(render, "pool_lines", lambda pool, size, **how: words.append(pool) or ())
    monkeypatch.setattr(render, "pool_value", lambda pool: words.append(pool) or {})
    for count in (2, 40):
        spec = workload.format(count=count, template=template)
        manifest = f"{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {spec}}}\n"
        (here / "web.yaml").write_text(manifest)
        words.clear()
        value = as_json(capsys, "simulate", "web.yaml")
        assert value["pods"]["pending"] == count
        (told,) = value["pending"]
        assert len({told["pod"], *told["alike"]}) == count
        assert len(words) == 1
        assert f"Deployment/web, {count} pods: pending" in call(capsys, "simulate", "web.yaml")[1]
        assert len(words) == 2


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: c, resources: {requests: {cpu: 1500m}}}]}
"""


def test_pods_go_by_their_workload(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "all.yaml").write_text(POD + "---" + DEPLOYMENT)
    code, out, _ = call(capsys, "explain", "all.yaml", "--pod", "Deployment/web")
    lines = out.splitlines()
    assert (code, lines[3]) == (0, "3 pods: 3 bound, 0 pending")
    assert lines[5].startswith("Deployment/web, 3 pods: bound on ")
    assert call(capsys, "explain", "all.yaml", "--pod", "deployment/default/web")[1] == out
    assert "Pod/web: pending" in call(capsys, "explain", "all.yaml", "--pod", "web")[1]
    code, _, err = call(capsys, "explain", "all.yaml", "--pod", "Deployment/wep")
    assert (code, err) == (2, "harness explain: there is no pod Deployment/wep; did you mean 'Deployment/web'?\n")


def test_existing_nodes_have_their_price(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node = """
apiVersion: v1
kind: Node
metadata:
  name: aks-system-1
  labels:
    node.kubernetes.io/instance-type: Standard_D4s_v5
    topology.kubernetes.io/zone: eastus-1
    kubernetes.azure.com/scalesetpriority: SPOT
"""
    (here / "all.yaml").write_text(node.replace("SPOT", "regular") + "---" + DEPLOYMENT)
    value = as_json(capsys, "simulate", "all.yaml")
    prices = value["prices"]
    assert prices["existing"] == 0.192  # Standard_D4s_v5 in eastus
    assert prices["new"] > 0
    assert value["price_per_hour"] == round(prices["existing"] + prices["new"], 6)
    assert "(0.1920 for 1 existing, " in call(capsys, "simulate", "all.yaml")[1]
    (here / "all.yaml").write_text(node.replace("SPOT", "spot"))
    prices = as_json(capsys, "simulate", "all.yaml")["prices"]
    assert (prices["existing"], prices["guessed"], prices["as_on_demand"]) == (0.02112, ["Standard_D4s_v5"], [])
    assert (
        "the price on spot of Standard_D4s_v5 is guessed: no list of eastus is recorded"
        in call(capsys, "simulate", "all.yaml")[1]
    )


def test_durations_of_the_simulation_are_said_to_be_virtual(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "all.yaml").write_text(DEPLOYMENT)
    assert "s of virtual time" in call(capsys, "simulate", "all.yaml")[1]
