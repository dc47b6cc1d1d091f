"""What the log of a real controller tells of launches that failed, as facts beside those of the simulated loop."""

from __future__ import annotations

from typing import Any

from harness.trace.karpenter_log import logged_refusals
from harness.world.recorder import LogLine


def line(message: str, at: float, controller: str, **values: Any) -> LogLine:
    return LogLine(at, "info", controller, message, values)


def test_launches_that_failed_and_nodepools_that_nothing_fits() -> None:
    error = "creating nodeclaim, creating instance failed, creating nodeclaim, the requested SKU is unavailable"
    lines = [
        line(
            "Reconciler error",
            5.9,
            "nodeclaim.lifecycle",
            NodeClaim={"name": "default-a"},
            error=f"launching nodeclaim, {error}",
        ),
        line("Reconciler error", 6.0, "nodeclass.status", AKSNodeClass={"name": "default"}, error="conflict"),
        line(
            "skipping, nodepool requirements filtered out all instance types",
            7.0,
            "provisioner",
            NodePool={"name": "default"},
        ),
    ]
    assert [(one.t, one.object, one.layer, one.text) for one in logged_refusals(lines)] == [
        (5.9, "NodeClaim/default-a", "launch", error),
        (7.0, "NodePool/default", "nodepool-filter", "nodepool requirements filtered out all instance types"),
    ]
