"""What each release knows: label sets, known values, flags, options."""

from dataclasses import replace

import pytest

from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.core import CAPACITY_TYPE, DO_NOT_SYNC_TAINTS
from harness.karpenter.releases import ALL_PROVIDER_RELEASES, Defaults, ProviderOptions, UnknownRelease, provider
from harness.karpenter.releases.scheduling import rules_of

# The first release that has each well-known label (kaz pkg/apis/v1beta1/labels.go of the tags).
WELL_KNOWN_SINCE = {
    keys.SKU_NAME: "1.4.0",
    keys.AKS_CLUSTER: "1.4.0",
    keys.AKS_CPU: "1.6.5",
    keys.AKS_MEMORY: "1.6.5",
    keys.SKU_SERIES: "1.6.6",
    keys.AKS_MODE: "1.6.7",
    keys.AKS_SCALE_SET_PRIORITY: "1.7.0",
    keys.AKS_OS_SKU: "1.7.0",
    keys.AKS_FIPS: "1.10.0",
    keys.AKS_PRIORITY: "1.12.0",
    keys.PLACEMENT_SCOPE: "1.12.0",
    keys.SKU_ULTRA_SSD: "1.14.0",
}


@pytest.mark.parametrize(("key", "since"), WELL_KNOWN_SINCE.items())
def test_well_known_since(key: str, since: str) -> None:
    first = ALL_PROVIDER_RELEASES.index(since)
    known = [key in provider(version).vocabulary.well_known for version in ALL_PROVIDER_RELEASES]
    assert known == [False] * first + [True] * (len(known) - first)


# The last release before a change, the first one with it, the field, and its values (the provider's fix commits by first tag).
CHANGES = (
    ("1.4.1", "1.5.0", "false_capabilities_absent", True, False),  # 8bf92a46
    ("1.4.1", "1.5.0", "allocation_failures_kept", 180.0, 3600.0),  # 0751bf89
    ("1.4.1", "1.5.0", "spot_quota_kept", 180.0, 3600.0),  # pkg/cache/unavailableofferings.go
    ("1.4.1", "1.5.0", "only_azure_linux_2", True, False),  # pkg/providers/imagefamily/azlinux3.go
    ("1.5.0", "1.5.1", "skus_without_price", "1.4.0", "1.6.5"),  # pkg/providers/pricing/skus_missing_price.go
    ("1.5.1", "1.5.2", "ephemeral_rule", "largest-of-cache-and-resource", "first-unless-labelled"),  # 30a2a7dc
    ("1.5.3", "1.5.4", "ephemeral_rule", "first-unless-labelled", "first-of-nvme-cache-resource"),  # 0b358057
    ("1.5.5", "1.6.1", "zonal_failure_marks_family", False, True),  # 50cfddcd
    ("1.5.5", "1.6.1", "additional_tags", False, True),  # pkg/operator/options/options.go
    ("1.6.1", "1.6.2", "nodeclass_hash_version", "v2", "v3"),  # pkg/apis/v1beta1/aksnodeclass.go
    ("1.6.1", "1.6.2", "in_place_hash_tags", "none", "asked"),  # pkg/controllers/nodeclaim/inplaceupdate/utils.go
    ("1.6.1", "1.6.2", "nodeclass_lookup_told", False, True),  # 38368736
    ("1.6.1", "1.6.2", "zonal_regions_listed", True, False),  # 42e11b25
    ("1.6.2", "1.6.3", "billing_extension_may_lack", False, True),  # 29603126
    # pkg/apis/v1beta1/aksnodeclass_status.go
    (
        "1.6.1",
        "1.6.2",
        "nodeclass_conditions",
        ("ImagesReady", "KubernetesVersionReady"),
        ("ImagesReady", "KubernetesVersionReady", "SubnetsReady"),
    ),
    (
        "1.6.6",
        "1.6.7",
        "nodeclass_conditions",
        ("ImagesReady", "KubernetesVersionReady", "SubnetsReady"),
        ("ImagesReady", "KubernetesVersionReady", "SubnetsReady", "ValidationSucceeded"),
    ),
    ("1.6.2", "1.6.3", "ubuntu_2404", False, True),  # 6957e32d
    ("1.6.4", "1.6.5", "encryption_filter", False, True),  # pkg/providers/instancetype/instancetypes.go
    ("1.6.7", "1.6.8", "managed_subnets_refused", False, True),  # f5bfe6d5
    ("1.6.8", "1.7.0", "drift_of_machines", False, True),  # pkg/cloudprovider/drift.go
    ("1.6.8", "1.7.0", "drift_image", "instance-first", "instance"),  # pkg/cloudprovider/drift.go
    ("1.7.2", "1.10.0", "drift_image", "instance", "nodeclaim"),  # pkg/cloudprovider/drift.go
    ("1.7.2", "1.10.0", "drift_of_subnets", True, False),  # pkg/cloudprovider/drift.go
    ("1.7.2", "1.10.0", "spot_system_machines", False, True),  # c0afa64a
    (
        "1.7.2",
        "1.10.0",
        "instance_type_key_leaves_out",
        frozenset(),
        {"fips"},
    ),  # pkg/providers/instancetype/instancetypes.go
    (
        "1.12.2",
        "1.13.0",
        "instance_type_key_leaves_out",
        {"fips"},
        frozenset(),
    ),  # pkg/providers/instancetype/instancetypes.go
    ("1.10.0", "1.10.1", "artifact_streaming_default", "on", "on-but-azure-linux"),  # pkg/apis/v1beta1/aksnodeclass.go
    ("1.10.1", "1.10.2", "artifact_streaming_default", "on-but-azure-linux", "off"),  # pkg/apis/v1beta1/aksnodeclass.go
    ("1.10.2", "1.12.0", "machine_node_profiles", False, True),  # pkg/providers/instance/aksmachineinstancehelpers.go
    ("1.10.2", "1.12.0", "machine_refusals_handled", False, True),  # 4410443f
    ("1.6.8", "1.7.0", "extension_poll_seconds", 30.0, 3.0),  # pkg/providers/instance/azureresourcemanagerutils.go
    ("1.7.2", "1.10.0", "poll_seconds", 30.0, 3.0),  # pkg/providers/instance/poller.go
    ("1.10.2", "1.12.0", "filters_overlaid_types", False, True),  # pkg/cloudprovider/cloudprovider.go
    ("1.5.5", "1.6.1", "azure_linux_3_arm_shared_only", False, True),  # pkg/providers/imagefamily/azlinux3.go
    ("1.12.0", "1.12.1", "azure_linux_3_arm_shared_only", True, False),  # 3154c0fc
    ("1.12.0", "1.12.1", "machine_name_limit", 35, 34),  # pkg/providers/instance/aksmachineinstanceutils.go
    ("1.12.0", "1.12.1", "local_dns", "mode-and-version", "status"),  # fc345072
    ("1.12.0", "1.12.1", "local_dns_preferred_from", (1, 35), (1, 36)),  # fc345072
    ("1.12.1", "1.12.2", "skus_without_price", "1.6.5", "1.12.2"),  # pkg/providers/pricing/skus_missing_price.go
    ("1.13.1", "1.14.0", "local_dns_preferred_from", (1, 36), (1, 99)),  # e3280bcf
)


@pytest.mark.parametrize(("before", "since", "field", "old", "new"), CHANGES)
def test_changes_come_with_the_release_that_made_them(
    before: str, since: str, field: str, old: object, new: object
) -> None:
    assert ALL_PROVIDER_RELEASES.index(since) == ALL_PROVIDER_RELEASES.index(before) + 1
    assert (getattr(provider(before), field), getattr(provider(since), field)) == (old, new)


# The image families and the hashed fields of an AKSNodeClass (kaz pkg/apis/v1beta1/{labels,aksnodeclass}.go of the tags).
FIELDS = (
    ("1.6.1", {"Ubuntu2204", "AzureLinux"}, {"Tags"}),
    ("1.6.2", {"Ubuntu", "Ubuntu2204", "AzureLinux"}, {"FIPSMode"}),
    ("1.6.3", {"Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"}, {"FIPSMode"}),
    ("1.6.5", {"Ubuntu", "Ubuntu2204", "Ubuntu2404", "AzureLinux"}, {"FIPSMode", "Security"}),
)


@pytest.mark.parametrize(("version", "families", "hashed"), FIELDS)
def test_fields_of_an_aksnodeclass(version: str, families: set[str], hashed: set[str]) -> None:
    assert provider(version).image_families.keys() == families
    of_all = {"VNETSubnetID", "OSDiskSizeGB", "ImageFamily", "Kubelet", "MaxPods"}
    assert provider(version).nodeclass_hash_fields == of_all | hashed


def test_names_with_and_without_v() -> None:
    assert provider("v1.14.0") is provider("1.14.0")
    assert provider("1.14.2").core.version == "1.14.0"


def test_unknown_release_names_the_known_ones() -> None:
    with pytest.raises(UnknownRelease, match=r"unknown Karpenter release 'v9\.9'; known: 1\.4\.0, .*, next") as caught:
        provider("v9.9")
    assert caught.value.known == (*ALL_PROVIDER_RELEASES, "next")


@pytest.mark.parametrize(
    ("version", "key", "start"),
    [
        ("1.4.0", "kubernetes.io/x", "label kubernetes.io/x is restricted; specify a well known label: ["),
        (
            "1.6.5",
            "k8s.io/x",
            "label is restricted; specify a well known label or a custom label that does not use a restricted domain (label=k8s.io/x, ",
        ),
        ("1.14.0", "karpenter.sh/x", "using label karpenter.sh/x is not allowed as it might interfere"),
        ("1.14.0", "a.karpenter.azure.com/x", "using label a.karpenter.azure.com/x is not allowed"),
        ("1.13.0", "agentpool", "using label agentpool is not allowed"),
    ],
)
def test_restricted(version: str, key: str, start: str) -> None:
    assert (provider(version).vocabulary.restricted(key) or "").startswith(start)


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("1.7.2", "node.kubernetes.io/x"),
        ("1.10.0", "kubernetes.io/x"),
        ("1.14.0", "mykarpenter.sh/x"),
        ("1.12.2", "agentpool"),
        ("1.13.1", "agentpool"),
        ("1.14.0", "kubernetes.azure.com/anything"),
    ],
)
def test_not_restricted(version: str, key: str) -> None:
    assert provider(version).vocabulary.restricted(key) is None


def test_known_values() -> None:
    assert provider("1.4.0").vocabulary.known_values == {}
    assert provider("1.10.2").vocabulary.known_values[CAPACITY_TYPE] == {"on-demand", "spot", "reserved"}
    assert provider("1.12.1").vocabulary.known_values[CAPACITY_TYPE] == {"on-demand", "spot"}
    assert provider("1.12.1").vocabulary.known_values[keys.AKS_FIPS] == {"true"}
    assert keys.SKU_ULTRA_SSD not in provider("1.13.1").vocabulary.known_values


def test_do_not_sync_taints_came_in_core_before_the_provider_used_it() -> None:
    assert not provider("1.4.0").core.honours_do_not_sync_taints
    assert provider("1.5.0").core.honours_do_not_sync_taints
    assert DO_NOT_SYNC_TAINTS not in provider("1.6.7").base_keys
    assert DO_NOT_SYNC_TAINTS in provider("1.6.8").base_keys


def test_empty_csi_zone_means_regional_since_1_14() -> None:
    assert provider("1.13.1").vocabulary.normalized_values == {}
    assert provider("1.14.0").vocabulary.normalized_values == {"topology.kubernetes.io/zone": {"": "0"}}


def test_options_from_the_providers_own_names() -> None:
    options = ProviderOptions.of(Defaults(), region="eastus").with_json(
        {
            "networkPlugin": "none",
            "vmMemoryOverheadPercent": 0,
            "nodeIdentities": ["a"],
            "nodeResourceGroup": "MC_x",
            "unknown": 1,
        }
    )
    assert options.network_plugin == "none"
    assert options.vm_memory_overhead_percent == 0.0
    assert options.node_identities == ("a",)
    assert options.node_resource_group == "MC_x"
    assert options.subnet_id.endswith(
        "/resourceGroups/MC_rg_harness_eastus/providers/Microsoft.Network/virtualNetworks/aks-vnet-12345678/subnets/aks-subnet"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"networkPlugin": 1},
        {"useSIG": "yes"},
        {"vmMemoryOverheadPercent": "1"},
        {"additionalTags": []},
        {"nodeIdentities": "a"},
        {"nodeIdentities": ["a", 1]},
    ],
)
def test_options_of_the_wrong_type(changes: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        ProviderOptions().with_json(changes)


def test_a_core_release_that_nobody_compared_with_has_no_rules() -> None:
    with pytest.raises(UnknownRelease, match=r"unknown Karpenter release '1\.14\.9'; known: 1\.4\.0, .*1\.15\.0$"):
        rules_of(replace(provider("1.14.0").core, version="1.14.9"))
