"""Affinities that name agent pools in all the ways that there are keep their meaning on the new Nodes, or the change of it is named."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.testing import daemonset, deployment
from tests.cli.command import as_json, call
from tests.migrate.pools import cluster, pool

SYSTEM = pool("sys", mode="System", count=2, nodeTaints=["CriticalAddonsOnly=true:NoSchedule"])
APPS = pool("apps", nodeLabels={"team": "shop"})
BATCH = pool("batch")
GPU = pool("gpu", vmSize="Standard_NC4as_T4_v3")
WINDOWS = pool("win", osType="Windows", osSKU="Windows2022", nodeLabels={"legacy": "yes"})
POOLS = (SYSTEM, APPS, BATCH, WINDOWS)
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
Judge = Callable[..., Any]


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Judge:
    monkeypatch.chdir(tmp_path)

    def judge(obj: Any, *words: str, pools: tuple[Any, ...] = POOLS) -> Any:
        Path("cluster.json").write_text(json.dumps(cluster(*pools, currentKubernetesVersion="1.34.2")))
        Path("dump.yaml").write_text(yaml.safe_dump_all([obj]))
        answer = as_json(capsys, "migrate", "cluster.json", "dump.yaml", "-o", "nap", *words)
        assert answer["move"]["holds"]
        (row,) = answer["workloads"]
        return row

    return judge


def affine(*terms: list[dict[str, Any]], **spec: Any) -> Any:
    rule = {"nodeSelectorTerms": [{"matchExpressions": term} for term in terms]}
    return deployment("web", 2, affinity={"nodeAffinity": {REQUIRED: rule}}, **spec)


def asks(key: str, operator: str, *values: str) -> dict[str, Any]:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def patched_terms(row: Any) -> Any:
    rule = row["patch"]["spec"]["template"]["spec"]["affinity"]["nodeAffinity"][REQUIRED]
    return [term["matchExpressions"] for term in rule["nodeSelectorTerms"]]


REFUSED = "no NodeClaim may name that label, so that no machine is made for its pods"


@pytest.mark.parametrize("key", ["agentpool", "kubernetes.azure.com/agentpool"])
def test_a_pod_that_is_kept_off_a_pool_is_kept_off_its_nodepool(
    judged: Judge, key: str, capsys: pytest.CaptureFixture[str]
) -> None:
    row = judged(affine([asks(key, "NotIn", "batch")]))
    assert (row["verdict"], row["nodepool"]) == ("needs a line", "apps")
    assert patched_terms(row) == [[asks("karpenter.sh/nodepool", "NotIn", "batch")]]
    assert row["why"] == [f"nodeAffinity {key} NotIn batch: {REFUSED}"]
    assert call(capsys, "run", "nap/move.yaml")[0] == 0


def test_a_label_that_only_agent_pools_have_keeps_off_their_successors(judged: Judge) -> None:
    pods = affine([asks("accelerator", "DoesNotExist"), asks("team", "NotIn", "shop")])
    row = judged(pods, pools=(SYSTEM, APPS, BATCH, GPU))
    assert row["verdict"] == "needs a line"
    assert patched_terms(row) == [[asks("karpenter.sh/nodepool", "NotIn", "gpu"), asks("team", "NotIn", "shop")]]


def test_a_line_that_keeps_off_nothing_goes(judged: Judge) -> None:
    row = judged(affine([asks("agentpool", "NotIn", "gone")]))
    assert row["verdict"] == "needs a line"
    assert row["patch"]["spec"]["template"]["spec"]["affinity"] == {"nodeAffinity": None}


def test_a_pod_that_is_kept_off_a_pool_that_stays_asks_for_a_nodepool(judged: Judge) -> None:
    row = judged(affine([asks("agentpool", "NotIn", "sys", "batch")]))
    assert patched_terms(row) == [[asks("karpenter.sh/nodepool", "In", "apps")]]


def test_pods_that_no_agent_pool_took_hinder_their_own_rollout(
    judged: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    row = judged(affine([asks("agentpool", "DoesNotExist")]))
    assert (row["verdict"], row["why"][0]) == ("has no place", f"nodeAffinity agentpool DoesNotExist: {REFUSED}")
    assert patched_terms(row) == [[{"key": "karpenter.sh/nodepool", "operator": "Exists"}]]
    header, *_ = yaml.safe_load_all(Path("nap/move.yaml").read_text())
    assert [entry["rejected"] for entry in header["then"] if "rejected" in entry] == [
        {"object": "NodeClaim/batch-*", "layer": "nodeclaim-cel"}
    ]
    assert call(capsys, "run", "nap/move.yaml")[0] == 0


def test_a_pod_that_is_kept_off_all_that_goes_stays(judged: Judge) -> None:
    row = judged(affine([asks("agentpool", "NotIn", "apps", "batch", "win")], tolerations=[{"operator": "Exists"}]))
    assert (row["verdict"], row["why"]) == ("stays on its agent pool", ["its pods ask for sys, which stays"])


def test_a_preference_against_a_pool_hinders_machines_too(judged: Judge) -> None:
    preference = {"weight": 1, "preference": {"matchExpressions": [asks("agentpool", "NotIn", "apps")]}}
    rule = {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}
    row = judged(deployment("web", 2, affinity={"nodeAffinity": rule}))
    (changed,) = row["patch"]["spec"]["template"]["spec"]["affinity"]["nodeAffinity"].values()
    assert changed[0]["preference"]["matchExpressions"] == [asks("karpenter.sh/nodepool", "NotIn", "apps")]


def test_any_agent_pool_is_any_nodepool_or_a_pool_that_stays(judged: Judge) -> None:
    row = judged(affine([asks("agentpool", "Exists")]))
    assert row["verdict"] == "needs a line"
    assert patched_terms(row) == [[asks("karpenter.sh/nodepool", "Exists")], [asks("agentpool", "Exists")]]


def test_a_pool_that_stays_may_still_be_chosen_beside_one_that_goes(judged: Judge) -> None:
    row = judged(affine([asks("agentpool", "In", "apps", "sys", "gone")]))
    assert patched_terms(row) == [[asks("karpenter.sh/nodepool", "In", "apps")], [asks("agentpool", "In", "sys")]]


def test_a_preference_that_is_lost_is_named(judged: Judge) -> None:
    preference = {"weight": 1, "preference": {"matchExpressions": [asks("agentpool", "In", "apps")]}}
    rule = {"preferredDuringSchedulingIgnoredDuringExecution": [preference]}
    row = judged(deployment("web", 2, affinity={"nodeAffinity": rule}))
    assert row["verdict"] == "moves as it is"
    assert row["notes"] == ["preferred nodeAffinity agentpool=apps: the new Node has no such label"]


WINDOWS_PODS = [
    pytest.param(affine([asks("kubernetes.io/os", "In", "windows")]), id="affinity"),
    pytest.param(affine([asks("kubernetes.io/os", "NotIn", "linux")]), id="anything but Linux"),
    pytest.param(
        affine([asks("beta.kubernetes.io/os", "In", "windows")], [asks("kubernetes.io/os", "In", "windows")]),
        id="either",
    ),
    pytest.param(deployment("web", 2, nodeSelector={"agentpool": "win"}), id="the pool"),
    pytest.param(affine([asks("kubernetes.azure.com/agentpool", "In", "win")]), id="the pool by affinity"),
    pytest.param(deployment("web", 2, nodeSelector={"legacy": "yes"}), id="a label of the pool"),
    pytest.param(deployment("web", 2, os={"name": "windows"}), id="the pod's own word"),
    pytest.param(daemonset("web", nodeSelector={"beta.kubernetes.io/os": "windows"}), id="a DaemonSet"),
]


@pytest.mark.parametrize("obj", WINDOWS_PODS)
def test_what_needs_windows_stays(judged: Judge, obj: Any) -> None:
    row = judged(obj)
    assert (row["verdict"], row["why"]) == (
        "stays on its agent pool",
        ["Windows: the provider makes Linux Nodes only"],
    )


@pytest.mark.parametrize(
    "term", [[asks("kubernetes.io/os", "In", "windows", "linux")], [asks("kubernetes.io/os", "Exists")]]
)
def test_what_runs_on_either_moves(judged: Judge, term: list[dict[str, Any]]) -> None:
    assert judged(affine(term))["verdict"] == "moves as it is"
