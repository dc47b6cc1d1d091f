"""The launch of a machine by AKS: the NIC, the VM behind it, its custom data and labels, and its errors in AKS's wrapping."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fakeazure.aks.kubelet import KubeletText, unique
from fakeazure.aks.node_labels import NodeFacts, PodSubnet, aks_labels
from fakeazure.arm.bodies import number, pairs, section, text, texts
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.linked_ids import linked_subnet
from fakeazure.arm.texts import failure
from fakeazure.guids import guid_of
from fakeazure.market.facts import Size
from fakeazure.resources import images
from fakeazure.resources.compute import virtual_machines, vm_checks, vm_lifecycle
from fakeazure.resources.network import network_interfaces
from fakeazure.state import State

Done = Callable[[Failure | None], None]

_AMD_GPUS = ("mi300", "v710", "nvsv4")  # in names, or in families
_MULTI_TENANT = "aks-nic-enable-multi-tenancy"
"""The tag of an agent pool, or of a machine, that asks for NICs of several tenants."""


def vm_of(state: State, machine: ResourceId, group: str) -> ResourceId:
    """The VM behind a machine: `aks-{pool}-{machine}-<8 digits>-vm` in the node resource group."""
    digits = int(guid_of(machine.key).replace("-", ""), 16) % 100_000_000
    name = f"aks-{machine.names[-2]}-{machine.name}-{digits:08d}-vm"
    return ResourceId(machine.subscription, group, "Microsoft.Compute", ("virtualMachines",), (name,))


def launch(
    state: State, machine: ResourceId, document: Mapping[str, Any], cluster: Mapping[str, Any], size: Size, done: Done
) -> Failure | bool:
    """Create the VM of a machine. Returns the failure that AKS reports later, False for an operation that never ends, else True."""
    properties = document["properties"]
    vm = ResourceId.parse(properties["resourceId"])
    location = cluster["location"]
    subnet = text(section(properties, "network"), "vnetSubnetID") or text(cluster["properties"], "vnetSubnetID")
    if subnet.lower() not in state.addresses:
        return failure("InvalidResourceReference", reference=subnet, id=vm)
    nic = ResourceId(vm.subscription, vm.group, "Microsoft.Network", ("networkInterfaces",), (f"{vm.name}-nic",))
    tags = pairs(properties, "tags")
    kubelet, labels = node_text(state, document, cluster, size, subnet)
    body = _vm_body(document, nic, kubelet.custom_data(), tags)
    image = images.node_image(state, text(properties, "nodeImageVersion"))
    if image is not None:
        body["properties"]["storageProfile"]["imageReference"] = {"id": _image_id(machine, image)}
        problem = vm_checks.image_mismatch(size, image)
        if problem is not None:
            return problem
    rendered = virtual_machines.document_of(state, vm, body, location)
    disk = body["properties"]["storageProfile"]["osDisk"]
    problem = vm_checks.os_disk_mismatch(size, disk, guest_state=_trusted_launch(properties)) or (
        vm_checks.feature_mismatch(size, body["properties"], next(iter(document.get("zones") or ()), ""))
    )
    if problem is not None:
        return problem
    try:
        network_interfaces.create(state, nic, _nic_body(nic, subnet, tags, size), location)
    except ArmError as error:
        return error.failure
    subject = vm_lifecycle.subject_of(state, rendered, (nic,), size.family)
    allocation = state.market.allocate(size, subject, subscription=vm.subscription, id_=str(vm), now=state.now())
    if isinstance(allocation, Failure):
        network_interfaces.remove(state, nic)
        return allocation
    order = vm_lifecycle.Order(vm, rendered, kubelet.custom_data(), (nic,), machine, labels)
    vm_lifecycle.create(state, order, allocation, done)
    return not allocation.stuck


def _vm_body(document: Mapping[str, Any], nic: ResourceId, custom_data: str, tags: Mapping[str, str]) -> dict[str, Any]:
    properties = document["properties"]
    system = section(properties, "operatingSystem")
    hardware = section(properties, "hardware")
    disk: dict[str, Any] = {
        "name": f"{nic.name.removesuffix('-nic')}-osdisk",
        "createOption": "FromImage",
        "deleteOption": "Delete",
        "diskSizeGB": number(system, "osDiskSizeGB") or 128,
    }
    if system.get("osDiskType") == "Ephemeral":
        disk["diffDiskSettings"] = {"option": "Local"}
    inner: dict[str, Any] = {
        "hardwareProfile": {"vmSize": hardware.get("vmSize")},
        "priority": properties.get("priority") or "Regular",
        "storageProfile": {"osDisk": disk},
        "networkProfile": {
            "networkInterfaces": [{"id": str(nic), "properties": {"primary": True, "deleteOption": "Delete"}}]
        },
        "osProfile": {"adminUsername": "azureuser", "computerName": document["name"], "customData": custom_data},
        "securityProfile": {
            "encryptionAtHost": bool(section(properties, "security").get("enableEncryptionAtHost")),
        },
        "additionalCapabilities": {"ultraSSDEnabled": bool(hardware.get("ultraSsdEnabled"))},
    }
    if inner["priority"] == "Spot":
        inner |= {"evictionPolicy": "Delete", "billingProfile": {"maxPrice": -1}}
    body: dict[str, Any] = {"tags": tags, "properties": inner}
    if document.get("zones"):
        body["zones"] = list(document["zones"])
    return body


def _nic_body(nic: ResourceId, subnet: str, tags: Mapping[str, str], size: Size) -> dict[str, Any]:
    """AKS asks for accelerated networking wherever the size has it."""
    fast = size.capabilities.get("acceleratednetworkingenabled") == "True"
    inner = {"primary": True, "privateIPAllocationMethod": "Dynamic", "subnet": {"id": subnet}}
    configurations = [{"name": nic.name, "properties": inner}]
    return {"tags": tags, "properties": {"ipConfigurations": configurations, "enableAcceleratedNetworking": fast}}


def _image_id(machine: ResourceId, image: images.Image) -> str:
    group = image.gallery.replace("AKS", "AKS-", 1)
    return (
        f"/subscriptions/{machine.subscription}/resourceGroups/{group}/providers/Microsoft.Compute/galleries/"
        f"{image.gallery}/images/{image.definition}/versions/{image.version}"
    )


def node_text(
    state: State, document: Mapping[str, Any], cluster: Mapping[str, Any], size: Size, subnet: str
) -> tuple[KubeletText, Mapping[str, str]]:
    """The kubelet inputs of the node, and which of its labels are AKS's own; those of the machine body win over AKS's."""
    properties = document["properties"]
    kubernetes = section(properties, "kubernetes")
    own = aks_labels(_facts(state, document, cluster, size, subnet))
    node_labels_asked = pairs(kubernetes, "nodeLabels")
    labels = {**own, **{key: node_labels_asked[key] for key in sorted(node_labels_asked)}}
    taints = unique([*texts(kubernetes, "nodeTaints"), *texts(kubernetes, "nodeInitializationTaints")])
    plugin = section(cluster["properties"], "networkProfile")
    default_pods = 250 if plugin.get("networkPluginMode") == "overlay" else 30
    kubelet = KubeletText(
        labels=labels,
        taints=taints,
        max_pods=int(number(kubernetes, "maxPods", default_pods)),
        vcpus=size.vcpus,
        memory_gib=size.number("MemoryGB"),
        kubernetes=str(kubernetes.get("orchestratorVersion") or cluster["properties"].get("currentKubernetesVersion")),
        cluster_dns=str(plugin.get("dnsServiceIP") or "10.0.0.10"),
        api_server=str(cluster["properties"].get("fqdn") or ""),
    )
    return kubelet, own


def _facts(state: State, document: Mapping[str, Any], cluster: Mapping[str, Any], size: Size, subnet: str) -> NodeFacts:
    properties = document["properties"]
    kubernetes, system = section(properties, "kubernetes"), section(properties, "operatingSystem")
    network = section(cluster["properties"], "networkProfile")
    identity = section(section(cluster["properties"], "identityProfile"), "kubeletidentity")
    place = ResourceId.parse(subnet)
    vnet = state.store.get(place.parent) if place.parent is not None else None
    pool = _pool(state, document)
    return NodeFacts(
        pool=document["id"].split("/")[-3],
        cluster_group=str(cluster["properties"]["nodeResourceGroup"]),
        mode=str(properties.get("mode") or "User"),
        priority=str(properties.get("priority") or "Regular"),
        os_sku=str(system.get("osSKU") or "Ubuntu"),
        node_image_version=text(properties, "nodeImageVersion"),
        kubernetes=str(
            kubernetes.get("orchestratorVersion") or cluster["properties"].get("currentKubernetesVersion") or ""
        ),
        vcpus=size.vcpus,
        memory_mib=int(size.number("MemoryGB") * 1024),
        premium=size.has("PremiumIO"),
        ephemeral_disk=system.get("osDiskType") == "Ephemeral",
        nvidia=size.number("GPUs") > 0 and not any(mark in f"{size.name} {size.family}".lower() for mark in _AMD_GPUS),
        fips=bool(system.get("enableFIPS")),
        artifact_streaming=bool(section(kubernetes, "artifactStreamingProfile").get("enabled")),
        local_dns=str(section(properties, "localDNSProfile").get("mode") or "Disabled") == "Required",
        subscription=place.subscription,
        network=place.names[0],
        network_group=place.group,
        network_guid=str(vnet.document["properties"].get("resourceGuid", "")) if vnet is not None else "",
        subnet=place.name,
        network_plugin=str(network.get("networkPlugin") or ""),
        network_plugin_mode=str(network.get("networkPluginMode") or ""),
        network_dataplane=str(network.get("networkDataplane") or ""),
        network_policy=str(network.get("networkPolicy") or ""),
        kubelet_client_id=str(identity.get("clientId") or ""),
        pool_type=str(pool.get("type") or "VirtualMachines"),
        dual_stack="IPv6" in texts(network, "ipFamilies"),
        pod_subnet=_pod_subnet(state, properties, pool),
        multi_tenant={**pairs(pool, "tags"), **pairs(properties, "tags")}.get(_MULTI_TENANT) == "true",
        workload_runtime=str(kubernetes.get("workloadRuntime") or pool.get("workloadRuntime") or ""),
        confidential=bool(size.capabilities.get("confidentialcomputingtype")) and "_cc_" not in size.name,
        trusted_launch=_trusted_launch(properties),
    )


def _trusted_launch(properties: Mapping[str, Any]) -> bool:
    security = section(properties, "security")
    return bool(security.get("enableSecureBoot") or security.get("enableVTPM"))


def _pool(state: State, document: Mapping[str, Any]) -> Mapping[str, Any]:
    pool = ResourceId.parse(document["id"]).parent
    entry = state.store.get(pool) if pool is not None else None
    return section(entry.document, "properties") if entry is not None else {}


def _pod_subnet(state: State, properties: Mapping[str, Any], pool: Mapping[str, Any]) -> PodSubnet | None:
    """The pod subnet of the machine, or of its pool."""
    subnet = text(section(properties, "network"), "podSubnetID") or text(pool, "podSubnetID")
    if not subnet:
        return None
    place = linked_subnet(subnet, "properties.network.podSubnetID")
    vnet = state.store.get(place.parent) if place.parent is not None else None
    guid = str(vnet.document["properties"].get("resourceGuid", "")) if vnet is not None else ""
    static = pool.get("podIPAllocationMode") == "StaticBlock"
    return PodSubnet(place.subscription, place.group, place.names[0], place.name, guid, static)


def provisioning_error(failure: Failure) -> dict[str, Any]:
    """`status.provisioningError` of a machine: AKS's own code around, Compute's error as the only detail."""
    code = "QuotaExceeded" if "quota" in failure.message and failure.code == "OperationNotAllowed" else failure.code
    return {
        "code": code,
        "message": f'Code="{failure.code}" Message="{failure.message}"',
        "details": [{"code": failure.code, "message": failure.message}],
    }
