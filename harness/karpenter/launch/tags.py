"""Tags of the resources that the provider makes, and the hash by which it notices that they changed.

Sources: kaz ``pkg/providers/launchtemplate/tags.go``, ``pkg/controllers/nodeclaim/inplaceupdate/utils.go``.
"""

import json
from collections.abc import Mapping
from typing import Any

from harness.karpenter.releases import ProviderOptions
from harness.karpenter.vocabulary import NODEPOOL

__all__ = [
    "BILLING_TAG",
    "CLUSTER_TAG",
    "MACHINE_NODECLAIM_TAG",
    "NODEPOOL_TAG",
    "in_place_update_hash",
    "machine_tags",
    "resource_tags",
]

CLUSTER_TAG = "karpenter.azure.com_cluster"
BILLING_TAG = "compute.aks.billing"
NODEPOOL_TAG = "karpenter.sh_nodepool"
MACHINE_NODECLAIM_TAG = "karpenter.azure.com_aksmachine_nodeclaim"

_OFFSET, _PRIME, _MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF


def resource_tags(
    nodeclaim: Mapping[str, Any], nodeclass: Mapping[str, Any], options: ProviderOptions
) -> dict[str, str]:
    """Tags of a VM, its disk, network interface and extensions; ``/`` in a key becomes ``_``, the provider's own win."""
    own = {CLUSTER_TAG: options.cluster_name, BILLING_TAG: "linux"}
    pool = ((nodeclaim.get("metadata") or {}).get("labels") or {}).get(NODEPOOL)
    if pool is not None:
        own[NODEPOOL_TAG] = pool
    asked = (nodeclass.get("spec") or {}).get("tags") or {}
    return {**_mapped(options.additional_tags), **_mapped(asked), **own}


def machine_tags(
    nodeclaim: Mapping[str, Any], nodeclass: Mapping[str, Any], options: ProviderOptions
) -> dict[str, str]:
    """Tags of an AKS machine: the same, and the NodeClaim's name."""
    return {**resource_tags(nodeclaim, nodeclass, options), MACHINE_NODECLAIM_TAG: nodeclaim["metadata"]["name"]}


def in_place_update_hash(tags: Mapping[str, str], identities: tuple[str, ...] | None) -> str:
    """The decimal hash of what can be updated on a running machine; AKS machines (None) have no identities of their own."""
    content: dict[str, Any] = {}
    if identities:
        content["identities"] = {name: {} for name in sorted(identities)}
    if tags:
        content["tags"] = dict(sorted(tags.items()))
    return str(_fnv1a(_go_json(content)))


def _mapped(tags: Mapping[str, str]) -> dict[str, str]:
    return {key.replace("/", "_"): value for key, value in tags.items()}


def _go_json(content: Mapping[str, Any]) -> bytes:
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    for char in "<>&\u2028\u2029":
        text = text.replace(char, f"\\u{ord(char):04x}")
    return text.encode()


def _fnv1a(data: bytes) -> int:
    value = _OFFSET
    for byte in data:
        value = (value ^ byte) * _PRIME & _MASK
    return value
