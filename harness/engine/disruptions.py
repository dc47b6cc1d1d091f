"""What came of disruption: which nodes go, why, and what comes in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from harness.engine.names import NodeClaimName, NodeName
from lazyrecords import dataclass

__all__ = ["DELETE", "EXPIRED", "REPLACE", "UNHEALTHY", "Disrupted", "Disruption"]

DELETE, REPLACE = "delete", "replace"
EXPIRED, UNHEALTHY = "Expired", "Unhealthy"
"""Reasons of nodes that go without a command: no budget is asked, nothing comes in their place first."""


@dataclass(frozen=True, slots=True)
class Disrupted:
    """A node that is disrupted. ``labels`` are its Node's, its NodeClaim's where it has none; ``price`` is in USD per hour, 0 when unknown.

    ``pods`` is how many of its pods have to find another place; ``policy`` is the NodePool's ``consolidationPolicy``, empty for nodes
    that go without a command.
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

    ``reason`` is Empty, Drifted, Underutilized, Expired or Unhealthy, ``drift`` says of which kind, ``method`` is the disruption method's
    name, empty for the last two. ``replacements`` are names of NodeClaims. ``savings`` are Karpenter's own figure in USD per hour;
    ``unpriced`` are sizes of which no price is known, each with what stands for it in that figure.
    ``terminate_first``: why no replacement was there before its nodes went.
    ``ended`` and ``problem`` say when its nodes were told to go, or why they stay after all, and ``missing`` how many replacements were not
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
