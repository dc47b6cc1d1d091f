"""The labels that AKS itself puts on a Node of an AKS machine, as a table: key → value from the facts of the launch.

Karpenter strips these keys from the machine body and leaves them to AKS. `source` of a row says where its keys and values come from:

* `node dump`: published label lists of nodes of agent pools, Kubernetes 1.26 to 1.34.
* `e2e test`: the provider's end-to-end tests of machines.
* `AgentBaker`: what it wrote before AKS itself did (`GetKubernetesLabels`): no storage labels for ephemeral disks, NVIDIA only.
* `AKS docs`: pages about trusted launch, confidential VMs, pod sandboxing and labels.
* `CNI`: azure-container-networking's tests and manuals, where nodes must have them.
* `guess`: none of these shows it for a machine.

`when` says in words which Nodes have a label that not every Node has, and what of it Karpenter's machines can ask for
(kaz pkg/providers/instance/aksmachineinstancehelpers.go). `ABSENT` has the keys that AKS knows and no machine gets, with the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from fakeazure.aks.kubernetes import minor_version
from fakeazure.guids import guid_of
from lazyrecords import dataclass

PREFIX = "kubernetes.azure.com/"


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """The facts from which the labels of a Node are computed."""

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
    ephemeral_disk: bool
    nvidia: bool
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
    pool_type: str = "VirtualMachines"
    dual_stack: bool = False
    pod_subnet: PodSubnet | None = None
    multi_tenant: bool = False
    workload_runtime: str = ""
    confidential: bool = False
    trusted_launch: bool = False

    @property
    def overlay(self) -> bool:
        """Azure CNI overlay."""
        return self.network_plugin == "azure" and self.network_plugin_mode == "overlay"


@dataclass(frozen=True, slots=True)
class PodSubnet:
    """The subnet that pods take their addresses from, and how: one by one (`vnet`) or by the block (`vnetblock`)."""

    subscription: str
    group: str
    network: str
    name: str
    guid: str
    static_block: bool = False

    @property
    def type(self) -> str:
        """The kind of network."""
        return "vnetblock" if self.static_block else "vnet"


@dataclass(frozen=True, slots=True)
class AksLabel:
    """One row: the value, or None where AKS leaves the label out. `source` says how sure it is, `when` which Nodes have it ("": all)."""

    key: str
    value: Callable[[NodeFacts], str | None]
    source: str
    when: str = ""


def cluster_label(group: str) -> str:
    """A resource group as the value of the `cluster` label: a valid label value (kaz pkg/utils/labels.go)."""
    text = group.replace("(", "-").replace(")", "-")[:63]
    if text.endswith(("-", "_", ".")):
        return f"{text[:62]}z"
    return text


def _os_sku(facts: NodeFacts) -> str:
    return "AzureLinux" if facts.os_sku.startswith("AzureLinux") else "Ubuntu"


def _effective(facts: NodeFacts) -> str:
    """The operating system with its version, never without: as the image tells."""
    definition = facts.node_image_version.lower()
    for mark, name in _EFFECTIVE:
        if mark in definition:
            return name
    return facts.os_sku


_EFFECTIVE = (
    ("ubuntu-2004", "Ubuntu2004"),
    ("ubuntu-2204", "Ubuntu2204"),
    ("ubuntu-2404", "Ubuntu2404"),
    ("azurelinux-v2", "AzureLinux2"),
    ("azurelinux-v3", "AzureLinux3"),
)


def _managed(value: Callable[[NodeFacts], str]) -> Callable[[NodeFacts], str | None]:
    return lambda facts: None if facts.ephemeral_disk else value(facts)


def _tier(facts: NodeFacts) -> str:
    return "Premium_LRS" if facts.premium else "Standard_LRS"


def _overlay(value: Callable[[NodeFacts], str]) -> Callable[[NodeFacts], str | None]:
    return lambda facts: value(facts) if facts.overlay else None


def _pods(value: Callable[[PodSubnet], str]) -> Callable[[NodeFacts], str | None]:
    return lambda facts: value(facts.pod_subnet) if facts.pod_subnet is not None else None


def _true(holds: Callable[[NodeFacts], bool]) -> Callable[[NodeFacts], str | None]:
    return lambda facts: "true" if holds(facts) else None


def _pod_network(facts: NodeFacts) -> str | None:
    if facts.pod_subnet is not None:
        return facts.pod_subnet.type
    return "overlay" if facts.overlay else None


def _security(facts: NodeFacts) -> str | None:
    if facts.confidential:
        return "ConfidentialVM"
    return "TrustedLaunch" if facts.trusted_launch else None


_NVIDIA = "on sizes with an NVIDIA GPU"
_KATA = "on Nodes with the workload runtime Kata, which Karpenter's machines leave unset and no field of the AKSNodeClass asks for"
_POD_SUBNET = "on clusters whose pods have a subnet of their own, which Karpenter's machines leave unset"
_TENANTS = "where the tag aks-nic-enable-multi-tenancy asks for it (AKSNodeClass spec.tags)"
_SPOT = "on spot Nodes"
_DUMP, _E2E, _BAKER, _DOCS, _CNI, _GUESS = "node dump", "e2e test", "AgentBaker", "AKS docs", "CNI", "guess"

TABLE: tuple[AksLabel, ...] = (
    AksLabel("agentpool", lambda f: f.pool, _DUMP),
    AksLabel(PREFIX + "agentpool", lambda f: f.pool, _DUMP),
    AksLabel("storageprofile", _managed(lambda f: "managed"), _BAKER),
    AksLabel(PREFIX + "storageprofile", _managed(lambda f: "managed"), _BAKER),
    AksLabel("storagetier", _managed(_tier), _BAKER),
    AksLabel(PREFIX + "storagetier", _managed(_tier), _BAKER),
    AksLabel("accelerator", lambda f: "nvidia" if f.nvidia else None, _BAKER, _NVIDIA),
    AksLabel(PREFIX + "accelerator", lambda f: "nvidia" if f.nvidia else None, _BAKER, _NVIDIA),
    AksLabel(
        PREFIX + "artifactstreaming-enabled",
        _true(lambda f: f.artifact_streaming),
        _E2E,
        "where artifact streaming is on (AKSNodeClass spec.artifactStreaming)",
    ),
    AksLabel(PREFIX + "azure-cni-overlay", _true(lambda f: f.overlay), _DUMP),
    AksLabel(PREFIX + "cluster", lambda f: cluster_label(f.cluster_group), _DUMP),
    AksLabel(
        PREFIX + "consolidated-additional-properties",
        lambda f: guid_of(f"additional-properties/{f.subscription}/{f.cluster_group}/{f.pool}"),
        _DUMP,
    ),
    AksLabel(PREFIX + "ebpf-dataplane", lambda f: "cilium" if f.network_dataplane == "cilium" else None, _E2E),
    AksLabel(PREFIX + "fips_enabled", _true(lambda f: f.fips), _DOCS, "where FIPS is on (AKSNodeClass spec.fipsMode)"),
    AksLabel(
        PREFIX + "kata-mshv-vm-isolation", _true(lambda f: f.workload_runtime == "KataMshvVmIsolation"), _DUMP, _KATA
    ),
    AksLabel(PREFIX + "kata-vm-isolation", _true(lambda f: f.workload_runtime == "KataVmIsolation"), _DOCS, _KATA),
    AksLabel(PREFIX + "kubelet-identity-client-id", lambda f: f.kubelet_client_id, _DUMP),
    AksLabel(PREFIX + "kubelet-serving-ca", lambda f: "cluster", _DUMP),
    AksLabel(PREFIX + "localdns-state", lambda f: "enabled" if f.local_dns else "disabled", _DUMP),
    AksLabel(PREFIX + "mode", lambda f: f.mode.lower(), _DUMP),
    AksLabel(PREFIX + "network-name", _overlay(lambda f: f.network), _DUMP),
    AksLabel(PREFIX + "network-policy", lambda f: f.network_policy or None, _DUMP),
    AksLabel(PREFIX + "network-resourcegroup", _overlay(lambda f: f.network_group), _DUMP),
    AksLabel(
        PREFIX + "network-stateless-cni",
        _overlay(lambda f: "true" if minor_version(f.kubernetes) >= (1, 34) else "false"),
        _E2E,
    ),
    AksLabel(PREFIX + "network-subnet", _overlay(lambda f: f.subnet), _DUMP),
    AksLabel(PREFIX + "network-subscription", _overlay(lambda f: f.subscription), _DUMP),
    AksLabel(PREFIX + "node-image-version", lambda f: f.node_image_version, _DUMP),
    AksLabel(PREFIX + "nodenetwork-vnetguid", _overlay(lambda f: f.network_guid), _DUMP),
    AksLabel(PREFIX + "nodepool-type", lambda f: f.pool_type, _GUESS),
    AksLabel(PREFIX + "os-sku", _os_sku, _DUMP),
    AksLabel(PREFIX + "os-sku-effective", _effective, _DOCS),
    AksLabel(PREFIX + "os-sku-requested", lambda f: f.os_sku, _DOCS),
    AksLabel(PREFIX + "podnetwork-delegationguid", _pods(lambda p: p.guid), _CNI, _POD_SUBNET),
    AksLabel(PREFIX + "podnetwork-multi-tenancy-enabled", _true(lambda f: f.multi_tenant), _CNI, _TENANTS),
    AksLabel(PREFIX + "podnetwork-name", _pods(lambda p: p.network), _CNI, _POD_SUBNET),
    AksLabel(PREFIX + "podnetwork-resourcegroup", _pods(lambda p: p.group), _CNI, _POD_SUBNET),
    AksLabel(PREFIX + "podnetwork-subnet", _pods(lambda p: p.name), _CNI, _POD_SUBNET),
    AksLabel(PREFIX + "podnetwork-subscription", _pods(lambda p: p.subscription), _CNI, _POD_SUBNET),
    AksLabel(PREFIX + "podnetwork-swiftv2-enabled", _true(lambda f: f.multi_tenant), _CNI, _TENANTS),
    AksLabel(PREFIX + "podnetwork-type", _pod_network, _CNI),
    AksLabel(
        PREFIX + "podv6network-type",
        lambda f: "overlay" if f.overlay and f.dual_stack else None,
        _CNI,
        "on overlay clusters of two IP families; Karpenter does not support these",
    ),
    AksLabel(PREFIX + "priority", lambda f: "spot" if f.priority == "Spot" else None, _DUMP, _SPOT),
    AksLabel(PREFIX + "role", lambda f: "agent", _DUMP),
    AksLabel(PREFIX + "scalesetpriority", lambda f: "spot" if f.priority == "Spot" else None, _DUMP, _SPOT),
    AksLabel(
        PREFIX + "security-type",
        _security,
        _DOCS,
        "with trusted launch, or on confidential sizes; Karpenter leaves vTPM and secure boot unset, and drops confidential sizes",
    ),
    AksLabel(PREFIX + "sku-cpu", lambda f: str(f.vcpus), _DUMP),
    AksLabel(PREFIX + "sku-memory", lambda f: str(f.memory_mib), _DUMP),
)

_DOCUMENTED_ONLY = "only AKS's documents name it; no code and no published Node of a pool has it"
_OTHER_POOLS = "no published Node of a pool has it, and no field of a machine asks for it"

ABSENT: Mapping[str, str] = {
    **{
        PREFIX + name: _DOCUMENTED_ONLY
        for name in ("managedby", "instance-sku", "subnet", "vnet", "ppg", "encrypted-set")
    },
    **{
        PREFIX + name: _OTHER_POOLS
        for name in (
            "hobovm",
            "hostedvm",
            "ebpf-host-routing",
            "availability-zone",
            "agentpool-family",
            "cluster-health-monitor-checker-synthetic",
        )
    },
}
"""Keys of AKS's documents and lists that no machine gets, and why."""


def reasons() -> Mapping[str, str]:
    """Key → which Nodes have the label, or why none has it; not for labels that every Node has."""
    return {**{row.key: row.when for row in TABLE if row.when}, **ABSENT}


def aks_labels(facts: NodeFacts) -> Mapping[str, str]:
    """The labels of a Node, in the order of the table."""
    values = ((row.key, row.value(facts)) for row in TABLE)
    return {key: value for key, value in values if value is not None}
