"""What a trace tells of simulations that are over."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from harness.karpenter.scheduling.reasons.ledger import Ledger
from harness.trace.decisions import Decisions
from harness.trace.facts import Decision


def test_a_place_is_called_what_it_was_when_it_was_chosen() -> None:
    """The trace is written at the end, when the Node may be gone."""
    nodes: dict[str, dict[str, Any]] = {"aks-one": {}}
    world: Any = SimpleNamespace(
        clock=SimpleNamespace(seconds=5.0),
        instance_types=SimpleNamespace(market_snapshot=lambda: None),
        view=SimpleNamespace(get=lambda kind, name: nodes.get(name)),
    )
    placed = {"aks-one": [{"metadata": {"name": "a"}}], "two": [{"metadata": {"name": "b"}}]}
    results: Any = SimpleNamespace(nodeclaims=[], existing=placed, errors={}, ignored={})
    decisions = Decisions(world)
    snapshot: Any = None
    decisions.solved(snapshot, {}, results, Ledger())
    nodes.clear()
    found = [fact.target for fact in decisions.facts() if isinstance(fact, Decision)]
    assert found == ["Node/aks-one", "NodeClaim/two"]
