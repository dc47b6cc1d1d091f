"""The inputs of a case for a world in real time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.scenario.running.worlds import world_inputs

if TYPE_CHECKING:
    from harness.scenario.language.cases import Case
    from harness.scenario.running.shared import Shared

__all__ = ["ENDPOINT", "real_inputs"]

ENDPOINT = "https://harness-dns-12345678.hcp.eastus.azmk8s.io:443"
"""The default address of a cluster: controllers up to 1.10.2 end at their start when it is shorter than AKS's addresses."""


def real_inputs(case: Case, shared: Shared, overrides: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a World whose machines are as quick as those of a RealWorld. Raises ScenarioError."""
    from harness.world.real.world import TIMING

    inputs = world_inputs(case, shared.caches, overrides, shared.crd_directories)
    options = {"cluster_endpoint": ENDPOINT, **(inputs.get("options") or {})}
    return {**inputs, "options": options, "timing": TIMING}
