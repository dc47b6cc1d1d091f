"""Whether a NodePool's nodes already use more than its limits allow, which keeps replacements from being created.

Core ``pkg/apis/v1/nodepool.go`` (Limits.ExceededBy), ``pkg/controllers/state/cluster.go`` (updateNodePoolResources).
"""

from harness.karpenter.disruption.situation import View
from harness.karpenter.labels.core import NODEPOOL
from harness.kube.api.objects import Object, name_of, spec_of
from harness.kube.api.quantity import NANO, Quantity
from harness.kube.api.resources import merge, parse_list

__all__ = ["exceeded"]


def exceeded(view: View, nodepool: Object, marked: frozenset[str] = frozenset()) -> str | None:
    """Core's sentence about the first resource, by name, that is used up; ``marked`` names nodes that do not count any more."""
    limits = parse_list(spec_of(nodepool).get("limits"))
    if not limits:
        return None
    name = name_of(nodepool)
    nodes = [
        node
        for node in view.nodes
        if node.labels.get(NODEPOOL) == name and not node.deleting and node.name not in marked
    ]
    used = merge(*(node.capacity() for node in nodes))
    for resource in sorted(limits):
        if resource in used and used[resource].nano > limits[resource].nano:
            shown = f"limit={_decimal(limits[resource])}, resource-name={resource}, usage={_decimal(used[resource])}"
            return f"resource usage exceeds limit ({shown})"
    return None


def _decimal(quantity: Quantity) -> str:
    whole, rest = divmod(quantity.nano, NANO)
    return f"{whole}.{rest:09d}".rstrip("0").rstrip(".") if rest else str(whole)
