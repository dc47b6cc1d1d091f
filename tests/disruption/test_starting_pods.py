"""Nodes that still settle take pods that have not started yet, and no others, when a node leaves."""

from __future__ import annotations

import pytest

from tests.disruption.fleet import machine, nodepool, pod, situation
from tests.disruption.test_methods import found


@pytest.mark.parametrize(("phase", "commands"), [("Pending", ["delete: [b]"]), ("Running", [])])
def test_only_pods_that_have_not_started_move_to_a_node_that_settles(phase: str, commands: list[str]) -> None:
    full = [pod(f"p{name}", name, "3500m") for name in "ab"]
    full[0]["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": "-1000"}  # it is asked first
    full[1]["status"]["phase"] = phase
    settling = machine("c", "four", since="2026-01-07T10:15:00Z", conditions=())
    made = situation([machine("a"), machine("b"), settling], full, [nodepool(consolidateAfter="1h")])
    assert [str(each) for each in found(made, "SingleNodeConsolidation")] == commands
