"""What NodeOverlays come to: written by their controller, read by whoever asks for instance types.

Core ``pkg/controllers/nodeoverlay/store.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.overlays.evaluation import Evaluation

__all__ = ["AppliedOverlays", "Unevaluated"]


class Unevaluated(Exception):
    """Overlays were not looked at for a NodePool yet; the message is core's."""

    def __init__(self, nodepool: str) -> None:
        super().__init__(f"applying nodeoverlays, awaiting nodeoverlay evaluation, nodepool {nodepool}")


class AppliedOverlays:
    """Empty until somebody has looked at the overlays; ``version`` changes each time."""

    def __init__(self) -> None:
        self._evaluation = Evaluation({}, {})
        self.version = 0

    def update(self, evaluation: Evaluation) -> None:
        """What they come to from now on."""
        self._evaluation = evaluation
        self.version += 1

    def apply(self, nodepool: str, types: Sequence[InstanceType]) -> Sequence[InstanceType]:
        """The instance types of a NodePool as Karpenter decides by them. Raises Unevaluated."""
        if nodepool not in self._evaluation.nodepools:
            raise Unevaluated(nodepool)
        return self._evaluation.apply(nodepool, types)
