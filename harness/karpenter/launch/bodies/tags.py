"""Tags of the resources that the provider makes, and the hash by which it notices that they changed.

Sources: kaz ``pkg/providers/launchtemplate/tags.go``, ``pkg/controllers/nodeclaim/inplaceupdate/utils.go``.
"""

import json
from collections.abc import Mapping
from typing import Any

from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.releases import InPlaceTags, ProviderOptions, ProviderRelease

__all__ = [
    "BILLING_TAG",
    "CLUSTER_TAG",
    "MACHINE_CREATED_TAG",
    "MACHINE_NODECLAIM_TAG",
    "NODEPOOL_TAG",
    "hashed_tags",
    "in_place_update_hash",
    "machine_tags",
    "resource_tags",
]

CLUSTER_TAG = "karpenter.azure.com_cluster"
BILLING_TAG = "compute.aks.billing"
NODEPOOL_TAG = "karpenter.sh_nodepool"
MACHINE_CREATED_TAG = "karpenter.azure.com_aksmachine_creationtimestamp"
MACHINE_NODECLAIM_TAG = "karpenter.azure.com_aksmachine_nodeclaim"

_OFFSET, _PRIME, _MASK = 0x811C9DC5, 0x01000193, 0xFFFFFFFF


def resource_tags(
    nodeclaim: Mapping[str, Any], nodeclass: Mapping[str, Any], options: ProviderOptions, release: ProviderRelease
) -> dict[str, str]:
    """Tags of a VM, its disk, network interface and extensions; ``/`` in a key becomes ``_``, the provider's own win."""
    own = {CLUSTER_TAG: options.cluster_name}
    if release.billing_tag:
        own[BILLING_TAG] = "linux"
    pool = ((nodeclaim.get("metadata") or {}).get("labels") or {}).get(NODEPOOL)
    if pool is not None:
        own[NODEPOOL_TAG] = pool
    own_tags = (nodeclass.get("spec") or {}).get("tags") or {}
    everywhere = options.additional_tags if release.additional_tags else {}
    return {**_mapped(everywhere), **_mapped(own_tags), **own}


def machine_tags(
    nodeclaim: Mapping[str, Any],
    nodeclass: Mapping[str, Any],
    options: ProviderOptions,
    release: ProviderRelease,
    *,
    created_at: str,
) -> dict[str, str]:
    """Tags of an AKS machine: the same, the NodeClaim's name and, in some releases, the time (RFC 3339)."""
    own = {MACHINE_NODECLAIM_TAG: nodeclaim["metadata"]["name"]}
    if release.machine_creation_tag:
        own[MACHINE_CREATED_TAG] = created_at
    return {**resource_tags(nodeclaim, nodeclass, options, release), **own}


def hashed_tags(
    tags: Mapping[str, str], nodeclass: Mapping[str, Any], options: ProviderOptions, release: ProviderRelease
) -> Mapping[str, str]:
    """The part of a machine's tags that its in-place hash covers."""
    if release.in_place_hash_tags is InPlaceTags.ALL:
        return {key: value for key, value in tags.items() if key not in (MACHINE_NODECLAIM_TAG, MACHINE_CREATED_TAG)}
    if release.in_place_hash_tags is InPlaceTags.ASKED:
        return {**options.additional_tags, **((nodeclass.get("spec") or {}).get("tags") or {})}
    return {}


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
