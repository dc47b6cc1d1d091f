"""Every release of the provider: the first one in full, each later one as what it changed.

Facts come from the sources of 1.4.0, 1.6.5, 1.6.6, 1.7.2, 1.10.2, 1.12.2, 1.13.1, 1.14.0 and 1.14.2. Between two of them a
change stands at the first tag of the provider's repository that has it. ``next`` is not released: docs/how-to/new-release.md.
"""

from collections.abc import Mapping
from dataclasses import replace

from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.core import CAPACITY_TYPE, DO_NOT_SYNC_TAINTS
from harness.karpenter.releases.change import Change, releases
from harness.karpenter.releases.first import FIRST
from harness.karpenter.releases.flag_values import (
    ArtifactStreamingDefault,
    ClaimRequirementLabels,
    DriftImage,
    EphemeralRule,
    InPlaceTags,
    LocalDnsSource,
    ProvisionMode,
)
from harness.karpenter.releases.model import Defaults, ProviderRelease
from harness.karpenter.releases.name_sets import (
    AKS_RESTRICTED,
    ALWAYS_COMPUTED,
    ALWAYS_LAST,
    BOOLEAN,
    FAMILIES,
    FIELDS_OF_1_6_2,
    FIELDS_OF_1_10,
    KNOWN_VALUES,
    KUBELET_FIELDS,
    NODECLASS_FIELDS,
    NOT_READY,
    OLD_FAMILIES,
    OVERLAY_KEYS,
    PREEMPTED,
    RESTRICTED_IN_1_13_0,
    SCRIPTLESS_AND_CLIENT,
    SKU_KEYS,
    UBUNTU,
    UNHEALTHY,
)
from harness.kube.api.labels import ZONE

__all__ = ["PROVIDER_RELEASES"]


_CHANGES: Mapping[str, Change] = {
    "1.4.0": Change(
        core="1.4.0",
        well_known=SKU_KEYS | {keys.AKS_CLUSTER},
        computed=ALWAYS_COMPUTED,
        offering=frozenset({CAPACITY_TYPE, ZONE}),
        base=OVERLAY_KEYS | ALWAYS_LAST | {keys.AKS_MODE},
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
            kubelet_fields=KUBELET_FIELDS,
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
            azure_linux_3_arm_shared_only=True,
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
            image_families={UBUNTU: UBUNTU, **OLD_FAMILIES},
            nodeclass_lookup_told=True,
            in_place_hash_tags=InPlaceTags.ASKED,
            nodeclass_hash_version="v3",
            nodeclass_hash_fields=FIELDS_OF_1_6_2,
            nodeclass_conditions=(*old.nodeclass_conditions, "SubnetsReady"),
        ),
    ),
    "1.6.3": Change(
        flags=lambda old: replace(
            old,
            image_families=FAMILIES,
            ubuntu_2404=True,
            billing_extension_may_lack=True,
        )
    ),
    "1.6.4": Change(),
    "1.6.5": Change(
        well_known=frozenset({keys.AKS_CPU, keys.AKS_MEMORY}),
        computed=frozenset({keys.AKS_CPU, keys.AKS_MEMORY}),
        flags=lambda old: replace(
            old,
            encryption_filter=True,
            nodeclass_hash_fields=NODECLASS_FIELDS,
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
            nodeclass_hash_fields=NODECLASS_FIELDS | {"LocalDNS"},
            script_timeout="15m",
            nodeclass_conditions=(*old.nodeclass_conditions, "ValidationSucceeded"),
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
            extension_poll_seconds=3.0,
            provision_modes=(*SCRIPTLESS_AND_CLIENT, ProvisionMode.AKS_MACHINE_API),
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
            poll_seconds=3.0,
            artifact_streaming_filter=True,
            artifact_streaming_default=ArtifactStreamingDefault.ON,
            empty_window_is_none=True,
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
            nodeclass_hash_fields=NODECLASS_FIELDS | FIELDS_OF_1_10,
            gpu_registry="1.10.2",
            family_marked_with_size=True,
            no_sizes_is_error=True,
            unavailable_needs_known_size=True,
            restricted_skus=AKS_RESTRICTED | {"Standard_E64i_v3", "Standard_E64is_v3"},
            drift_image=DriftImage.NODECLAIM,
            drift_of_subnets=False,
            repair_policies=(*NOT_READY, UNHEALTHY),
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
            nodeclass_hash_fields=NODECLASS_FIELDS | FIELDS_OF_1_10 | {"GPU"},
            scsi_required_without_sig=False,
            machine_refusals_handled=True,
            filters_overlaid_types=True,
            provision_modes=(
                *SCRIPTLESS_AND_CLIENT,
                ProvisionMode.AKS_MACHINE_API,
                ProvisionMode.AKS_MACHINE_API_HEADER_BATCH,
            ),
        ),
    ),
    "1.12.1": Change(
        known_values=KNOWN_VALUES,
        flags=lambda old: replace(
            old,
            azure_linux_3_arm_shared_only=False,
            machine_name_limit=34,
            local_dns=LocalDnsSource.STATUS,
            local_dns_preferred_from=(1, 36),
            nodeclass_conditions=(*old.nodeclass_conditions, "LocalDNSReady"),
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
        also_restricted=RESTRICTED_IN_1_13_0,
        flags=lambda old: replace(
            old,
            skewer="0.0.24",
            known_skus="1.13.1",
            skus_without_price="",
            gpu_registry="1.13.1",
            gpu_drivers="1.13.1",
            price_required=False,
            repair_policies=(*NOT_READY, UNHEALTHY, PREEMPTED),
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
        known_values={keys.SKU_ULTRA_SSD: BOOLEAN},
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


PROVIDER_RELEASES: Mapping[str, ProviderRelease] = {release.version: release for release in releases(FIRST, _CHANGES)}
