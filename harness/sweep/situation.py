"""A situation: everything but the manifests that decides how a world ends. Plain values, so that it can be sent anywhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["Scaled", "Situation"]


@dataclass(frozen=True, slots=True)
class Scaled:
    """A workload gets another size: `at` virtual seconds after the world came to rest for the first time. `of` is `Kind/name`."""

    at: float
    of: str
    replicas: int


@dataclass(frozen=True, slots=True)
class Situation:
    """The inputs of `harness.simulate` besides the manifests; the fields are those of `harness.World`, None for its
    default.

    `until` are virtual seconds that pass after the world came to rest for the first time, `scaled` what happens in them, in order;
    what is later than `until` does not happen.
    """

    karpenter: str | None = None
    region: str | None = None
    kubernetes: str | None = None
    provision_mode: str | None = None
    crds: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    azure: Mapping[str, Any] = field(default_factory=dict)
    times: Mapping[str, float] = field(default_factory=dict)
    recorded: bool = False
    storage_classes: bool = True
    seed: int = 0
    attempt_seconds: float | None = None
    time_limit: float | None = None
    cluster_autoscaler: Mapping[str, str] | None = None
    loads: Mapping[str, Any] = field(default_factory=dict)
    agent_pools: tuple[Mapping[str, Any], ...] = ()
    """The agent pools that are there from the start, by the names of AKS's API, `name` among them."""
    until: float = 0.0
    scaled: tuple[Scaled, ...] = ()

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of World, only those that are given."""
        values = {flag.name: getattr(self, flag.name) for flag in fields(self) if flag.name not in _AFTER}
        return {
            name: value
            for name, value in values.items()
            if value is not None and (value != {} or name == "cluster_autoscaler")
        }

    def text(self) -> str:
        """Return the same text for the same situation, whatever the order of its mappings."""
        scaled = [(step.at, step.of, step.replicas) for step in self.scaled]
        after = {"until": self.until, "scaled": scaled, "agent_pools": self.agent_pools}
        return json.dumps({**self.arguments(), **after}, sort_keys=True, default=str)


_AFTER = frozenset({"agent_pools", "until", "scaled"})
"""The fields that say what happens to the world once it is made."""
