"""The other way of AKS's how-to: taints and tolerations keep agent pools and NodePools apart while workloads move one by one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner
from harness.testing import daemonset, deployment
from harness.world import World
from tests.cli.command import as_json, call
from tests.migrate.pools import cluster, pool

SYSTEM = pool("sys", mode="System", nodeTaints=["CriticalAddonsOnly=true:NoSchedule"])
APPS = pool("apps", count=3, nodeLabels={"team": "shop"}, nodeTaints=["team=shop:NoSchedule"])
TOLERATION = {"key": "team", "operator": "Exists"}
BUDGET = {
    "apiVersion": "policy/v1",
    "kind": "PodDisruptionBudget",
    "metadata": {"name": "web"},
    "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "web"}}},
}
ALONE = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "alone"},
    "spec": {
        "tolerations": [TOLERATION],
        "containers": [{"name": "a", "image": "a", "resources": {"requests": {"cpu": "1"}}}],
    },
}


@pytest.fixture
def answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Any:
    monkeypatch.chdir(tmp_path)
    objects = [
        deployment("web", 3, cpu="1", tolerations=[TOLERATION]),
        deployment("api", 2, cpu="500m", tolerations=[TOLERATION], nodeSelector={"agentpool": "apps"}),
        daemonset("logs", tolerations=[TOLERATION]),
        BUDGET,
        ALONE,
    ]
    Path("cluster.json").write_text(json.dumps(cluster(SYSTEM, APPS, currentKubernetesVersion="1.34.2")))
    Path("dump.yaml").write_text(yaml.safe_dump_all(objects))
    return as_json(capsys, "migrate", "cluster.json", "dump.yaml", "--side-by-side", "-o", "nap")


def story_until(step: Any, *, taint: bool = True) -> World:
    """Run the story up to the first step that this is true of; without `taint` the NodePools keep nothing off."""
    header, *objects = yaml.safe_load_all(Path("nap/move.yaml").read_text())
    steps = header["when"]
    header["when"] = steps[: next(index for index, one in enumerate(steps) if step(one))]
    header["then"] = [{"pods": {"bound": {"atLeast": 0}}}]
    for obj in objects:
        if obj["kind"] == "NodePool" and not taint:
            del obj["spec"]["template"]["spec"]["taints"]
    (scenario,) = load_text(yaml.safe_dump_all([header, *objects], sort_keys=False), file="until.yaml")
    run, _ = Runner().examine(scenario.cases[0])
    return run.world


def tolerates_nodepools(step: Any) -> bool:
    return (
        isinstance(step, dict) and "nap-block" in json.dumps(step.get("patch", {})) and "logs" not in json.dumps(step)
    )


def loses_taint(step: Any) -> bool:
    return isinstance(step, dict) and str(step.get("patch", {}).get("of")).startswith("NodePool/")


def karpenters(world: World) -> set[str]:
    return {
        node["metadata"]["name"] for node in world.list("Node") if "karpenter.sh/nodepool" in node["metadata"]["labels"]
    }


def placed(world: World, app: str) -> list[bool]:
    """Return whether each pod of a workload is on one of Karpenter's Nodes."""
    nodes = karpenters(world)
    pods = [pod for pod in world.list("Pod") if (pod["metadata"].get("labels") or {}).get("app") == app]
    return [pod["spec"].get("nodeName") in nodes for pod in pods]


def test_everything_moves_and_budgets_hold(answer: Any, capsys: pytest.CaptureFixture[str]) -> None:
    move = answer["move"]
    assert (move["left"], move["undercut"], move["holds"]) == ([], [], True)
    assert {row["workload"]: row["verdict"] for row in answer["workloads"]}["Pod/alone"] == "moves as it is"
    assert move["most"]["usd_per_hour"] > move["before"]["usd_per_hour"]
    (web,) = [row for row in move["ready"] if row["workload"] == "Deployment/web"]
    assert web["least"] >= 2
    assert call(capsys, "run", "nap/move.yaml")[0] == 0


def test_workloads_stay_on_their_pool_until_it_is_their_turn(answer: Any) -> None:
    before = story_until(tolerates_nodepools)
    assert (karpenters(before), placed(before, "web"), placed(before, "api")) == (set(), [False] * 3, [False] * 2)
    after = story_until(loses_taint)
    assert (placed(after, "web"), placed(after, "api")) == ([True] * 3, [True] * 2)


def test_taints_and_tolerations_are_gone_in_the_end(answer: Any) -> None:
    header, *_ = yaml.safe_load_all(Path("nap/move.yaml").read_text())
    patches = {
        step["patch"]["of"]: step["patch"]["to"]
        for step in header["when"]
        if isinstance(step, dict) and "patch" in step
    }
    assert patches["NodePool/apps"]["spec"]["template"]["spec"]["taints"] == [
        {"key": "team", "value": "shop", "effect": "NoSchedule"}
    ]
    assert patches["Deployment/web"]["spec"]["template"]["spec"]["tolerations"] == [TOLERATION]
    taints = [
        step["agentPool"].get("taint") for step in header["when"] if isinstance(step, dict) and "agentPool" in step
    ]
    assert taints[0] == ["team=shop:NoSchedule", "autoscaling.azure.com/cas-block=true:NoSchedule"]


def test_without_the_taints_both_make_machines_for_the_same_pods(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    scales = pool("apps", count=2, enableAutoScaling=True, minCount=1, maxCount=8)
    Path("cluster.json").write_text(json.dumps(cluster(SYSTEM, scales, currentKubernetesVersion="1.34.2")))
    Path("dump.yaml").write_text(yaml.safe_dump(deployment("web", 4, cpu="1")))
    answer = as_json(capsys, "migrate", "cluster.json", "dump.yaml", "--side-by-side", "-o", "nap")
    doubled = answer["withoutTaints"]
    assert (doubled["workload"], doubled["pods"]) == ("Deployment/web", 4)
    assert (doubled["before"]["ofPools"], doubled["before"]["karpenters"]) == (4, 0)
    assert doubled["karpenterAlone"]["ofPools"] == doubled["before"]["ofPools"]
    assert doubled["both"]["karpenters"] >= doubled["karpenterAlone"]["karpenters"] > 0
    assert doubled["both"]["ofPools"] > doubled["before"]["ofPools"]
    assert doubled["both"]["usd_per_hour"] > doubled["karpenterAlone"]["usd_per_hour"]
    assert call(capsys, "run", "nap/without-taints.yaml")[0] == 0
    code, out, _ = call(capsys, "migrate", "cluster.json", "dump.yaml", "--side-by-side", "--html", "plan.html")
    assert code == 0
    assert "if the taints are forgotten, 4 more pods of Deployment/web" in Path("plan.html").read_text()
    assert "if the taints are forgotten, 4 more pods of Deployment/web than the nodes hold get " in out
    assert "withoutTaints" not in as_json(capsys, "migrate", "cluster.json", "dump.yaml")
