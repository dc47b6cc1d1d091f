"""A Karpenter that keeps nothing between looks, and what a world with it is compared by."""

import pytest

from harness.karpenter.lifecycle.nodeclaims.controller import NodeClaimLifecycle
from harness.karpenter.scheduling.nodes.fleet import StateNodes
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.latest import LatestOf
from harness.world import World

__all__ = ["forget", "told_by"]


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on each look begins with nothing, each candidate has a simulation of its own, and NodeClaims go through all steps again."""
    monkeypatch.setenv("HARNESS_EXACT", "1")
    monkeypatch.setattr(ClusterMemory, "look", _forgetful)
    monkeypatch.setattr(NodeClaimLifecycle, "_is_complete", lambda self, claim: False)


def told_by(world: World) -> tuple:
    """Everything that can be seen of what happened: events, disruptions, log lines and writes."""
    writes = [(each.at, each.verb, each.key, each.after) for each in world.journal]
    return world.events, world.disruptions, [(one.at, one.message, dict(one.values)) for one in world.log], writes


def _forgetful(self, snapshot):
    """A look that knows nothing of those before."""
    self.nodes, self._algebra = StateNodes(), None
    self.models.clear()
    self._of_pods.clear()
    self._rewritten.clear()
    self._nodepools.clear()
    self._types = LatestOf(128)
