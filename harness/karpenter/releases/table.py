"""Every release of the provider: the first one in full, each later one as what it changed.

Facts come from the sources of 1.4.0, 1.6.5, 1.6.6, 1.7.2, 1.10.2, 1.12.2, 1.13.1, 1.14.0 and 1.14.2. Between two of them a
change stands at the first tag of the provider's repository that has it. ``next`` is not released: docs/how-to/new-release.md.
"""

from collections.abc import Mapping
from dataclasses import replace

from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.core import CAPACITY_TYPE, DO_NOT_SYNC_TAINTS, ON_DEMAND, SPOT
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.releases.change import Change, releases
from harness.karpenter.releases.core import CORE_RELEASES
from harness.karpenter.releases.model import (
    ArtifactStreamingDefault,
    ClaimRequirementLabels,
    Defaults,
    DriftImage,
    EphemeralRule,
    InPlaceTags,
    LocalDnsSource,
    ProviderRelease,
    ProvisionMode,
    RepairPolicy,
)
from harness.kube.api.labels import ARCH, INSTANCE_TYPE, OS, REGION, ZONE

__all__ = ["PROVIDER_RELEASES"]

_BOOLEAN = frozenset({"true", "false"})
_PRIORITIES = frozenset({keys.REGULAR, SPOT})
_UBUNTU, _AZURE_LINUX = "Ubuntu", "AzureLinux"
_AKS_RESTRICTED = frozenset(
    {
        *(f"Standard_{name}" for name in ("A0", "A1", "A1_v2", "B1s", "B1ms", "F1", "F1s")),
        *(f"Basic_A{number}" for number in range(5)),
    }
)

# kaz pkg/apis/v1beta1/labels.go: what the provider adds to core's well-known values since 1.12.1.
_KNOWN_VALUES: Mapping[str, frozenset[str]] = {
    CAPACITY_TYPE: frozenset({ON_DEMAND, SPOT}),
    keys.SKU_ACCELERATED_NETWORKING: _BOOLEAN,
    keys.SKU_PREMIUM_STORAGE: _BOOLEAN,
    keys.SKU_GPU_MANUFACTURER: frozenset({keys.NVIDIA, keys.AMD}),
    keys.PLACEMENT_SCOPE: frozenset({keys.ZONAL, keys.REGIONAL}),
    keys.AKS_MODE: frozenset({keys.SYSTEM, keys.USER}),
    keys.AKS_SCALE_SET_PRIORITY: _PRIORITIES,
    keys.AKS_PRIORITY: _PRIORITIES,
    keys.AKS_OS_SKU: frozenset({_UBUNTU, _AZURE_LINUX}),
    keys.AKS_FIPS: frozenset({"true"}),
}

_SKU_KEYS = frozenset(
    {
        keys.SKU_NAME,
        keys.SKU_FAMILY,
        keys.SKU_VERSION,
        keys.SKU_CPU,
        keys.SKU_MEMORY,
        keys.SKU_ACCELERATED_NETWORKING,
        keys.SKU_PREMIUM_STORAGE,
        keys.SKU_EPHEMERAL_OS_SIZE,
        keys.SKU_GPU_NAME,
        keys.SKU_GPU_MANUFACTURER,
        keys.SKU_GPU_COUNT,
    }
)
_ALWAYS_COMPUTED = _SKU_KEYS | {INSTANCE_TYPE, ARCH, OS, ZONE, REGION, CAPACITY_TYPE, keys.SKU_HYPERV}
_ALWAYS_LAST = frozenset({keys.AKS_ROLE, keys.AKS_CLUSTER, keys.AKS_KUBELET_IDENTITY, keys.AKS_EBPF_DATAPLANE})
_OVERLAY_KEYS = frozenset({keys.AKS_SUBNET, keys.AKS_VNET_GUID, keys.AKS_CNI_OVERLAY, keys.AKS_POD_NETWORK_TYPE})

_RESTRICTED_NAMES_IN_1_13_0 = (
    "accelerator",
    "agentpool",
    "agentpool-family",
    "availability-zone",
    "network-policy",
    "storageprofile",
    "storagetier",
)
# 1.13.0 alone took these away from users at run time too (db3add74, undone by 0b3db739).
_RESTRICTED_IN_1_13_0 = frozenset(
    {
        keys.SKU_HYPERV,
        *keys.LEGACY,
        *(f"{keys.AKS_DOMAIN}/{name}" for name in _RESTRICTED_NAMES_IN_1_13_0),
    }
)

_KUBELET_FIELDS = frozenset(
    {
        "imageGCHighThresholdPercent",
        "imageGCLowThresholdPercent",
        "cpuCFSQuota",
        "cpuManagerPolicy",
        "topologyManagerPolicy",
        "containerLogMaxSize",
        "containerLogMaxFiles",
        "podPidsLimit",
        "allowedUnsafeSysctls",
    }
)

_OLD_NODECLASS_FIELDS = frozenset({"VNETSubnetID", "OSDiskSizeGB", "ImageFamily", "Kubelet", "MaxPods"})
# Tags can be changed on a running machine, so they are no longer part of the hash.
_FIELDS_OF_1_6_2 = _OLD_NODECLASS_FIELDS | {"FIPSMode"}
_NODECLASS_FIELDS = _FIELDS_OF_1_6_2 | {"Security"}
_FIELDS_OF_1_10 = frozenset({"LocalDNS", "ArtifactStreaming", "LinuxOSConfig", "Kubelet.FailSwapOn"})

_OLD_FAMILIES: Mapping[str, str] = {"Ubuntu2204": _UBUNTU, _AZURE_LINUX: _AZURE_LINUX}
_FAMILIES: Mapping[str, str] = {
    _UBUNTU: _UBUNTU,
    "Ubuntu2204": _UBUNTU,
    "Ubuntu2404": _UBUNTU,
    _AZURE_LINUX: _AZURE_LINUX,
}


_NOT_READY = tuple(RepairPolicy("Ready", status, 600.0) for status in ("False", "Unknown"))
_UNHEALTHY = RepairPolicy("kubernetes.azure.com/NodeHealthy", "False", 0.0)
_PREEMPTED = RepairPolicy("PreemptionScheduled", "True", 0.0)

_SCRIPTLESS_AND_CLIENT = (ProvisionMode.AKS_SCRIPTLESS, ProvisionMode.BOOTSTRAPPING_CLIENT)

_FIRST = ProviderRelease(
    version="",
    core=CORE_RELEASES["1.4.0"],
    vocabulary=Vocabulary(),
    crds="",
    azure_well_known=frozenset(),
    allowed_at_create=frozenset(),
    computed_keys=frozenset(),
    offering_keys=frozenset(),
    base_keys=frozenset(),
    provision_modes=_SCRIPTLESS_AND_CLIENT,
    skewer="0.0.20",
    known_skus="1.4.0",
    ephemeral_rule=EphemeralRule.LARGEST_OF_CACHE_AND_RESOURCE,
    gpu_registry="1.4.0",
    local_dns=LocalDnsSource.NONE,
    local_dns_preferred_from=(1, 35),
    image_families=_OLD_FAMILIES,
    only_known_skus=True,
    unknown_skus_cost_missing_price=False,
    regional_offerings=False,
    zonal_regions_listed=True,
    price_required=True,
    spot_needs_low_priority=False,
    quota_checked=False,
    false_capabilities_absent=True,
    scsi_required_without_sig=True,
    encryption_filter=False,
    gpu_driver_filter=False,
    artifact_streaming_filter=False,
    winning_base_keys=_OVERLAY_KEYS | _ALWAYS_LAST | {keys.AKS_STATELESS_CNI},
    artifact_streaming_default=ArtifactStreamingDefault.OFF,
    claim_requirement_labels=ClaimRequirementLabels.NONE,
    kubelet_filter=False,
    claim_keeps_well_known=False,
    machine_drops_legacy_labels=False,
    machine_node_profiles=False,
    spot_system_machines=False,
    machine_claim_has_priorities=False,
    ranks_offerings=False,
    only_azure_linux_2=True,
    ubuntu_2404=False,
    azure_linux_3_arm_shared_only=True,
    low_quota_has_own_ttl=False,
    allocation_failures_kept=180.0,
    spot_quota_kept=180.0,
    zonal_failure_marks_family=False,
    unsupported_sizes_known=False,
    managed_subnets_refused=False,
    trusted_launch=False,
    failures_named=False,
    additional_tags=False,
    machine_name_limit=35,
    billing_tag=False,
    in_place_hash_tags=InPlaceTags.NONE,
    machine_creation_tag=False,
    # kubelet 1.34 does not start with --cloud-config
    defaults=Defaults(kubernetes="1.33.0"),
    kubelet_flags_left_out={"--keep-terminated-pod-volumes": 31},
    kubelet_fields=frozenset({"imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "cpuCFSQuota"}),
    cluster_dns_option=False,
    vm_type="vmss",
    script_timeout="",
    binaries_from_image=False,
    gpu_drivers="1.4.0",
    gpu_driver_optional=False,
    credential_providers={30: "1.30.10", 31: "1.31.4", 32: "1.32.3"},
    nodeclass_hash_version="v2",
    nodeclass_hash_fields=_OLD_NODECLASS_FIELDS | {"Tags"},
    family_marked_with_size=False,
    amd_gpu_capacity=False,
    no_sizes_is_error=False,
    instance_type_key_leaves_out=frozenset(),
    unavailable_needs_known_size=False,
    restricted_skus=_AKS_RESTRICTED,
    skus_without_price="1.4.0",
    drift_of_machines=False,
    drift_image=DriftImage.INSTANCE_FIRST,
    drift_of_subnets=True,
    repair_policies=_NOT_READY,
)
"""The flags of 1.4.0. Which labels there are follows from the changes below."""


_CHANGES: Mapping[str, Change] = {
    "1.4.0": Change(
        core="1.4.0",
        well_known=_SKU_KEYS | {keys.AKS_CLUSTER},
        computed=_ALWAYS_COMPUTED,
        offering=frozenset({CAPACITY_TYPE, ZONE}),
        base=_OVERLAY_KEYS | _ALWAYS_LAST | {keys.AKS_MODE},
    ),
    "1.4.1": Change(),
    "1.5.0": Change(
        core="1.5.0",
        flags=lambda old: replace(
            old,
            only_azure_linux_2=False,
            false_capabilities_absent=False,
            allocation_failures_kept=3600.0,
            spot_quota_kept=3600.0,
            kubelet_fields=_KUBELET_FIELDS,
            credential_providers={30: "1.30.12", 31: "1.31.6", 32: "1.32.5", 33: "1.33.0"},
        ),
    ),
    "1.5.1": Change(
        flags=lambda old: replace(
            old,
            skus_without_price="1.6.5",
        )
    ),
    "1.5.2": Change(
        flags=lambda old: replace(
            old,
            ephemeral_rule=EphemeralRule.FIRST_UNLESS_LABELLED,
        )
    ),
    "1.5.3": Change(),
    "1.5.4": Change(
        flags=lambda old: replace(
            old,
            ephemeral_rule=EphemeralRule.FIRST_OF_NVME_CACHE_RESOURCE,
        )
    ),
    "1.5.5": Change(),
    "1.6.1": Change(
        core="1.6.1",
        flags=lambda old: replace(
            old,
            zonal_failure_marks_family=True,
            additional_tags=True,
        ),
    ),
    "1.6.2": Change(
        core="1.6.2",
        base=frozenset({keys.AKS_STATELESS_CNI}),
        flags=lambda old: replace(
            old,
            zonal_regions_listed=False,
            image_families={_UBUNTU: _UBUNTU, **_OLD_FAMILIES},
            in_place_hash_tags=InPlaceTags.ASKED,
            nodeclass_hash_version="v3",
            nodeclass_hash_fields=_FIELDS_OF_1_6_2,
        ),
    ),
    "1.6.3": Change(
        flags=lambda old: replace(
            old,
            image_families=_FAMILIES,
            ubuntu_2404=True,
        )
    ),
    "1.6.4": Change(),
    "1.6.5": Change(
        well_known=frozenset({keys.AKS_CPU, keys.AKS_MEMORY}),
        computed=frozenset({keys.AKS_CPU, keys.AKS_MEMORY}),
        flags=lambda old: replace(
            old,
            encryption_filter=True,
            nodeclass_hash_fields=_NODECLASS_FIELDS,
        ),
    ),
    # Design 0006: base labels no longer win, and the cluster label is a requirement of every instance type.
    "1.6.6": Change(
        well_known=frozenset({keys.SKU_SERIES}),
        computed=frozenset({keys.SKU_SERIES, keys.AKS_CLUSTER}),
        flags=lambda old: replace(
            old,
            skewer="0.0.21",
            winning_base_keys=frozenset(),
            claim_requirement_labels=ClaimRequirementLabels.KUBELET_ALLOWED,
            claim_keeps_well_known=True,
            defaults=Defaults(),
            kubelet_flags_left_out={"--keep-terminated-pod-volumes": 31, "--cloud-config": 34},
            cluster_dns_option=True,
        ),
    ),
    "1.6.7": Change(
        well_known=frozenset({keys.AKS_MODE}),
        computed=frozenset({keys.AKS_MODE}),
        base=frozenset({keys.AKS_LOCAL_DNS_STATE}),
        flags=lambda old: replace(
            old,
            local_dns=LocalDnsSource.MODE_AND_VERSION,
            nodeclass_hash_fields=_NODECLASS_FIELDS | {"LocalDNS"},
            script_timeout="15m",
        ),
    ),
    "1.6.8": Change(
        base=frozenset({DO_NOT_SYNC_TAINTS}),
        flags=lambda old: replace(
            old,
            managed_subnets_refused=True,
        ),
    ),
    "1.7.0": Change(
        core="1.7.1",
        well_known=frozenset({keys.AKS_SCALE_SET_PRIORITY, keys.AKS_OS_SKU}),
        computed=frozenset({keys.AKS_SCALE_SET_PRIORITY, keys.AKS_OS_SKU}),
        offering=frozenset({keys.AKS_SCALE_SET_PRIORITY}),
        base=frozenset(
            {keys.AKS_SCALE_SET_PRIORITY, keys.AKS_OS_SKU, keys.AKS_OS_SKU_REQUESTED, keys.AKS_OS_SKU_EFFECTIVE}
        ),
        flags=lambda old: replace(
            old,
            provision_modes=(*_SCRIPTLESS_AND_CLIENT, ProvisionMode.AKS_MACHINE_API),
            billing_tag=True,
            machine_creation_tag=True,
            in_place_hash_tags=InPlaceTags.ALL,
            drift_of_machines=True,
            drift_image=DriftImage.INSTANCE,
        ),
    ),
    "1.7.1": Change(),
    "1.7.2": Change(),
    "1.10.0": Change(
        core="1.10.0",
        well_known=frozenset({keys.AKS_FIPS}),
        computed=frozenset({keys.AKS_FIPS}),
        base=frozenset({keys.AKS_FIPS, keys.AKS_ARTIFACT_STREAMING}),
        flags=lambda old: replace(
            old,
            artifact_streaming_filter=True,
            artifact_streaming_default=ArtifactStreamingDefault.ON,
            instance_type_key_leaves_out=frozenset({"fips"}),
            spot_system_machines=True,
            kubelet_flags_left_out={
                "--keep-terminated-pod-volumes": 31,
                "--cloud-config": 34,
                "--pod-infra-container-image": 35,
            },
            vm_type="standard",
            kubelet_filter=True,
            claim_requirement_labels=ClaimRequirementLabels.ALL,
            machine_drops_legacy_labels=True,
            ranks_offerings=True,
            low_quota_has_own_ttl=True,
            machine_creation_tag=False,
            nodeclass_hash_fields=_NODECLASS_FIELDS | _FIELDS_OF_1_10,
            gpu_registry="1.10.2",
            family_marked_with_size=True,
            no_sizes_is_error=True,
            unavailable_needs_known_size=True,
            restricted_skus=_AKS_RESTRICTED | {"Standard_E64i_v3", "Standard_E64is_v3"},
            drift_image=DriftImage.NODECLAIM,
            drift_of_subnets=False,
            repair_policies=(*_NOT_READY, _UNHEALTHY),
        ),
    ),
    "1.10.1": Change(
        flags=lambda old: replace(
            old,
            artifact_streaming_default=ArtifactStreamingDefault.ON_BUT_AZURE_LINUX,
        )
    ),
    "1.10.2": Change(
        flags=lambda old: replace(
            old,
            artifact_streaming_default=ArtifactStreamingDefault.OFF,
        )
    ),
    "1.12.0": Change(
        core="1.12.0",
        well_known=frozenset({keys.AKS_PRIORITY, keys.PLACEMENT_SCOPE}),
        computed=frozenset({keys.AKS_PRIORITY, keys.PLACEMENT_SCOPE}),
        offering=frozenset({keys.AKS_PRIORITY, keys.PLACEMENT_SCOPE}),
        base=frozenset({keys.AKS_PRIORITY}),
        flags=lambda old: replace(
            old,
            skewer="0.0.22",
            known_skus="1.12.2",
            regional_offerings=True,
            gpu_registry="1.12.2",
            amd_gpu_capacity=True,
            gpu_driver_filter=True,
            gpu_driver_optional=True,
            machine_node_profiles=True,
            machine_claim_has_priorities=True,
            nodeclass_hash_fields=_NODECLASS_FIELDS | _FIELDS_OF_1_10 | {"GPU"},
            scsi_required_without_sig=False,
            unsupported_sizes_known=True,
            provision_modes=(
                *_SCRIPTLESS_AND_CLIENT,
                ProvisionMode.AKS_MACHINE_API,
                ProvisionMode.AKS_MACHINE_API_HEADER_BATCH,
            ),
        ),
    ),
    "1.12.1": Change(
        known_values=_KNOWN_VALUES,
        flags=lambda old: replace(
            old,
            azure_linux_3_arm_shared_only=False,
            machine_name_limit=34,
            local_dns=LocalDnsSource.STATUS,
            local_dns_preferred_from=(1, 36),
        ),
    ),
    "1.12.2": Change(
        core="1.12.1",
        flags=lambda old: replace(
            old,
            skus_without_price="1.12.2",
        ),
    ),
    "1.13.0": Change(
        core="1.13.0",
        also_restricted=_RESTRICTED_IN_1_13_0,
        flags=lambda old: replace(
            old,
            skewer="0.0.24",
            known_skus="1.13.1",
            skus_without_price="",
            gpu_registry="1.13.1",
            gpu_drivers="1.13.1",
            price_required=False,
            repair_policies=(*_NOT_READY, _UNHEALTHY, _PREEMPTED),
            instance_type_key_leaves_out=frozenset(),
            spot_needs_low_priority=True,
        ),
    ),
    "1.13.1": Change(
        flags=lambda old: replace(
            old,
            binaries_from_image=True,
        )
    ),
    "1.14.0": Change(
        core="1.14.0",
        well_known=frozenset({keys.SKU_ULTRA_SSD}),
        computed=frozenset({keys.SKU_ULTRA_SSD}),
        offering=frozenset({keys.SKU_ULTRA_SSD}),
        known_values={keys.SKU_ULTRA_SSD: _BOOLEAN},
        normalized_values={ZONE: {"": keys.REGIONAL_ZONE}},
        flags=lambda old: replace(
            old,
            known_skus="1.14.0",
            gpu_registry="1.14.0",
            gpu_drivers="1.14.0",
            only_known_skus=False,
            unknown_skus_cost_missing_price=True,
            quota_checked=True,
            local_dns_preferred_from=(1, 99),
            failures_named=True,
        ),
    ),
    "1.14.1": Change(),
    "1.14.2": Change(),
    # The provider's main branch at 352646f5, with core 1.15.0 (its go.mod still names 1.14.0).
    "next": Change(
        core="1.15.0",
        flags=lambda old: replace(
            old,
            trusted_launch=True,
            nodeclass_hash_fields=old.nodeclass_hash_fields | {"Security.TrustedLaunch"},
        ),
    ),
}


PROVIDER_RELEASES: Mapping[str, ProviderRelease] = {release.version: release for release in releases(_FIRST, _CHANGES)}
