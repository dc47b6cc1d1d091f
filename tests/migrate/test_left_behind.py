"""Sentences about pods that stay where they were, and about budgets that lacked pods before the move."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.testing import deployment
from tests.cli.command import as_json, call
from tests.migrate.pools import cluster, pool

SYSTEM = pool("sys", mode="System", nodeTaints=["CriticalAddonsOnly=true:NoSchedule"])
TOLERATE_ALL = [{"operator": "Exists"}]


def budget(name: str = "web", **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, **spec},
    }


def given(*objects: dict[str, Any], count: int = 3, **properties: Any) -> None:
    apps = pool("apps", count=count, **properties)
    Path("cluster.json").write_text(json.dumps(cluster(SYSTEM, apps, currentKubernetesVersion="1.34.2")))
    Path("dump.yaml").write_text(yaml.safe_dump_all(objects))


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        (
            {"minAvailable": 2},
            "it tolerates node.kubernetes.io/unschedulable:NoSchedule, so that such pods come back to cordoned Nodes",
        ),
        (
            {"maxUnavailable": 0},
            "PodDisruptionBudget/web lets none of its pods go, of which 3 are healthy and 3 have to be",
        ),
    ],
)
def test_only_what_keeps_a_pod_is_named(capsys: pytest.CaptureFixture[str], limit: dict[str, Any], why: str) -> None:
    given(deployment("web", 3, cpu="1", tolerations=TOLERATE_ALL), budget(**limit))
    left = as_json(capsys, "migrate", "cluster.json", "dump.yaml")["move"]["left"]
    assert left
    assert {pod["why"].partition(": ")[2] for pod in left} == {why}


def test_a_budget_that_lacked_pods_before_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    given(deployment("web", 3, cpu="1", nodeSelector={"team": "shop"}), budget(minAvailable=2))
    lines = call(capsys, "migrate", "cluster.json", "dump.yaml")[1].splitlines()
    assert "no lower below its PodDisruptionBudget than before: default/web" in lines
    given(deployment("web", 3, cpu="1"), budget(minAvailable=2))
    assert "nothing is ever below its PodDisruptionBudget" in call(capsys, "migrate", "cluster.json", "dump.yaml")[1]


def test_one_pod_is_a_pod(capsys: pytest.CaptureFixture[str]) -> None:
    given(deployment("web", 1, cpu="1"))
    assert (
        "Deployment/web: 0 of 1 pod ready at the least, after "
        in call(capsys, "migrate", "cluster.json", "dump.yaml")[1]
    )


def test_pools_that_have_the_taint_already_are_compared_without_it(capsys: pytest.CaptureFixture[str]) -> None:
    scaled = {"enableAutoScaling": True, "minCount": 0, "maxCount": 12}
    taints = ["autoscaling.azure.com/cas-block=true:NoSchedule"]
    given(deployment("web", 6, cpu="1"), count=6, nodeTaints=taints, **scaled)
    doubled = as_json(capsys, "migrate", "cluster.json", "dump.yaml", "--side-by-side")["withoutTaints"]
    assert doubled["both"]["ofPools"] > doubled["before"]["ofPools"] == 8
    assert doubled["both"]["karpenters"] > 0


def test_nothing_is_compared_where_the_autoscaler_makes_no_machine(capsys: pytest.CaptureFixture[str]) -> None:
    given(deployment("web", 6, cpu="1"), count=6, enableAutoScaling=True, minCount=0, maxCount=6)
    assert "withoutTaints" not in as_json(capsys, "migrate", "cluster.json", "dump.yaml", "--side-by-side")


CLASS = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "own"}
MISTYPED = [
    (
        "karpenter.sh/v1",
        "NodePool",
        {"template": {"spec": {"taints": "x", "nodeClassRef": CLASS}}},
        "template.spec.taints",
    ),
    ("karpenter.sh/v1", "NodePool", {"template": "x"}, "template"),
    ("karpenter.sh/v1", "NodeClaim", {"taints": ["x"], "nodeClassRef": CLASS}, "taints[0]"),
    ("karpenter.azure.com/v1beta1", "AKSNodeClass", {"tags": "x"}, "tags"),
]


@pytest.mark.parametrize(("version", "kind", "spec", "field"), MISTYPED)
def test_a_wrong_type_is_a_mistake_at_its_place(
    capsys: pytest.CaptureFixture[str], version: str, kind: str, spec: dict[str, Any], field: str
) -> None:
    given(
        deployment("web", 1, cpu="1"), {"apiVersion": version, "kind": kind, "metadata": {"name": "own"}, "spec": spec}
    )
    code, out, err = call(capsys, "migrate", "cluster.json", "dump.yaml", "--side-by-side")
    (line,) = err.splitlines()
    assert (code, out) == (2, "")
    assert line.startswith("dump.yaml:")
    assert f": crd-schema: {kind}/own: spec.{field}: Invalid value: " in line
