"""Agent pools from the Nodes of a dump alone: AKS's labels tell which pool a Node is of, and what it is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from harness.karpenter.labels import azure
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.labels import INSTANCE_TYPE, OS, REGION, ZONE
from harness.kube.api.objects import Object, labels_of, spec_of, status_of
from harness.kube.scheduling.taints import taint_text
from harness.migrate.agent_pools import AgentPool, ManagedCluster
from harness.reading.manifests import Manifest
from harness.wording import shortened

__all__ = ["cluster_of_nodes", "pool_of"]

_AKS = azure.AKS_DOMAIN + "/"
_OWN = ("kubernetes.io", "k8s.io", "azure.com", "microsoft.com")
"""Domains of labels that others than the pool's owner write."""
_BARE = frozenset({"agentpool", "storageprofile", "storagetier", "accelerator"})
_TRANSIENT = ("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/", "ToBeDeletedByClusterAutoscaler")
_DISRUPTED = "DeletionCandidateOfClusterAutoscaler"


def pool_of(node: Object) -> str:
    """Return the name of a Node's agent pool; empty where it is of none, or is one of Karpenter's."""
    labels = labels_of(node)
    if NODEPOOL in labels:
        return ""
    return labels.get(_AKS + "agentpool") or labels.get("agentpool") or ""


def cluster_of_nodes(manifests: Iterable[Manifest]) -> ManagedCluster:
    """Return the agent pools that the Nodes tell of; no count of theirs says how far they may scale."""
    groups: dict[str, list[Manifest]] = {}
    for manifest in manifests:
        if manifest.kind == "Node" and (name := pool_of(manifest.object)):
            groups.setdefault(name, []).append(manifest)
    pools = tuple(_pool(name, nodes) for name, nodes in groups.items())
    first = next((node.object for nodes in groups.values() for node in nodes), {})
    region = labels_of(first).get(REGION, "") if first else ""
    return ManagedCluster(pools, location=region)


def _pool(name: str, manifests: list[Manifest]) -> AgentPool:
    nodes = [manifest.object for manifest in manifests]
    labels = [labels_of(node) for node in nodes]
    shared = {
        key: value for key, value in labels[0].items() if all(node_labels.get(key) == value for node_labels in labels)
    }
    zones = sorted(
        {node_labels.get(ZONE, "").rpartition("-")[2] for node_labels in labels if "-" in node_labels.get(ZONE, "")}
    )
    size = Counter(node_labels.get(INSTANCE_TYPE, "") for node_labels in labels).most_common(1)[0][0]
    pods = {str((status_of(node).get("capacity") or {}).get("pods") or "") for node in nodes}
    properties: dict[str, Any] = {
        "vmSize": size,
        "count": len(nodes),
        "mode": shared.get(_AKS + "mode", "user").capitalize(),
        "osType": shared.get(OS, "linux").capitalize(),
        "osSKU": shared.get(_AKS + "os-sku-requested") or shared.get(_AKS + "os-sku"),
        "availabilityZones": zones,
        "nodeLabels": {key: value for key, value in shared.items() if _is_own(key)},
        "nodeTaints": _taints(nodes),
        "scaleSetPriority": shared.get(azure.AKS_SCALE_SET_PRIORITY, "").capitalize(),
        "enableFIPS": shared.get(_AKS + "fips_enabled") == "true" or None,
        "maxPods": int(next(iter(pods))) if len(pods) == 1 and next(iter(pods)).isdecimal() else None,
        "nodeImageVersion": shared.get(_AKS + "node-image-version"),
    }
    present = {key: value for key, value in properties.items() if value not in (None, "", [], {})}
    return AgentPool(shortened(name, 63), present, manifests[0].document.position(("metadata", "labels")), "Nodes")


def _is_own(key: str) -> bool:
    """Return whether the pool's owner may have set a label: no domain of Kubernetes, Azure or Karpenter, none of AKS's bare keys."""
    domain, slash, _ = key.rpartition("/")
    if not slash:
        return key not in _BARE
    return not any(domain == own or domain.endswith(f".{own}") for own in (*_OWN, "karpenter.sh"))


def _taints(nodes: list[Object]) -> list[str]:
    """The taints that all Nodes have, without those that come and go with a Node's state."""
    taints_of_nodes: list[set[str]] = []
    for node in nodes:
        taints: list[Mapping[str, Any]] = spec_of(node).get("taints") or []
        taints_of_nodes.append({taint_text(taint) for taint in taints if _lasts(str(taint.get("key")))})
    shared = set.intersection(*taints_of_nodes)
    return sorted(shared)


def _lasts(key: str) -> bool:
    return not key.startswith((*_TRANSIENT, _DISRUPTED))
