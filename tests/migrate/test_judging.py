"""Each workload is asked of the Node it ran on and of the Node it would get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.testing import daemonset, deployment
from tests.cli.command import as_json, call
from tests.migrate.pools import SUBNET, cluster, pool

APPS = pool("apps", count=3, nodeLabels={"team": "shop"})
SYSTEM = pool("sys", mode="System", count=2, nodeTaints=["CriticalAddonsOnly=true:NoSchedule"])


@pytest.fixture
def judged(here: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def judge(*objects: Any, pools: tuple[Any, ...] = (SYSTEM, APPS), words: tuple[str, ...] = ()) -> Any:
        (here / "cluster.json").write_text(json.dumps(cluster(*pools, currentKubernetesVersion="1.34.2")))
        (here / "dump.yaml").write_text(yaml.safe_dump_all(objects))
        return as_json(capsys, "migrate", "cluster.json", "dump.yaml", *words)

    return judge


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def selecting(key: str, value: str) -> Any:
    return deployment("web", 2, nodeSelector={key: value})


def affine(key: str, *values: str) -> Any:
    term = {"matchExpressions": [{"key": key, "operator": "In", "values": list(values)}]}
    rule = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
    return deployment("web", 2, affinity={"nodeAffinity": rule})


VERDICTS = [
    pytest.param(deployment("web", 2), "moves as it is", "", id="nothing asked"),
    pytest.param(selecting("team", "shop"), "moves as it is", "", id="the pool's own label"),
    pytest.param(
        selecting("kubernetes.azure.com/mode", "user"), "moves as it is", "", id="a label of AKS that both have"
    ),
    pytest.param(selecting("topology.kubernetes.io/zone", "westeurope-2"), "moves as it is", "", id="a zone"),
    pytest.param(selecting("agentpool", "apps"), "needs a line", "", id="the pool"),
    pytest.param(
        affine("kubernetes.azure.com/agentpool", "apps", "other"), "needs a line", "", id="the pool by affinity"
    ),
    pytest.param(
        selecting("storageprofile", "managed"),
        "has no place",
        "nodeSelector storageprofile=managed: the new Node has no such label",
        id="a label that only agent pools have",
    ),
    pytest.param(
        selecting("kubernetes.io/hostname", "aks-apps-1-vmss000000"),
        "has no place",
        "kubernetes.io/hostname",
        id="a Node",
    ),
    pytest.param(selecting("kubernetes.io/os", "windows"), "stays on its agent pool", "Windows", id="windows"),
    pytest.param(
        deployment("web", 2, nodeSelector={"agentpool": "sys"}, tolerations=[{"operator": "Exists"}]),
        "stays on its agent pool",
        "sys, which stays",
        id="the system pool",
    ),
]


@pytest.mark.parametrize(("obj", "verdict", "why"), VERDICTS)
def test_a_verdict(judged: Any, obj: Any, verdict: str, why: str) -> None:
    (found,) = judged(obj)["workloads"]
    assert (found["workload"], found["verdict"]) == ("Deployment/web", verdict)
    assert why in "; ".join(found["why"])


def test_a_label_of_the_pool_becomes_that_of_the_nodepool(judged: Any, here: Path, capsys: Any) -> None:
    (by_selector,) = judged(selecting("agentpool", "apps"))["workloads"]
    assert by_selector["patch"] == {
        "spec": {"template": {"spec": {"nodeSelector": {"agentpool": None, "karpenter.sh/nodepool": "apps"}}}}
    }
    (by_affinity,) = judged(affine("agentpool", "apps", "gone"))["workloads"]
    affinity = by_affinity["patch"]["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term == {"matchExpressions": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": ["apps"]}]}
    code, out, _ = call(capsys, "migrate", "cluster.json", "dump.yaml", "-o", "nap")
    assert code == 0
    command = next(
        line for line in (here / "nap" / "patches.sh").read_text().splitlines() if line.startswith("kubectl")
    )
    assert command.startswith("kubectl patch deployment web -n default --type merge -p ")
    assert f"  {command}" in out.splitlines()
    assert call(capsys, "run", "nap/move.yaml")[0] == 0
    assert call(capsys, "validate", "nap/nodepools.yaml")[0] == 0


def test_a_budget_that_allows_nothing_is_named(judged: Any) -> None:
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"minAvailable": "100%", "selector": {"matchLabels": {"app": "web"}}},
    }
    found = judged(deployment("web", 2), budget)
    (web,) = found["workloads"]
    assert web["verdict"] == "has no place"
    assert web["why"] == ["PodDisruptionBudget/web allows no eviction: minAvailable 100% with 2 pods"]
    assert {pod["workload"] for pod in found["move"]["left"]} == {"Deployment/web"}
    assert found["move"]["undercut"] == []


def test_a_volume_is_named_where_no_machine_can_be(judged: Any) -> None:
    term = {
        "matchExpressions": [{"key": "topology.disk.csi.azure.com/zone", "operator": "In", "values": ["westeurope-3"]}]
    }
    volume: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {
            "capacity": {"storage": "8Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "managed-csi",
            "csi": {"driver": "disk.csi.azure.com", "volumeHandle": "disk"},
            "claimRef": {"namespace": "default", "name": "data"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }
    claim: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "managed-csi",
            "resources": {"requests": {"storage": "8Gi"}},
            "volumeName": "pv",
        },
        "status": {"phase": "Bound"},
    }
    web = deployment("web", 1, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])
    found = judged(volume, claim, web, pools=(SYSTEM, {**APPS, "availabilityZones": ["1", "2"]}))
    (row,) = found["workloads"]
    assert row["verdict"] == "has no place"
    assert row["why"][0].startswith(
        "volume pv of claim data is bound to topology.disk.csi.azure.com/zone in westeurope-3"
    )


def test_a_daemonset_that_misses_the_new_nodes_is_named(judged: Any) -> None:
    agents = [
        daemonset("here", tolerations=[{"operator": "Exists"}]),
        daemonset("gone", nodeSelector={"storageprofile": "managed"}, tolerations=[{"operator": "Exists"}]),
    ]
    found = {row["workload"]: row for row in judged(deployment("web", 2), *agents)["workloads"]}
    assert found["DaemonSet/here"]["verdict"] == "moves as it is"
    assert found["DaemonSet/gone"]["verdict"] != "moves as it is"


def test_pods_without_requests_are_named(judged: Any) -> None:
    (row,) = judged(deployment("web", 2, cpu="", memory=""))["workloads"]
    assert any("Karpenter packs nodes tighter than they were" in note for note in row["notes"])


def test_the_move_is_measured(judged: Any) -> None:
    found = judged(deployment("web", 3, cpu="500m"))["move"]
    assert found["before"]["nodes"] == 5
    assert found["after"]["sizes"] == {"Standard_D4s_v5": 3}
    assert found["most"]["usd_per_hour"] >= found["before"]["usd_per_hour"] > found["after"]["usd_per_hour"]
    assert found["holds"]
    (ready,) = [row for row in found["ready"] if row["workload"] == "Deployment/web"]
    assert (ready["before"], ready["after"]) == (3, 3)


def test_an_own_subnet_is_in_the_story(judged: Any) -> None:
    found = judged(deployment("web", 2), pools=(SYSTEM, {**APPS, "vnetSubnetID": SUBNET}))
    assert found["move"]["left"] == []
    assert found["move"]["holds"]


def test_a_page_shows_the_move(judged: Any, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged(selecting("agentpool", "apps"), pools=(SYSTEM, {**APPS, "podSubnetID": "/x"}))
    code, _, err = call(capsys, "migrate", "cluster.json", "dump.yaml", "--html", "plan.html")
    assert (code, err) == (0, "")
    page = (here / "plan.html").read_text()
    for text in (
        "From agent pools to NodePools",
        '"when":"before","nodes":5',
        "meanwhile, at the most",
        '"when":"after"',
        "Deployment/web needs a line: kubectl patch deployment web",
        "agent pool apps loses podSubnetID /x: ",
    ):
        assert text in page
    code, _, err = call(capsys, "migrate", "cluster.json", "--html", "plan.html")
    assert (code, err) == (
        2,
        "harness migrate: --html: there is no move to show, for no workload is given that could be moved\n",
    )


def test_a_rollout_that_undercuts_a_budget_is_named(judged: Any, capsys: pytest.CaptureFixture[str]) -> None:
    web = selecting("agentpool", "apps")
    web["spec"] |= {
        "replicas": 4,
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 3}},
    }
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"minAvailable": 3, "selector": {"matchLabels": {"app": "web"}}},
    }
    found = judged(web, budget)
    assert found["move"]["undercut"] == ["default/web"]
    assert found["move"]["holds"]
    _, out, _ = call(capsys, "migrate", "cluster.json", "dump.yaml")
    assert "below its PodDisruptionBudget at some moment: default/web" in out.splitlines()


_MACHINE = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}


def _template(**spec: Any) -> dict[str, Any]:
    containers = [{"name": "app", "image": "app", **_MACHINE}]
    return {"spec": {"restartPolicy": "Never", "containers": containers, "nodeSelector": {"agentpool": "apps"}, **spec}}


def test_a_job_is_made_anew_and_its_cronjob_patched(judged: Any, here: Path) -> None:
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": {"template": _template()}}
    cron = {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": _template()}}}
    nightly = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"}, "spec": cron}
    once, later = judged(job, nightly, words=("-o", "nap"))["workloads"]
    assert (once["workload"], once["verdict"], once["patch"]) == ("Job/once", "needs a line", None)
    assert "delete and create it anew" in once["why"][0]
    assert '"karpenter.sh/nodepool": "apps"' in once["why"][0]
    assert (later["workload"], later["verdict"]) == ("CronJob/nightly", "needs a line")
    assert later["patch"]["spec"]["jobTemplate"]["spec"]["template"]["spec"]["nodeSelector"] == {
        "agentpool": None,
        "karpenter.sh/nodepool": "apps",
    }
    patches = (here / "nap" / "patches.sh").read_text()
    assert "cronjob nightly" in patches
    assert "job once" not in patches


@pytest.mark.parametrize("template", [5, {"spec": 5}, {"spec": {"containers": ["x"], "affinity": 3, "volumes": 1}}])
def test_a_cronjob_of_no_form_is_no_fault_of_ours(
    template: Any, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": template}}}
    nightly = {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": "nightly"}, "spec": spec}
    (here / "cluster.json").write_text(json.dumps(cluster(APPS)))
    (here / "dump.yaml").write_text(yaml.safe_dump(nightly))
    assert call(capsys, "migrate", "cluster.json", "dump.yaml")[0] in (0, 2)


def test_a_budget_whose_selector_is_refused_is_named(judged: Any) -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "Foo"}]}
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "odd"},
        "spec": {"minAvailable": 1, "selector": selector},
    }
    (web,) = judged(deployment("web", 2), budget)["workloads"]
    assert "PodDisruptionBudget/odd is not looked at" in " ".join(web["notes"])
