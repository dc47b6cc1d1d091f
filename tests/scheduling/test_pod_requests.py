"""What pods ask for, and whether a node has as much left.

Sources: component-helpers resource/helpers.go (PodRequests, AggregateContainerRequests),
kubernetes pkg/scheduler/framework/plugins/noderesources/fit.go (fitsRequest).
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.pods import pod_limits, pod_requests
from harness.testing import node, pod

Object = dict[str, Any]


def container(amount: str, *, sidecar: bool = False, kind: str = "requests", resource: str = "cpu") -> Object:
    more = {"restartPolicy": "Always"} if sidecar else {}
    return {"name": f"c-{amount}", "image": "i", "resources": {kind: {resource: amount}}, **more}


def asked(kind: str, containers: list[Object], init: list[Object], **spec: Any) -> Object:
    made = pod(containers=containers, initContainers=init, **spec)
    found = pod_requests(made) if kind == "requests" else pod_limits(made)
    return {name: str(quantity) for name, quantity in found.items()}


@pytest.mark.parametrize("kind", ["requests", "limits"])
@pytest.mark.parametrize(
    ("containers", "init", "cpu"),
    [
        (["1"], [], "1"),
        (["1", "2"], [], "3"),
        (["1", "2", "3"], [], "6"),
        (["1"], [("2", False)], "2"),  # one after the other, before the containers
        (["1"], [("2", False), ("3", False)], "3"),
        (["4"], [("2", False), ("3", False)], "4"),
        (["1"], [("2", True)], "3"),  # a sidecar stays beside the containers
        (["1"], [("2", True), ("4", False)], "6"),  # and beside what starts after it
        (["1"], [("4", False), ("2", True)], "4"),
        (["1"], [("1", True), ("2", True), ("2", False)], "5"),
        ([], [("2", False)], "2"),
    ],
)
def test_what_runs_at_the_same_time_is_added_up(
    kind: str, containers: list[str], init: list[tuple[str, bool]], cpu: str
) -> None:
    before = [container(amount, sidecar=sidecar, kind=kind) for amount, sidecar in init]
    assert asked(kind, [container(each, kind=kind) for each in containers], before) == {"cpu": cpu}


def test_a_pod_as_a_whole_asks_in_the_place_of_its_containers() -> None:
    """Only for CPU, memory and huge pages (IsSupportedPodLevelResource); overhead comes on top."""
    whole = {"requests": {"cpu": "5", "hugepages-2Mi": "4Mi", "example.com/a": "9"}}
    containers = [container("1"), container("1", resource="example.com/a")]
    assert asked("requests", containers, [], resources=whole) == {
        "cpu": "5",
        "hugepages-2Mi": "4Mi",
        "example.com/a": "1",
    }
    found = asked("requests", containers, [], resources=whole, overhead={"cpu": "500m", "memory": "1Mi"})
    assert (found["cpu"], found["memory"], found["example.com/a"]) == ("5500m", "1Mi", "1")


def test_of_equal_amounts_the_first_keeps_its_way_to_be_written() -> None:
    """helpers.go maxResourceList replaces what is smaller."""
    amounts = ("1073741824", "1Gi")
    first, second = (container(amount, resource="memory") for amount in amounts)
    assert asked("requests", [first], [second]) == {"memory": "1073741824"}
    assert asked("requests", [second], [first]) == {"memory": "1Gi"}


def test_overhead_raises_limits_that_there_are() -> None:
    """PodLimits: a resource without a limit, or with one of 0, has none with overhead either."""
    containers = [container("1", kind="limits"), container("0", kind="limits", resource="memory")]
    overhead = {"cpu": "500m", "memory": "1Mi", "ephemeral-storage": "1Gi"}
    assert asked("limits", containers, [], overhead=overhead) == {"cpu": "1500m", "memory": "0"}
    whole = {"limits": {"cpu": "3", "example.com/a": "9"}}
    assert asked("limits", containers[:1], [], resources=whole) == {"cpu": "3"}


@pytest.mark.parametrize(("running", "short"), [(0, []), (1, []), (2, ["pods"]), (3, ["pods"])])
def test_a_node_takes_as_many_pods_as_it_says(running: int, short: list[str]) -> None:
    info = NodeInfo(node(pods="2"), [pod(f"p{number}", "", "") for number in range(running)])
    assert info.insufficient(pod_requests(pod("", "1", "1Gi"))) == short


@pytest.mark.parametrize(
    ("cpu", "memory", "short"),
    [
        ("3", "15Gi", []),
        ("3001m", "15Gi", ["cpu"]),
        ("3", "15361Mi", ["memory"]),
        ("4", "16Gi", ["cpu", "memory"]),
        ("0", "0", []),
    ],
)
def test_a_node_gives_all_that_is_left(cpu: str, memory: str, short: list[str]) -> None:
    info = NodeInfo(node(cpu="4", memory="16Gi"), [pod("p", "1", "1Gi")])
    requests = pod_requests(pod("", cpu, memory))
    assert info.insufficient(requests) == short
    assert info.has_room(requests) is (not short)


def test_what_a_node_does_not_have_it_cannot_give_but_for_nothing() -> None:
    info = NodeInfo(node())
    assert info.insufficient(pod_requests(pod(containers=[container("1", resource="example.com/a")]))) == [
        "example.com/a"
    ]
    assert info.insufficient(pod_requests(pod(containers=[container("0", resource="example.com/a")]))) == []
    assert NodeInfo({**node(), "status": {}}).insufficient({}) == []  # without a number of pods there is no limit


@pytest.mark.parametrize(
    ("phase", "taken"), [("Pending", "1"), ("Running", "1"), ("Succeeded", None), ("Failed", None)]
)
def test_pods_that_have_ended_take_nothing(phase: str, taken: str | None) -> None:
    there = {**pod("p", "1", "", priority=3, containers=[{**container("1"), "ports": [{"hostPort": 80}]}])}
    info = NodeInfo(node(), [{**there, "status": {"phase": phase}}])
    assert (str(info.requested["cpu"]) if info.requested else None) == taken
    assert (len(info.pods), len(info.ports), info.lowest) == ((1, 1, 3) if taken else (0, 0, None))
