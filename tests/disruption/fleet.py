"""Small clusters for the tests of disruption: a catalog, NodePools, nodes with NodeClaims, and pods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.conformance.ops.catalog import instance_types
from harness.engine.clock import parse
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.disruption.situation import Situation, View
from harness.karpenter.releases import ProviderRelease, provider
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingOptions
from harness.karpenter.scheduling.nodes.memory import ClusterMemory

Json = dict[str, Any]

NOW = "2026-01-07T10:30:00Z"
ZONE, CAPACITY, SIZE = "topology.kubernetes.io/zone", "karpenter.sh/capacity-type", "node.kubernetes.io/instance-type"
POOL = "karpenter.sh/nodepool"
RELEASE = provider("1.14.0")
_READY = [{"type": kind, "status": "True"} for kind in ("ValidationSucceeded", "NodeClassReady", "Ready")]


def size(name: str, cores: int, price: float, spot: float | None = None) -> Json:
    """An instance type of one zone."""
    prices = {"on-demand": price} if spot is None else {"on-demand": price, "spot": spot}
    labels = {SIZE: [name], ZONE: ["z-1"], CAPACITY: list(prices), "kubernetes.io/os": ["linux"]}
    return {
        "name": name,
        "requirements": [{"key": key, "operator": "In", "values": values} for key, values in labels.items()],
        "capacity": {"cpu": str(cores), "memory": f"{cores * 4}Gi", "pods": "110"},
        "overhead": {},
        "offerings": [
            {
                "requirements": [
                    {"key": CAPACITY, "operator": "In", "values": [kind]},
                    {"key": ZONE, "operator": "In", "values": ["z-1"]},
                ],
                "price": each,
                "available": True,
            }
            for kind, each in prices.items()
        ],
    }


SIZES = [size("two", 2, 0.1, 0.02), size("four", 4, 0.2, 0.04), size("eight", 8, 0.4, 0.08)]


def nodepool(name: str = "pool", *, kinds: Sequence[str] = ("on-demand",), **disruption: Any) -> Json:
    """A ready NodePool; ``disruption`` are fields of ``spec.disruption``."""
    return {
        "metadata": {"name": name},
        "spec": {
            "template": {
                "spec": {
                    "requirements": [{"key": CAPACITY, "operator": "In", "values": list(kinds)}],
                    "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                }
            },
            "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "0s", **disruption},
        },
        "status": {"conditions": _READY},
    }


def machine(
    name: str, of: str = "four", *, pool: str = "pool", kind: str = "on-demand", **how: Any
) -> tuple[Json, Json]:
    """A ready node and its NodeClaim. ``how``: ``conditions`` (true ones), ``annotations`` of the Node, ``since``."""
    made = next(each for each in SIZES if each["name"] == of)
    labels = {SIZE: of, ZONE: "z-1", CAPACITY: kind, POOL: pool, "kubernetes.io/os": "linux"}
    since = how.get("since", "2026-01-07T09:00:00Z")
    names = ("Launched", "Registered", "Initialized", *how.get("conditions", ("Consolidatable",)))
    claim: Json = {
        "metadata": {"name": f"claim-{name}", "labels": labels, "creationTimestamp": since},
        "spec": {"nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
        "status": {
            "providerID": f"azure:///{name}",
            "conditions": [{"type": each, "status": "True", "lastTransitionTime": since} for each in names],
        },
    }
    node: Json = {
        "metadata": {
            "name": name,
            "labels": {**labels, "kubernetes.io/hostname": name}
            | {"karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"},
            "annotations": how.get("annotations", {}),
        },
        "spec": {"providerID": f"azure:///{name}"},
        "status": {
            "capacity": made["capacity"],
            "allocatable": made["capacity"],
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }
    return node, claim


def pod(name: str, on: str, cpu: str = "100m", **fields: Any) -> Json:
    """A running pod of a ReplicaSet; ``fields`` go into its metadata."""
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "app", "uid": "app", "controller": True}
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name, "ownerReferences": [owner], **fields},
        "spec": {"nodeName": on, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Running", "startTime": "2026-01-07T09:00:00Z"},
    }


def situation(
    machines: Sequence[tuple[Json, Json]],
    pods: Sequence[Json] = (),
    pools: Sequence[Json] | None = None,
    *,
    release: ProviderRelease = RELEASE,
    spot_to_spot: bool = False,
    terminates_first: bool = False,
    writes_deletion_costs: bool = False,
    nominated: Mapping[str, int] | None = None,
    attempt_seconds: float = 0.0,
    memory: ClusterMemory | None = None,
    types: Sequence[InstanceType] | None = None,
    **more: Any,
) -> Situation:
    """A turn of the controller on this cluster at half past ten on a Wednesday; ``attempt_seconds`` are those of simulations.

    ``memory`` is that of the turns before, ``types`` are sold instead of SIZES.
    """
    pools = [nodepool()] if pools is None else pools
    types = instance_types(SIZES, release.vocabulary) if types is None else types
    snapshot = ClusterSnapshot(
        nodepools=pools,
        pods=pods,
        nodes=[node for node, _ in machines],
        nodeclaims=[claim for _, claim in machines],
        now=parse(NOW),
        **more,
    )
    view = View(
        snapshot,
        {each["metadata"]["name"]: types for each in pools},
        release=release,
        options=SchedulingOptions(attempt_seconds=attempt_seconds, writes_deletion_costs=writes_deletion_costs),
        nominated=nominated,
        memory=memory,
    )
    return Situation(view, spot_to_spot=spot_to_spot, terminates_first=terminates_first)
