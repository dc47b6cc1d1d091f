"""The provider's filters of sizes in plain words (kaz ``pkg/providers/instancetype/instancetypes.go``)."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["FILTER_WORDS", "filter_text"]

FILTER_WORDS: Mapping[str, str] = {
    "not-a-virtual-machine": "no virtual machine",
    "restricted-size": "sizes that AKS does not allow",
    "unknown-size": "sizes that this release of the provider does not know",
    "unparsable-size": "names of sizes that the provider cannot read",
    "location-restriction": "not sold to this subscription here",
    "too-few-vcpus": "fewer than 2 vCPUs",
    "too-little-memory": "less than 3.5 GiB of memory",
    "unsupported-gpu": "GPUs that this release does not list",
    "constrained-cpus": "sizes with constrained vCPUs",
    "confidential": "confidential sizes",
    "no-image-for-disk-controller": "no image for the size's disk controller",
    "no-architecture": "an architecture without images",
    "gpu-image-family": "GPUs, which the AKSNodeClass's image family does not support",
    "encryption-at-host": "no encryption at host, which the AKSNodeClass asks for",
    "local-dns": "too small for the local DNS that the AKSNodeClass asks for",
    "gpu-driver-mode": "GPUs of another maker than NVIDIA, whose driver AKS does not install",
    "artifact-streaming": "Arm64, which has no artifact streaming",
    "trusted-launch": "no trusted launch, which the AKSNodeClass asks for",
}
"""Each filter by its name, as what it takes away."""


def filter_text(name: str) -> str:
    """Return a filter's effect, with its name; only the name of a filter without words."""
    words = FILTER_WORDS.get(name)
    return f"the filter {name} ({words})" if words else f"the filter {name}"
