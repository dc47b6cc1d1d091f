"""Disruptions and their outcomes: the nodes that go, why, and their replacements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from harness.engine.names import NodeClaimName, NodeName
from lazyrecords import dataclass

__all__ = ["DELETE", "EXPIRED", "REPLACE", "UNHEALTHY", "Disrupted", "Disruption"]

DELETE, REPLACE = "delete", "replace"
EXPIRED, UNHEALTHY = "Expired", "Unhealthy"
"""Reasons of nodes that go without a command: no budget is checked, no replacement comes first."""


@dataclass(frozen=True, slots=True)
class Disrupted:
    """A node that is disrupted. ``labels`` are its Node's, its NodeClaim's where it has none; ``price`` is in USD per
    hour, 0 when unknown.

    ``pods`` is the number of its pods that have to find another place; ``policy`` is the NodePool's
    ``consolidationPolicy``, empty for nodes that go without a command.
    """

    nodeclaim: NodeClaimName
    node: NodeName
    nodepool: str
    labels: Mapping[str, str] = field(default_factory=dict)
    price: float = 0.0
    pods: int = 0
    policy: str = ""


@dataclass(slots=True)
class Disruption:
    """One decision at ``at``, in virtual seconds.

    ``reason`` is Empty, Drifted, Underutilized, Expired or Unhealthy, ``drift`` its kind, ``method`` the disruption
    method's name, empty for the last two. ``replacements`` are names of NodeClaims. ``savings`` are Karpenter's own
    figure in USD per hour; ``unpriced`` are sizes without a known price, each with the figure that stands for it.
    ``terminate_first``: why no replacement was there before its nodes went. ``ended`` is the time when its nodes were
    told to go, ``problem`` the reason why they stay after all, and ``missing`` the number of replacements that were not
    initialized by then.
    """

    at: float
    reason: str
    decision: str
    nodes: tuple[Disrupted, ...]
    replacements: tuple[str, ...] = ()
    method: str = ""
    savings: float = 0.0
    drift: str = ""
    ended: float | None = None
    problem: str = ""
    missing: int = 0
    unpriced: Mapping[str, float] = field(default_factory=dict)
    terminate_first: str = ""
