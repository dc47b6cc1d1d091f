"""Label keys, annotations and values that the Azure provider defines (kaz ``pkg/apis/v1beta1/labels.go``, ``pkg/providers/labels``)."""

from harness.karpenter.labels.core import ON_DEMAND, SPOT
from harness.kube.api.labels import BETA_ZONE, ZONE

GROUP = "karpenter.azure.com"
AKS_DOMAIN = "kubernetes.azure.com"

SKU_NAME = f"{GROUP}/sku-name"
SKU_FAMILY = f"{GROUP}/sku-family"
SKU_SERIES = f"{GROUP}/sku-series"
SKU_VERSION = f"{GROUP}/sku-version"
SKU_CPU = f"{GROUP}/sku-cpu"
SKU_MEMORY = f"{GROUP}/sku-memory"
SKU_GPU_NAME = f"{GROUP}/sku-gpu-name"
SKU_GPU_MANUFACTURER = f"{GROUP}/sku-gpu-manufacturer"
SKU_GPU_COUNT = f"{GROUP}/sku-gpu-count"
SKU_ACCELERATED_NETWORKING = f"{GROUP}/sku-networking-accelerated"
SKU_PREMIUM_STORAGE = f"{GROUP}/sku-storage-premium-capable"
SKU_EPHEMERAL_OS_SIZE = f"{GROUP}/sku-storage-ephemeralos-maxsize"
SKU_ULTRA_SSD = f"{GROUP}/sku-storage-ultra-ssd"
SKU_HYPERV = f"{GROUP}/sku-hyperv-generation"
PLACEMENT_SCOPE = f"{GROUP}/placement-scope"

AKS_CPU = f"{AKS_DOMAIN}/sku-cpu"
AKS_MEMORY = f"{AKS_DOMAIN}/sku-memory"
AKS_CLUSTER = f"{AKS_DOMAIN}/cluster"
AKS_MODE = f"{AKS_DOMAIN}/mode"
AKS_SCALE_SET_PRIORITY = f"{AKS_DOMAIN}/scalesetpriority"
AKS_PRIORITY = f"{AKS_DOMAIN}/priority"
AKS_OS_SKU = f"{AKS_DOMAIN}/os-sku"
AKS_FIPS = f"{AKS_DOMAIN}/fips_enabled"

AKS_ROLE = f"{AKS_DOMAIN}/role"
AKS_KUBELET_IDENTITY = f"{AKS_DOMAIN}/kubelet-identity-client-id"
AKS_OS_SKU_REQUESTED = f"{AKS_DOMAIN}/os-sku-requested"
AKS_OS_SKU_EFFECTIVE = f"{AKS_DOMAIN}/os-sku-effective"
AKS_SUBNET = f"{AKS_DOMAIN}/network-subnet"
AKS_VNET_GUID = f"{AKS_DOMAIN}/nodenetwork-vnetguid"
AKS_CNI_OVERLAY = f"{AKS_DOMAIN}/azure-cni-overlay"
AKS_POD_NETWORK_TYPE = f"{AKS_DOMAIN}/podnetwork-type"
AKS_STATELESS_CNI = f"{AKS_DOMAIN}/network-stateless-cni"
AKS_EBPF_DATAPLANE = f"{AKS_DOMAIN}/ebpf-dataplane"
AKS_LOCAL_DNS_STATE = f"{AKS_DOMAIN}/localdns-state"
AKS_ARTIFACT_STREAMING = f"{AKS_DOMAIN}/artifactstreaming-enabled"

LEGACY = ("agentpool", "storageprofile", "storagetier", "accelerator")

NODE_CLASS_HASH = f"{GROUP}/aksnodeclass-hash"
NODE_CLASS_HASH_VERSION = f"{GROUP}/aksnodeclass-hash-version"
AKS_MACHINE_ID = f"{GROUP}/aks-machine-resource-id"

CSI_ZONE = "topology.disk.csi.azure.com/zone"
ZONE_KEYS = frozenset({ZONE, BETA_ZONE, CSI_ZONE})
"""Keys that all name a Node's zone."""
REGIONAL_ZONE = "0"

NVIDIA, AMD = "nvidia", "amd"
ZONAL, REGIONAL = "zonal", "regional"
REGULAR = "regular"
SYSTEM, USER = "system", "user"


def is_aks_label(key: str) -> bool:
    """Return whether AKS itself writes ``key``: the ``kubernetes.azure.com`` domain and the four legacy bare labels."""
    return key.startswith(AKS_DOMAIN + "/") or key in LEGACY


def capacity_type_of(priority: str | None) -> str:
    """Return Karpenter's capacity type of a machine's priority in ARM: ``Spot``, or ``Regular`` and none."""
    return SPOT if priority == "Spot" else ON_DEMAND


def priority_of(capacity_type: str) -> str:
    """Return ARM's priority of a capacity type."""
    return "Spot" if capacity_type == SPOT else "Regular"
