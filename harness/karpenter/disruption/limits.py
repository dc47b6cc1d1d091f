"""The rule that no NodeClaim can be created for a NodePool whose nodes already exceed its limits.

Core ``pkg/controllers/state/cluster.go`` (updateNodePoolResources).
"""

from harness.karpenter.disruption.situation import View
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.lifecycle.nodepools.usage import exceeded_by
from harness.kube.api.objects import Object, name_of
from harness.kube.api.resources import merge

__all__ = ["exceeded"]


def exceeded(view: View, nodepool: Object, marked: frozenset[str] = frozenset()) -> str | None:
    """Core's sentence about the first resource, by name, that is used beyond the limit; None when there is none.

    Nodes that are being deleted do not count, nor those that ``marked`` names.
    """
    name = name_of(nodepool)
    nodes = [
        node
        for node in view.nodes
        if node.labels.get(NODEPOOL) == name and not node.deleting and node.name not in marked
    ]
    return exceeded_by(nodepool, merge(*(node.capacity() for node in nodes)), view.release.core)
