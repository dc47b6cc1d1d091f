"""The fields of an AKSNodeClass that instance types depend on, resolved (kaz ``instanceTypeParameters``)."""

from collections.abc import Mapping
from typing import Any

from harness.karpenter.releases import ArtifactStreamingDefault, LocalDnsSource, ProviderOptions, ProviderRelease
from harness.kube.api.versions import Version
from lazyrecords import dataclass

__all__ = [
    "NodeClassSettings",
    "artifact_streaming_enabled",
    "kubernetes_version",
    "local_dns_enabled",
    "max_pods",
]


@dataclass(frozen=True, slots=True)
class NodeClassSettings:
    """The settings of an AKSNodeClass on which its instance types depend; hashable, so that lists can be cached by them."""

    image_family: str
    os_disk_gb: int
    max_pods: int
    encryption_at_host: bool
    trusted_launch: bool
    gpu_driver: bool
    artifact_streaming: bool
    fips: bool
    local_dns: bool

    @classmethod
    def of(
        cls, nodeclass: Mapping[str, Any], options: ProviderOptions, release: ProviderRelease
    ) -> "NodeClassSettings":
        spec = nodeclass.get("spec") or {}
        return cls(
            image_family=spec.get("imageFamily") or "",
            os_disk_gb=spec.get("osDiskSizeGB") or 0,
            max_pods=max_pods(spec, options),
            encryption_at_host=bool((spec.get("security") or {}).get("encryptionAtHost")),
            trusted_launch=release.asks_trusted_launch(spec),
            gpu_driver=((spec.get("gpu") or {}).get("mode") or "Driver") == "Driver",
            artifact_streaming=bool((spec.get("artifactStreaming") or {}).get("enabled")),
            fips=release.asks_fips(spec),
            local_dns=local_dns_enabled(nodeclass, release),
        )


def max_pods(spec: Mapping[str, Any], options: ProviderOptions) -> int:
    """``spec.maxPods``, else what AKS defaults to for the network plugin (kaz ``pkg/utils/utils.go`` GetMaxPods)."""
    if spec.get("maxPods") is not None:
        return int(spec["maxPods"])
    plugin, mode = options.network_plugin, options.network_plugin_mode
    if plugin == "none" or (plugin == "azure" and mode == "overlay"):
        return 250
    return 30 if plugin == "azure" and mode == "" else 110


def kubernetes_version(nodeclass: Mapping[str, Any]) -> str:
    """``status.kubernetesVersion``, empty when the provider has not resolved it."""
    return (nodeclass.get("status") or {}).get("kubernetesVersion") or ""


def artifact_streaming_enabled(spec: Mapping[str, Any], architecture: str, release: ProviderRelease) -> bool:
    """Return whether nodes of an architecture stream artifacts (kaz ``pkg/apis/v1beta1/aksnodeclass.go`` ArtifactStreaming.IsEnabled)."""
    if architecture == "arm64":
        return False
    enabled = (spec.get("artifactStreaming") or {}).get("enabled")
    if enabled is not None:
        return bool(enabled)
    default = release.artifact_streaming_default
    if default is ArtifactStreamingDefault.ON_BUT_AZURE_LINUX:
        return spec.get("imageFamily") != "AzureLinux"
    return default is ArtifactStreamingDefault.ON


def local_dns_enabled(nodeclass: Mapping[str, Any], release: ProviderRelease) -> bool:
    """Return whether nodes run LocalDNS, read where the release reads it (kaz ``pkg/apis/v1beta1/aksnodeclass.go`` IsLocalDNSEnabled)."""
    if release.local_dns is LocalDnsSource.STATUS:
        return (nodeclass.get("status") or {}).get("localDNSState") == "Enabled"
    if release.local_dns is LocalDnsSource.NONE:
        return False
    mode = ((nodeclass.get("spec") or {}).get("localDNS") or {}).get("mode")
    if mode == "Preferred":
        version = Version.find(kubernetes_version(nodeclass))
        return version is not None and version.reaches(release.local_dns_preferred_from)
    return bool(mode == "Required")
