"""The topology groups of a pod's own constraints, step after step of its relaxation.

A step drops one constraint; the groups of the others need not be found out again.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from math import inf

from harness.karpenter.scheduling.topology.group import TopologyGroup

Constraint = tuple[str, int]
"""Kind and id of a constraint as the user wrote it."""


class OwnGroups:
    """The groups of a pod's constraints, and from which step on each is gone. All steps that only drop constraints share one."""

    __slots__ = ("_gone", "_group_of", "_owners", "pairs", "sorted")

    def __init__(self, pairs: Sequence[tuple[Constraint, TopologyGroup]]) -> None:
        self.pairs = pairs
        self.sorted = in_order(group for _, group in pairs)
        self._group_of = dict(pairs)
        self._owners = Counter(group for _, group in pairs)
        self._gone: dict[TopologyGroup, int] = {}

    def drop(self, constraint: Constraint, step: int) -> TopologyGroup | None:
        """Take a constraint away; return the group that only this constraint was in, which is gone from this step on."""
        group = self._group_of.get(constraint)
        if group is None:  # a preference that does not count
            return None
        self._owners[group] -= 1
        if self._owners[group]:
            return None
        self._gone[group] = step
        return group

    def has(self, group: TopologyGroup, step: int) -> bool:
        """Return whether a group that was there before is still there at a step."""
        return self._gone.get(group, inf) > step

    def at(self, step: int) -> tuple[TopologyGroup, ...]:
        """The groups at a step, in order."""
        gone = self._gone
        return tuple(group for group in self.sorted if gone.get(group, inf) > step)


def in_order(groups: Iterable[TopologyGroup]) -> tuple[TopologyGroup, ...]:
    """Each group once, in the order in which they are asked."""
    distinct: list[TopologyGroup] = list(dict.fromkeys(groups))
    if len(distinct) > 1:
        ordered = sorted(distinct, key=_first)
        distinct = []
        for _, equal in groupby(ordered, key=_first):
            several = list(equal)
            if len(several) > 1:
                # The text of the alternatives may be long, and is mostly the same.
                alike = len({id(group.filter.alternatives) for group in several}) == 1
                several.sort(key=_policies if alike else _filter)
            distinct += several
    return tuple(distinct)


def _first(group: TopologyGroup) -> str:
    return group.sort_key


def _filter(group: TopologyGroup) -> str:
    return str(group.filter)


def _policies(group: TopologyGroup) -> str:
    return group.filter.policies


def without(groups: tuple[TopologyGroup, ...], gone: TopologyGroup | None) -> tuple[TopologyGroup, ...]:
    """The groups but one."""
    if gone is None:
        return groups
    place = groups.index(gone)
    return groups[:place] + groups[place + 1 :]


__all__ = ["Constraint", "OwnGroups", "in_order", "without"]
