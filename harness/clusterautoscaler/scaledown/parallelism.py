"""The number of nodes that may be on their way at the same time, and of those that may be drained.

Source: autoscaler core/scaledown/budgets/budgets.go (CropNodes).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.scaledown.unneeded import Removable
from harness.kube.api.objects import name_of

__all__ = ["cropped"]


def cropped(
    empty: Sequence[Removable],
    drained: Sequence[Removable],
    group_of: Mapping[str, str],
    in_progress: tuple[int, int],
    profile: Profile,
) -> tuple[list[Removable], list[Removable]]:
    """Return the empty nodes and those with pods that are started on. `in_progress`: how many of both kinds are on their way."""
    emptying, draining = in_progress
    room = profile.max_empty_bulk_delete - emptying - draining
    first = _by_group(empty, group_of)[: max(0, room)]
    room = min(room - len(first), profile.max_drain_parallelism - draining)
    return first, _by_group(drained, group_of)[: max(0, room)]


def _by_group(nodes: Sequence[Removable], group_of: Mapping[str, str]) -> list[Removable]:
    """Return the nodes group by group, in the order in which the first of each group comes."""
    groups: dict[str, list[Removable]] = {}
    for removable in nodes:
        groups.setdefault(group_of[name_of(removable.node)], []).append(removable)
    return [removable for group in groups.values() for removable in group]
