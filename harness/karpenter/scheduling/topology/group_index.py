"""Topology groups by the labels that they select."""

from bisect import bisect_left
from collections.abc import Hashable, Mapping

from harness.karpenter.scheduling.topology.group import TopologyGroup

_VALUES = ("=", "In")


class GroupIndex:
    """Finds the groups that select a pod without asking each of them. Groups are only ever added."""

    def __init__(self) -> None:
        self._groups: list[TopologyGroup] = []
        self._by_label: dict[tuple[str, str], list[int]] = {}
        self._others: list[int] = []
        self._known: dict[Hashable, tuple[list[TopologyGroup], list[int]]] = {}

    def add(self, group: TopologyGroup) -> None:
        """Add a group, behind the others."""
        number = len(self._groups)
        self._groups.append(group)
        if group.selector.nothing:
            return
        for key, operator, values in group.selector.conditions:
            if operator in _VALUES:
                for value in set(values):
                    self._by_label.setdefault((key, value), []).append(number)
                return
        self._others.append(number)

    def selecting(self, identity: Hashable, namespace: str, labels: Mapping[str, str]) -> list[TopologyGroup]:
        """The groups that select a pod, oldest first. The list grows with later calls; ``identity`` stands for namespace and labels."""
        groups, seen = self._known.setdefault(identity, ([], [0]))
        if seen[0] != len(self._groups):
            for number in sorted(self._candidates(labels, seen[0])):
                group = self._groups[number]
                if group.selects(namespace, labels):
                    groups.append(group)
            seen[0] = len(self._groups)
        return groups

    def _candidates(self, labels: Mapping[str, str], start: int) -> list[int]:
        numbers_after = self._others[bisect_left(self._others, start) :]
        for label in labels.items():
            numbers = self._by_label.get(label)
            if numbers is not None:
                numbers_after += numbers[bisect_left(numbers, start) :]
        return numbers_after
