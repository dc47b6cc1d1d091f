"""The labels of a new Node, layer by layer, and which of them the body of an AKS machine leaves out.

kaz ``pkg/providers/launchtemplate/launchtemplate.go``, ``pkg/providers/instance/aksmachineinstancehelpers.go``.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.karpenter.labels import azure as keys
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.launch.choice import Choice
from harness.karpenter.launch.inputs import Launch
from harness.karpenter.launch.labels.base import can_kubelet_set, is_kubelet_managed
from harness.karpenter.launch.labels.layers import Labels, Source, single_values
from harness.karpenter.releases import ClaimRequirementLabels, ProviderRelease
from harness.karpenter.requirements import Requirements
from harness.kube.api.labels import (
    ARCH,
    BETA_ARCH,
    BETA_INSTANCE_TYPE,
    BETA_OS,
    BETA_REGION,
    BETA_ZONE,
    INSTANCE_TYPE,
    OS,
    REGION,
    WINDOWS_BUILD,
    ZONE,
)

__all__ = ["machine_leaves_out", "node_labels"]

_MACHINE_LEFT_OUT = frozenset(
    {
        BETA_INSTANCE_TYPE,
        BETA_REGION,
        BETA_OS,
        BETA_ARCH,
        BETA_ZONE,
        ZONE,
        REGION,
        INSTANCE_TYPE,
        ARCH,
        OS,
        WINDOWS_BUILD,
    }
)


def node_labels(launch: Launch, wanted: Requirements, choice: Choice, base: Mapping[str, str]) -> Labels:
    """The labels for the kubelet. `wanted` are the NodeClaim's requirements, `base` the labels that the provider gives every node."""
    release = launch.release
    metadata = launch.nodeclaim.get("metadata") or {}
    offered = {CAPACITY_TYPE: choice.capacity_type}
    if keys.PLACEMENT_SCOPE in release.offering_keys:
        offered[keys.PLACEMENT_SCOPE] = choice.placement_scope
    if keys.SKU_ULTRA_SSD in release.offering_keys:
        offered[keys.SKU_ULTRA_SSD] = "true" if choice.ultra_ssd else "false"
    layers = [
        (Source.NODECLAIM_LABEL, metadata.get("labels") or {}),
        (Source.CLAIM_REQUIREMENT, _requirement_labels(wanted, release)),
        (Source.INSTANCE_TYPE, single_values(choice.instance_type.requirements)),
        (Source.OFFERING, offered),
    ]
    last = {key: value for key, value in base.items() if key in release.winning_base_keys}
    first = {key: value for key, value in base.items() if key not in last}
    labels = Labels.stack((Source.BASE, first), *layers, (Source.BASE, last))
    if launch.machines or not release.kubelet_filter:
        return labels
    return labels.withhold(lambda key: not can_kubelet_set(key))


def _requirement_labels(wanted: Requirements, release: ProviderRelease) -> dict[str, str]:
    if release.claim_requirement_labels is ClaimRequirementLabels.NONE:
        return {}
    values = single_values(wanted)
    if release.claim_requirement_labels is ClaimRequirementLabels.ALL:
        return values
    return {key: value for key, value in values.items() if can_kubelet_set(key)}


def machine_leaves_out(key: str, release: ProviderRelease) -> bool:
    """Return whether AKS or the kubelet writes the label by itself, so that the machine's body does not name it."""
    if release.machine_drops_legacy_labels:
        return keys.is_aks_label(key) or is_kubelet_managed(key) or not can_kubelet_set(key)
    return key in _MACHINE_LEFT_OUT or key.startswith(keys.AKS_DOMAIN + "/")
