"""What pods use of a node as scores count it: kubernetes pkg/scheduler/framework/types.go (calculateResource),
pkg/scheduler/util/pod_resources.go, pkg/scheduler/framework/plugins/noderesources/resource_allocation.go."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.scheduling.loads import Load, load_of, load_of_incoming
from harness.kube.scheduling.placement import NodeInfo
from harness.testing import node, pod

MI, GI = 2**20, 2**30


def container(**requests: str) -> dict[str, Any]:
    return {"name": "c", "image": "i", "resources": {"requests": requests}}


def of(*containers: dict[str, Any], **spec: Any) -> dict[str, Any]:
    return pod(containers=list(containers), **spec)


BARE = {"name": "b", "image": "i"}
SIDECAR = {**BARE, "restartPolicy": "Always"}


@pytest.mark.parametrize(
    ("made", "load"),
    [
        (of(container(cpu="1", memory="1Gi")), Load(1000, GI, 1000, GI)),
        (of(container(cpu="1500u", memory="100m")), Load(2, 1, 2, 1)),  # rounded up
        (of(BARE), Load(0, 0, 100, 200 * MI)),
        (of(container(cpu="1")), Load(1000, 0, 1000, 200 * MI)),
        (of(container(memory="1Gi")), Load(0, GI, 100, GI)),
        (of(container(cpu="0", memory="0")), Load(0, 0, 0, 0)),  # said, and nothing
        (of(container(cpu="1", memory="1Gi"), BARE), Load(1000, GI, 1100, GI + 200 * MI)),
        (of(container(cpu="1", memory="1Gi"), initContainers=[BARE]), Load(1000, GI, 1000, GI)),
        (of(container(cpu="50m", memory="1Mi"), initContainers=[BARE]), Load(50, MI, 100, 200 * MI)),
        (of(container(cpu="1", memory="1Gi"), initContainers=[SIDECAR]), Load(1000, GI, 1100, GI + 200 * MI)),
        (of(BARE, overhead={"cpu": "1", "memory": "1Mi"}), Load(1000, MI, 1100, 201 * MI)),
    ],
)
def test_what_a_container_does_not_say_is_assumed(made: dict[str, Any], load: Load) -> None:
    """DefaultMilliCPURequest and DefaultMemoryRequest: 100m and 200 MiB for each container."""
    assert load_of(made) == load_of_incoming(made) == load


@pytest.mark.parametrize(
    ("whole", "load", "assumed"),
    [
        ({"requests": {"cpu": "2", "memory": "1Gi"}}, Load(2000, GI, 2000, GI), (100, 200 * MI)),
        ({"requests": {"cpu": "2"}}, Load(2000, 0, 2000, 200 * MI), (100, 200 * MI)),
        ({"requests": {"memory": "1Gi"}}, Load(0, GI, 100, GI), (100, 200 * MI)),
        ({"requests": {"example.com/a": "1"}}, Load(0, 0, 100, 200 * MI), (100, 200 * MI)),
        ({"limits": {"cpu": "2"}}, Load(0, 0, 100, 200 * MI), (100, 200 * MI)),
        ({}, Load(0, 0, 100, 200 * MI), (100, 200 * MI)),
    ],
)
def test_of_a_pod_that_asks_as_a_whole_nothing_is_assumed_while_it_runs(
    whole: dict[str, Any], load: Load, assumed: tuple[int, int]
) -> None:
    """getNonMissingContainerRequests; NewFit does not hand the feature to the scorer of the incoming pod."""
    made = of(BARE, resources=whole)
    assert load_of(made) == load
    incoming = load_of_incoming(made)
    assert (incoming.cpu, incoming.memory) == (load.cpu, load.memory)
    assert (incoming.assumed_cpu, incoming.assumed_memory) == assumed


def test_a_node_carries_the_loads_of_its_pods() -> None:
    info = NodeInfo(node(cpu="3920m", memory="7Gi"), [of(container(cpu="1", memory="1Gi")), of(BARE)])
    assert info.load == Load(1000, GI, 1100, GI + 200 * MI)
    info.add_pod(of(container(cpu="250m")))
    assert info.load == Load(1250, GI, 1350, GI + 400 * MI)
    assert info.capacity == (3920, 7 * GI)
    assert NodeInfo(node()).load == Load(0, 0, 0, 0)
