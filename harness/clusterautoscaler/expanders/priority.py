"""`priority`: the options whose group has the highest priority in the ConfigMap `cluster-autoscaler-priority-expander`.

Source: autoscaler expander/priority/priority.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.clusterautoscaler.expanders.options import Option
from harness.kube.go.patterns import searcher
from lazyrecords import dataclass

__all__ = ["CONFIG_KEY", "CONFIG_MAP", "NO_MATCH", "Priorities", "by_priority", "unmatched_text"]

CONFIG_MAP = "cluster-autoscaler-priority-expander"
CONFIG_KEY = "priorities"
NO_MATCH = "Priority expander: no priorities info found for any of the expansion options. No options filtered."


@dataclass(frozen=True, slots=True)
class Priorities:
    """The content of the ConfigMap: patterns of the names of groups by priority. `warn` is told what is wrong with it."""

    patterns: Mapping[int, Sequence[str]]
    warn: Callable[[str, str], None]


def unmatched_text(group: str) -> str:
    """Return the warning about a group that no pattern names."""
    return (
        f"Priority expander: node group {group} not found in priority expander configuration. The group won't be used."
    )


def by_priority(options: Sequence[Option], priorities: Priorities | None) -> Sequence[Option]:
    """Return the options with the highest priority; all where there are no priorities, or none names a group."""
    if priorities is None:
        return options
    best: list[Option] = []
    highest = -1
    for option in options:
        ranks = _ranks(option.group.id, priorities)
        if not ranks:
            priorities.warn("PriorityConfigMapNotMatchedGroup", unmatched_text(option.group.id))
            continue
        rank = max(ranks)
        if rank > highest:
            highest, best = rank, []
        if rank == highest:
            best.append(option)
    if not best:
        priorities.warn("PriorityConfigMapNoGroupMatched", NO_MATCH)
        return options
    return best


def _ranks(group: str, priorities: Priorities) -> list[int]:
    return [
        rank for rank, patterns in priorities.patterns.items() if any(searcher(pattern)(group) for pattern in patterns)
    ]
