"""What machines cost, divided: by NodePool, by workload with its share of what pods request, and what is idle."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from harness.testing import deployment, nodeclass, nodepool, requirement
from harness.world import World
from harness.world.costs.breakdown import breakdown
from tests.cli.command import call

ON_DEMAND = requirement("karpenter.sh/capacity-type", "on-demand")
SIZE = requirement("node.kubernetes.io/instance-type", "Standard_D4s_v5")


def test_workloads_have_their_share_and_the_rest_is_idle() -> None:
    """Standard_D4s_v5 has 3.86 cores and 12.9 GiB to give; a pod of 1 core and no memory takes an eighth, or so."""
    world = World()
    world.apply(
        nodeclass(), nodepool(ON_DEMAND, SIZE), deployment("web", replicas=2, cpu="1"), deployment("job", cpu="1")
    )
    world.settle()
    parts = breakdown(world)
    assert parts.nodepools == {"default": 0.192}
    assert parts.workloads["Deployment/web"] == pytest.approx(2 * parts.workloads["Deployment/job"])
    assert sum(parts.workloads.values()) + parts.idle == pytest.approx(0.192)
    assert 0 < parts.idle < 0.192


def test_simulate_says_what_a_month_costs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(yaml.safe_dump_all([nodeclass(), nodepool(ON_DEMAND, SIZE), deployment("web", replicas=2)]))
    _, out, _ = call(capsys, "simulate", str(path))
    assert "140.16 USD per month of 730 hours" in out
    assert "by what pods request: Deployment/web " in out
    cost = json.loads(call(capsys, "simulate", str(path), "--format", "json")[1])["cost"]
    assert (cost["usd_per_month"], cost["nodepools"]) == (140.16, {"default": 0.192})
    assert sum(cost["workloads"].values()) + cost["idle"] == pytest.approx(0.192, abs=1e-5)
