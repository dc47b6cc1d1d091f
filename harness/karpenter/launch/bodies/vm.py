"""Bodies of the ARM calls that make a virtual machine (kaz ``pkg/providers/instance/vminstance.go``)."""

import base64
from collections.abc import Mapping
from typing import Any

from harness.engine.names import VmId
from harness.karpenter.instancetypes.nodeclass_settings import max_pods
from harness.karpenter.instancetypes.offerings import arm_zone
from harness.karpenter.instancetypes.sku import Ephemeral
from harness.karpenter.labels.azure import SKU_ACCELERATED_NETWORKING, priority_of
from harness.karpenter.labels.core import SPOT
from harness.karpenter.launch.choice import Choice
from harness.karpenter.launch.environment import LaunchEnvironment
from harness.karpenter.launch.subnets import Subnet
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from lazyrecords import dataclass

__all__ = [
    "BILLING_EXTENSION",
    "CUSTOM_SCRIPT_EXTENSION",
    "VmInput",
    "billing_extension",
    "custom_script_extension",
    "nic_body",
    "vm_body",
]

BILLING_EXTENSION = "computeAksLinuxBilling"
CUSTOM_SCRIPT_EXTENSION = "cse-agent-karpenter"

_EXTENSION_TYPE = "Microsoft.Compute/virtualMachines/extensions"


@dataclass(frozen=True, slots=True)
class VmInput:
    """The inputs of a VM. ``name`` is also that of its disk and network interface; ``custom_data`` is plain text."""

    name: str
    choice: Choice
    nodeclass: Mapping[str, Any]
    options: ProviderOptions
    release: ProviderRelease
    environment: LaunchEnvironment
    tags: Mapping[str, str]
    image_id: str
    ephemeral: Ephemeral | None
    custom_data: str

    @property
    def spec(self) -> Mapping[str, Any]:
        return self.nodeclass.get("spec") or {}

    @property
    def subnet_id(self) -> str:
        return str(self.spec.get("vnetSubnetID") or self.options.subnet_id)

    @property
    def nic_id(self) -> str:
        return f"{self.options.node_group_id}/providers/Microsoft.Network/networkInterfaces/{self.name}"

    @property
    def vm_id(self) -> VmId:
        return VmId(f"{self.options.node_group_id}/providers/Microsoft.Compute/virtualMachines/{self.name}")


def zones(label: str) -> list[str]:
    """ARM zones of a zone label value: one, or none for regional machines."""
    zone = arm_zone(label)
    return [] if zone is None else [zone]


def nic_body(vm: VmInput) -> dict[str, Any]:
    """The network interface, PUT first; Azure CNI without overlay takes one address per pod."""
    options = vm.options
    accelerated = vm.choice.instance_type.requirements.get(SKU_ACCELERATED_NETWORKING)
    primary: dict[str, Any] = {
        "primary": True,
        "privateIPAllocationMethod": "Dynamic",
        "subnet": {"id": vm.subnet_id},
    }
    if vm.environment.backend_pool_ids:
        primary["loadBalancerBackendAddressPools"] = [{"id": pool} for pool in vm.environment.backend_pool_ids]
    configurations = [{"name": vm.name, "properties": primary}]
    if options.network_plugin == "azure" and options.network_plugin_mode != "overlay":
        configurations += [
            {
                "name": f"ipconfig{number}",
                "properties": {
                    "primary": False,
                    "privateIPAllocationMethod": "Dynamic",
                    "subnet": {"id": vm.subnet_id},
                },
            }
            for number in range(1, max_pods(vm.spec, options))
        ]
    properties: dict[str, Any] = {
        "enableAcceleratedNetworking": not accelerated.complement and accelerated.values == {"true"},
        "enableIPForwarding": False,
        "ipConfigurations": configurations,
    }
    if (
        not Subnet.parse(vm.subnet_id).managed_by_aks(options.node_resource_group)
        and vm.environment.network_security_group_id
    ):
        properties["networkSecurityGroup"] = {"id": vm.environment.network_security_group_id}
    return {"location": vm.environment.region, "properties": properties, "tags": dict(vm.tags)}


def vm_body(vm: VmInput) -> dict[str, Any]:
    """The virtual machine."""
    options, choice = vm.options, vm.choice
    disk: dict[str, Any] = {
        "createOption": "FromImage",
        "deleteOption": "Delete",
        "diskSizeGB": vm.spec.get("osDiskSizeGB"),
        "name": vm.name,
    }
    if vm.ephemeral is not None:
        disk["caching"] = "ReadOnly"
        placement = vm.ephemeral.placement
        disk["diffDiskSettings"] = {"option": "Local", **({"placement": placement} if placement else {})}
    if options.disk_encryption_set_id:
        disk["managedDisk"] = {"diskEncryptionSet": {"id": options.disk_encryption_set_id}}
    image_key = "id" if options.use_sig else "communityGalleryImageId"
    properties: dict[str, Any] = {
        "hardwareProfile": {"vmSize": choice.instance_type.name},
        "networkProfile": {
            "networkInterfaces": [{"id": vm.nic_id, "properties": {"deleteOption": "Delete", "primary": True}}]
        },
        "osProfile": {
            "adminUsername": options.admin_username,
            "computerName": vm.name,
            "customData": base64.b64encode(vm.custom_data.encode()).decode(),
            "linuxConfiguration": {
                "disablePasswordAuthentication": True,
                "ssh": {
                    "publicKeys": [
                        {
                            "keyData": options.ssh_public_key,
                            "path": f"/home/{options.admin_username}/.ssh/authorized_keys",
                        }
                    ]
                },
            },
        },
        "priority": priority_of(choice.capacity_type),
        "storageProfile": {"imageReference": {image_key: vm.image_id}, "osDisk": disk},
    }
    if choice.capacity_type == SPOT:
        properties["evictionPolicy"] = "Delete"
        properties["billingProfile"] = {"maxPrice": -1}
    if security := _security_profile(vm):
        properties["securityProfile"] = security
    if choice.ultra_ssd:
        properties["additionalCapabilities"] = {"ultraSSDEnabled": True}
    body: dict[str, Any] = {
        "location": vm.environment.region,
        "name": vm.name,
        "properties": properties,
        "tags": dict(vm.tags),
        "zones": zones(choice.zone),
    }
    if options.node_identities:
        body["identity"] = {
            "type": "UserAssigned",
            "userAssignedIdentities": {name: {} for name in options.node_identities},
        }
    return body


def _security_profile(vm: VmInput) -> dict[str, Any]:
    security = vm.spec.get("security") or {}
    profile: dict[str, Any] = {}
    if security.get("encryptionAtHost") is not None:
        profile["encryptionAtHost"] = security["encryptionAtHost"]
    if vm.release.asks_trusted_launch(vm.spec):
        launch = security["trustedLaunch"]
        profile["securityType"] = "TrustedLaunch"
        profile["uefiSettings"] = {
            "secureBootEnabled": bool(launch.get("secureBoot")),
            "vTpmEnabled": bool(launch.get("vtpm")),
        }
    return profile


def billing_extension(vm: VmInput) -> dict[str, Any]:
    """The extension by which Azure bills the VM as an AKS node; PUT after the VM is up."""
    return {
        "location": vm.environment.region,
        "name": BILLING_EXTENSION,
        "properties": {
            "autoUpgradeMinorVersion": True,
            "publisher": "Microsoft.AKS",
            "settings": {},
            "type": "Compute.AKS.Linux.Billing",
            "typeHandlerVersion": "1.0",
        },
        "tags": dict(vm.tags),
        "type": _EXTENSION_TYPE,
    }


def custom_script_extension(vm: VmInput, command: str) -> dict[str, Any]:
    """The extension that runs the bootstrapping service's command."""
    return {
        "location": vm.environment.region,
        "name": CUSTOM_SCRIPT_EXTENSION,
        "properties": {
            "autoUpgradeMinorVersion": True,
            "protectedSettings": {"commandToExecute": command},
            "publisher": "Microsoft.Azure.Extensions",
            "settings": {},
            "type": "CustomScript",
            "typeHandlerVersion": "2.0",
        },
        "tags": dict(vm.tags),
        "type": _EXTENSION_TYPE,
    }
