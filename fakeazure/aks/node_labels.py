"""The labels that AKS itself puts on a Node of an AKS machine, as a table: key → value from the facts of the launch.

Karpenter strips these keys from the machine body and leaves them to AKS. The keys and values come from public node dumps and
from the provider's end-to-end tests (labels.md §1.7d, §1.7e); rows that neither shows for a machine are marked `guess`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fakeazure.guids import guid_of

PREFIX = "kubernetes.azure.com/"


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What the labels are computed from."""

    pool: str
    cluster_group: str
    mode: str
    priority: str
    os_sku: str
    node_image_version: str
    kubernetes: str
    vcpus: int
    memory_mib: int
    premium: bool
    gpu: str
    fips: bool
    artifact_streaming: bool
    local_dns: bool
    subscription: str
    network: str
    network_group: str
    network_guid: str
    subnet: str
    network_plugin: str
    network_plugin_mode: str
    network_dataplane: str
    network_policy: str
    kubelet_client_id: str
    security_type: str = ""

    @property
    def overlay(self) -> bool:
        """Azure CNI overlay."""
        return self.network_plugin == "azure" and self.network_plugin_mode == "overlay"


@dataclass(frozen=True, slots=True)
class AksLabel:
    """One row: the value, or None where AKS leaves the label out. `source` says how sure it is."""

    key: str
    value: Callable[[NodeFacts], str | None]
    source: str


def _minor(version: str) -> tuple[int, int]:
    parts = version.lstrip("v").split(".")
    try:
        return int(parts[0]), int(parts[1])
    except (IndexError, ValueError):
        return 0, 0


def cluster_label(group: str) -> str:
    """A resource group as the value of the `cluster` label: a valid label value (kaz pkg/utils/labels.go)."""
    text = group.replace("(", "-").replace(")", "-")[:63]
    if text.endswith(("-", "_", ".")):
        return f"{text[:62]}z" if len(text) > 62 else f"{text}z"
    return text


def _os_sku(facts: NodeFacts) -> str:
    return "AzureLinux" if facts.os_sku.startswith("AzureLinux") else "Ubuntu"


def _tier(facts: NodeFacts) -> str:
    return "Premium_LRS" if facts.premium else "Standard_LRS"


_DUMP, _E2E, _GUESS = "node dump", "e2e test", "guess"

TABLE: tuple[AksLabel, ...] = (
    AksLabel("agentpool", lambda f: f.pool, _DUMP),
    AksLabel(PREFIX + "agentpool", lambda f: f.pool, _DUMP),
    AksLabel("storageprofile", lambda f: "managed", _DUMP),
    AksLabel(PREFIX + "storageprofile", lambda f: "managed", _DUMP),
    AksLabel("storagetier", _tier, _DUMP),
    AksLabel(PREFIX + "storagetier", _tier, _DUMP),
    AksLabel("accelerator", lambda f: f.gpu or None, _DUMP),
    AksLabel(PREFIX + "accelerator", lambda f: f.gpu or None, _DUMP),
    AksLabel(PREFIX + "artifactstreaming-enabled", lambda f: "true" if f.artifact_streaming else None, _GUESS),
    AksLabel(PREFIX + "azure-cni-overlay", lambda f: "true" if f.overlay else None, _E2E),
    AksLabel(PREFIX + "cluster", lambda f: cluster_label(f.cluster_group), _DUMP),
    AksLabel(
        PREFIX + "consolidated-additional-properties",
        lambda f: guid_of(f"additional-properties/{f.subscription}/{f.cluster_group}/{f.pool}"),
        _DUMP,
    ),
    AksLabel(
        PREFIX + "ebpf-dataplane", lambda f: "cilium" if f.network_dataplane == "cilium" else None, _E2E
    ),
    AksLabel(PREFIX + "fips_enabled", lambda f: "true" if f.fips else None, _DUMP),
    AksLabel(PREFIX + "kubelet-identity-client-id", lambda f: f.kubelet_client_id, _DUMP),
    AksLabel(PREFIX + "kubelet-serving-ca", lambda f: "cluster", _DUMP),
    AksLabel(PREFIX + "localdns-state", lambda f: "enabled" if f.local_dns else "disabled", _GUESS),
    AksLabel(PREFIX + "mode", lambda f: f.mode.lower(), _DUMP),
    AksLabel(PREFIX + "network-name", lambda f: f.network if f.overlay else None, _DUMP),
    AksLabel(PREFIX + "network-policy", lambda f: f.network_policy or "none", _DUMP),
    AksLabel(PREFIX + "network-resourcegroup", lambda f: f.network_group if f.overlay else None, _DUMP),
    AksLabel(
        PREFIX + "network-stateless-cni",
        lambda f: ("true" if _minor(f.kubernetes) >= (1, 34) else "false") if f.overlay else None,
        _E2E,
    ),
    AksLabel(PREFIX + "network-subnet", lambda f: f.subnet if f.overlay else None, _E2E),
    AksLabel(PREFIX + "network-subscription", lambda f: f.subscription if f.overlay else None, _DUMP),
    AksLabel(PREFIX + "node-image-version", lambda f: f.node_image_version, _DUMP),
    AksLabel(PREFIX + "nodenetwork-vnetguid", lambda f: f.network_guid if f.overlay else None, _E2E),
    AksLabel(PREFIX + "nodepool-type", lambda f: "Machines", _GUESS),
    AksLabel(PREFIX + "os-sku", _os_sku, _DUMP),
    AksLabel(PREFIX + "os-sku-effective", lambda f: f.os_sku, _DUMP),
    AksLabel(PREFIX + "os-sku-requested", lambda f: f.os_sku, _DUMP),
    AksLabel(PREFIX + "podnetwork-type", lambda f: "overlay" if f.overlay else None, _E2E),
    AksLabel(PREFIX + "priority", lambda f: f.priority.lower() if f.priority == "Spot" else None, _GUESS),
    AksLabel(PREFIX + "role", lambda f: "agent", _DUMP),
    AksLabel(PREFIX + "scalesetpriority", lambda f: "spot" if f.priority == "Spot" else None, _DUMP),
    AksLabel(PREFIX + "security-type", lambda f: f.security_type or None, _DUMP),
    AksLabel(PREFIX + "sku-cpu", lambda f: str(f.vcpus), _DUMP),
    AksLabel(PREFIX + "sku-memory", lambda f: str(f.memory_mib), _DUMP),
)


def aks_labels(facts: NodeFacts) -> Mapping[str, str]:
    """The labels of a Node, in the order of the table."""
    found = ((row.key, row.value(facts)) for row in TABLE)
    return {key: value for key, value in found if value is not None}
