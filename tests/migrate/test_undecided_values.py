"""Values that Terraform knows only after a plan is applied are named, wherever they stand."""

from __future__ import annotations

from typing import Any

import pytest

from harness import World
from harness.migrate.agent_pools import ManagedCluster
from harness.migrate.proposing.proposal import Plan, proposed
from harness.migrate.proposing.rows import Verdict
from harness.reading.problems import ScenarioError
from tests.migrate.pools import read

POOL = {"name": "apps", "mode": "User", "vm_size": "Standard_D4s_v5", "node_labels": {"team": "a"}}
TYPE = "azurerm_kubernetes_cluster_node_pool"


def planned(type_: str, values: dict[str, Any], unknown: dict[str, Any]) -> ManagedCluster:
    """The cluster that `terraform show -json` prints of a plan with one resource."""
    resource = {"address": f"{type_}.x", "mode": "managed", "type": type_, "values": values}
    change = {"address": f"{type_}.x", "change": {"actions": ["create"], "after_unknown": unknown}}
    return read(
        {
            "format_version": "1.2",
            "planned_values": {"root_module": {"resources": [resource]}},
            "resource_changes": [{"address": "other", "change": None}, change],
        }
    )


def unknown_fields(cluster: ManagedCluster) -> list[str]:
    rows = proposed(World(region="westeurope"), cluster, Plan()).rows
    return [
        f"{row.pool}: {row.field}"
        for row in rows
        if row.value == "known after apply" and row.verdict is Verdict.UNKNOWN
    ]


def test_values_of_a_pool_are_named_at_any_depth() -> None:
    unknown = {
        "id": True,
        "vnet_subnet_id": True,
        "node_labels": {"owner": True},
        "kubelet_config": [{"pod_max_pid": True, "cpu_manager_policy": False}],
        "zones": [False, True],
        "tags": {},
    }
    assert unknown_fields(planned(TYPE, POOL, unknown)) == [
        "apps: vnetSubnetID",
        "apps: nodeLabels.owner",
        "apps: kubeletConfig.podMaxPids",
        "apps: availabilityZones",
    ]


def test_values_of_a_cluster_are_named() -> None:
    values = {"default_node_pool": [{"name": "apps", "vm_size": "Standard_D4s_v5"}]}
    unknown = {"location": True, "fqdn": True, "auto_scaler_profile": [{"expander": True}]}
    assert unknown_fields(planned("azurerm_kubernetes_cluster", values, unknown)) == [
        "cluster: location",
        "cluster: autoScalerProfile.expander",
    ]


@pytest.mark.parametrize("body", [True, {"properties": {"vnetSubnetId": True}}])
def test_values_of_a_body_are_named(body: Any) -> None:
    properties = {"mode": "User", "vmSize": "Standard_D4s_v5"}
    values = {
        "type": "Microsoft.ContainerService/managedClusters/agentPools@2025-05-01",
        "name": "apps",
        "body": {"properties": properties},
    }
    expected = "body" if body is True else "vnetSubnetID"
    assert unknown_fields(planned("azapi_resource", values, {"body": body, "output": True})) == [f"apps: {expected}"]


def test_a_size_that_nobody_knows_yet_is_a_mistake() -> None:
    with pytest.raises(ScenarioError, match="agent pool apps has no size that the plan knows before it is applied"):
        planned(TYPE, {"name": "apps"}, {"vm_size": True})
