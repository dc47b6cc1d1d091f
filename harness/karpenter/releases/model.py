"""A release of Karpenter, as far as its behaviour differs from another one: tables and named flags, never a version
number.

Code asks ``release.some_flag``; only :mod:`harness.karpenter.releases.table` knows which version has it. A flag's text says
what the code does when it is set.
"""

from collections.abc import Mapping
from typing import Any

from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.releases.core_release import CoreRelease
from harness.karpenter.releases.flag_values import (
    ArtifactStreamingDefault,
    ClaimRequirementLabels,
    DriftImage,
    EphemeralRule,
    InPlaceTags,
    LocalDnsSource,
    ProvisionMode,
    RepairPolicy,
)
from lazyrecords import dataclass

__all__ = ["Defaults", "ProviderRelease"]


@dataclass(frozen=True, slots=True)
class Defaults:
    """The defaults of a world. ``node_resource_group`` takes ``{cluster}`` and ``{region}``."""

    kubernetes: str = "1.34.0"
    provision_mode: ProvisionMode = ProvisionMode.AKS_SCRIPTLESS
    region: str = "eastus"
    network_plugin: str = "azure"
    network_plugin_mode: str = "overlay"
    network_policy: str = "cilium"
    network_dataplane: str = "cilium"
    cluster_name: str = "harness"
    resource_group: str = "rg"
    node_resource_group: str = "MC_rg_{cluster}_{region}"
    machines_pool: str = "aksmanagedap"
    vm_memory_overhead_percent: float = 0.075


@dataclass(frozen=True, kw_only=True, eq=False)
class InstanceTypeFlags:
    """Flags of instance types: the sizes that are offered, and their properties (kaz ``pkg/providers/instancetype``,
    ``pkg/providers/pricing``).
    """

    computed_keys: frozenset[str]
    """The requirement keys that every instance type carries."""
    offering_keys: frozenset[str]
    """The requirement keys that every offering carries."""
    skewer: str
    """Version of the library that parses VM sizes."""
    known_skus: str
    """The list of known sizes (``sizes.known_skus``)."""
    only_known_skus: bool
    """Sizes that are not on the list of known ones are dropped."""
    unknown_skus_cost_missing_price: bool
    """Sizes that are not on the list of known ones cost ``MissingPrice``."""
    ephemeral_rule: EphemeralRule
    """The rule for the largest ephemeral OS disk of a size."""
    regional_offerings: bool
    """Every size has the zone ``"0"`` too; before, sizes without zones have the zone ``""``."""
    zonal_regions_listed: bool
    """Zones count only in a fixed list of regions."""
    price_required: bool
    """An offering without a price is unavailable."""
    spot_needs_low_priority: bool
    """Spot of sizes that do not say LowPriorityCapable is unavailable."""
    quota_checked: bool
    """On-demand beyond the family's quota is unavailable."""
    false_capabilities_absent: bool
    """Premium storage and accelerated networking are DoesNotExist rather than ``false``."""
    scsi_required_without_sig: bool
    """NVMe-only sizes are dropped unless images come from the managed gallery."""
    restricted_skus: frozenset[str]
    """Sizes that are never offered."""
    gpu_registry: str
    """The list of GPU sizes (``sizes.gpu_sizes``)."""
    skus_without_price: str
    """The list of sizes known to have no price (``sizes.skus_without_price``)."""
    no_sizes_is_error: bool
    """A region without a usable size is an error rather than an empty list."""
    amd_gpu_capacity: bool
    """Capacity names ``amd.com/gpu`` beside ``nvidia.com/gpu``."""
    instance_type_key_leaves_out: frozenset[str]
    """The fields of ``NodeClassSettings`` that the key of the provider's cache of instance types leaves out."""
    encryption_filter: bool
    """Sizes without encryption at host are dropped when the AKSNodeClass asks for it."""
    gpu_driver_filter: bool
    """Sizes whose GPU driver the image family lacks are dropped."""
    artifact_streaming_filter: bool
    """Arm64 is dropped when the AKSNodeClass asks for artifact streaming."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LabelFlags:
    """Flags of the labels of a node and its NodeClaim (kaz ``pkg/providers/{labels,instance,launchtemplate}``)."""

    base_keys: frozenset[str]
    """The labels that the provider puts on every node by itself."""
    winning_base_keys: frozenset[str]
    """The keys of ``base_keys`` that override everything else, and keys that do when present; the others override nothing."""
    claim_requirement_labels: ClaimRequirementLabels
    """Single-valued requirements of the NodeClaim that become labels of the node."""
    claim_keeps_well_known: bool
    """Single-valued Azure well-known requirements stay on the NodeClaim as labels."""
    kubelet_filter: bool
    """Keys that kubelet may not set are withheld."""
    machine_drops_legacy_labels: bool
    """AKS machines are sent neither legacy AKS labels nor keys that kubelet may not set; before, a fixed list of keys and the
    AKS domain are left out."""
    machine_claim_has_priorities: bool
    """A NodeClaim of an AKS machine gets the scale set priority labels."""


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeClassFlags:
    """Flags of reading an AKSNodeClass (kaz ``pkg/apis/v1beta1``, ``pkg/controllers/nodeclass``)."""

    local_dns: LocalDnsSource
    """The field that says whether LocalDNS is on."""
    local_dns_preferred_from: tuple[int, int]
    """The Kubernetes version from which ``localDNS.mode: Preferred`` means on."""
    artifact_streaming_default: ArtifactStreamingDefault
    """Whether artifact streaming is on unless the AKSNodeClass says."""
    trusted_launch: bool
    """``spec.security.trustedLaunch`` counts: sizes that cannot do it are dropped, images are those made for it, Ubuntu without a
    version is 22.04, also with FIPS, and machines are asked for with the vTPM and the secure boot that it names
    (kaz ``pkg/apis/v1beta1/aksnodeclass.go`` IsTrustedLaunchEnabled)."""
    nodeclass_conditions: tuple[str, ...]
    """The conditions that make an AKSNodeClass ready; without SubnetsReady among them nobody looks at the subnet before
    a launch (kaz ``pkg/apis/v1beta1/aksnodeclass_status.go`` StatusConditions).
    """
    managed_subnets_refused: bool
    """An AKSNodeClass with a subnet of the cluster's managed virtual network is not ready."""
    empty_window_is_none: bool
    """A maintenance window whose start or end is empty is taken as if it had none (kaz ``pkg/controllers/nodeclass/status/images.go``)."""
    nodeclass_hash_version: str
    """The version of the hash of an AKSNodeClass."""
    nodeclass_hash_fields: frozenset[str]
    """The fields of an AKSNodeClass's spec that are hashed, by their Go names."""


@dataclass(frozen=True, kw_only=True, eq=False)
class LaunchFlags:
    """Flags of choosing a machine and asking for it (kaz ``pkg/providers/{instance,allocationstrategy,imagefamily}``)."""

    provision_modes: tuple[ProvisionMode, ...]
    """The modes that the controller can be started in."""
    image_families: Mapping[str, str]
    """Image families of an AKSNodeClass → the operating system that labels name."""
    ranks_offerings: bool
    """The cheapest offering decides; before, the cheapest size, then spot if allowed."""
    filters_overlaid_types: bool
    """NodeOverlays change the instance types before those are sorted out that a NodeClaim does not allow; before 1.12, only what is left is
    changed, so that a resource that an overlay alone knows of is not there (kaz ``pkg/cloudprovider/cloudprovider.go``
    resolveInstanceTypes, Create)."""
    only_azure_linux_2: bool
    """Azure Linux is version 2 for every Kubernetes."""
    nodeclass_lookup_told: bool
    """The error for an AKSNodeClass that is not there begins with what was tried: "getting AKSNodeClass"."""
    ubuntu_2404: bool
    """There is Ubuntu 24.04, which the family Ubuntu means from 1.34 on."""
    azure_linux_3_arm_shared_only: bool
    """Azure Linux 3 for arm64 is in the managed gallery only."""
    additional_tags: bool
    """There is an option for tags of all resources."""
    billing_tag: bool
    """Resources carry ``compute.aks.billing``."""
    in_place_hash_tags: InPlaceTags
    """The tags that are updated on running machines."""
    billing_extension_may_lack: bool
    """A running VM is updated even if it lacks the billing extension."""
    poll_seconds: float
    """Seconds between two looks at a long-running operation that Azure's answers say no Retry-After about: the SDK's own until 1.10."""
    extension_poll_seconds: float
    """The same for extensions of VMs, which 1.7 looks at more often."""
    machine_name_limit: int
    """Longest name of an AKS machine."""
    machine_creation_tag: bool
    """AKS machines carry their time of creation."""
    machine_node_profiles: bool
    """AKS machines are told of LocalDNS and artifact streaming."""
    spot_system_machines: bool
    """AKS is asked to let spot machines be of mode System."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BootFlags:
    """Flags of the start of a node (kaz ``pkg/providers/imagefamily/bootstrap``, ``pkg/utils/gpu.go``)."""

    kubelet_flags_left_out: Mapping[str, int]
    """Flag → minor version of Kubernetes 1 from which the release no longer passes it."""
    kubelet_fields: frozenset[str]
    """The fields of an AKSNodeClass's ``spec.kubelet`` that become flags."""
    cluster_dns_option: bool
    """Kubelet is told the option's DNS service, before 10.0.0.10 whatever it is."""
    vm_type: str
    """The type of VM in AKS's scripts."""
    script_timeout: str
    """AKS's scripts are told how long they may take; empty when not."""
    binaries_from_image: bool
    """From Kubernetes 1.34 on AKS's scripts are told no address of kubelet's binary."""
    gpu_drivers: str
    """Name of the set of GPU drivers that nodes install."""
    gpu_driver_optional: bool
    """``spec.gpu.mode`` counts, and other nodes are not told to configure drivers if needed."""
    credential_providers: Mapping[int, str]
    """Minor version of Kubernetes 1 → version of the registry credential provider; the last one for newer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class FailureFlags:
    """Flags of Azure's refusals: what is remembered and told (kaz ``pkg/providers/instance/offerings``, ``pkg/cache``)."""

    low_quota_has_own_ttl: bool
    """A family quota that is not 0 blocks for ten minutes rather than for the default time."""
    allocation_failures_kept: float
    """The time, in seconds, that offerings stay away after Azure had no room for a VM."""
    spot_quota_kept: float
    """The time, in seconds, that spot stays away after its quota was reached."""
    zonal_failure_marks_family: bool
    """No room in a zone is remembered for the size's family from its vCPUs on; before, for the size."""
    machine_refusals_handled: bool
    """AKS's refusals of a machine are judged: some mark offerings unavailable, and the error says if it was one."""
    failures_named: bool
    """The NodeClaim's Launched condition names what Azure was short of."""
    family_marked_with_size: bool
    """Marking a size unavailable marks larger sizes of its family too."""
    unavailable_needs_known_size: bool
    """Only sizes that are instance types can be marked unavailable."""


@dataclass(frozen=True, kw_only=True, eq=False)
class DriftFlags:
    """When a running node has drifted from its AKSNodeClass or is past help (kaz ``pkg/cloudprovider/{drift,cloudprovider}.go``)."""

    drift_of_machines: bool
    """AKS machines have checks of their own, among them what Azure says is to be done, and a NodeClaim without provider id is an
    error."""
    drift_image: DriftImage
    """The source of a node's image."""
    drift_of_subnets: bool
    """The subnet of a VM's network interface is compared."""
    repair_policies: tuple[RepairPolicy, ...]
    """The conditions of a Node that make core's repair replace it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ProviderRelease(InstanceTypeFlags, LabelFlags, NodeClassFlags, LaunchFlags, BootFlags, FailureFlags, DriftFlags):
    """A release of karpenter-provider-azure; there is one object per release, so it is compared and hashed by identity."""

    version: str
    core: CoreRelease
    vocabulary: Vocabulary
    """The label sets as they are after the provider edited core's."""
    crds: str
    """The name of the CRD set."""
    azure_well_known: frozenset[str]
    """The provider's part of the well-known labels."""
    allowed_at_create: frozenset[str]
    """The keys that may be undefined on either side when a NodeClaim is launched."""
    defaults: Defaults = Defaults()

    def asks_fips(self, spec: Mapping[str, Any]) -> bool:
        """Return whether an AKSNodeClass's spec asks for FIPS images; older releases do not have the field."""
        return "FIPSMode" in self.nodeclass_hash_fields and spec.get("fipsMode") == "FIPS"

    def asks_trusted_launch(self, spec: Mapping[str, Any]) -> bool:
        """Return whether an AKSNodeClass's spec asks for a vTPM or secure boot; older releases do not have the field."""
        trusted = (spec.get("security") or {}).get("trustedLaunch") or {}
        return self.trusted_launch and bool(trusted.get("vtpm") or trusted.get("secureBoot"))
