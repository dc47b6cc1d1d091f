"""The body of an AKS machine (kaz ``pkg/providers/instance/aksmachineinstancehelpers.go``)."""

from collections.abc import Mapping
from typing import Any

from harness.karpenter.instancetypes.computed import architecture_of
from harness.karpenter.instancetypes.filters import gpu_key
from harness.karpenter.instancetypes.nodeclass_settings import artifact_streaming_enabled, kubernetes_version
from harness.karpenter.instancetypes.sku import Ephemeral
from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.azure import priority_of
from harness.karpenter.launch.bodies.names import machine_name
from harness.karpenter.launch.bodies.vm import zones
from harness.karpenter.launch.boot.node_config import kubelet_config, linux_os_config, local_dns_profile
from harness.karpenter.launch.choice import Choice
from harness.karpenter.launch.images import image_family, node_image_version
from harness.karpenter.launch.labels.layers import Labels
from harness.karpenter.launch.labels.taints import claim_taints, render
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.karpenter.releases.sizes import gpu_sizes
from lazyrecords import dataclass

__all__ = ["MachineInput", "machine_body"]


@dataclass(frozen=True, slots=True)
class MachineInput:
    """The inputs of an AKS machine; ``labels`` as sent, ``mode`` as asked for (``system`` or another text)."""

    nodeclaim: Mapping[str, Any]
    nodeclass: Mapping[str, Any]
    choice: Choice
    options: ProviderOptions
    release: ProviderRelease
    labels: Labels
    mode: str
    tags: Mapping[str, str]
    image_id: str
    ephemeral: Ephemeral | None

    @property
    def name(self) -> str:
        return machine_name(self.nodeclaim["metadata"]["name"], self.release.machine_name_limit)

    @property
    def machine_id(self) -> str:
        """The ARM id of the machine."""
        return f"{self.options.machines_id}/{self.name}"


def machine_body(machine: MachineInput) -> dict[str, Any]:
    """The machine; what the NodeClass leaves out is left to AKS."""
    spec = machine.nodeclass.get("spec") or {}
    kubernetes = kubernetes_version(machine.nodeclass)
    general, startup = claim_taints(machine.nodeclaim)
    properties: dict[str, Any] = {
        "hardware": _present(
            {
                "vmSize": machine.choice.instance_type.name,
                "gpuProfile": _gpu_profile(machine, spec),
                "ultraSsdEnabled": machine.choice.ultra_ssd
                if keys.SKU_ULTRA_SSD in machine.release.offering_keys
                else None,
            }
        ),
        "kubernetes": _present(
            {
                "artifactStreamingProfile": _artifact_streaming(machine, spec),
                "kubeletConfig": kubelet_config(spec),
                "maxPods": spec.get("maxPods"),
                "nodeInitializationTaints": list(dict.fromkeys(render(taint) for taint in general + startup)),
                "nodeLabels": machine.labels.values(),
                "nodeTaints": [],
                "orchestratorVersion": kubernetes,
            }
        ),
        "mode": "System" if machine.mode == keys.SYSTEM else "User",
        "network": _present({"vnetSubnetID": spec.get("vnetSubnetID")}),
        "nodeImageVersion": node_image_version(machine.image_id),
        "operatingSystem": _present(
            {
                "enableFIPS": spec.get("fipsMode") == "FIPS",
                "linuxProfile": linux_os_config(spec),
                "osDiskSizeGB": spec.get("osDiskSizeGB"),
                "osDiskType": "Ephemeral" if machine.ephemeral else "Managed",
                "osSKU": _os_sku(machine, spec, kubernetes),
                "osType": "Linux",
            }
        ),
        "priority": priority_of(machine.choice.capacity_type),
        "security": _security(spec, machine.release),
        "tags": dict(machine.tags),
    }
    dns = local_dns_profile(machine.nodeclass, machine.release) if machine.release.machine_node_profiles else None
    if dns is not None:
        properties["localDNSProfile"] = dns
    return {"properties": properties, "zones": zones(machine.choice.zone)}


def _present(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _security(spec: Mapping[str, Any], release: ProviderRelease) -> dict[str, Any]:
    security = spec.get("security") or {}
    profile = {"enableEncryptionAtHost": bool(security.get("encryptionAtHost")), "sshAccess": "LocalUser"}
    if release.trusted_launch:
        launch = security.get("trustedLaunch") or {}
        profile |= {"enableVTPM": bool(launch.get("vtpm")), "enableSecureBoot": bool(launch.get("secureBoot"))}
    return profile


def _gpu_profile(machine: MachineInput, spec: Mapping[str, Any]) -> dict[str, str] | None:
    if gpu_key(machine.choice.instance_type.name) not in gpu_sizes(machine.release.gpu_registry):
        return None
    return {"driver": "None" if (spec.get("gpu") or {}).get("mode") == "None" else "Install"}


def _artifact_streaming(machine: MachineInput, spec: Mapping[str, Any]) -> dict[str, bool] | None:
    architecture = architecture_of(machine.choice.instance_type)
    streams = machine.release.machine_node_profiles and artifact_streaming_enabled(spec, architecture, machine.release)
    return {"enabled": True} if streams else None


def _os_sku(machine: MachineInput, spec: Mapping[str, Any], kubernetes: str) -> str:
    family = image_family(spec, kubernetes=kubernetes, release=machine.release)
    return family.name if family.os_sku == "Ubuntu" else family.os_sku
