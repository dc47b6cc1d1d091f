"""azure-mgmt-containerservice."""

from __future__ import annotations

from typing import Any

from azure.core.exceptions import HttpResponseError

from tests.clients.operation import Suite

SUITE = Suite("Python SDKs")
_operation = SUITE.operation


@_operation("aks managed_clusters.list")
def _(c: Any) -> None:
    assert [cluster.name for cluster in c.aks.managed_clusters.list()] == [c.place.cluster]


@_operation("aks managed_clusters.get")
def _(c: Any) -> None:
    cluster = c.aks.managed_clusters.get(c.place.group, c.place.cluster)
    assert (cluster.node_resource_group, cluster.network_profile.network_plugin) == (c.place.nodes, "azure")


@_operation("aks managed_clusters get fields")
def _(c: Any) -> None:
    cluster = c.aks.managed_clusters.get(c.place.group, c.place.cluster)
    assert cluster.identity.principal_id
    assert cluster.power_state.code == "Running"
    assert [pool.name for pool in cluster.agent_pool_profiles] == ["aksmanagedap"]
    assert cluster.identity_profile["kubeletidentity"].client_id
    assert cluster.sku.tier == "Free"
    assert cluster.dns_prefix


@_operation("aks managed_clusters.create")
def _(c: Any) -> None:
    body = {
        "location": c.place.location,
        "identity": {"type": "SystemAssigned"},
        "properties": {"dnsPrefix": "new", "agentPoolProfiles": [{"name": "system", "count": 2, "mode": "System"}]},
    }
    made = c.aks.managed_clusters.begin_create_or_update(c.place.group, "new", body).result()
    assert (made.kubernetes_version, made.current_kubernetes_version) == ("1.34", "1.34.3")
    assert made.node_resource_group == f"MC_{c.place.group}_new_{c.place.location}"
    assert (made.agent_pool_profiles[0].count, made.agent_pool_profiles[0].mode) == (2, "System")
    assert made.fqdn.startswith("new-")


@_operation("aks agent_pools.list of new cluster")
def _(c: Any) -> None:
    [pool] = c.aks.agent_pools.list(c.place.group, "new")
    assert (pool.name, pool.count, pool.os_sku, pool.current_orchestrator_version) == ("system", 2, "Ubuntu", "1.34.3")


@_operation("aks agent_pools.list")
def _(c: Any) -> None:
    [pool] = c.aks.agent_pools.list(c.place.group, c.place.cluster)
    assert pool.mode == "Machines"


@_operation("aks agent_pools.create")
def _(c: Any) -> None:
    body = {"properties": {"count": 1, "vmSize": "Standard_D4s_v5", "mode": "User"}}
    made = c.aks.agent_pools.begin_create_or_update(c.place.group, "new", "user", body).result()
    assert (made.vm_size, made.os_disk_size_gb, made.provisioning_state) == ("Standard_D4s_v5", 128, "Succeeded")


@_operation("aks agent_pools.delete")
def _(c: Any) -> None:
    c.aks.agent_pools.begin_delete(c.place.group, "new", "user").result()
    assert [pool.name for pool in c.aks.agent_pools.list(c.place.group, "new")] == ["system"]


@_operation("aks upgrade profile")
def _(c: Any) -> None:
    profile = c.aks.managed_clusters.get_upgrade_profile(c.place.group, c.place.cluster).control_plane_profile
    assert profile.kubernetes_version == "1.34.2"
    assert [item.kubernetes_version for item in profile.upgrades] == ["1.34.3", "1.35.0", "1.35.1"]


@_operation("aks list_cluster_admin_credentials")
def _(c: Any) -> None:
    [found] = c.aks.managed_clusters.list_cluster_admin_credentials(c.place.group, c.place.cluster).kubeconfigs
    lines = bytes(found.value).decode().splitlines()
    assert (found.name, f"current-context: {c.place.cluster}" in lines) == ("clusterAdmin", True)


@_operation("aks list_kubernetes_versions")
def _(c: Any) -> None:
    values = {
        item.version: item for item in c.aks.managed_clusters.list_kubernetes_versions(c.place.location).values_property
    }
    assert values["1.34"].is_default
    assert values["1.34"].patch_versions["1.34.2"].upgrades == ["1.34.3", "1.35.0", "1.35.1"]


@_operation("aks update_tags")
def _(c: Any) -> None:
    made = c.aks.managed_clusters.begin_update_tags(c.place.group, "new", {"tags": {"a": "b"}}).result()
    assert made.tags == {"a": "b"}
    assert made.agent_pool_profiles[0].name == "system"


@_operation("aks machines.list")
def _(c: Any) -> None:
    assert list(c.aks.machines.list(c.place.group, c.place.cluster, "aksmanagedap")) == []


@_operation("aks machines.get")
def _(c: Any) -> None:
    image = "AKSUbuntu-2404gen2containerd-202512.18.0"
    body = {"zones": ["1"], "properties": {"hardware": {"vmSize": "Standard_D2s_v5"}, "nodeImageVersion": image}}
    names = (c.place.group, c.place.cluster, "aksmanagedap", "m1")
    # the stable SDK only reads machines
    pool = (
        c.place.id(c.place.group, "Microsoft.ContainerService/managedClusters", c.place.cluster)
        + "/agentPools/aksmanagedap"
    )
    c.resource.resources.begin_create_or_update_by_id(
        f"{pool}/machines/m1", body, api_version="2026-04-02-preview"
    ).result()
    found = c.aks.machines.get(*names)
    assert found.zones == ["1"]
    assert "/virtualMachines/aks-aksmanagedap-m1-" in found.properties.resource_id


@_operation("aks agent_pools.begin_delete_machines")
def _(c: Any) -> None:
    names = (c.place.group, c.place.cluster, "aksmanagedap")
    c.aks.agent_pools.begin_delete_machines(*names, {"machineNames": ["m1"]}).result()
    assert list(c.aks.machines.list(*names)) == []
    try:
        c.aks.agent_pools.begin_delete_machines(*names, {"machineNames": ["m1"]}).result()
    except HttpResponseError as error:
        assert "Cannot find any valid machines" in error.error.message
    else:
        raise AssertionError("it was there twice")
