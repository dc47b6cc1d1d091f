"""The cost of a real cluster: time to start, memory, machines. Plain data, so that workers can send it home."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.clusters.control_plane.cluster import RealCluster

__all__ = ["Usage"]


@dataclass(slots=True)
class Usage:
    """`memory` in MiB by part. `joins` are nodes that joined, `registrations` the number of times a kubelet registered
    its Node.

    `too_big` are cases whose Nodes were objects, because their pods may ask for more than the host has.
    """

    name: str
    start_seconds: float = 0.0
    memory: dict[str, int] = field(default_factory=dict)
    joins: int = 0
    registrations: int = 0
    too_big: int = 0

    @classmethod
    def of_cluster(cls, cluster: RealCluster) -> Usage:
        """Return the cost of a cluster so far; without the memory of one that does not answer."""
        try:
            memory = cluster.memory()
        except (OSError, RuntimeError):
            memory = {}
        return cls(cluster.name, cluster.start_seconds, memory, *cluster.machine_counts())

    def to_json(self) -> dict[str, Any]:
        """Return plain data for another process."""
        return {"name": self.name, "joins": self.joins, "registrations": self.registrations, "too_big": self.too_big}

    def add_borrowed(self, borrowed: Iterable[Mapping[str, Any]]) -> None:
        """Add the machines that borrowers of clusters of this name brought up."""
        for usage in borrowed:
            if usage["name"] == self.name:
                self.joins += int(usage["joins"])
                self.registrations += int(usage["registrations"])
                self.too_big += int(usage["too_big"])

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {amount}" for name, amount in sorted(self.memory.items()))
        text = f"{self.name}: started in {self.start_seconds:.1f} s, {sum(self.memory.values())} MiB"
        text += f" ({parts})" if parts else ""
        if self.registrations or self.joins:
            text += f"; nodes joined: {self.joins}, registrations of real kubelets: {self.registrations}"
        if self.too_big:
            text += f"; cases too big for this host, with Nodes without kubelets: {self.too_big}"
        return text
