"""A small cloud and short ways to write pods, NodePools and nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.karpenter.cloudprovider import InstanceType, Offering, Overhead
from harness.karpenter.lifecycle.conditions import NODEPOOL
from harness.karpenter.releases import provider
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingOptions, SchedulingResults, pod_key, solve
from harness.karpenter.scheduling.reasons.ledger import Ledger
from harness.kube.api.resources import parse_list

RELEASE = provider("1.14.0")
VOCABULARY = RELEASE.vocabulary
ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
CAPACITY = "karpenter.sh/capacity-type"
TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
ZONES = ("z1", "z2", "z3")


def size(
    name: str,
    cpu: int,
    memory: str = "",
    *,
    price: float = 0.0,
    zones: Sequence[str] = ZONES,
    capacity_types: Sequence[str] = ("on-demand", "spot"),
    unavailable: Sequence[tuple[str, str]] = (),
    extra: Mapping[str, str] | None = None,
    **resources: str,
) -> InstanceType:
    """A size; spot costs half. ``unavailable`` are (zone, capacity type)."""
    requirements = [
        {"key": TYPE, "operator": "In", "values": [name]},
        {"key": ARCH, "operator": "In", "values": ["amd64"]},
        {"key": ZONE, "operator": "In", "values": list(zones)},
        {"key": CAPACITY, "operator": "In", "values": list(capacity_types)},
        *({"key": key, "operator": "In", "values": [value]} for key, value in (extra or {}).items()),
    ]
    offerings = [
        Offering(
            Requirements.from_labels({ZONE: zone, CAPACITY: kind}, vocabulary=VOCABULARY),
            (price or cpu / 10) * (0.5 if kind == "spot" else 1),
            (zone, kind) not in unavailable,
        )
        for zone in zones
        for kind in capacity_types
    ]
    capacity = {"cpu": str(cpu), "memory": memory or f"{4 * cpu}Gi", "pods": "30", **resources}
    return InstanceType(
        name,
        Requirements.from_node_selector(requirements, vocabulary=VOCABULARY),
        parse_list(capacity),
        Overhead(kube_reserved=parse_list({"cpu": "100m"})),
        tuple(offerings),
    )


SIZES = (size("large", 8), size("medium", 4), size("small", 2))


def nodepool(name: str = "default", *, ready: bool = True, **fields: Any) -> dict[str, Any]:
    """``requirements``, ``taints``, ``labels`` go to the template, ``weight``, ``limits`` and the like to the spec."""
    template = {part: fields.pop(part) for part in ("requirements", "taints", "startupTaints") if part in fields}
    template["nodeClassRef"] = fields.pop(
        "nodeClassRef", {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    )
    metadata = {"labels": fields.pop("labels", {}), "annotations": fields.pop("annotations", {})}
    return {
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "spec": {"template": {"metadata": metadata, "spec": template}, **fields},
        "status": {"conditions": [{"type": kind, "status": str(ready)} for kind in (*NODEPOOL, "Ready")]},
    }


def need(key: str, operator: str, *values: str, **more: Any) -> dict[str, Any]:
    return {"key": key, "operator": operator, **({"values": list(values)} if values else {}), **more}


def pod(name: str, cpu: str = "100m", *, on: str = "", **fields: Any) -> dict[str, Any]:
    """``labels``, ``owner`` and ``requests`` are the metadata's and the container's; the rest is the spec's."""
    metadata: dict[str, Any] = {"name": name, "namespace": "default", "uid": name, "labels": fields.pop("labels", {})}
    if "owner" in fields:
        metadata["ownerReferences"] = [{"controller": True, **fields.pop("owner")}]
    container: dict[str, Any] = {"name": "c", "resources": {"requests": {"cpu": cpu, **fields.pop("requests", {})}}}
    if "ports" in fields:
        container["ports"] = fields.pop("ports")
    status: dict[str, Any] = {"phase": "Running"}
    if not on:
        unschedulable = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        status = {"phase": "Pending", "conditions": [unschedulable]}
    spec = {"containers": [container], **({"nodeName": on} if on else {}), **fields}
    return {"metadata": metadata, "spec": spec, "status": status}


def daemonset(name: str, cpu: str, **spec: Any) -> dict[str, Any]:
    made = pod(name, cpu, **spec)
    return {
        "metadata": {"name": name, "namespace": "kube-system", "uid": name},
        "spec": {"template": {"metadata": {}, "spec": made["spec"]}},
    }


def spread(key: str, app: str, *, when: str = "DoNotSchedule", skew: int = 1, **more: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": app}}
    return {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": when, "labelSelector": selector, **more}


def affinity(kind: str, key: str, app: str, *, preferred: bool = False) -> dict[str, Any]:
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}}
    if preferred:
        entry = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}
    else:
        entry = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}  # type: ignore[dict-item]
    return {"affinity": {kind: entry}}


def node(name: str, cpu: str = "4", *, pool: str = "default", zone: str = "z1", **fields: Any) -> list[dict[str, Any]]:
    """An initialized Node and its NodeClaim."""
    own = {"karpenter.sh/nodepool": pool, ZONE: zone, TYPE: "medium", CAPACITY: "on-demand", ARCH: "amd64", HOST: name}
    state = {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    room = {"cpu": cpu, "memory": "16Gi", "pods": "30"}
    status = {"capacity": room, "allocatable": room}
    claim = {
        "metadata": {"name": f"claim-{name}", "labels": own},
        "spec": {"taints": fields.get("taints", [])},
        "status": {"providerID": f"azure:///{name}", **status},
    }
    made = {
        "metadata": {"name": name, "labels": {**own, **state, **fields.get("labels", {})}},
        "spec": {"providerID": f"azure:///{name}", "taints": fields.get("taints", [])},
        "status": status,
    }
    return [made, claim]


def run(
    pods: Sequence[Mapping[str, Any]],
    nodepools: Sequence[Mapping[str, Any]] | None = None,
    *,
    types: Sequence[InstanceType] = SIZES,
    nodes: Sequence[Sequence[Mapping[str, Any]]] = (),
    options: SchedulingOptions | None = None,
    ledger: Ledger | None = None,
    **objects: Any,
) -> SchedulingResults:
    pools = [nodepool()] if nodepools is None else nodepools
    snapshot = ClusterSnapshot(pools, pods, [each[0] for each in nodes], [each[1] for each in nodes], **objects)
    by_pool = {pool["metadata"]["name"]: types for pool in pools}
    return solve(snapshot, by_pool, release=RELEASE, options=options, ledger=ledger)


def groups(results: SchedulingResults) -> list[list[str]]:
    """Names of the pods of each new NodeClaim, sorted."""
    return sorted(sorted(pod_key(each).partition("/")[2] for each in c.pods) for c in results.nodeclaims)


def error(results: SchedulingResults, name: str) -> str | None:
    reason = results.errors.get(f"default/{name}")
    return None if reason is None else str(reason)
