"""Bodies of the ARM calls that make a virtual machine (kaz ``pkg/providers/instance/vminstance.go``)."""

import base64
from collections.abc import Mapping
from typing import Any

from harness.engine.names import VmId
from harness.karpenter.instancetypes.nodeclass_settings import max_pods
from harness.karpenter.instancetypes.offerings import arm_zone
from harness.karpenter.instancetypes.sku import Ephemeral
from harness.karpenter.labels.azure import SKU_ACCELERATED_NETWORKING
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
    """What a VM is made from. ``name`` is also that of its disk and network interface; ``custom_data`` is plain text."""

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


def nic_body(given: VmInput) -> dict[str, Any]:
    """The network interface, PUT first; Azure CNI without overlay takes one address per pod."""
    options = given.options
    accelerated = given.choice.instance_type.requirements.get(SKU_ACCELERATED_NETWORKING)
    primary: dict[str, Any] = {
        "primary": True,
        "privateIPAllocationMethod": "Dynamic",
        "subnet": {"id": given.subnet_id},
    }
    if given.environment.backend_pool_ids:
        primary["loadBalancerBackendAddressPools"] = [{"id": pool} for pool in given.environment.backend_pool_ids]
    configurations = [{"name": given.name, "properties": primary}]
    if options.network_plugin == "azure" and options.network_plugin_mode != "overlay":
        configurations += [
            {
                "name": f"ipconfig{number}",
                "properties": {
                    "primary": False,
                    "privateIPAllocationMethod": "Dynamic",
                    "subnet": {"id": given.subnet_id},
                },
            }
            for number in range(1, max_pods(given.spec, options))
        ]
    properties: dict[str, Any] = {
        "enableAcceleratedNetworking": not accelerated.complement and accelerated.values == {"true"},
        "enableIPForwarding": False,
        "ipConfigurations": configurations,
    }
    if (
        not Subnet.parse(given.subnet_id).managed_by_aks(options.node_resource_group)
        and given.environment.network_security_group_id
    ):
        properties["networkSecurityGroup"] = {"id": given.environment.network_security_group_id}
    return {"location": given.environment.region, "properties": properties, "tags": dict(given.tags)}


def vm_body(given: VmInput) -> dict[str, Any]:
    """The virtual machine."""
    options, choice = given.options, given.choice
    disk: dict[str, Any] = {
        "createOption": "FromImage",
        "deleteOption": "Delete",
        "diskSizeGB": given.spec.get("osDiskSizeGB"),
        "name": given.name,
    }
    if given.ephemeral is not None:
        disk["caching"] = "ReadOnly"
        placement = given.ephemeral.placement
        disk["diffDiskSettings"] = {"option": "Local", **({"placement": placement} if placement else {})}
    if options.disk_encryption_set_id:
        disk["managedDisk"] = {"diskEncryptionSet": {"id": options.disk_encryption_set_id}}
    image_key = "id" if options.use_sig else "communityGalleryImageId"
    properties: dict[str, Any] = {
        "hardwareProfile": {"vmSize": choice.instance_type.name},
        "networkProfile": {
            "networkInterfaces": [{"id": given.nic_id, "properties": {"deleteOption": "Delete", "primary": True}}]
        },
        "osProfile": {
            "adminUsername": options.admin_username,
            "computerName": given.name,
            "customData": base64.b64encode(given.custom_data.encode()).decode(),
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
        "priority": "Spot" if choice.capacity_type == SPOT else "Regular",
        "storageProfile": {"imageReference": {image_key: given.image_id}, "osDisk": disk},
    }
    if choice.capacity_type == SPOT:
        properties["evictionPolicy"] = "Delete"
        properties["billingProfile"] = {"maxPrice": -1}
    if security := _security_profile(given):
        properties["securityProfile"] = security
    if choice.ultra_ssd:
        properties["additionalCapabilities"] = {"ultraSSDEnabled": True}
    body: dict[str, Any] = {
        "location": given.environment.region,
        "name": given.name,
        "properties": properties,
        "tags": dict(given.tags),
        "zones": zones(choice.zone),
    }
    if options.node_identities:
        body["identity"] = {
            "type": "UserAssigned",
            "userAssignedIdentities": {name: {} for name in options.node_identities},
        }
    return body


def _security_profile(given: VmInput) -> dict[str, Any]:
    asked = given.spec.get("security") or {}
    profile: dict[str, Any] = {}
    if asked.get("encryptionAtHost") is not None:
        profile["encryptionAtHost"] = asked["encryptionAtHost"]
    if given.release.asks_trusted_launch(given.spec):
        launch = asked["trustedLaunch"]
        profile["securityType"] = "TrustedLaunch"
        profile["uefiSettings"] = {
            "secureBootEnabled": bool(launch.get("secureBoot")),
            "vTpmEnabled": bool(launch.get("vtpm")),
        }
    return profile


def billing_extension(given: VmInput) -> dict[str, Any]:
    """The extension by which Azure bills the VM as an AKS node; PUT after the VM is up."""
    return {
        "location": given.environment.region,
        "name": BILLING_EXTENSION,
        "properties": {
            "autoUpgradeMinorVersion": True,
            "publisher": "Microsoft.AKS",
            "settings": {},
            "type": "Compute.AKS.Linux.Billing",
            "typeHandlerVersion": "1.0",
        },
        "tags": dict(given.tags),
        "type": _EXTENSION_TYPE,
    }


def custom_script_extension(given: VmInput, command: str) -> dict[str, Any]:
    """The extension that runs the bootstrapping service's command."""
    return {
        "location": given.environment.region,
        "name": CUSTOM_SCRIPT_EXTENSION,
        "properties": {
            "autoUpgradeMinorVersion": True,
            "protectedSettings": {"commandToExecute": command},
            "publisher": "Microsoft.Azure.Extensions",
            "settings": {},
            "type": "CustomScript",
            "typeHandlerVersion": "2.0",
        },
        "tags": dict(given.tags),
        "type": _EXTENSION_TYPE,
    }
