"""`simulate` with startup taints: what the plan is once their agents run."""

import json

import pytest

from harness.__main__ import main
from harness.testing import nodeclass, nodepool, pod, requirement

TAINT = {"key": "node.cilium.io/agent-not-ready", "value": "true", "effect": "NoExecute"}


def simulated(tmp_path, capsys, *objects) -> dict:
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    assert main(["simulate", "--format", "json", str(path)]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("count", [1, 3])
def test_startup_taints_are_removed(tmp_path, capsys, count):
    pool = nodepool(requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5"), startupTaints=[TAINT])
    plan = simulated(tmp_path, capsys, nodeclass(), pool, *(pod(f"p{number}") for number in range(count)))
    assert plan["pods"] == {"bound": count, "pending": 0}
    assert plan["startup_taints_removed"] == ["node.cilium.io/agent-not-ready=true:NoExecute"]
    assert all(each["conditions"]["Initialized"] == "True" for each in plan["nodeclaims"])


def test_other_taints_stay(tmp_path, capsys):
    pool = nodepool(requirement("karpenter.azure.com/sku-family", "D"), taints=[TAINT])
    tolerating = pod("p1", tolerations=[{"operator": "Exists"}])
    plan = simulated(tmp_path, capsys, nodeclass(), pool, tolerating)
    assert plan["startup_taints_removed"] == []
    assert [node["taints"] for node in plan["nodes"]] == [[TAINT]]
