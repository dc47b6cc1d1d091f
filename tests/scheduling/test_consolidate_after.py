"""How long a node settles: core pkg/utils/disruption/disruption.go (IsUnderConsolidateAfter)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.clock import SECOND, parse
from harness.karpenter.scheduling.nodes.consolidate_after import ConsolidateAfterWindow

SINCE = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("after", "settles"), [(0, True), (30 * SECOND - 1, True), (30 * SECOND, False), (31 * SECOND, False)]
)
def test_a_node_settles_until_consolidate_after_has_passed(after: int, settles: bool) -> None:
    conditions = [{"type": "Initialized", "status": "True", "lastTransitionTime": SINCE}]
    claim = {"status": {"conditions": conditions}}
    state = SimpleNamespace(remembered={}, nodeclaim=claim, labels={"karpenter.sh/nodepool": "p"})
    existing: Any = [SimpleNamespace(state=state)]
    assert ConsolidateAfterWindow(existing, {"p": 30 * SECOND}, parse(SINCE) + after).among(1) == settles
