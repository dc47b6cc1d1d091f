"""The shell text that boots a scriptless node: variables for AKS's provisioning scripts, which the node image carries.

It has the variables that decide how the node joins; those that only steer downloads and features that Karpenter never uses are
left out. Source of names and values: kaz ``pkg/providers/imagefamily/bootstrap``.
"""

from collections.abc import Mapping
from typing import Any

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.instancetypes.computed import architecture_of
from harness.karpenter.instancetypes.filters import gpu_key
from harness.karpenter.instancetypes.nodeclass_settings import kubernetes_version
from harness.karpenter.launch.environment import LaunchEnvironment
from harness.karpenter.launch.subnets import Subnet
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.karpenter.releases.gpu_drivers import gpu_driver
from harness.karpenter.releases.sizes import gpu_sizes
from harness.kube.api.versions import Version
from lazyrecords import dataclass

__all__ = ["ScriptInput", "script"]

_MIRROR = "https://acs-mirror.azureedge.net"
_PROLOGUE = ("#!/bin/bash", "", "set -o allexport", "")
_EPILOGUE = ('/usr/bin/nohup /bin/bash -c "/bin/bash /opt/azure/containers/provision_start.sh"', "")


@dataclass(frozen=True, slots=True)
class ScriptInput:
    """The inputs of a script: the node's labels and kubelet flags beside the launch's inputs."""

    item: InstanceType
    nodeclass: Mapping[str, Any]
    options: ProviderOptions
    release: ProviderRelease
    environment: LaunchEnvironment
    labels: Mapping[str, str]
    flags: Mapping[str, str]

    @property
    def subnet(self) -> Subnet:
        return Subnet.parse((self.nodeclass.get("spec") or {}).get("vnetSubnetID") or self.options.subnet_id)

    @property
    def network_plugin(self) -> str:
        """Return the network plugin that AKS's scripts set up: none where a daemonset brings the network."""
        options = self.options
        cilium_subnet = (
            options.network_plugin == "azure"
            and options.network_plugin_mode == ""
            and options.network_dataplane == "cilium"
        )
        return "none" if options.azure_cni_overlay or cilium_subnet or options.network_plugin == "none" else "azure"


def script(inputs: ScriptInput) -> str:
    """The text, before base64; variables in AKS's order."""
    lines = [f"{name}={value}" for name, value in _variables(inputs).items()]
    return "\n".join((*_PROLOGUE, *lines, *_EPILOGUE))


def _variables(inputs: ScriptInput) -> dict[str, str]:
    options, environment, subnet = inputs.options, inputs.environment, inputs.subnet
    kubernetes = kubernetes_version(inputs.nodeclass)
    arch = architecture_of(inputs.item)
    driver = gpu_driver(inputs.item.name, inputs.release) if _installs_driver(inputs) else None
    labels = ",".join(f"{key}={value}" for key, value in sorted(inputs.labels.items()))
    flags = " ".join(f"{name}={value}" for name, value in inputs.flags.items())
    return {
        "ADMINUSER": "azureuser",
        "TENANT_ID": options.tenant_id,
        "KUBERNETES_VERSION": kubernetes,
        "CREDENTIAL_PROVIDER_DOWNLOAD_URL": _credential_provider(kubernetes, arch, inputs.release),
        "SUBSCRIPTION_ID": options.subscription_id,
        "RESOURCE_GROUP": options.node_resource_group,
        "LOCATION": environment.region,
        "VM_TYPE": inputs.release.vm_type,
        "SUBNET": subnet.name,
        "NETWORK_SECURITY_GROUP": environment.network_security_group,
        "VIRTUAL_NETWORK": subnet.vnet,
        "VIRTUAL_NETWORK_RESOURCE_GROUP": subnet.resource_group,
        "ROUTE_TABLE": environment.route_table,
        "SERVICE_PRINCIPAL_CLIENT_ID": "msi",
        "NETWORK_PLUGIN": inputs.network_plugin,
        "NETWORK_POLICY": _quoted(options.network_policy),
        "VNET_CNI_PLUGINS_URL": f"{_MIRROR}/azure-cni/v1.4.32/binaries/azure-vnet-cni-linux-{arch}-v1.4.32.tgz",
        "CNI_PLUGINS_URL": f"{_MIRROR}/cni-plugins/v1.1.1/binaries/cni-plugins-linux-{arch}-v1.1.1.tgz",
        "USE_MANAGED_IDENTITY_EXTENSION": "true",
        "USE_INSTANCE_METADATA": "true",
        "LOAD_BALANCER_SKU": "Standard",
        "CONTAINER_RUNTIME": "containerd",
        "KUBE_BINARY_URL": _kube_binary(kubernetes, arch, inputs.release),
        "USER_ASSIGNED_IDENTITY_ID": options.kubelet_identity_client_id,
        "API_SERVER_NAME": options.cluster_endpoint.removeprefix("https://").partition("/")[0].partition(":")[0],
        "IS_VHD": "true",
        "GPU_NODE": "true" if driver else "false",
        "CONFIG_GPU_DRIVER_IF_NEEDED": "true" if driver or not inputs.release.gpu_driver_optional else "false",
        "IPV6_DUAL_STACK_ENABLED": _quoted("false"),
        "TARGET_CLOUD": _quoted("AzurePublicCloud"),
        "ENABLE_TLS_BOOTSTRAPPING": _quoted("true"),
        "GPU_IMAGE_SHA": _quoted(driver.image if driver else ""),
        "GPU_DRIVER_VERSION": _quoted(driver.version if driver else ""),
        "GPU_DRIVER_TYPE": _quoted(driver.kind if driver else ""),
        "NEEDS_CGROUPV2": _quoted("true"),
        "TLS_BOOTSTRAP_TOKEN": _quoted(options.bootstrap_token),
        "KUBELET_FLAGS": _quoted(flags),
        "KUBELET_NODE_LABELS": _quoted(labels),
        "KUBE_CA_CRT": _quoted(environment.ca_bundle),
        **({"CSE_TIMEOUT": inputs.release.script_timeout} if inputs.release.script_timeout else {}),
    }


def _installs_driver(inputs: ScriptInput) -> bool:
    gpu = gpu_sizes(inputs.release.gpu_registry).get(gpu_key(inputs.item.name))
    mode = ((inputs.nodeclass.get("spec") or {}).get("gpu") or {}).get("mode") or "Driver"
    optional = inputs.release.gpu_driver_optional
    return gpu is not None and gpu.manufacturer == "nvidia" and not (optional and mode == "None")


def _quoted(text: str) -> str:
    return f'"{text}"'


def _kube_binary(kubernetes: str, arch: str, release: ProviderRelease) -> str:
    minor = (Version.find(kubernetes) or Version(1)).minor
    if minor >= 34 and release.binaries_from_image:
        return ""
    return f"{_MIRROR}/kubernetes/v{kubernetes}/binaries/kubernetes-node-linux-{arch}.tar.gz"


def _credential_provider(kubernetes: str, arch: str, release: ProviderRelease) -> str:
    minor = (Version.find(kubernetes) or Version(1)).minor
    if minor < 30:
        return ""
    version = release.credential_providers[min(minor, max(release.credential_providers))]
    return f"{_MIRROR}/cloud-provider-azure/v{version}/binaries/azure-acr-credential-provider-linux-{arch}-v{version}.tar.gz"
