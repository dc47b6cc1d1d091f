"""What a pod needs while it is being resized: the most of what is asked for, what runs, and what the kubelet has let in."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.scheduling.pods import pod_requests


def resized(asked: str, runs: str, let_in: str, *conditions: tuple[str, str]) -> dict[str, Any]:
    return {
        "kind": "Pod",
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": asked}}}]},
        "status": {
            "conditions": [{"type": kind, "status": "True", "reason": reason} for kind, reason in conditions],
            "containerStatuses": [
                {"name": "c", "resources": {"requests": {"cpu": runs}}, "allocatedResources": {"cpu": let_in}}
            ],
        },
    }


@pytest.mark.parametrize(
    ("asked", "runs", "let_in", "conditions", "cpu"),
    [
        ("4", "2", "1", [], "4"),
        ("1", "2", "1", [], "2"),
        ("1", "2", "3", [], "3"),
        ("4", "2", "1", [("PodResizePending", "Deferred")], "4"),
        ("4", "2", "1", [("PodResizeInProgress", "Infeasible")], "4"),
        ("4", "2", "1", [("PodResizePending", "Infeasible")], "2"),
        ("4", "2", "3", [("PodResizePending", "Infeasible")], "3"),
    ],
)
def test_a_resize_that_no_node_can_give_is_not_counted(
    asked: str, runs: str, let_in: str, conditions: list[tuple[str, str]], cpu: str
) -> None:
    """k8s.io/component-helpers resource.PodRequests, determineContainerReqs."""
    assert str(pod_requests(resized(asked, runs, let_in, *conditions))["cpu"]) == cpu


@pytest.mark.parametrize(
    ("init", "cpu"),
    [
        ({"restartPolicy": "Always"}, "5"),  # a sidecar: 1 beside what runs of it
        ({}, "2"),  # has ended when the containers start: what is asked for
    ],
)
def test_of_init_containers_only_what_sidecars_run_with_counts(init: dict[str, str], cpu: str) -> None:
    """k8s.io/component-helpers resource.AggregateContainerRequests."""
    made = resized("1", "1", "1")
    made["spec"]["initContainers"] = [{"name": "i", "resources": {"requests": {"cpu": "2"}}, **init}]
    made["status"]["initContainerStatuses"] = [{"name": "i", "resources": {"requests": {"cpu": "4"}}}]
    assert str(pod_requests(made)["cpu"]) == cpu
