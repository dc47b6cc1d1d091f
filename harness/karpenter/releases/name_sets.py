"""Sets of labels, sizes and fields that the rows of the table of releases are made from."""

from collections.abc import Mapping

from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.core import CAPACITY_TYPE, ON_DEMAND, SPOT
from harness.karpenter.releases.flag_values import ProvisionMode, RepairPolicy
from harness.kube.api.labels import ARCH, INSTANCE_TYPE, OS, REGION, ZONE

BOOLEAN = frozenset({"true", "false"})
PRIORITIES = frozenset({keys.REGULAR, SPOT})
UBUNTU, AZURE_LINUX = "Ubuntu", "AzureLinux"
AKS_RESTRICTED = frozenset(
    {
        *(f"Standard_{name}" for name in ("A0", "A1", "A1_v2", "B1s", "B1ms", "F1", "F1s")),
        *(f"Basic_A{number}" for number in range(5)),
    }
)

# kaz pkg/apis/v1beta1/labels.go: what the provider adds to core's well-known values since 1.12.1.
KNOWN_VALUES: Mapping[str, frozenset[str]] = {
    CAPACITY_TYPE: frozenset({ON_DEMAND, SPOT}),
    keys.SKU_ACCELERATED_NETWORKING: BOOLEAN,
    keys.SKU_PREMIUM_STORAGE: BOOLEAN,
    keys.SKU_GPU_MANUFACTURER: frozenset({keys.NVIDIA, keys.AMD}),
    keys.PLACEMENT_SCOPE: frozenset({keys.ZONAL, keys.REGIONAL}),
    keys.AKS_MODE: frozenset({keys.SYSTEM, keys.USER}),
    keys.AKS_SCALE_SET_PRIORITY: PRIORITIES,
    keys.AKS_PRIORITY: PRIORITIES,
    keys.AKS_OS_SKU: frozenset({UBUNTU, AZURE_LINUX}),
    keys.AKS_FIPS: frozenset({"true"}),
}

SKU_KEYS = frozenset(
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
ALWAYS_COMPUTED = SKU_KEYS | {INSTANCE_TYPE, ARCH, OS, ZONE, REGION, CAPACITY_TYPE, keys.SKU_HYPERV}
ALWAYS_LAST = frozenset({keys.AKS_ROLE, keys.AKS_CLUSTER, keys.AKS_KUBELET_IDENTITY, keys.AKS_EBPF_DATAPLANE})
OVERLAY_KEYS = frozenset({keys.AKS_SUBNET, keys.AKS_VNET_GUID, keys.AKS_CNI_OVERLAY, keys.AKS_POD_NETWORK_TYPE})

RESTRICTED_NAMES_IN_1_13_0 = (
    "accelerator",
    "agentpool",
    "agentpool-family",
    "availability-zone",
    "network-policy",
    "storageprofile",
    "storagetier",
)
# 1.13.0 alone took these away from users at run time too (db3add74, undone by 0b3db739).
RESTRICTED_IN_1_13_0 = frozenset(
    {
        keys.SKU_HYPERV,
        *keys.LEGACY,
        *(f"{keys.AKS_DOMAIN}/{name}" for name in RESTRICTED_NAMES_IN_1_13_0),
    }
)

KUBELET_FIELDS = frozenset(
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

OLD_NODECLASS_FIELDS = frozenset({"VNETSubnetID", "OSDiskSizeGB", "ImageFamily", "Kubelet", "MaxPods"})
# Tags can be changed on a running machine, so they are no longer part of the hash.
FIELDS_OF_1_6_2 = OLD_NODECLASS_FIELDS | {"FIPSMode"}
NODECLASS_FIELDS = FIELDS_OF_1_6_2 | {"Security"}
FIELDS_OF_1_10 = frozenset({"LocalDNS", "ArtifactStreaming", "LinuxOSConfig", "Kubelet.FailSwapOn"})

OLD_FAMILIES: Mapping[str, str] = {"Ubuntu2204": UBUNTU, AZURE_LINUX: AZURE_LINUX}
FAMILIES: Mapping[str, str] = {
    UBUNTU: UBUNTU,
    "Ubuntu2204": UBUNTU,
    "Ubuntu2404": UBUNTU,
    AZURE_LINUX: AZURE_LINUX,
}


NOT_READY = tuple(RepairPolicy("Ready", status, 600.0) for status in ("False", "Unknown"))
UNHEALTHY = RepairPolicy("kubernetes.azure.com/NodeHealthy", "False", 0.0)
PREEMPTED = RepairPolicy("PreemptionScheduled", "True", 0.0)

SCRIPTLESS_AND_CLIENT = (ProvisionMode.AKS_SCRIPTLESS, ProvisionMode.BOOTSTRAPPING_CLIENT)
