"""Objects to test with: NodePools, AKSNodeClasses, NodeClaims, Nodes, pods and their controllers as plain mappings, each valid as it is.

```
from harness import World
from harness.testing import deployment, nodeclass, nodepool, requirement

world = World()
world.apply(nodeclass(), nodepool(requirement("kubernetes.io/arch", "arm64")), deployment("web", replicas=3))
world.settle()
```

Keywords lie over the defaults, under the API's names (`taints=[...]`, `nodeSelector={...}`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.api.labels import HOSTNAME

__all__ = ["daemonset", "deployment", "node", "nodeclaim", "nodeclass", "nodepool", "pod", "requirement"]

Object = dict[str, Any]

_OF_TEMPLATE = frozenset({"nodeClassRef", "taints", "startupTaints", "expireAfter", "terminationGracePeriod"})
"""Fields of a NodePool's `spec.template.spec`; the others are `spec`'s own (NodePool v1)."""


def nodeclass(name: str = "default", **spec: Any) -> Object:
    """An AKSNodeClass; keywords are fields of its `spec`."""
    return {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": name},
        "spec": spec,
    }


def requirement(key: str, *values: str, operator: str = "In") -> Object:
    """One requirement of a NodePool, or expression of a node affinity: `In` unless another operator is given."""
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {})}


def nodepool(
    *requirements: Mapping[str, Any],
    name: str = "default",
    nodeclass: str = "default",
    labels: Mapping[str, str] | None = None,
    **fields: Any,
) -> Object:
    """A NodePool of an AKSNodeClass; `labels` are those of its Nodes.

    Keywords are fields of `spec` (`limits`, `weight`, `disruption`, `replicas`) or of `spec.template.spec` (`taints`,
    `startupTaints`, `expireAfter`, `terminationGracePeriod`).
    """
    template = {key: value for key, value in fields.items() if key in _OF_TEMPLATE}
    own = {key: value for key, value in fields.items() if key not in _OF_TEMPLATE}
    spec = {
        "nodeClassRef": _reference(nodeclass),
        "requirements": [dict(requirement) for requirement in requirements],
        **template,
    }
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "metadata": {"name": name},
        "spec": {"template": {"metadata": {"labels": dict(labels or {})}, "spec": spec}, **own},
    }


def nodeclaim(*requirements: Mapping[str, Any], name: str = "default-abcde", nodeclass: str = "default") -> Object:
    """A NodeClaim that somebody makes by hand, of no NodePool."""
    spec = {"nodeClassRef": _reference(nodeclass), "requirements": [dict(requirement) for requirement in requirements]}
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "metadata": {"name": name}, "spec": spec}


def node(
    name: str = "node",
    cpu: str = "4",
    memory: str = "16Gi",
    *,
    pods: str = "110",
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A Node that is Ready, with this capacity for pods, and with its name as `kubernetes.io/hostname`.

    It is somebody else's: no NodeClaim and no virtual machine belong to it. Other keywords are fields of its `spec` (`taints`).
    """
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **(labels or {})}},
        "spec": spec,
        "status": {
            "allocatable": {"cpu": cpu, "memory": memory, "pods": pods},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def pod(
    name: str = "web",
    cpu: str = "1",
    memory: str = "1Gi",
    *,
    namespace: str = "default",
    labels: Mapping[str, str] | None = None,
    **spec: Any,
) -> Object:
    """A pod of one container with these requests, an empty one left out; other keywords are fields of its `spec`."""
    metadata = {"name": name, "namespace": namespace, "labels": dict(labels or {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": _pod_spec(cpu, memory, spec)}


def deployment(
    name: str = "web",
    replicas: int = 1,
    cpu: str = "1",
    memory: str = "1Gi",
    *,
    namespace: str = "default",
    **spec: Any,
) -> Object:
    """A Deployment whose pods have the label `app: name`; other keywords are fields of its pods' `spec`."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"replicas": replicas, **_template(name, cpu, memory, spec)},
    }


def daemonset(
    name: str = "agent", cpu: str = "100m", memory: str = "100Mi", *, namespace: str = "default", **spec: Any
) -> Object:
    """A DaemonSet whose pods have the label `app: name`; other keywords are fields of its pods' `spec`."""
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": namespace},
        "spec": _template(name, cpu, memory, spec),
    }


def _reference(nodeclass: str) -> Object:
    return {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": nodeclass}


def _template(name: str, cpu: str, memory: str, spec: Mapping[str, Any]) -> Object:
    labels = {"app": name}
    return {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": _pod_spec(cpu, memory, spec)},
    }


def _pod_spec(cpu: str, memory: str, spec: Mapping[str, Any]) -> Object:
    requests = {name: amount for name, amount in (("cpu", cpu), ("memory", memory)) if amount}
    container = {"name": "c", "image": "i", "resources": {"requests": requests}}
    return {"containers": [container], **spec}
