"""The verdicts of the nodes about equal pods: computed once, and again only for nodes that have changed.

This holds for pods that depend on nodes alone, not on the pods of other nodes: without spread constraints, terms of pod
(anti-)affinity and volumes, as long as no term of a running pod is about them and nobody waits for room that is being
made. The number of siblings beside which a pod would run is kept up as they come and go.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Mapping, Sequence

from harness.kube.api.objects import Object, spec_of
from harness.kube.api.selectors import Selector
from harness.kube.api.versions import Version
from harness.kube.scheduling.filters import Failure, Filters
from harness.kube.scheduling.loads import load_of_incoming
from harness.kube.scheduling.placement import NodeInfo, priority_of
from harness.kube.scheduling.preemption import preempt
from harness.kube.scheduling.scheduler import Choose, Unschedulable, row
from harness.kube.scheduling.scores import Row, scored
from harness.kube.scheduling.soft_spread import Neighbours, Place

__all__ = ["Standing", "Standings", "looks_at_nodes_alone"]

_MOST = 64

_Kind = tuple[Row, Place]


def looks_at_nodes_alone(pod: Object) -> bool:
    """Return whether the pods on other nodes do not matter for the pod."""
    spec = spec_of(pod)
    affinity = spec.get("affinity") or {}
    elsewhere = affinity.get("podAffinity") or affinity.get("podAntiAffinity") or spec.get("topologySpreadConstraints")
    return not elsewhere and not spec.get("volumes")


class Standing:
    """The verdicts about equal pods. ``changed`` names the nodes that have to be tried again.

    Nodes that fit are grouped by all inputs of their scores, so that only one of each group is scored.
    """

    def __init__(self, pod: Object, version: Version, siblings: Selector | None) -> None:
        self._pod, self._version, self._priority = pod, version, priority_of(pod)
        self._asking, self._load = Filters.alone(pod, version), load_of_incoming(pod)
        self._neighbours = Neighbours(pod, siblings) if siblings is not None else None
        self._failures: dict[str, Failure] = {}
        self._rows: dict[str, Row] = {}
        self._groups: dict[_Kind, list[str]] = {}
        self._kinds: dict[str, _Kind] = {}
        self._ungrouped: dict[str, NodeInfo | None] = {}
        self._refusal: Unschedulable | None = None
        self.changed: set[str] = set()

    def verdict(
        self, infos: Mapping[str, NodeInfo], choose: Choose, budgets: Sequence[Object] = ()
    ) -> str | Unschedulable:
        """Decide as :func:`harness.kube.scheduling.scheduler.schedule`, with the nodes by name; the same refusal while
        nothing changes it."""
        for name in self.changed:
            self._ask(name, infos.get(name))
        self.changed.clear()
        if self._rows:
            return choose(self._best() if len(self._rows) > 1 else list(self._rows))
        if self._refusal is not None:
            return self._refusal
        nodes = list(infos.values())
        failures = tuple(self._failures[name] for name in infos)
        preemption = preempt(self._pod, nodes, failures, budgets, None, version=self._version)
        refusal = Unschedulable(failures, self._version, preemption=preemption)
        if not any(self._has_victims(info) for info in nodes):  # else budgets and the victims' age count as well
            self._refusal = refusal
        return refusal

    def leave(self, name: str) -> None:
        """Remove a node."""
        self._ask(name, None)
        self.changed.add(name)

    def _ask(self, name: str, info: NodeInfo | None) -> None:
        before = self._failures.pop(name, None)
        self._rows.pop(name, None)
        self._ungrouped[name] = info
        failure = self._asking.failure(info) if info is not None else None
        if info is None or failure != before or self._has_victims(info):
            self._refusal = None
        if failure is not None:
            self._failures[name] = failure
        elif info is not None:
            self._rows[name] = row(self._asking, self._load, info, self._version)

    def _best(self) -> list[str]:
        """The names of the nodes with the highest score."""
        for name, info in self._ungrouped.items():
            self._group(name, info)
        self._ungrouped.clear()
        kinds = list(self._groups)
        rows = [row for row, _ in kinds]
        if self._neighbours is not None:
            counts = self._neighbours.counts([place for _, place in kinds], len(self._rows))
            rows = [
                Row(kind.untolerated, kind.preferred, kind.allocation, count)
                for kind, count in zip(rows, counts, strict=True)
            ]
        totals = [score.total for score in scored(rows)]
        best = max(totals)
        names = [self._groups[kind] for kind, total in zip(kinds, totals, strict=True) if total == best]
        return names[0] if len(names) == 1 else sorted(name for group in names for name in group)

    def _group(self, name: str, info: NodeInfo | None) -> None:
        old_kind = self._kinds.pop(name, None)
        if old_kind is not None:
            group = self._groups[old_kind]
            del group[bisect_left(group, name)]
            if not group:
                del self._groups[old_kind]
        place = self._neighbours.count(name, info) if self._neighbours is not None else Place()
        if name in self._rows:
            kind = self._kinds[name] = self._rows[name], place
            insort(self._groups.setdefault(kind, []), name)

    def _has_victims(self, info: NodeInfo) -> bool:
        return info.lowest is not None and info.lowest < self._priority


class Standings:
    """The Standing of each kind of pods that was scheduled lately."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Standing] = {}

    def changed(self, node: str) -> None:
        """Note that a node was added or has changed."""
        for standing in self._known.values():
            standing.changed.add(node)

    def gone(self, node: str) -> None:
        """Note that a node is gone; a later one with its name has another place in the order of nodes."""
        for standing in self._known.values():
            standing.leave(node)

    def standing_for(
        self,
        look: Hashable,
        pod: Object,
        infos: Mapping[str, NodeInfo],
        version: Version,
        siblings: Selector | None = None,
    ) -> Standing:
        """The Standing of all pods with the fingerprint ``look`` and these siblings, under a Kubernetes version."""
        look = look, version, siblings
        standing = self._known.pop(look, None)
        if standing is None:
            standing = Standing(pod, version, siblings)
            standing.changed.update(infos)
            while len(self._known) >= _MOST:
                del self._known[next(iter(self._known))]
        self._known[look] = standing
        return standing
