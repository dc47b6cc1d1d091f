"""The real controller under load and faults. Whatever happens, nothing is left over: as many machines as NodeClaims, no pod forgotten."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.objects import name_of, spec_of
from harness.world.real.world import RealWorld

from .conftest import NewWorld

NODECLASS = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "default"},
    "spec": {},
}
POOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {
        "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"},
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [
                    {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D2s_v5"]},
                    {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                ],
            }
        },
    },
}


def pods(count: int) -> dict[str, Any]:
    """A Deployment whose pods each need a Node of their own."""
    apart = {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"}
        ]
    }
    container = {"name": "main", "image": "web", "resources": {"requests": {"cpu": "100m"}}}
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"affinity": {"podAntiAffinity": apart}, "containers": [container]},
    }
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"replicas": count, "selector": {"matchLabels": {"app": "web"}}, "template": template},
    }


def settled(world: RealWorld, count: int) -> None:
    """Waits until so many pods have Nodes, or for as long as anybody would."""
    for _ in range(4):
        world.satisfied = lambda: len(bound(world)) == count
        world.settle(allow_rejections=True)
        if len(bound(world)) == count:
            return
    pytest.fail(
        f"{len(bound(world))} of {count} pods are bound; the end of the controller's log:\n{world.controller.tail()}"
    )


def bound(world: RealWorld) -> list[str]:
    return [name_of(pod) for pod in world.list("Pod") if spec_of(pod).get("nodeName")]


def check_nothing_is_left_over(world: RealWorld, count: int) -> None:
    assert len(world.list("NodeClaim")) == count
    assert len(world.list("Node")) == count
    assert len(world.cloud.vms()) == count
    nics = [
        entry
        for entry in world.cloud.state.store.list("Microsoft.Network/networkInterfaces")
        if "aks-" in entry.id.name
    ]
    assert len(nics) == count


@pytest.mark.parametrize("count", [1, 10])
def test_each_pod_gets_its_node_and_all_go_again(real_world: NewWorld, count: int) -> None:
    world = real_world()
    world.apply(NODECLASS, POOL, pods(count))
    settled(world, count)
    check_nothing_is_left_over(world, count)
    world.delete("Deployment", "web", "default")
    world.delete("NodePool", "default")
    for _ in range(4):
        world.settle(allow_rejections=True)
        if not world.list("NodeClaim"):
            break
    check_nothing_is_left_over(world, 0)


def test_a_controller_that_elects_a_leader_works(real_world: NewWorld) -> None:
    world = real_world(elects=True)
    world.apply(NODECLASS, POOL, pods(1))
    settled(world, 1)
    leases = {name_of(each) for each in world.list("Lease", namespace="kube-system")}
    assert leases == {"karpenter-leader-election"}


@pytest.mark.smoke
def test_killed_after_azure_took_the_machine_it_finds_it_again(real_world: NewWorld) -> None:
    world = real_world()
    world.apply(NODECLASS, POOL, pods(3))
    for _ in range(1200):
        if any(call.method == "PUT" and call.resource == "virtualMachines" for call in world.cloud.journal):
            break
        world.advance(0.05)
    world.restart_karpenter()
    settled(world, 3)
    check_nothing_is_left_over(world, 3)


def test_the_api_server_restarts(real_world: NewWorld) -> None:
    world = real_world()
    world.apply(NODECLASS, POOL, pods(1))
    settled(world, 1)
    world.restart_api_server()
    world.apply({**pods(3)})
    settled(world, 3)
    check_nothing_is_left_over(world, 3)


@pytest.mark.parametrize("what", ["TooManyRequests", "InternalServerError"])
def test_a_storm_of_errors_passes(real_world: NewWorld, what: str) -> None:
    faults = [
        {"what": what, "where": {"resource": resource}, "times": 3}
        for resource in ("networkInterfaces", "virtualMachines")
    ]
    world = real_world(azure={"faults": faults})
    world.apply(NODECLASS, POOL, pods(2))
    settled(world, 2)
    check_nothing_is_left_over(world, 2)
    assert any(call.code == what for call in world.cloud.journal)
