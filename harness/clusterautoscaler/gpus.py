"""The GPUs of nodes: the resource that counts them, and the labels by which AKS marks their nodes.

Sources: autoscaler utils/gpu/gpu.go, cloudprovider/azure/azure_cloud_provider.go (GPULabel).
"""

from __future__ import annotations

__all__ = ["GPU", "GPU_LABELS"]

GPU = "nvidia.com/gpu"
GPU_LABELS = ("kubernetes.azure.com/accelerator", "accelerator")
