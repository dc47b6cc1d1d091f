"""AKS machines: created, failed, batched, tagged, deleted; what AKS writes on the node by itself."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fakeazure.aks.kubelet import TOKEN, reserved_cpu, reserved_memory_by_pods, reserved_memory_by_size
from fakeazure.aks.machine_launch import node_text
from fakeazure.aks.machines import drift
from fakeazure.aks.node_labels import ABSENT, TABLE, NodeFacts, aks_labels, cluster_label
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Response
from fakeazure.cloud import FakeAzure
from fakeazure.events import CreationFailed, Deleted, PoweredOn
from fakeazure.resources.virtual_networks import add_network
from tests.cloud.driver import MACHINES, Driver, error_of

TAINTS = ["example.com/dedicated=x:NoSchedule", "karpenter.sh/unregistered:NoExecute"]


def machine_body(
    size: str = "Standard_D2s_v5", zone: str = "1", priority: str = "Regular", **labels: str
) -> dict[str, Any]:
    return {
        "zones": [zone] if zone else [],
        "properties": {
            "hardware": {"vmSize": size, "ultraSsdEnabled": False},
            "kubernetes": {
                "nodeInitializationTaints": TAINTS,
                "nodeLabels": {"team": "alpha", "karpenter.sh/nodepool": "default", **labels},
                "nodeTaints": [],
                "orchestratorVersion": "1.34.2",
            },
            "mode": "User",
            "network": {},
            "nodeImageVersion": "AKSUbuntu-2404gen2containerd-202512.18.0",
            "operatingSystem": {"osDiskSizeGB": 128, "osDiskType": "Managed", "osSKU": "Ubuntu2404", "osType": "Linux"},
            "priority": priority,
            "security": {"enableEncryptionAtHost": False, "sshAccess": "LocalUser"},
            "tags": {"karpenter.sh_nodepool": "default"},
        },
    }


def put(driver: Driver, name: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    path = f"{driver.pool_path()}/machines/{name}"
    return driver.cloud.request("PUT", path, query={"api-version": MACHINES}, body=body, headers=headers)


def get(driver: Driver, name: str) -> Response:
    return driver.call("GET", f"{driver.pool_path()}/machines/{name}", None, MACHINES)


def properties(answer: Response) -> Mapping[str, Any]:
    assert answer.body is not None
    found = answer.body["properties"]
    assert isinstance(found, Mapping)
    return found


def test_machine_is_readable_at_once_and_its_vm_powers_on() -> None:
    driver = Driver()
    answer = put(driver, "default-abc", machine_body())
    assert answer.status == 201
    assert "/Microsoft.ContainerService/locations/eastus/operations/" in answer.headers["Azure-AsyncOperation"]
    shown = properties(get(driver, "default-abc"))
    assert shown["provisioningState"] == "Creating"
    assert "priority" not in shown  # only spot machines say so
    assert shown["status"]["creationTimestamp"] == "2026-01-01T00:00:00.0000000+00:00"
    name = shown["resourceId"].rpartition("/")[2]
    assert name.startswith("aks-aksmanagedap-default-abc-")
    assert name.endswith("-vm")
    assert len(name.split("-")[-2]) == 8
    driver.cloud.advance(10)
    body = driver.poll(answer).body
    assert body is not None
    assert body["status"] == "Succeeded"
    assert properties(get(driver, "default-abc"))["provisioningState"] == "Succeeded"
    [event] = driver.events
    assert isinstance(event, PoweredOn)
    assert event.vm.id == shown["resourceId"]
    assert event.vm.machine is not None
    assert event.vm.machine["name"] == "default-abc"
    assert driver.usage("standardDSv5Family")[0] == 2


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
    script = base64.b64decode(event.vm.custom_data).decode()
    line = next(line for line in script.splitlines() if line.startswith("KUBELET_NODE_LABELS="))
    labels = dict(pair.split("=", 1) for pair in line.partition("=")[2].strip('"').split(","))
    assert labels == {**own, "team": "alpha", "karpenter.sh/nodepool": "default"}
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


@pytest.mark.parametrize(
    ("azure", "zone", "priority", "outer", "inner"),
    [
        ({"quota": {"standardDSv5Family": 1}}, "1", "Regular", "QuotaExceeded", "OperationNotAllowed"),
        ({"quota": {"lowPriorityCores": 0}}, "1", "Spot", "QuotaExceeded", "OperationNotAllowed"),
        ({"capacity": [{"zone": "1", "vms": 0}]}, "1", "Regular", "ZonalAllocationFailed", "ZonalAllocationFailed"),
        ({"faults": [{"what": "SkuNotAvailable"}]}, "", "Regular", "SkuNotAvailable", "SkuNotAvailable"),
        (
            {"faults": [{"what": "OverconstrainedZonalAllocationRequest", "at": "end"}]},
            "2",
            "Regular",
            "OverconstrainedZonalAllocationRequest",
            "OverconstrainedZonalAllocationRequest",
        ),
    ],
)
def test_compute_errors_come_late_and_wrapped(
    azure: dict[str, Any], zone: str, priority: str, outer: str, inner: str
) -> None:
    driver = Driver(azure)
    answer = put(driver, "m", machine_body(zone=zone, priority=priority))
    assert answer.status == 201
    driver.cloud.advance(10)
    body = driver.poll(answer).body
    assert body is not None
    assert (body["status"], body["error"]["code"]) == ("Failed", inner)
    shown = properties(get(driver, "m"))
    assert shown["provisioningState"] == "Failed"
    error = shown["status"]["provisioningError"]
    assert error["code"] == outer
    [detail] = error["details"]
    assert detail["code"] == inner
    assert error["message"] == f'Code="{inner}" Message="{detail["message"]}"'
    assert not any(isinstance(event, PoweredOn) for event in driver.events)
    deleted = driver.call("POST", f"{driver.pool_path()}/deleteMachines", {"machineNames": ["m"]}, MACHINES)
    assert deleted.status == 202
    driver.cloud.advance(10)
    assert get(driver, "m").status == 404
    assert driver.usage("virtualMachines")[0] == 0


@pytest.mark.parametrize("azure", [{}, {"restrictions": [{"size": "Standard_D4s_v5"}]}])
def test_sizes_that_are_not_sold_are_refused_at_once(azure: dict[str, Any]) -> None:
    size = "Standard_D4s_v5" if azure else "Standard_Nope"
    driver = Driver(azure)
    status, code, message = error_of(put(driver, "m", machine_body(size)))
    assert (status, code) == (400, "VMSizeNotSupported")
    assert f"Virtual Machine size: '{size}' is not supported for subscription" in message
    assert get(driver, "m").status == 404


def test_full_subnet_fails_the_machine_late() -> None:
    driver = Driver(subnet_prefix="10.224.0.0/29")
    for name in "abc":
        driver.put_nic(name)
    put(driver, "m", machine_body())
    driver.cloud.advance(10)
    error = properties(get(driver, "m"))["status"]["provisioningError"]
    assert error["details"][0]["code"] == "SubnetIsFull"


def test_only_tags_may_change_and_the_etag_guards_them() -> None:
    driver = Driver()
    put(driver, "m", machine_body())
    driver.cloud.advance(10)
    etag = properties(get(driver, "m"))["eTag"]
    changed = machine_body()
    changed["properties"]["tags"] = {"a": "b"}
    assert error_of(put(driver, "m", changed, {"If-Match": "stale"}))[:2] == (412, "ConditionNotMet")
    answer = put(driver, "m", changed, {"If-Match": etag})
    assert answer.status == 200
    assert properties(answer)["tags"] == {"a": "b"}
    assert properties(answer)["eTag"] != etag
    for other in (machine_body(zone="2"), machine_body("Standard_D4s_v5"), machine_body(priority="Spot")):
        assert error_of(put(driver, "m", other))[:2] == (400, "OperationNotAllowed")


def test_batch_creates_many_from_one_template() -> None:
    driver = Driver()
    template = machine_body(zone="")
    entries = [
        {"machineName": "m1", "zones": ["1"], "tags": {"karpenter.sh_nodepool": "one"}},
        {"machineName": "m2", "zones": ["2"], "tags": {"karpenter.sh_nodepool": "two"}},
    ]
    answer = put(driver, "m1", template, {"BatchPutMachine": json.dumps({"batchMachines": entries})})
    assert answer.status == 201
    driver.cloud.advance(10)
    body = driver.call("GET", f"{driver.pool_path()}/machines", None, MACHINES).body
    assert body is not None
    assert [
        (item["name"], item["zones"], item["properties"]["tags"]["karpenter.sh_nodepool"]) for item in body["value"]
    ] == [
        ("m1", ["1"], "one"),
        ("m2", ["2"], "two"),
    ]
    assert [event.vm.zone for event in driver.events] == ["1", "2"]


def test_batch_names_the_refused_machines_in_a_flat_body() -> None:
    driver = Driver()
    put(driver, "old", machine_body(zone="1"))
    entries = [{"machineName": "new", "zones": ["1"], "tags": {}}, {"machineName": "old", "zones": ["3"], "tags": {}}]
    answer = put(driver, "new", machine_body(zone=""), {"BatchPutMachine": json.dumps({"batchMachines": entries})})
    assert answer.body is not None
    assert (answer.status, answer.body["code"]) == (400, "BatchMachineClientError")
    assert [(detail["code"], detail["target"]) for detail in answer.body["details"]] == [("OperationNotAllowed", "old")]
    assert get(driver, "new").status == 200  # a machine that is not named was accepted
    bad = put(driver, "x", machine_body(), {"BatchPutMachine": "{"})
    assert error_of(bad)[:2] == (400, "InvalidRequestContent")


def test_delete_takes_vm_and_nic() -> None:
    driver = Driver()
    put(driver, "m", machine_body())
    driver.cloud.advance(10)
    path = f"{driver.pool_path()}/deleteMachines"
    answer = driver.call("POST", path, {"machineNames": ["m", "unknown"]}, MACHINES)
    assert answer.status == 202
    assert properties(get(driver, "m"))["provisioningState"] == "Deleting"
    driver.cloud.advance(10)
    assert driver.poll(answer, "Location").status == 204
    assert error_of(get(driver, "m"))[:2] == (404, "NotFound")
    assert [type(event) for event in driver.events] == [PoweredOn, Deleted]
    nics = driver.call("GET", driver.path("Microsoft.Network/networkInterfaces")).body
    assert nics is not None
    assert nics["value"] == []
    status, code, message = error_of(driver.call("POST", path, {"machineNames": ["m"]}, MACHINES))
    assert (status, code) == (400, "InvalidParameter")
    assert "Cannot find any valid machines" in message


def test_delete_while_creating() -> None:
    driver = Driver()
    put(driver, "m", machine_body())
    driver.cloud.advance(5)
    driver.call("POST", f"{driver.pool_path()}/deleteMachines", {"machineNames": ["m"]}, MACHINES)
    driver.cloud.advance(60)
    assert get(driver, "m").status == 404
    assert [type(event) for event in driver.events] == [Deleted]
    assert driver.usage("cores")[0] == 0


def test_stuck_machine_and_drift() -> None:
    driver = Driver({"faults": [{"what": "Stuck"}]})
    put(driver, "m", machine_body())
    driver.cloud.advance(3600)
    assert properties(get(driver, "m"))["provisioningState"] == "Creating"
    drift(driver.cloud.state, ResourceId.parse(f"{driver.pool_path()}/machines/m"), "ClusterUpgrade")
    status = properties(get(driver, "m"))["status"]
    assert (status["driftAction"], status["driftReason"]) == ("Recreate", "ClusterUpgrade")


def test_failed_vm_tells_that_creation_failed() -> None:
    driver = Driver({"faults": [{"what": "AllocationFailed", "at": "end"}]})
    put(driver, "m", machine_body(zone=""))
    driver.cloud.advance(10)
    assert [type(event) for event in driver.events] == [CreationFailed]


def test_pool_and_cluster_must_exist() -> None:
    driver = Driver()
    pool = driver.pool_path()
    assert error_of(driver.call("GET", pool.replace("aksmanagedap", "x") + "/machines", None, MACHINES))[:2] == (
        404,
        "NotFound",
    )
    missing = driver.call("GET", pool.replace("managedClusters/c", "managedClusters/d") + "/machines", None, MACHINES)
    assert error_of(missing)[:2] == (404, "ResourceNotFound")
    assert properties(driver.call("GET", pool, None, MACHINES))["type"] == "VirtualMachines"
    assert driver.call("PUT", pool.replace("aksmanagedap", "more"), {"properties": {}}, MACHINES).status == 201
    body = driver.call("GET", pool.rpartition("/")[0], None, MACHINES).body
    assert body is not None
    assert [item["name"] for item in body["value"]] == ["aksmanagedap", "more"]
    long = put(driver, "m" * 35, machine_body())
    assert error_of(long)[:2] == (400, "InvalidRequestContent")


def test_newer_images_show_in_both_lists() -> None:
    driver = Driver()
    driver.cloud.publish_image("2404gen2containerd", "202601.05.0")
    sub = driver.cloud.state.settings.subscription
    place = f"/subscriptions/{sub}/providers/Microsoft.Compute/locations/eastus/communityGalleries"
    gallery = f"{place}/AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2/images"
    body = driver.call("GET", f"{gallery}/2404gen2containerd/versions", None, "2025-03-03").body
    assert body is not None
    assert [(item["name"], item["properties"]["publishedDate"]) for item in body["value"]] == [
        ("202601.05.0", "2026-01-05T00:00:00+00:00"),
        ("202512.18.0", "2025-12-18T00:00:00+00:00"),
    ]
    fips = driver.call("GET", f"{gallery}/2204fipscontainerd/versions", None, "2025-03-03")
    assert error_of(fips)[:2] == (404, "GalleryImageNotFound")
    versions = f"/subscriptions/{sub}/providers/Microsoft.ContainerService/locations/eastus/nodeImageVersions"
    listed = driver.call("GET", versions, None, MACHINES).body
    assert listed is not None
    names = {item["fullName"] for item in listed["value"]}
    assert {"AKSUbuntu-2404gen2containerd-202601.05.0", "AKSUbuntu-2204fipscontainerd-202404.09.0"} <= names
    with pytest.raises(KeyError, match="unknown image definition"):
        driver.cloud.publish_image("windows", "1")


PROFILE = {
    "name": "",
    "vmSize": "Standard_D2s_v5",
    "osType": 0,
    "osSku": 1,
    "storageProfile": "ManagedDisks",
    "distro": "aks-ubuntu-containerd-24.04-gen2",
    "orchestratorVersion": "1.34.2",
    "vnetCidrs": [],
    "vnetSubnetID": "x",
    "mode": 1,
    "architecture": "amd64",
    "maxPods": 250,
    "customNodeLabels": {"b": "2", "a": "1"},
    "nodeTaints": ["t=1:NoSchedule"],
    "nodeInitializationTaints": ["karpenter.sh/unregistered:NoExecute"],
}


def bootstrap(driver: Driver, profile: Mapping[str, Any]) -> Response:
    names = driver.cloud.state.settings
    cluster = driver.path("Microsoft.ContainerService/managedclusters", names.cluster, group=names.resource_group)
    body = {"provisionProfile": profile, "provisionHelperValues": {"skuCPU": 2, "skuMemory": 8}}
    return driver.cloud.request("GET", f"{cluster}/nodeBootstrapping", body=body)  # no api-version


def test_bootstrapping_answers_custom_data_and_command_with_the_token_left_open() -> None:
    answer = bootstrap(Driver(), PROFILE)
    assert answer.status == 200
    assert answer.body is not None
    script = base64.b64decode(answer.body["customData"]).decode()
    assert 'KUBELET_NODE_LABELS="agentpool=,kubernetes.azure.com/agentpool=,a=1,b=2"' in script
    assert "--register-with-taints=t=1:NoSchedule,karpenter.sh/unregistered:NoExecute" in script
    assert "--max-pods=250" in script
    assert TOKEN in script
    assert TOKEN in answer.body["cse"]


@pytest.mark.parametrize(
    ("field", "name"), [("name", "Name"), ("maxPods", "MaxPods"), ("vnetSubnetID", "VnetSubnetID")]
)
def test_bootstrapping_names_the_missing_field(field: str, name: str) -> None:
    profile = {key: value for key, value in PROFILE.items() if key != field}
    status, code, message = error_of(bootstrap(Driver(), profile))
    assert (status, code) == (400, "MissingRequiredProperty")
    assert message.endswith(f"missing field: {name} cannot be empty")


@pytest.mark.parametrize(
    ("vcpus", "gib", "cpu", "by_size"),
    [
        (2, 3.5, 100, 896),
        (2, 4, 100, 1024),
        (2, 8, 100, 1843),
        (4, 16, 140, 2662),
        (8, 32, 180, 3645),
        (64, 256, 740, 12165),
    ],
)
def test_reservations(vcpus: int, gib: float, cpu: int, by_size: int) -> None:
    assert reserved_cpu(vcpus) == cpu
    assert reserved_memory_by_size(gib) == by_size
    assert reserved_memory_by_pods(gib, 30) == min(650, int(gib * 256))


def test_aks_itself_can_refuse_or_fail_by_machine() -> None:
    where = {"resource": "machines", "name": "m2"}
    faults = [
        {"what": "InternalOperationError", "where": where},
        {"what": "AllocationFailed", "where": {"resource": "machines", "size": "Standard_D4s_v5"}, "at": "end"},
    ]
    driver = Driver({"faults": faults})
    entries: list[dict[str, Any]] = [{"machineName": name, "zones": ["1"], "tags": {}} for name in ("m1", "m2")]
    answer = put(driver, "m1", machine_body(zone=""), {"BatchPutMachine": json.dumps({"batchMachines": entries})})
    assert answer.body is not None
    assert (answer.status, answer.body["code"]) == (500, "BatchMachineInternalServerError")
    [detail] = json.loads(answer.body["message"])["details"]
    assert (detail["code"], detail["target"]) == ("InternalOperationError", "m2")
    assert put(driver, "m3", machine_body("Standard_D4s_v5")).status == 201
    driver.cloud.advance(10)
    assert properties(get(driver, "m3"))["status"]["provisioningError"]["code"] == "AllocationFailed"
    assert [event.vm.machine["name"] for event in driver.events if event.vm.machine is not None] == ["m1"]
    assert driver.cloud.unfired() == []


def test_upgraded_cluster_gives_new_machines_its_version() -> None:
    driver = Driver()
    driver.cloud.upgrade_cluster("1.35.0")
    body = machine_body()
    del body["properties"]["kubernetes"]["orchestratorVersion"]
    put(driver, "m", body)
    driver.cloud.advance(10)
    assert "KUBERNETES_VERSION=1.35.0" in base64.b64decode(driver.events[0].vm.custom_data).decode()
