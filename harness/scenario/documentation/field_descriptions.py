"""A line on each field of Karpenter's kinds that people write, for editors to show. Fields whose names are enough have none."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["description_of"]

_REQUIREMENTS: Mapping[str, str] = {
    "": "Which machines may be made: all requirements hold together, with the labels of the template.",
    "[].key": "A label of the size, of the zone or of the machine, or one of your own.",
    "[].operator": "In, NotIn, Exists, DoesNotExist; Gt, Lt (and Gte, Lte in newer releases) for labels that are numbers.",
    "[].values": "One number for the operators that compare, none for Exists and DoesNotExist. Write numbers in quotes.",
    "[].minValues": "How many different values of this key the launch must be able to choose from.",
}
_TEMPLATE: Mapping[str, str] = {
    "nodeClassRef": "The AKSNodeClass that the machines are made by.",
    "expireAfter": "Age at which a node is replaced, or Never.",
    "terminationGracePeriod": "How long a drain waits before pods are deleted whatever protects them; without it for ever.",
    "taints": "Taints of the nodes: only pods that tolerate them get a node of this pool.",
    "startupTaints": "Taints that somebody removes when a node is ready, such as a CNI. Pods need not tolerate them.",
    **{f"requirements{place}": text for place, text in _REQUIREMENTS.items()},
}
_TAINT: Mapping[str, str] = {"effect": "NoSchedule, PreferNoSchedule or NoExecute."}

_NODE_POOL: Mapping[str, str] = {
    "spec.replicas": "So many nodes at any time: a static NodePool (feature gate StaticCapacity).",
    "spec.weight": "Pools with a larger weight are tried first, 1 to 100.",
    "spec.limits": "No node is made beyond these sums of the pool: cpu, memory, nodes, or any other resource.",
    "spec.disruption.consolidationPolicy": "Whether only empty nodes are removed, or also those whose pods fit or cost less elsewhere.",
    "spec.disruption.consolidateAfter": "How long no pod must have come or gone before a node is looked at, or Never.",
    "spec.disruption.budgets": "How many nodes may go at a time. The smallest budget that is open counts.",
    "spec.disruption.budgets[].nodes": 'A number or a share of the pool\'s nodes, in quotes: "3", 10%.',
    "spec.disruption.budgets[].reasons": "For which reasons the budget counts; without them for all.",
    "spec.disruption.budgets[].schedule": "When the budget begins, in UTC: a cron expression (mon-fri, jan) or @daily and the like.",
    "spec.disruption.budgets[].duration": "How long it counts from there: hours and minutes.",
    "spec.template.metadata.labels": "Labels of the nodes. The domains of Karpenter and AKS are closed but for some.",
    "spec.template.metadata.annotations": "Annotations of the nodes.",
    **{f"spec.template.spec.{place}": text for place, text in _TEMPLATE.items()},
    **{
        f"spec.template.spec.{taints}[].{place}": text
        for taints in ("taints", "startupTaints")
        for place, text in _TAINT.items()
    },
}
_NODE_CLAIM: Mapping[str, str] = {f"spec.{place}": text for place, text in _TEMPLATE.items()}
_NODE_CLASS: Mapping[str, str] = {
    "spec.imageFamily": "The operating system of the node image. Which image it is depends on the Kubernetes version.",
    "spec.fipsMode": "FIPS for images with validated cryptography.",
    "spec.osDiskSizeGB": "Size of the OS disk. A size whose local disk is as large gets an ephemeral one.",
    "spec.maxPods": "Pods for each node. The default depends on the network plugin.",
    "spec.tags": "Tags of the machines, their disks and network interfaces.",
    "spec.vnetSubnetID": "The subnet of the nodes, as a resource id; without it the cluster's.",
    "spec.kubelet": "Settings of the kubelet.",
    "spec.security.encryptionAtHost": "Encrypts caches and temporary disks. Only sizes that can do that are taken.",
    "spec.localDNS.mode": "A DNS cache on each node.",
    "spec.artifactStreaming.enabled": "Starts containers while their images are still being read.",
    "spec.gpu.mode": "Whether the driver of the GPU is installed.",
}
_DESCRIPTIONS: Mapping[str, Mapping[str, str]] = {
    "NodePool": _NODE_POOL,
    "NodeClaim": _NODE_CLAIM,
    "AKSNodeClass": _NODE_CLASS,
    "NodeOverlay": {
        "spec.price": "The price of the sizes that are chosen, USD per hour, in place of the cloud's.",
        "spec.priceAdjustment": "A change of the price: +0.1, -10%.",
        "spec.capacity": "Resources that the sizes have beside those that Karpenter knows.",
        "spec.weight": "The overlay with the larger weight wins.",
        **{f"spec.requirements{place}": text for place, text in _REQUIREMENTS.items()},
    },
}


def description_of(kind: str, path: str) -> str:
    """Return the description of a field for editors, by its path in the CRD; empty for a field without one."""
    return _DESCRIPTIONS.get(kind, {}).get(path, "")
