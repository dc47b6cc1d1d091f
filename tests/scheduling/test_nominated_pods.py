"""Room that kube-scheduler keeps for pods which other pods have left for, and the node that was promised to a pod.

Source: kubernetes pkg/scheduler/schedule_one.go (evaluateNominatedNode), framework/runtime (RunFilterPluginsWithNominatedPods).
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.scheduler import Unschedulable, schedule
from harness.testing import node, pod


def asking(name: str = "asking", priority: int = 5, **status: Any) -> dict[str, Any]:
    made = pod(name, "3", "1Gi", priority=priority)
    return {**made, "metadata": {**made["metadata"], "uid": name}, "status": status}


@pytest.mark.parametrize(
    ("promised", "fits"),
    [
        ([], True),
        ([asking("more important", 6)], False),
        ([asking("as important", 5)], False),
        ([asking("less important", 4)], True),
        ([asking()], True),  # itself
        ([asking("less important", 4), asking("as important", 5)], False),
    ],
)
def test_room_is_kept_for_nominated_pods_of_no_lower_priority(promised: list[dict[str, Any]], fits: bool) -> None:
    found = schedule(asking(), [NodeInfo(node("a", "4", "8Gi"))], nominated={"a": promised})
    assert isinstance(found, str) is fits
    if isinstance(found, Unschedulable):
        assert found.failures[0].reasons == ("Insufficient cpu",)


@pytest.mark.parametrize(("promised", "chosen"), [("b", "b"), ("c", "a"), ("gone", "a"), (None, "a")])
def test_a_pod_goes_to_its_nominated_node_where_it_still_fits(promised: str | None, chosen: str) -> None:
    nodes = [NodeInfo(node(name, cpu, "8Gi")) for name, cpu in (("a", "8"), ("b", "4"), ("c", "2"))]
    assert schedule(asking(nominatedNodeName=promised), nodes) == chosen
