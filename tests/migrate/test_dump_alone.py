"""A dump is enough: its Nodes tell the agent pools, its pods where workloads run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from harness import World
from harness.testing import daemonset, deployment
from tests.cli.command import as_json, call

KINDS = ("Node", "Pod", "ReplicaSet", "Deployment", "DaemonSet", "StorageClass")


def test_a_live_cluster_moves_by_its_dump(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    world = World(region="westeurope", kubernetes="1.34.2")
    critical = ["CriticalAddonsOnly=true:NoSchedule"]
    world.add_agent_pool("sys", {"vmSize": "Standard_D4s_v5", "count": 2, "mode": "System", "nodeTaints": critical})
    world.add_agent_pool("apps", {"vmSize": "Standard_D4s_v5", "count": 3, "availabilityZones": ["1", "2", "3"]})
    world.apply(
        deployment("web", 6, nodeSelector={"agentpool": "apps"}), daemonset(tolerations=[{"operator": "Exists"}])
    )
    world.settle()
    items = [obj for kind in KINDS for obj in world.list(kind)]
    Path("dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))
    found = as_json(capsys, "migrate", "dump.json")
    assert ([moved["pools"] for moved in found["moved"]], [stays["pool"] for stays in found["staying"]]) == (
        [["apps"]],
        ["sys"],
    )
    verdicts = {row["workload"]: row["verdict"] for row in found["workloads"]}
    assert verdicts == {"Deployment/web": "needs a line", "DaemonSet/agent": "moves as it is"}
    assert found["move"]["before"]["nodes"] == 5
    assert (found["move"]["left"], found["move"]["holds"]) == ([], True)
    assert call(capsys, "migrate", "dump.json", "-o", "nap")[0] == 0
    assert call(capsys, "run", "nap/move.yaml")[0] == 0
