"""The same pool is read from all tools that print it, and each mistake has its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.migrate.reading.nodes import cluster_of_nodes
from harness.reading.manifests import manifests_of_text
from harness.reading.problems import ScenarioError
from tests.cli.command import as_json, call
from tests.migrate.pools import SUBNET, cluster, pool, read

AZ = {
    "name": "gpu",
    "mode": "User",
    "vmSize": "Standard_NC4as_T4_v3",
    "osType": "Linux",
    "osSku": "Ubuntu",
    "osDiskSizeGb": 256,
    "enableAutoScaling": True,
    "minCount": 1,
    "maxCount": 4,
    "count": 2,
    "maxPods": 60,
    "availabilityZones": ["1", "2"],
    "nodeLabels": {"team": "ml"},
    "nodeTaints": ["sku=gpu:NoSchedule"],
    "scaleSetPriority": "Spot",
    "enableFips": True,
    "vnetSubnetId": SUBNET,
    "kubeletConfig": {"cpuManagerPolicy": "static", "podMaxPids": 900, "cpuCfsQuota": None},
    "linuxOsConfig": {"swapFileSizeMb": 1500, "sysctls": {"netIpv4TcpFinTimeout": 30}},
    "podSubnetId": None,
    "tags": None,
}
TERRAFORM = {
    "name": "gpu",
    "mode": "User",
    "vm_size": "Standard_NC4as_T4_v3",
    "os_type": "Linux",
    "os_sku": "Ubuntu",
    "os_disk_size_gb": 256,
    "auto_scaling_enabled": True,
    "min_count": 1,
    "max_count": 4,
    "node_count": 2,
    "max_pods": 60,
    "zones": ["1", "2"],
    "node_labels": {"team": "ml"},
    "node_taints": ["sku=gpu:NoSchedule"],
    "priority": "Spot",
    "fips_enabled": True,
    "vnet_subnet_id": SUBNET,
    "kubelet_config": [{"cpu_manager_policy": "static", "pod_max_pid": 900, "allowed_unsafe_sysctls": []}],
    "linux_os_config": [
        {"swap_file_size_mb": 1500, "sysctl_config": [{"net_ipv4_tcp_fin_timeout": 30, "vm_swappiness": None}]}
    ],
    "pod_subnet_id": "",
    "id": "/x",
    "kubernetes_cluster_id": "/y",
    "timeouts": None,
    "only_critical_addons_enabled": None,
}


def terraform(*resources: dict[str, Any], child: bool = False) -> dict[str, Any]:
    module = {"resources": list(resources)}
    return {"format_version": "1.0", "values": {"root_module": {"child_modules": [module]} if child else module}}


@pytest.mark.parametrize(
    ("file", "source"),
    [
        pytest.param([AZ], "az", id="az aks nodepool list"),
        pytest.param(AZ, "az", id="az aks nodepool show"),
        pytest.param(cluster(AZ), "az", id="az aks show"),
        pytest.param([cluster(AZ)], "az", id="az aks list of one"),
        pytest.param({"value": [{"name": "gpu", "properties": AZ}]}, "az", id="az rest"),
        pytest.param(
            terraform({"type": "azurerm_kubernetes_cluster_node_pool", "values": TERRAFORM}), "Terraform", id="azurerm"
        ),
        pytest.param(
            terraform({"type": "azurerm_kubernetes_cluster_node_pool", "values": TERRAFORM}, child=True),
            "Terraform",
            id="azurerm in a module",
        ),
        pytest.param(
            terraform(
                {
                    "type": "azapi_resource",
                    "values": {
                        "type": "Microsoft.ContainerService/managedClusters/agentPools@2025-05-01",
                        "name": "gpu",
                        "body": json.dumps({"properties": {key: value for key, value in AZ.items() if key != "name"}}),
                    },
                }
            ),
            "Terraform",
            id="azapi",
        ),
    ],
)
def test_every_tool_describes_the_same_pool(file: Any, source: str) -> None:
    (gpu,) = read(file).pools
    assert (gpu.name, gpu.source) == ("gpu", source)
    assert gpu.properties == {
        "mode": "User",
        "vmSize": "Standard_NC4as_T4_v3",
        "osType": "Linux",
        "osSKU": "Ubuntu",
        "osDiskSizeGB": 256,
        "enableAutoScaling": True,
        "minCount": 1,
        "maxCount": 4,
        "count": 2,
        "maxPods": 60,
        "availabilityZones": ["1", "2"],
        "nodeLabels": {"team": "ml"},
        "nodeTaints": ["sku=gpu:NoSchedule"],
        "scaleSetPriority": "Spot",
        "enableFIPS": True,
        "vnetSubnetID": SUBNET,
        "kubeletConfig": {"cpuManagerPolicy": "static", "podMaxPids": 900},
        "linuxOSConfig": gpu.properties["linuxOSConfig"],
    }
    sysctls = {key.lower(): value for key, value in gpu.properties["linuxOSConfig"]["sysctls"].items()}
    assert sysctls == {"netipv4tcpfintimeout": 30}
    assert gpu.properties["linuxOSConfig"]["swapFileSizeMB"] == 1500


def test_a_cluster_says_more_than_its_pools() -> None:
    az = cluster(
        pool(),
        currentKubernetesVersion="1.33.2",
        networkProfile={"networkPlugin": "azure", "networkDataplane": "cilium", "podCidr": "10.0.0.0/8"},
        autoScalerProfile={"scaleDownUnneededTime": "15m", "skip-nodes-with-local-storage": "true", "newKey": "1"},
    )
    found = read(az)
    assert (found.location, found.kubernetes) == ("westeurope", "1.33.2")
    assert found.network == {"network-plugin": "azure", "network-dataplane": "cilium"}
    assert found.autoscaler == {
        "scale-down-unneeded-time": "15m",
        "skip-nodes-with-local-storage": "true",
        "newKey": "1",
    }


def test_azurerm_has_names_of_its_own_for_the_profile() -> None:
    values = {
        "location": "westeurope",
        "kubernetes_version": "1.33",
        "default_node_pool": [{"name": "sys", "vm_size": "Standard_D4s_v5", "only_critical_addons_enabled": True}],
        "auto_scaler_profile": [
            {"scale_down_unneeded": "5m", "empty_bulk_delete_max": "3", "balance_similar_node_groups": True}
        ],
    }
    found = read(terraform({"type": "azurerm_kubernetes_cluster", "values": values}))
    assert found.autoscaler == {
        "scale-down-unneeded-time": "5m",
        "max-empty-bulk-delete": "3",
        "balance-similar-node-groups": "true",
    }
    (system,) = found.pools
    assert system.is_system
    assert system.taints() == [{"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}]


def test_a_pools_own_resource_counts_over_the_list_of_its_cluster() -> None:
    found = read(cluster(pool("a", maxPods=30)), pool("a", maxPods=60))
    assert [one.properties["maxPods"] for one in found.pools] == [60]


def test_bicep_is_evaluated_with_a_file_of_parameters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    template = {
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#",
        "contentVersion": "1.0.0.0",
        "parameters": {"size": {"type": "string"}, "pools": {"type": "array", "defaultValue": ["a", "b"]}},
        "resources": [
            {
                "type": "Microsoft.ContainerService/managedClusters/agentPools",
                "apiVersion": "2025-05-01",
                "name": "[format('{0}/{1}', 'prod', parameters('pools')[copyIndex()])]",
                "copy": {"name": "each", "count": "[length(parameters('pools'))]"},
                "properties": {"mode": "User", "vmSize": "[parameters('size')]", "count": "[add(1, copyIndex())]"},
            }
        ],
    }
    (tmp_path / "main.json").write_text(json.dumps(template))
    code, _, err = call(capsys, "migrate", str(tmp_path / "main.json"))
    assert code == 2
    assert "The value for the template parameter 'size' is not provided.; a file of parameters may be given" in err
    parameters = {
        "$schema": "https://schema.management.azure.com/schemas/2019-04-01/deploymentParameters.json#",
        "parameters": {"size": {"value": "Standard_E4s_v5"}},
    }
    (tmp_path / "values.json").write_text(json.dumps(parameters))
    found = as_json(capsys, "migrate", str(tmp_path / "main.json"), str(tmp_path / "values.json"), "--region", "eastus")
    assert [one["pools"] for one in found["moved"]] == [["a"], ["b"]]
    counts = [row["value"] for row in found["settings"] if row["field"] == "count"]
    sizes = {row["value"] for row in found["settings"] if row["field"] == "vmSize"}
    assert (counts, sizes) == (["1", "2"], {"Standard_E4s_v5"})


def test_nodes_alone_tell_their_pools() -> None:
    node = """
apiVersion: v1
kind: Node
metadata:
  name: aks-apps-1-vmss00000{}
  labels:
    agentpool: apps
    kubernetes.azure.com/agentpool: apps
    kubernetes.azure.com/mode: user
    kubernetes.azure.com/scalesetpriority: spot
    kubernetes.io/os: linux
    node.kubernetes.io/instance-type: Standard_D4s_v5
    topology.kubernetes.io/region: westeurope
    topology.kubernetes.io/zone: westeurope-{}
    team: shop
    kubernetes.io/hostname: aks-apps-1-vmss00000{}
spec:
  taints:
  - {{key: team, value: shop, effect: NoSchedule}}
  - {{key: node.kubernetes.io/unschedulable, effect: NoSchedule}}
status: {{capacity: {{pods: "110"}}}}
"""
    text = "---".join(node.format(number, number + 1, number) for number in range(2))
    found = cluster_of_nodes(manifests_of_text(text, "dump.yaml"))
    (apps,) = found.pools
    assert (apps.name, apps.sizes, apps.zones, apps.is_spot, apps.is_system) == (
        "apps",
        ("Standard_D4s_v5",),
        ("1", "2"),
        True,
        False,
    )
    assert apps.labels == {"team": "shop"}
    assert apps.properties["nodeTaints"] == ["team=shop:NoSchedule"]
    assert (apps.properties["count"], apps.properties["maxPods"]) == (2, 110)
    assert found.location == "westeurope"


MISTAKES = [
    pytest.param(
        cluster(pool(maxPods="many")),
        "agentPoolProfiles[0].maxPods: a whole number is expected, not 'many'",
        id="number",
    ),
    pytest.param(cluster(pool(nodeTaints=["gpu"])), "'gpu' is no taint: KEY=VALUE:NoSchedule", id="taint"),
    pytest.param(
        cluster(pool(vmSize="", virtualMachinesProfile={"x": 1})), "agent pool apps has no size", id="no size"
    ),
    pytest.param(
        cluster(pool(nodeLabels=["a"])), "agentPoolProfiles[0].nodeLabels: a map is expected, not a list", id="labels"
    ),
    pytest.param({"a": 1}, "there is no agent pool in it; what `az aks show`", id="nothing"),
    pytest.param(
        [cluster(pool()), cluster(pool("b"))], "a second cluster; the first one is in file0.json:2:2", id="two clusters"
    ),
]


@pytest.mark.parametrize(("value", "text"), MISTAKES)
def test_a_mistake_has_its_place(value: Any, text: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        read(value)
    (problem,) = caught.value.problems
    assert text in str(problem)
    assert str(problem).startswith("file0.json:")


def test_all_mistakes_of_all_files_are_told() -> None:
    with pytest.raises(ScenarioError) as caught:
        read(cluster(pool(count="x")), pool("b", maxPods="y"))
    assert [problem.mark.file for problem in caught.value.problems] == ["file0.json", "file1.json"]
