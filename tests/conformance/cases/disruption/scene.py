"""What the objects of one cluster have in common: the time, the catalog, and what has turned up on the way."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

from tests.conformance.cases.draw import Draw

__all__ = [
    "ARCH",
    "AZURE",
    "CAPACITY",
    "DELETION_COST",
    "DO_NOT_DISRUPT",
    "HASH",
    "HASH_VERSION",
    "HOST",
    "NOW",
    "OS",
    "POOL",
    "SIZE",
    "ZONE",
    "ZONES",
    "Json",
    "Scene",
    "ago",
    "cpu",
    "memory",
    "stamp",
]

Json = dict[str, Any]

ZONE, CAPACITY, SIZE = "topology.kubernetes.io/zone", "karpenter.sh/capacity-type", "node.kubernetes.io/instance-type"
ARCH, OS, HOST = "kubernetes.io/arch", "kubernetes.io/os", "kubernetes.io/hostname"
POOL, AZURE = "karpenter.sh/nodepool", "karpenter.azure.com/"
DO_NOT_DISRUPT, DELETION_COST = "karpenter.sh/do-not-disrupt", "controller.kubernetes.io/pod-deletion-cost"
HASH, HASH_VERSION = "karpenter.sh/nodepool-hash", "karpenter.sh/nodepool-hash-version"
ZONES = ("eastus-1", "eastus-2", "eastus-3")
NOW = datetime.datetime(2026, 1, 7, 10, 30, 0)  # a Wednesday


def stamp(when: datetime.datetime) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def ago(**since: float) -> str:
    return stamp(NOW - datetime.timedelta(**since))


def cpu(milli: int) -> str:
    return f"{milli // 1000}" if milli % 1000 == 0 else f"{milli}m"


def memory(mebi: int) -> str:
    return f"{mebi // 1024}Gi" if mebi % 1024 == 0 else f"{mebi}Mi"


class Scene:
    """One cluster that is being drawn. ``computes``: Karpenter's controller sets the conditions of NodeClaims first."""

    def __init__(self, draw: Draw, catalogs: Mapping[str, list[Json]], theme: str) -> None:
        self.draw, self.theme = draw, theme
        self.catalog = draw.choice(_CATALOGS.get(theme, _ANY_CATALOG))
        self.types = {each["name"]: each for each in catalogs[self.catalog]}
        self.input: Json = {"catalog": self.catalog}
        self.options: Json = {"now": stamp(NOW)}
        self.pools: list[Json] = []
        self.nodes: list[Json] = []
        self.claims: list[Json] = []
        self.pods: list[Json] = []
        self.budgets: list[Json] = []
        self.pvcs: list[Json] = []
        self.pvs: list[Json] = []
        self.daemonsets: list[Json] = []
        self.nominated: dict[str, str] = {}
        self.queued: list[str] = []
        self.deleting: list[str] = []
        self.drift: dict[str, str] = {}
        self.count = 0
        self.computes = draw.random() < 0.3
        self.apps = [f"app{number}" for number in range(draw.randint(2, 5))]

    def chance(self, probability: float) -> bool:
        return self.draw.chance(probability)

    def request(self) -> Json:
        """The cluster as the request has it."""
        self.input.update(nodepools=self.pools, nodes=self.nodes, nodeclaims=self.claims, pods=self.pods)
        more = {
            "pdbs": self.budgets,
            "pvcs": self.pvcs,
            "pvs": self.pvs,
            "daemonsets": self.daemonsets,
            "nominated": self.nominated,
            "queued": self.queued,
            "deleting": self.deleting,
            "drift": self.drift,
        }
        self.input.update({name: items for name, items in more.items() if items})
        if self.pvcs:
            self.input["storageclasses"] = [{"metadata": {"name": "disk"}, "provisioner": "disk.csi.azure.com"}]
        self.input["namespaces"] = [{"metadata": {"name": "default"}}, {"metadata": {"name": "other"}}]
        if self.computes:
            self.options["conditions"] = True
            if self.chance(0.2):
                self.options["hashNodePools"] = True
        self.input["options"] = self.options
        return self.input


_CATALOGS = {"spot2spot": ["wide", "wide", "wide", "ties"], "minvalues": ["wide", "wide", "small"]}
_ANY_CATALOG = ["small", "small", "small", "wide", "ties", "ties", "regional"]
