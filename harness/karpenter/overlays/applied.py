"""The last evaluation of the NodeOverlays: written by their controller, read by whoever needs instance types.

Core ``pkg/controllers/nodeoverlay/store.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.karpenter.cloudprovider import InstanceType, UnevaluatedNodePool
from harness.karpenter.overlays.evaluation import Evaluation

__all__ = ["AppliedOverlays"]


class AppliedOverlays:
    """Empty until the first evaluation; ``version`` grows with each."""

    def __init__(self) -> None:
        self._evaluation = Evaluation({}, {})
        self.version = 0

    def update(self, evaluation: Evaluation) -> None:
        """Replace the evaluation."""
        self._evaluation = evaluation
        self.version += 1

    def apply(self, nodepool: str, types: Sequence[InstanceType]) -> Sequence[InstanceType]:
        """The instance types of a NodePool with overlays applied. Raises UnevaluatedNodePool."""
        if nodepool not in self._evaluation.nodepools:
            raise UnevaluatedNodePool(nodepool)
        return self._evaluation.apply(nodepool, types)
