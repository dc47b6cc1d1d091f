"""The origin of a label's value, in plain words: the sources inside the senders, and the user's NodePool where it is the origin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["SOURCES", "in_nodepool"]

SOURCES: Mapping[str, tuple[str, str]] = {
    "base": (
        "the provider's base labels",
        "what Karpenter's Azure provider puts on every Node: from the AKSNodeClass, the controller's options, the cluster",
    ),
    "nodeclaim-label": (
        "the NodeClaim's labels",
        "those of the NodePool's template, and Karpenter's own (NodePool, AKSNodeClass)",
    ),
    "claim-requirement": (
        "the NodeClaim's requirements",
        "one that leaves a single value: from the NodePool's template, its labels too, or from the pods that it is for",
    ),
    "instance-type": ("what Karpenter knows of the VM size", "cpu, memory, family, architecture; it reads Azure's list of sizes"),
    "offering": ("the offering that is launched", "zone, capacity type and placement, as Karpenter chose them"),
    "vm": ("the machine itself", "size, zone, priority and tags of the VM, as Azure made it"),
    "kubelet-default": ("its own defaults", "kubelet finds out the host name, architecture and operating system"),
    "aks-rp": ("AKS", "what AKS adds to a machine that it creates"),
    "disk-driver": ("the Azure disk driver", "the zone, of which it tells the kubelet"),
    "registration": ("its registration of the Node", "Karpenter has found the Node and taken it over"),
    "initialization": ("its initialization of the Node", "the Node is ready, with all that it was to have"),
}  # fmt: skip
"""By `from` of a write: a short name, and who that is, from which object."""

_OF_A_CLAIM = ("nodeclaim-label", "claim-requirement")


def in_nodepool(nodepool: Mapping[str, Any], key: str, value: str | None, source: str) -> str:
    """Return the part of a NodePool's manifest that a value of this source comes from; nothing where it is not the
    NodePool.

    A template's label is a label and a requirement of the NodeClaim: whoever sends it, and as what, it comes from the template.
    """
    if source not in _OF_A_CLAIM:
        return ""
    template = nodepool.get("spec", {}).get("template", {})
    labels = (template.get("metadata") or {}).get("labels") or {}
    if key in labels and str(labels[key]) == value:
        return "a label of the template"
    for requirement in template.get("spec", {}).get("requirements") or ():
        if (
            requirement.get("key") == key
            and requirement.get("operator") == "In"
            and [str(item) for item in requirement["values"]] == [value]
        ):
            return "a requirement of the template"
    return ""
