"""The labels that the provider puts on every node by itself (kaz ``pkg/providers/labels/labels.go`` Get)."""

from collections.abc import Callable, Mapping
from typing import Any

from harness.karpenter.instancetypes.computed import cluster_label, os_sku
from harness.karpenter.instancetypes.nodeclass_settings import (
    artifact_streaming_enabled,
    kubernetes_version,
    local_dns_enabled,
)
from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.core import DO_NOT_SYNC_TAINTS
from harness.karpenter.launch.failures.errors import LaunchError
from harness.karpenter.launch.images import image_family
from harness.karpenter.launch.subnets import Subnet
from harness.karpenter.releases import ProviderOptions, ProviderRelease
from harness.kube.admission.node_restriction import KUBELET_LABEL_NAMESPACES, KUBELET_LABELS
from harness.kube.api.versions import Version
from lazyrecords import dataclass

__all__ = ["base_labels", "can_kubelet_set", "is_kubelet_managed"]

_STATELESS_CNI_FROM = (1, 34)
_KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")


@dataclass(frozen=True, slots=True)
class _Facts:
    nodeclass: Mapping[str, Any]
    options: ProviderOptions
    release: ProviderRelease
    architecture: str

    @property
    def spec(self) -> Mapping[str, Any]:
        return self.nodeclass.get("spec") or {}

    @property
    def family(self) -> str:
        return self.spec.get("imageFamily") or ""

    @property
    def fips(self) -> bool:
        return self.release.asks_fips(self.spec)

    @property
    def subnet(self) -> Subnet:
        return Subnet.parse(self.spec.get("vnetSubnetID") or self.options.subnet_id)


def _overlay(value: Callable[[_Facts], str]) -> Callable[[_Facts], str | None]:
    return lambda facts: value(facts) if facts.options.azure_cni_overlay else None


def _stateless_cni(facts: _Facts) -> str:
    version = Version.find(kubernetes_version(facts.nodeclass))
    if version is None:
        raise LaunchError(f"No Major.Minor.Patch elements found in {kubernetes_version(facts.nodeclass)!r}")
    return "true" if version.reaches(_STATELESS_CNI_FROM) else "false"


def _effective(facts: _Facts) -> str:
    return image_family(facts.spec, kubernetes=kubernetes_version(facts.nodeclass), release=facts.release).name


def _artifact_streaming(facts: _Facts) -> str | None:
    return "true" if artifact_streaming_enabled(facts.spec, facts.architecture, facts.release) else None


# A formula gives the value, or None where the node does not get the label.
_FORMULAS: Mapping[str, Callable[[_Facts], str | None]] = {
    keys.AKS_ROLE: lambda facts: "agent",
    keys.AKS_CLUSTER: lambda facts: cluster_label(facts.options.node_resource_group),
    keys.AKS_KUBELET_IDENTITY: lambda facts: facts.options.kubelet_identity_client_id,
    keys.AKS_MODE: lambda facts: keys.USER,
    DO_NOT_SYNC_TAINTS: lambda facts: "true",
    keys.AKS_SCALE_SET_PRIORITY: lambda facts: keys.REGULAR,
    keys.AKS_PRIORITY: lambda facts: keys.REGULAR,
    keys.AKS_OS_SKU: lambda facts: os_sku(facts.family, facts.release.image_families),
    keys.AKS_FIPS: lambda facts: "true" if facts.fips else None,
    keys.AKS_OS_SKU_REQUESTED: lambda facts: facts.family,
    keys.AKS_OS_SKU_EFFECTIVE: _effective,
    keys.AKS_SUBNET: _overlay(lambda facts: facts.subnet.name),
    keys.AKS_VNET_GUID: _overlay(lambda facts: facts.options.vnet_guid),
    keys.AKS_CNI_OVERLAY: _overlay(lambda facts: "true"),
    keys.AKS_POD_NETWORK_TYPE: _overlay(lambda facts: "overlay"),
    keys.AKS_STATELESS_CNI: _overlay(_stateless_cni),
    keys.AKS_EBPF_DATAPLANE: lambda facts: "cilium" if facts.options.network_dataplane == "cilium" else None,
    keys.AKS_LOCAL_DNS_STATE: lambda facts: (
        "enabled" if local_dns_enabled(facts.nodeclass, facts.release) else "disabled"
    ),
    keys.AKS_ARTIFACT_STREAMING: _artifact_streaming,
}


def base_labels(
    nodeclass: Mapping[str, Any], *, options: ProviderOptions, release: ProviderRelease, architecture: str
) -> dict[str, str]:
    """The release's base labels, by key. Raises LaunchError for a malformed subnet id or Kubernetes version."""
    facts = _Facts(nodeclass, options, release, architecture)
    labels = {key: formula(facts) for key, formula in _FORMULAS.items() if key in release.base_keys}
    return {key: value for key, value in labels.items() if value is not None}


def is_kubelet_managed(key: str) -> bool:
    """Return whether kubelet writes ``key`` by itself."""
    return key in KUBELET_LABELS


def can_kubelet_set(key: str) -> bool:
    """Return whether kubelet accepts ``key`` in ``--node-labels``: Kubernetes' own domains are closed but for a few."""
    if key in KUBELET_LABELS:
        return True
    domain, slash, _ = key.partition("/")
    if not slash or not _within(domain, _KUBERNETES_DOMAINS):
        return True
    return _within(domain, KUBELET_LABEL_NAMESPACES)


def _within(domain: str, domains: tuple[str, ...]) -> bool:
    return any(domain == item or domain.endswith("." + item) for item in domains)
