"""The result of a situation: tables of pods, nodes and refusals, and the one row that a sweep keeps."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["KEY", "OUTCOME", "NodeRow", "PodRow", "RefusalRow", "Result", "Value"]

Value: TypeAlias = str | int | float | bool | None

OUTCOME: dict[str, type] = {
    "pods": int,
    "bound": int,
    "pending": int,
    "rejected": int,
    "refused_by_azure": int,
    "nodes": int,
    "spot_nodes": int,
    "usd_per_hour": float,
    "usd": float,
    "guessed_prices": str,
    "supposed_prices": str,
    "hours": float,
    "machines": int,
    "disruptions": int,
    "settled": bool,
    "sizes": str,
    "placement": str,
    "reason": str,
    "error": str,
}
"""The columns that a result fills, and what is in them; `error` says why there is no result, and the others are then empty."""


KEY = "key"
"""The column that says which question a row answers: the same for the same situation, manifests and version of this package."""


@dataclass(frozen=True, slots=True)
class PodRow:
    """One pod. `name` is `namespace/name`, `owner` its workload as `Kind/name`; `reason` is Karpenter's sentence while it has no node."""

    name: str
    owner: str
    node: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class NodeRow:
    """One Node. `price` in USD per hour, None where no price is known; `pods` counts the pods that are bound to it."""

    name: str
    nodepool: str
    size: str
    zone: str
    capacity_type: str
    price: float | None
    pods: int


@dataclass(frozen=True, slots=True)
class RefusalRow:
    """A refusal of Azure: ARM's code, and how often."""

    code: str
    size: str
    zone: str
    count: int


@dataclass(frozen=True, slots=True)
class Result:
    """A world at its end.

    `usd_per_hour` is for the machines that run then, `usd` for all that ran, over `seconds` of virtual time. `machines` counts all that
    were ever powered on, `disruptions` Karpenter's decisions to take nodes away. `rejected` are the sentences of objects that were refused,
    `motion` says what goes on for ever, empty for a world at rest. Machines of `unpriced` sizes ran without a known price: they count as
    nothing in both figures, which a row then leaves empty.
    """

    pods: tuple[PodRow, ...]
    nodes: tuple[NodeRow, ...]
    refused: tuple[RefusalRow, ...]
    rejected: tuple[str, ...]
    usd_per_hour: float
    usd: float
    seconds: float
    machines: int
    disruptions: int
    motion: str = ""
    unpriced: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()
    """Sizes whose price on spot is a guess."""
    supposed: str = ""
    """The supposition about prices, in a sentence."""

    @property
    def pending(self) -> tuple[PodRow, ...]:
        """The pods without a node."""
        return tuple(pod for pod in self.pods if not pod.node)

    @property
    def sizes(self) -> dict[str, int]:
        """Size → how many nodes of it, most first."""
        return dict(sorted(Counter(node.size for node in self.nodes).items(), key=lambda item: (-item[1], item[0])))

    @property
    def placement(self) -> str:
        """Eight digits that are the same where workloads got the same sizes and capacity types; names and zones do not count."""
        of_node = {node.name: (node.nodepool, node.size, node.capacity_type) for node in self.nodes}
        pods = sorted((pod.owner or pod.name, *of_node.get(pod.node, (pod.node,))) for pod in self.pods)
        whole = json.dumps([pods, sorted(of_node.values())])
        return hashlib.sha256(whole.encode()).hexdigest()[:8]

    @property
    def _stopped(self) -> str:
        """Return why the world was stopped at a limit; of a runaway, whose text has several lines, its pods say more."""
        return "" if "\n" in self.motion else self.motion

    def row(self) -> dict[str, Value]:
        """Return the flat row that a sweep keeps."""
        pending = self.pending
        return {
            "pods": len(self.pods),
            "bound": len(self.pods) - len(pending),
            "pending": len(pending),
            "rejected": len(self.rejected),
            "refused_by_azure": sum(refusal.count for refusal in self.refused),
            "nodes": len(self.nodes),
            "spot_nodes": sum(node.capacity_type == "spot" for node in self.nodes),
            "usd_per_hour": None if self.unpriced else round(self.usd_per_hour, 6),
            "usd": None if self.unpriced else round(self.usd, 6),
            "guessed_prices": ", ".join(self.guessed),
            "supposed_prices": self.supposed,
            "hours": round(self.seconds / 3600, 4),
            "machines": self.machines,
            "disruptions": self.disruptions,
            "settled": not self.motion,
            "sizes": ", ".join(f"{size} × {count}" if count > 1 else size for size, count in self.sizes.items()),
            "placement": self.placement,
            "reason": self._stopped
            or next((pod.reason for pod in pending if pod.reason), "")
            or (self.rejected[0] if self.rejected else ""),
            "error": "",
        }
