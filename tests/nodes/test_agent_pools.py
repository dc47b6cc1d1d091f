"""Agent pools beside Karpenter: Nodes with AKS's labels, taints and reserves, drained before they go."""

from __future__ import annotations

from typing import Any

import pytest

from harness import World
from harness.kube.api.objects import labels_of, name_of, spec_of, status_of
from harness.testing import daemonset, deployment, nodeclass, nodepool
from harness.world.agent_pools import PoolRefused

APPS = {"vmSize": "Standard_D4s_v5", "count": 3, "availabilityZones": ["1", "2", "3"]}


@pytest.fixture
def world() -> World:
    return World(region="westeurope")


def places(world: World) -> list[str]:
    return sorted(str(spec_of(pod).get("nodeName") or "") for pod in world.list("Pod"))


def test_nodes_are_there_at_once_as_aks_makes_them(world: World) -> None:
    world.add_agent_pool(
        "apps", {**APPS, "nodeLabels": {"team": "a"}, "nodeTaints": ["x=y:NoSchedule"], "maxPods": 110}
    )
    nodes = world.list("Node")
    assert world.clock.seconds == 0
    assert [name_of(node) for node in nodes] == list(world.agent_pools.nodes("apps"))
    assert all(name_of(node).startswith("aks-apps-") and "-vmss00000" in name_of(node) for node in nodes)
    assert {labels_of(node)["topology.kubernetes.io/zone"] for node in nodes} == {
        f"westeurope-{zone}" for zone in "123"
    }
    first = nodes[0]
    expected = {
        "team": "a",
        "agentpool": "apps",
        "kubernetes.azure.com/agentpool": "apps",
        "kubernetes.azure.com/mode": "user",
    }
    assert expected.items() <= labels_of(first).items()
    assert "karpenter.sh/nodepool" not in labels_of(first)
    assert spec_of(first)["taints"] == [{"key": "x", "value": "y", "effect": "NoSchedule"}]
    assert "/virtualMachineScaleSets/aks-apps-" in spec_of(first)["providerID"]
    # AKS docs, resource reservations: 60 + 40 + 20 + 20 millicores of four cores; 20 MiB for each of 110 pods and 50 more
    capacity, allocatable = status_of(first)["capacity"], status_of(first)["allocatable"]
    assert (capacity["cpu"], allocatable["cpu"], allocatable["pods"]) == ("4", "3860m", "110")
    kept = int(capacity["memory"].removesuffix("Ki")) - int(allocatable["memory"].removesuffix("Ki"))
    assert kept == (20 * 110 + 50 + 100) * 1024


def test_a_smaller_count_drains_the_highest_numbers_first(world: World) -> None:
    world.add_agent_pool("apps", APPS)
    world.apply(daemonset(), deployment("web", 6))
    world.settle()
    first, *others = world.agent_pools.nodes("apps")
    world.scale_agent_pool("apps", 1)
    world.settle()
    world.advance(60)
    assert [name_of(node) for node in world.list("Node")] == [first]
    bound = [place for place in places(world) if place]
    assert set(bound) == {first}
    assert not set(others) & set(world.agent_pools.nodes("apps"))


def test_a_budget_holds_the_drain_until_karpenter_has_a_place(world: World) -> None:
    world.add_agent_pool("apps", APPS)
    budget: dict[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "web"},
        "spec": {"minAvailable": 5, "selector": {"matchLabels": {"app": "web"}}},
    }
    world.apply(deployment("web", 6), budget)
    world.settle()
    world.delete_agent_pool("apps")
    world.settle()
    world.advance(600)
    assert len(world.agent_pools.nodes("apps")) > 0
    world.apply(nodeclass(), nodepool())
    world.settle()
    world.advance(600)
    assert world.agent_pools.pools == ()
    assert "" not in places(world)


def test_a_count_that_grows_again_takes_back_what_was_leaving(world: World) -> None:
    world.add_agent_pool("apps", APPS)
    world.apply(deployment("web", 6))
    world.settle()
    before = world.agent_pools.nodes("apps")
    world.scale_agent_pool("apps", 1)
    world.scale_agent_pool("apps", 4)
    world.settle()
    world.advance(120)
    assert set(before) <= set(world.agent_pools.nodes("apps"))
    assert len(world.list("Node")) == 4
    assert not any(spec_of(node).get("unschedulable") for node in world.list("Node"))


def test_what_aks_refuses_is_said_in_its_words(world: World) -> None:
    with pytest.raises(PoolRefused, match="VMSizeNotSupported: Virtual Machine size: 'Standard_Nope'"):
        world.add_agent_pool("apps", {"vmSize": "Standard_Nope", "count": 1})
    with pytest.raises(PoolRefused, match=r"InvalidParameter|[Nn]ame"):
        world.add_agent_pool("Bad_name", APPS)
    with pytest.raises(LookupError, match="there is no agent pool 'apps'"):
        world.scale_agent_pool("apps", 1)
    assert world.list("Node") == []


def test_a_pool_costs_what_its_machines_cost(world: World) -> None:
    world.add_agent_pool("apps", APPS)
    assert world.cost() == pytest.approx(3 * (world.price("Standard_D4s_v5", "").usd or 0))
