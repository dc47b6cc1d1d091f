"""What AKS writes on the nodes of machines by itself, and who wins where the body says the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fakeazure.aks.kubelet import TOKEN
from fakeazure.aks.machine_launch import node_text
from fakeazure.aks.node_labels import ABSENT, TABLE, NodeFacts, aks_labels, cluster_label, reasons
from fakeazure.arm.ids import ResourceId
from fakeazure.cloud import FakeAzure
from fakeazure.events import PoweredOn
from fakeazure.resources.network.virtual_networks import add_network
from tests.cloud.aks_machine import TAINTS, labels_of, machine_body, put, script_of
from tests.cloud.driver import MACHINES, Driver, error_of


def test_node_is_told_aks_own_labels_then_those_of_the_body() -> None:
    driver = Driver()
    put(driver, "m", machine_body(priority="Spot"))
    driver.cloud.advance(10)
    [event] = driver.events
    assert isinstance(event, PoweredOn)
    own = event.vm.aks_labels
    assert own["agentpool"] == own["kubernetes.azure.com/agentpool"] == "aksmanagedap"
    assert own["kubernetes.azure.com/scalesetpriority"] == "spot"
    assert own["kubernetes.azure.com/os-sku"] == "Ubuntu"
    assert own["kubernetes.azure.com/os-sku-effective"] == "Ubuntu2404"
    assert own["kubernetes.azure.com/cluster"] == "MC_rg_c_eastus"
    assert own["kubernetes.azure.com/node-image-version"] == "AKSUbuntu-2404gen2containerd-202512.18.0"
    assert own["kubernetes.azure.com/network-stateless-cni"] == "true"
    assert (own["kubernetes.azure.com/sku-cpu"], own["kubernetes.azure.com/sku-memory"]) == ("2", "8192")
    assert "accelerator" not in own
    assert "team" not in own
    script = script_of(event.vm.custom_data)
    assert labels_of(script) == {**own, "team": "alpha", "karpenter.sh/nodepool": "default"}
    assert f"--register-with-taints={','.join(TAINTS)}" in script
    assert f'TLS_BOOTSTRAP_TOKEN="{TOKEN}"' in script


@pytest.mark.parametrize(
    ("network", "absent", "present"),
    [
        ({}, (), ("azure-cni-overlay", "ebpf-dataplane", "network-subnet", "podnetwork-type")),
        ({"networkPluginMode": ""}, ("azure-cni-overlay", "network-subnet", "podnetwork-type"), ("ebpf-dataplane",)),
        ({"networkDataplane": "azure"}, ("ebpf-dataplane",), ("azure-cni-overlay",)),
    ],
)
def test_network_labels_follow_the_cluster(
    network: dict[str, str], absent: tuple[str, ...], present: tuple[str, ...]
) -> None:
    driver = Driver(network=network)
    put(driver, "m", machine_body())
    driver.cloud.advance(10)
    [event] = driver.events
    keys = {key.removeprefix("kubernetes.azure.com/") for key in event.vm.aks_labels}
    assert not keys & set(absent)
    assert set(present) <= keys


def test_on_demand_and_gpu_labels() -> None:
    driver = Driver()
    put(driver, "m", machine_body("Standard_NC4as_T4_v3", "2"))
    driver.cloud.advance(10)
    own = driver.events[0].vm.aks_labels
    assert own["accelerator"] == own["kubernetes.azure.com/accelerator"] == "nvidia"
    assert "kubernetes.azure.com/scalesetpriority" not in own  # AKS writes it on spot nodes only


POD_VNET = "/subscriptions/s/resourceGroups/pods-rg/providers/Microsoft.Network/virtualNetworks/pods-net"


def own_labels(driver: Driver, body: Mapping[str, Any]) -> dict[str, str]:
    """AKS's own labels of a machine, without the domain."""
    put(driver, "m", body)
    driver.cloud.advance(10)
    return {key.removeprefix("kubernetes.azure.com/"): value for key, value in driver.events[0].vm.aks_labels.items()}


def changed(section: str, **fields: Any) -> dict[str, Any]:
    """A machine with other fields in a section of its properties."""
    body = machine_body()
    body["properties"][section] = {**body["properties"].get(section, {}), **fields}
    return body


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (changed("kubernetes", workloadRuntime="KataMshvVmIsolation"), {"kata-mshv-vm-isolation": "true"}),
        (changed("kubernetes", workloadRuntime="KataVmIsolation"), {"kata-vm-isolation": "true"}),
        (changed("operatingSystem", osSKU="AzureLinux3"), {"os-sku": "AzureLinux", "os-sku-requested": "AzureLinux3"}),
        (changed("operatingSystem", osSKU=""), {"os-sku-requested": "Ubuntu"}),
        (changed("security", enableVTPM=True), {"security-type": "TrustedLaunch"}),
        (changed("security", enableSecureBoot=True), {"security-type": "TrustedLaunch"}),
        (
            changed("tags", **{"aks-nic-enable-multi-tenancy": "true"}),
            {"podnetwork-multi-tenancy-enabled": "true", "podnetwork-swiftv2-enabled": "true"},
        ),
        (changed("kubernetes", artifactStreamingProfile={"enabled": True}), {"artifactstreaming-enabled": "true"}),
        (changed("operatingSystem", enableFIPS=True), {"fips_enabled": "true"}),
        (
            changed("network", podSubnetID=f"{POD_VNET}/subnets/pods"),
            {
                "podnetwork-type": "vnet",
                "podnetwork-subscription": "s",
                "podnetwork-resourcegroup": "pods-rg",
                "podnetwork-name": "pods-net",
                "podnetwork-subnet": "pods",
                "podnetwork-delegationguid": "11111111-2222-3333-4444-555555555555",
            },
        ),
    ],
)
def test_fields_of_a_machine_that_bring_labels(body: dict[str, Any], expected: dict[str, str]) -> None:
    driver = Driver()
    vnet = ResourceId.parse(POD_VNET)
    guid = "11111111-2222-3333-4444-555555555555"
    driver.cloud.state.add_group(vnet.subscription, vnet.group, "eastus")
    add_network(
        driver.cloud.state, vnet, location="eastus", prefix="10.0.0.0/8", subnets={"pods": "10.1.0.0/16"}, guid=guid
    )
    plain = own_labels(Driver(), machine_body())
    found = own_labels(driver, body)
    assert {key: value for key, value in found.items() if plain.get(key) != value} == expected


@pytest.mark.parametrize(
    ("size", "present", "absent"),
    [
        ("Standard_DC2as_v5", {"kubernetes.azure.com/security-type": "ConfidentialVM"}, ()),
        ("Standard_DC16ads_cc_v5", {}, ("kubernetes.azure.com/security-type",)),
        ("Standard_NV4as_v4", {}, ("accelerator", "kubernetes.azure.com/accelerator")),
        ("Standard_NC24ads_A100_v4", {"accelerator": "nvidia", "kubernetes.azure.com/accelerator": "nvidia"}, ()),
    ],
)
def test_sizes_that_bring_labels(size: str, present: dict[str, str], absent: tuple[str, ...]) -> None:
    """A size that hosts confidential child VMs is none itself; labels of GPUs are for NVIDIA's."""
    cloud = FakeAzure(region="eastus", cluster="c", azure={"quota": {"cores": 1000}})
    found = cloud.market.size(size, "eastus")
    assert found is not None
    body = machine_body(size)
    id_ = ResourceId.parse(f"{Driver().pool_path()}/machines/m")
    _, own = node_text(cloud.state, {"id": str(id_), **body}, cluster_of(cloud), found, subnet_of(cloud))
    assert present.items() <= own.items()
    assert not set(absent) & own.keys()


def cluster_of(cloud: FakeAzure) -> Mapping[str, Any]:
    return cloud.state.found(ResourceId.parse(Driver().pool_path()).parent).document  # type: ignore[arg-type]


def subnet_of(cloud: FakeAzure) -> str:
    return str(cluster_of(cloud)["properties"]["vnetSubnetID"])


def test_two_address_families_in_an_overlay() -> None:
    driver = Driver(network={"ipFamilies": ["IPv4", "IPv6"]})
    assert own_labels(driver, machine_body())["podv6network-type"] == "overlay"


def test_a_pool_with_blocks_of_pod_addresses() -> None:
    driver = Driver()
    vnet = ResourceId.parse(POD_VNET)
    driver.cloud.state.add_group(vnet.subscription, vnet.group, "eastus")
    add_network(driver.cloud.state, vnet, location="eastus", prefix="10.0.0.0/8", subnets={"pods": "10.1.0.0/16"})
    pool = {"podSubnetID": f"{POD_VNET}/subnets/pods", "podIPAllocationMode": "StaticBlock", "mode": "Machines"}
    assert driver.call("PUT", driver.pool_path(), {"properties": pool}, MACHINES).status == 200
    found = own_labels(driver, machine_body())
    assert (found["podnetwork-type"], found["podnetwork-subnet"]) == ("vnetblock", "pods")


COMMON = (
    "agentpool cluster consolidated-additional-properties kubelet-identity-client-id kubelet-serving-ca localdns-state mode "
    "node-image-version nodepool-type os-sku os-sku-effective os-sku-requested role sku-cpu sku-memory"
)
OVERLAY = (
    "azure-cni-overlay network-name network-resourcegroup network-stateless-cni network-subnet network-subscription "
    "nodenetwork-vnetguid podnetwork-type"
)
# Published label lists of Nodes of agent pools: the facts of each, and the keys of kubernetes.azure.com that it has.
PUBLISHED = [
    ("overlay, Standard_D2as_v4, 2025-10", {"network_plugin_mode": "overlay"}, f"{COMMON} {OVERLAY} storageprofile storagetier"),
    ("kubenet with calico, spot, 2026-05", {"network_policy": "calico", "priority": "Spot"},
     f"{COMMON} network-policy priority scalesetpriority storageprofile storagetier"),
    ("no overlay, Standard_B8ms, 2025-12", {}, f"{COMMON} storageprofile storagetier"),
    ("overlay, LocalDNS, policy none, an ephemeral disk, 2025-09",
     {"network_plugin_mode": "overlay", "network_policy": "none", "ephemeral_disk": True, "local_dns": True},
     f"{COMMON} {OVERLAY} network-policy"),
]  # fmt: skip


@pytest.mark.parametrize(("facts", "keys"), [row[1:] for row in PUBLISHED], ids=[row[0] for row in PUBLISHED])
def test_nodes_of_agent_pools_have_the_same_labels(facts: dict[str, Any], keys: str) -> None:
    plain = NodeFacts(
        pool="nodepool1",
        cluster_group="MC_a_b_c",
        mode="System",
        priority="Regular",
        os_sku="Ubuntu",
        node_image_version="AKSUbuntu-2204gen2containerd-202510.03.1",
        kubernetes="1.33.6",
        vcpus=2,
        memory_mib=8192,
        premium=True,
        ephemeral_disk=False,
        nvidia=False,
        fips=False,
        artifact_streaming=False,
        local_dns=False,
        subscription="s",
        network="aks-vnet-1",
        network_group="rg",
        network_guid="g",
        subnet="aks-subnet",
        network_plugin="azure",
        network_plugin_mode="",
        network_dataplane="azure",
        network_policy="",
        kubelet_client_id="k",
        pool_type="VirtualMachineScaleSets",
    )
    found = aks_labels(replace(plain, **facts))
    assert {key.removeprefix("kubernetes.azure.com/") for key in found if "/" in key} == set(keys.split())
    assert (found["kubernetes.azure.com/os-sku-requested"], found["kubernetes.azure.com/os-sku-effective"]) == (
        "Ubuntu",
        "Ubuntu2204",
    )
    assert found["kubernetes.azure.com/nodepool-type"] == "VirtualMachineScaleSets"


def test_label_table_is_sound() -> None:
    assert len({row.key for row in TABLE}) == len(TABLE)
    assert {row.source for row in TABLE} == {"node dump", "e2e test", "AgentBaker", "AKS docs", "CNI", "guess"}
    assert not {row.key for row in TABLE} & set(ABSENT)
    assert cluster_label("MC_(a)_b-") == "MC_-a-_b-z"
    assert cluster_label("x" * 62 + "--") == "x" * 62 + "z"


def test_a_label_that_a_plain_node_lacks_says_which_nodes_have_it() -> None:
    driver = Driver()
    put(driver, "m", machine_body())
    driver.cloud.advance(10)
    [event] = driver.events
    assert isinstance(event, PoweredOn)
    conditional = {row.key for row in TABLE if row.when}
    assert {row.key for row in TABLE} - set(event.vm.aks_labels) == conditional
    assert reasons().keys() == conditional | set(ABSENT)


_NETWORK = "/subscriptions/s/resourceGroups/pods-rg/providers/Microsoft.Network/virtualNetworks/v"


@pytest.mark.parametrize("subnet", ["pods", "/x", "/subscriptions/s/resourceGroups/pods-rg", _NETWORK])
def test_a_pod_subnet_that_is_no_id_is_refused(subnet: str) -> None:
    driver = Driver()
    refused = put(driver, "m", changed("network", podSubnetID=subnet))
    assert error_of(refused)[:2] == (400, "LinkedInvalidPropertyId")
    pool = {"podSubnetID": subnet, "mode": "Machines"}
    refused = driver.call("PUT", driver.pool_path(), {"properties": pool}, MACHINES)
    assert error_of(refused)[:2] == (400, "LinkedInvalidPropertyId")


def test_a_new_cluster_whose_pools_pod_subnet_is_no_id_is_refused() -> None:
    driver = Driver()
    pools = [{"name": "system", "count": 1}, {"name": "more", "count": 1, "podSubnetID": "pods"}]
    path = driver.path("Microsoft.ContainerService/managedClusters", "new", group="rg")
    refused = driver.call("PUT", path, {"location": "eastus", "properties": {"agentPoolProfiles": pools}})
    assert error_of(refused)[:2] == (400, "LinkedInvalidPropertyId")
    assert "properties.agentPoolProfiles[1].podSubnetID" in error_of(refused)[2]
    assert driver.call("GET", path).status == 404
