"""The request to AKS's node bootstrapping service (kaz ``customscriptsbootstrap/provisionclientbootstrap.go``)."""

import math
from collections.abc import Mapping
from typing import Any

from harness.karpenter.instancetypes.computed import architecture_of
from harness.karpenter.instancetypes.filters import gpu_key
from harness.karpenter.instancetypes.nodeclass_settings import artifact_streaming_enabled, kubernetes_version, max_pods
from harness.karpenter.instancetypes.sku import Ephemeral
from harness.karpenter.labels import azure as keys
from harness.karpenter.launch.boot.node_config import kubelet_config, linux_os_config, local_dns_profile
from harness.karpenter.launch.choice import Choice
from harness.karpenter.launch.images import ImageDefinition, ImageFamily
from harness.karpenter.launch.labels.taints import claim_taints, render
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.karpenter.releases.gpu_drivers import gpu_driver
from harness.karpenter.releases.sizes import gpu_sizes
from lazyrecords import dataclass

__all__ = ["BootstrapInput", "provision_values"]

_GIB = 1 << 30
_LINUX = 2
_OS_SKUS = {"Ubuntu": 1, "AzureLinux": 7}
_MODES = {keys.SYSTEM: 1, keys.USER: 2}
_GRID, _CUDA = 2, 3
_LOCAL_USER = 0


@dataclass(frozen=True, slots=True)
class BootstrapInput:
    """The inputs of the service for one node; ``labels`` are the node's labels as sent."""

    nodeclaim: Mapping[str, Any]
    nodeclass: Mapping[str, Any]
    choice: Choice
    options: ProviderOptions
    release: ProviderRelease
    labels: Mapping[str, str]
    family: ImageFamily
    image: ImageDefinition
    ephemeral: Ephemeral | None


def provision_values(inputs: BootstrapInput) -> dict[str, Any]:
    """The request's body; the service answers with custom data and a command for the custom script extension."""
    spec = inputs.nodeclass.get("spec") or {}
    item = inputs.choice.instance_type
    arch = architecture_of(item)
    general, startup = claim_taints(inputs.nodeclaim)
    linux = linux_os_config(spec)
    profile: dict[str, Any] = {
        "architecture": "x64" if arch == "amd64" else "Arm64",
        "artifactStreamingProfile": {"enabled": artifact_streaming_enabled(spec, arch, inputs.release)},
        "customKubeletConfig": {"allowedUnsafeSysctls": None, **(kubelet_config(spec) or {})},
        "customNodeLabels": dict(inputs.labels),
        "distro": inputs.image.distro,
        "enableFIPS": spec.get("fipsMode") == "FIPS",
        "maxPods": max_pods(spec, inputs.options),
        "mode": _MODES[keys.SYSTEM if inputs.labels.get(keys.AKS_MODE) == keys.SYSTEM else keys.USER],
        "name": "",
        "nodeInitializationTaints": [render(taint) for taint in startup],
        "nodeTaints": [render(taint) for taint in general],
        "orchestratorVersion": kubernetes_version(inputs.nodeclass),
        "osSku": _OS_SKUS[inputs.family.os_sku],
        "osType": _LINUX,
        "securityProfile": _security_profile(spec, inputs.release),
        "storageProfile": "Ephemeral" if inputs.ephemeral else "ManagedDisks",
        "vmSize": item.name,
        "vnetCidrs": [],
        "vnetSubnetID": spec.get("vnetSubnetID") or inputs.options.subnet_id,
    }
    if linux is not None:
        profile["customLinuxOSConfig"] = linux["linuxOSConfig"]
    dns = local_dns_profile(inputs.nodeclass, inputs.release)
    if dns is not None:
        profile["localDNSProfile"] = dns
    gpu = gpu_sizes(inputs.release.gpu_registry).get(gpu_key(item.name))
    if gpu is not None and gpu.manufacturer == keys.NVIDIA:
        kind = _GRID if gpu_driver(item.name, inputs.release).kind == "grid" else _CUDA
        profile["gpuProfile"] = {"driverType": kind, "installGPUDriver": (spec.get("gpu") or {}).get("mode") != "None"}
    memory = item.capacity["memory"].value() / (1 - inputs.options.vm_memory_overhead_percent)
    helper = {"skuCPU": item.capacity["cpu"].value(), "skuMemory": math.ceil(memory / _GIB)}
    return {"provisionProfile": profile, "provisionHelperValues": helper}


def _security_profile(spec: Mapping[str, Any], release: ProviderRelease) -> dict[str, Any]:
    profile: dict[str, Any] = {"sshAccess": _LOCAL_USER}
    if release.trusted_launch:
        trusted = (spec.get("security") or {}).get("trustedLaunch") or {}
        for name, field in (("vtpm", "enableVTPM"), ("secureBoot", "enableSecureBoot")):
            if trusted.get(name) is not None:
                profile[field] = trusted[name]
    return profile
