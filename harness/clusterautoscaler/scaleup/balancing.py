"""New nodes shared out between similar groups: always to the smallest.

Source: autoscaler processors/nodegroupset/balancing_processor.go (BalanceScaleUpBetweenGroups).
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.clusterautoscaler.nodegroups import NodeGroup, Resize
from harness.kube.go.sort import sort_slice

__all__ = ["balanced"]


def balanced(groups: Sequence[NodeGroup], count: int) -> list[Resize]:
    """Return the groups that grow when they get so many nodes, as many as their bounds let them take."""
    open_groups = [group for group in groups if group.target != group.maximum]
    sort_slice(open_groups, lambda group: group.target)
    sizes = [group.target for group in open_groups]
    left = min(count, sum(group.capacity for group in open_groups))
    start = current = 0
    while left > 0:
        if sizes[current] < open_groups[current].maximum:
            sizes[current] += 1
            left -= 1
        else:
            open_groups[start], open_groups[current] = open_groups[current], open_groups[start]
            sizes[start], sizes[current] = sizes[current], sizes[start]
            start += 1
        following = current + 1
        current = following if following < len(sizes) and sizes[current] > sizes[following] else start
    pairs = zip(open_groups, sizes, strict=True)
    return [Resize(group, size) for group, size in pairs if size != group.target]
