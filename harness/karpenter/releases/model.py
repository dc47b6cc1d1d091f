"""What a release of Karpenter is, as far as its behaviour differs from another one: tables and named flags, never a version number.

Code asks ``release.some_flag``; only :mod:`harness.karpenter.releases.table` knows which version has it. A flag's text says
what the code does when it is set.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from harness.karpenter.labels.vocabulary import Vocabulary

__all__ = [
    "MACHINE_MODES",
    "ArtifactStreamingDefault",
    "ClaimRequirementLabels",
    "CoreRelease",
    "Defaults",
    "EphemeralRule",
    "InPlaceTags",
    "LocalDnsSource",
    "ProviderRelease",
    "ProvisionMode",
    "UnknownRelease",
]


class UnknownRelease(ValueError):
    """No such release; ``known`` are those there are."""

    def __init__(self, version: str, known: tuple[str, ...]) -> None:
        super().__init__(f"unknown Karpenter release {version!r}; known: {', '.join(known)}")
        self.version = version
        self.known = known


class ProvisionMode(StrEnum):
    """How the provider makes a machine join the cluster (kaz ``pkg/consts``)."""

    AKS_SCRIPTLESS = "aksscriptless"
    BOOTSTRAPPING_CLIENT = "bootstrappingclient"
    AKS_MACHINE_API = "aksmachineapi"
    AKS_MACHINE_API_HEADER_BATCH = "aksmachineapiheaderbatch"


MACHINE_MODES = frozenset({ProvisionMode.AKS_MACHINE_API, ProvisionMode.AKS_MACHINE_API_HEADER_BATCH})
"""The modes in which nodes are AKS machines rather than plain virtual machines."""


class EphemeralRule(StrEnum):
    """How the largest ephemeral OS disk of a size is found."""

    LARGEST_OF_CACHE_AND_RESOURCE = "largest-of-cache-and-resource"
    """The larger of cache and resource disk, as a decimal fraction of GB; the series Dlds_v5 has none."""
    FIRST_UNLESS_LABELLED = "first-unless-labelled"
    """The first of NVMe, cache and resource disk, in whole GB. A launch uses it on any size; the label asks whether the size supports
    ephemeral OS disks, and the series Dlds_v5 has none."""
    FIRST_OF_NVME_CACHE_RESOURCE = "first-of-nvme-cache-resource"
    """The first that exists, in whole GB, of sizes that support ephemeral OS disks."""


class ArtifactStreamingDefault(StrEnum):
    """Whether artifact streaming is on for an AKSNodeClass that does not say; arm64 machines never have it."""

    OFF = "off"
    ON = "on"
    ON_BUT_AZURE_LINUX = "on-but-azure-linux"


class LocalDnsSource(StrEnum):
    """Where the provider reads whether LocalDNS is on."""

    NONE = "none"
    MODE_AND_VERSION = "mode-and-version"
    """``spec.localDNS.mode``; Preferred means on from a Kubernetes version on."""
    STATUS = "status"
    """``status.localDNSState``, which a controller of the provider resolves."""


class InPlaceTags(StrEnum):
    """Which tags count when Karpenter checks whether a running machine has to be updated."""

    NONE = "none"
    ASKED = "asked"
    """Those of the options and of the NodeClass, as written there."""
    ALL = "all"
    """All tags that the machine gets, but those that name it."""


class ClaimRequirementLabels(StrEnum):
    """Which single-valued requirements of a NodeClaim become labels of its node."""

    NONE = "none"
    KUBELET_ALLOWED = "kubelet-allowed"
    """Those whose key kubelet may set."""
    ALL = "all"


@dataclass(frozen=True, slots=True)
class CoreRelease:
    """A release of karpenter core (sigs.k8s.io/karpenter).

    * ``honours_do_not_sync_taints``: a Node label ``karpenter.sh/do-not-sync-taints: true`` keeps registration from copying taints.
    * ``labels_from_claim_requirements``: at launch, requirements of a NodeClaim become labels of it (PopulateNodeClaimDetails with
      Requirements.Labels(): any value of every key that is neither well-known nor in a restricted domain).
    * ``kubernetes``: the Kubernetes whose libraries it is built with, and whose sentences about names it therefore prints.
    * ``validates_preferred_terms``: preferred node affinity terms of pods are validated like required ones.
    * ``structured_errors``: errors carry their values behind the sentence, ``(key=value)``.
    * ``nodes_in_status``: a NodePool's status has the number of its nodes in a field of its own.
    * ``ephemeral_no_execute``: the taint ``node.kubernetes.io/not-ready:NoExecute`` goes by itself while a node starts;
      ``ephemeral_readiness``: so do taints ``readiness.k8s.io/…``.
    * ``launch_timeout``: a NodeClaim that is not launched is given up sooner than one that does not register.
    """

    version: str
    kubernetes: str = "1.35"
    validates_preferred_terms: bool = False
    structured_errors: bool = True
    honours_do_not_sync_taints: bool = True
    labels_from_claim_requirements: bool = False
    nodes_in_status: bool = True
    ephemeral_no_execute: bool = True
    ephemeral_readiness: bool = True
    launch_timeout: bool = True


@dataclass(frozen=True, slots=True)
class Defaults:
    """What a world uses when nobody says otherwise. ``node_resource_group`` takes ``{cluster}`` and ``{region}``."""

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


@dataclass(frozen=True, slots=True, eq=False)
class ProviderRelease:
    """A release of karpenter-provider-azure; there is one object per release, so it is compared and hashed by identity.

    ``vocabulary`` holds the label sets as they are after the provider edited core's; ``azure_well_known`` is the provider's part of
    them, ``allowed_at_create`` the keys that may be undefined on either side when a NodeClaim is launched.

    Instance types (kaz ``pkg/providers/instancetype``):

    * ``computed_keys``: the requirement keys that every instance type carries.
    * ``offering_keys``: the requirement keys that every offering carries.
    * ``skewer``: version of the library that parses VM sizes.
    * ``known_skus``: name of the list of known sizes; ``only_known_skus``: others are dropped, else they cost ``MissingPrice``
      when ``unknown_skus_cost_missing_price``.
    * ``regional_offerings``: every size has the zone ``"0"`` too; before, sizes without zones have the zone ``""``.
    * ``zonal_regions_listed``: zones count only in a fixed list of regions.
    * ``price_required``: an offering without a price is unavailable; ``spot_needs_low_priority``: so is spot of sizes that do not
      say LowPriorityCapable; ``quota_checked``: so is on-demand beyond the family's quota.
    * ``false_capabilities_absent``: premium storage and accelerated networking are DoesNotExist rather than ``false``.
    * ``scsi_required_without_sig``: NVMe-only sizes are dropped unless images come from the managed gallery.
    * ``restricted_skus``: sizes that are never offered; ``gpu_registry``, ``skus_without_price``: names of lists.
    * ``no_sizes_is_error``: a region without a usable size is an error rather than an empty list.
    * ``family_marked_with_size``: marking a size unavailable marks larger sizes of its family too.
    * ``amd_gpu_capacity``: capacity names ``amd.com/gpu`` beside ``nvidia.com/gpu``.
    * ``instance_type_key_leaves_out``: the fields of ``Knobs`` that the key of the provider's cache of instance types leaves out.
    * ``unavailable_needs_known_size``: only sizes that are instance types can be marked unavailable.
    * ``local_dns_preferred_from``: the Kubernetes version from which ``localDNS.mode: Preferred`` means on.
    * ``encryption_filter``, ``gpu_driver_filter``, ``artifact_streaming_filter``: AKSNodeClass fields that drop sizes.

    Labels (kaz ``pkg/providers/labels``, ``pkg/providers/instance``, ``pkg/providers/launchtemplate``):

    * ``base_keys``: what the provider puts on every node by itself; ``winning_base_keys``: those of them
      that override everything else; the others override nothing.
    * ``artifact_streaming_default``: whether artifact streaming is on unless the AKSNodeClass says.
    * ``claim_requirement_labels``: which single-valued requirements of the NodeClaim become labels of the node.
    * ``claim_keeps_well_known``: single-valued Azure well-known requirements stay on the NodeClaim as labels.
    * ``kubelet_filter``: keys that kubelet may not set are withheld.
    * ``machine_drops_legacy_labels``: AKS machines are sent neither legacy AKS labels nor keys that kubelet may not set; before,
      a fixed list of keys and the AKS domain are left out.
    * ``machine_node_profiles``: AKS machines are told of LocalDNS and artifact streaming.
    * ``spot_system_machines``: AKS is asked to let spot machines be of mode System.
    * ``machine_claim_has_priorities``: a NodeClaim of an AKS machine gets the scale set priority labels.

    Launch (kaz ``pkg/providers/{instance,allocationstrategy,imagefamily}``):

    * ``ranks_offerings``: the cheapest offering decides; before, the cheapest size, then spot if allowed.
    * ``only_azure_linux_2``: Azure Linux is version 2 for every Kubernetes; ``azure_linux_3_arm_shared_only``: Azure Linux 3 for
      arm64 is in the managed gallery only. ``ubuntu_2404``: there is Ubuntu 24.04, which the family Ubuntu means from 1.34 on.
    * ``low_quota_has_own_ttl``: a family quota that is not 0 blocks for ten minutes rather than for the default time.
    * ``allocation_failures_kept``: how long, in seconds, offerings stay away after Azure had no room for a VM.
    * ``spot_quota_kept``: how long, in seconds, spot stays away after its quota was reached.
    * ``zonal_failure_marks_family``: no room in a zone is remembered for the size's family from its vCPUs on; before, for the size.
    * ``unsupported_sizes_known``: that AKS refuses a size for the subscription makes the size unavailable.
    * ``managed_subnets_refused``: an AKSNodeClass with a subnet of the cluster's managed virtual network is not ready.
    * ``failures_named``: the NodeClaim's Launched condition names what Azure was short of.
    * ``additional_tags``: there is an option for tags of all resources; ``machine_name_limit``: longest name of an AKS machine.
    * ``billing_tag``: resources carry ``compute.aks.billing``; ``machine_creation_tag``: AKS machines carry their time of creation.
    * ``in_place_hash_tags``: which tags are among what is updated on running machines.
    * ``kubelet_flags_left_out``: flag → minor version of Kubernetes 1 from which the release no longer passes it. ``kubelet_fields``:
      the fields of an AKSNodeClass's ``spec.kubelet`` that become flags; ``cluster_dns_option``: kubelet is told the option's DNS
      service, before 10.0.0.10 whatever it is.
    * ``vm_type``: what AKS's scripts take the VM for; ``script_timeout``: they are told how long they may take;
      ``binaries_from_image``: from Kubernetes 1.34 on they are told no address of kubelet's binary.
    * ``gpu_drivers``: name of the set of GPU drivers that nodes install.
    * ``gpu_driver_optional``: ``spec.gpu.mode`` counts, and other nodes are not told to configure drivers if needed.
    * ``credential_providers``: minor version of Kubernetes 1 → version of the registry credential provider; the last one for newer.
    * ``nodeclass_hash_version``, ``nodeclass_hash_fields``: how an AKSNodeClass is hashed (Go names of spec fields).
    """

    version: str
    core: CoreRelease
    vocabulary: Vocabulary
    crds: str
    azure_well_known: frozenset[str]
    allowed_at_create: frozenset[str]
    provision_modes: tuple[ProvisionMode, ...]
    computed_keys: frozenset[str]
    offering_keys: frozenset[str]
    base_keys: frozenset[str]
    skewer: str
    known_skus: str
    ephemeral_rule: EphemeralRule
    gpu_registry: str
    local_dns: LocalDnsSource
    local_dns_preferred_from: tuple[int, int]
    image_families: Mapping[str, str]
    only_known_skus: bool
    unknown_skus_cost_missing_price: bool
    regional_offerings: bool
    zonal_regions_listed: bool
    price_required: bool
    spot_needs_low_priority: bool
    quota_checked: bool
    false_capabilities_absent: bool
    scsi_required_without_sig: bool
    encryption_filter: bool
    gpu_driver_filter: bool
    artifact_streaming_filter: bool
    winning_base_keys: frozenset[str]
    artifact_streaming_default: ArtifactStreamingDefault
    claim_requirement_labels: ClaimRequirementLabels
    kubelet_filter: bool
    claim_keeps_well_known: bool
    machine_drops_legacy_labels: bool
    machine_node_profiles: bool
    spot_system_machines: bool
    machine_claim_has_priorities: bool
    ranks_offerings: bool
    only_azure_linux_2: bool
    ubuntu_2404: bool
    azure_linux_3_arm_shared_only: bool
    low_quota_has_own_ttl: bool
    allocation_failures_kept: float
    spot_quota_kept: float
    zonal_failure_marks_family: bool
    unsupported_sizes_known: bool
    managed_subnets_refused: bool
    failures_named: bool
    additional_tags: bool
    machine_name_limit: int
    billing_tag: bool
    in_place_hash_tags: InPlaceTags
    machine_creation_tag: bool
    kubelet_flags_left_out: Mapping[str, int]
    kubelet_fields: frozenset[str]
    cluster_dns_option: bool
    vm_type: str
    script_timeout: str
    binaries_from_image: bool
    gpu_drivers: str
    gpu_driver_optional: bool
    credential_providers: Mapping[int, str]
    nodeclass_hash_version: str
    nodeclass_hash_fields: frozenset[str]
    family_marked_with_size: bool
    amd_gpu_capacity: bool
    no_sizes_is_error: bool
    instance_type_key_leaves_out: frozenset[str]
    unavailable_needs_known_size: bool
    restricted_skus: frozenset[str]
    skus_without_price: str
    defaults: Defaults = Defaults()

    def asks_fips(self, spec: Mapping[str, Any]) -> bool:
        """Whether an AKSNodeClass's spec asks for FIPS images; older releases do not have the field."""
        return "FIPSMode" in self.nodeclass_hash_fields and spec.get("fipsMode") == "FIPS"
