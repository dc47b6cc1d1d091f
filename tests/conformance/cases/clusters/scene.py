"""What the objects of one cluster have in common: sizes, zones, NodePools, workloads, and the volumes that turn up on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.cases.draw import Draw

__all__ = [
    "ARCH",
    "CAPACITY",
    "CPU",
    "DEFAULT",
    "FAMILY",
    "HOST",
    "NODEPOOL",
    "REGION",
    "RESERVATION",
    "SIZE",
    "STARTED",
    "TAINTS",
    "TOLERATIONS",
    "ZONE",
    "Json",
    "Scene",
    "node_requirement",
    "uid",
]

Json = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
HOST = "kubernetes.io/hostname"
CAPACITY = "karpenter.sh/capacity-type"
NODEPOOL = "karpenter.sh/nodepool"
SIZE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
FAMILY = "karpenter.azure.com/sku-family"
CPU = "karpenter.azure.com/sku-cpu"
RESERVATION = "reservation.example.com/id"

DEFAULT = "default"
STARTED = "2025-12-31T00:00:00Z"

TAINTS: Sequence[Json] = (
    {"key": "dedicated", "value": "gpu", "effect": "NoSchedule"},
    {"key": "dedicated", "value": "batch", "effect": "NoExecute"},
    {"key": "soft", "effect": "PreferNoSchedule"},
    {"key": "team", "value": "red", "effect": "NoSchedule"},
    {"key": "sla", "value": "950", "effect": "NoSchedule"},
)
TOLERATIONS: Sequence[Json] = (
    {"key": "dedicated", "operator": "Exists"},
    {"key": "dedicated", "operator": "Equal", "value": "gpu", "effect": "NoSchedule"},
    {"operator": "Exists"},
    {"key": "team", "value": "red"},
    {"key": "soft", "operator": "Exists", "effect": "PreferNoSchedule"},
    {"key": "dedicated", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
    {"key": "karpenter.sh/disrupted", "operator": "Exists"},
    {"key": "sla", "operator": "Gt", "value": "900"},
    {"key": "sla", "operator": "Lt", "value": "950", "effect": "NoSchedule"},
)


@dataclass(slots=True)
class Scene:
    """What is known while a cluster is drawn. `apps` are the values of the workloads' label `app`."""

    types: Sequence[Json]
    zones: Sequence[str]
    apps: Sequence[str]
    nodepools: list[Json] = field(default_factory=list)
    claims: list[Json] = field(default_factory=list)
    volumes: list[Json] = field(default_factory=list)
    classes: dict[str, Json] = field(default_factory=dict)
    uids: int = 0

    @property
    def sizes(self) -> list[str]:
        """Names of the instance types."""
        return [item["name"] for item in self.types]

    @property
    def region(self) -> str:
        """The region that the zones are in."""
        return next(zone.rpartition("-")[0] for zone in self.zones if zone != "0")


def uid(draw: Draw, scene: Scene) -> str:
    """A UID that no other object has, in no order."""
    scene.uids += 1
    return f"00000000-0000-4000-8000-{draw.randrange(1, 100_000):08x}{scene.uids:04x}"


def node_requirement(draw: Draw, scene: Scene, *, of_pod: bool = False) -> Json:
    """A node selector requirement; those of NodePools have more operators than those of pods, and may not name all keys."""
    ours = 2 if of_pod else 0  # NodePools may not say which node or NodePool it is
    key, operators, values, most = draw.choices(
        (
            (ZONE, ("In", "NotIn"), scene.zones, 2),
            (CAPACITY, ("In",), ("spot", "on-demand"), 2),
            (ARCH, ("In", "In", "NotIn"), ("amd64", "arm64"), 1),
            (FAMILY, ("In", "NotIn", "NotIn"), ("D", "E", "F", "B", "N", "L"), 2),
            (CPU, ("Gt", "Lt") if of_pod else ("Gt", "Lt", "Gte", "Lte"), ("2", "4", "8", "16", "32", "64"), 1),
            (SIZE, ("In", "NotIn"), scene.sizes, 4),
            ("karpenter.azure.com/sku-version", ("In", "NotIn", "Exists"), ("3", "5", "6"), 2),
            ("team", ("In", "NotIn", "Exists", "DoesNotExist"), ("red", "blue"), 2),
            ("karpenter.azure.com/sku-gpu-count", ("Lt",), ("1",), 1),
            ("karpenter.azure.com/sku-gpu-name", ("In", "Exists", "DoesNotExist"), ("A100", "T4", "V100"), 2),
            ("karpenter.azure.com/sku-memory", ("Gt", "Lt"), ("8192", "32768", "65536"), 1),
            ("tier", ("In", "NotIn", "Exists", "DoesNotExist"), ("web", "db"), 1),
            ("kubernetes.azure.com/mode", ("In", "NotIn"), ("user", "system"), 1),
            (REGION, ("In", "NotIn"), (scene.region, "elsewhere"), 1),
            ("failure-domain.beta.kubernetes.io/zone", ("In", "NotIn"), scene.zones, 2),
            ("beta.kubernetes.io/arch", ("In",), ("amd64", "arm64"), 1),
            ("topology.disk.csi.azure.com/zone", ("In",), scene.zones, 2),
            (NODEPOOL, ("In", "NotIn", "DoesNotExist"), ("np0", "np1"), 1),
            (HOST, ("In", "NotIn", "Exists"), ("node0", "node1", "x"), 2),
        ),
        (12, 12, 12, 12, 12, 12, 12, 12, 12, 3, 3, 4, 2, 2, 1, 1, 1, ours, ours),
    )[0]
    operator = draw.choice(operators)
    requirement: Json = {"key": key, "operator": operator}
    if operator not in ("Exists", "DoesNotExist"):
        requirement["values"] = draw.some(values, 1, most)
    return requirement
