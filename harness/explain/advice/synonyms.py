"""Other names of the labels and their values: Karpenter of old, its sister for AWS, AKS's own pools, and processors' makers."""

from __future__ import annotations

from collections.abc import Mapping

from harness.karpenter.labels.azure import (
    SKU_CPU,
    SKU_FAMILY,
    SKU_GPU_COUNT,
    SKU_GPU_MANUFACTURER,
    SKU_GPU_NAME,
    SKU_MEMORY,
)
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL
from harness.kube.api.labels import ARCH

__all__ = ["KEYS_ALSO_CALLED", "OF_VIRTUAL_NODES", "VALUES_ALSO_CALLED"]

VALUES_ALSO_CALLED: Mapping[str, Mapping[str, str]] = {
    ARCH: {
        **dict.fromkeys(("x86_64", "x86-64", "x86", "x64", "intel"), "amd64"),
        **dict.fromkeys(("aarch64", "arm"), "arm64"),
    },
    CAPACITY_TYPE: {**dict.fromkeys(("regular", "ondemand", "on_demand", "false"), "on-demand"), "true": "spot"},
}
"""Names that others have for what Kubernetes and Karpenter call so, in small letters."""
KEYS_ALSO_CALLED: Mapping[str, str] = {
    "karpenter.sh/provisioner-name": NODEPOOL,
    "karpenter.k8s.aws/instance-category": SKU_FAMILY,
    "karpenter.k8s.aws/instance-family": SKU_FAMILY,
    "karpenter.k8s.aws/instance-cpu": SKU_CPU,
    "karpenter.k8s.aws/instance-gpu-count": SKU_GPU_COUNT,
    "karpenter.k8s.aws/instance-gpu-manufacturer": SKU_GPU_MANUFACTURER,
    "karpenter.k8s.aws/instance-gpu-name": SKU_GPU_NAME,
    "karpenter.k8s.aws/instance-memory": SKU_MEMORY,
    "eks.amazonaws.com/capacityType": CAPACITY_TYPE,
    "eks.amazonaws.com/nodegroup": NODEPOOL,
    "cloud.google.com/gke-accelerator": SKU_GPU_NAME,
    "cloud.google.com/gke-nodepool": NODEPOOL,
    "cloud.google.com/gke-spot": CAPACITY_TYPE,
    "nvidia.com/gpu.product": SKU_GPU_NAME,
    "agentpool": NODEPOOL,
    "kubernetes.azure.com/agentpool": NODEPOOL,
    "accelerator": SKU_GPU_MANUFACTURER,
}
"""Keys of Karpenter of old, of its sisters for AWS and GCP, of AKS's own pools and of NVIDIA's operator, and what means the same here."""
OF_VIRTUAL_NODES: Mapping[str, str] = {"type": "virtual-kubelet", "kubernetes.io/role": "agent"}
"""Labels of AKS's virtual nodes (learn.microsoft.com/azure/aks/virtual-nodes-cli), which Karpenter does not make."""
