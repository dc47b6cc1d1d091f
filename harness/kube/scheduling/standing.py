"""The verdicts of the nodes about equal pods: computed once, and again only for nodes that have changed.

Holds for pods that look at nodes alone, not at the pods on other nodes: without spread constraints, terms of pod (anti-)affinity and
volumes, as long as no pod that runs keeps others away and nobody waits for room that is being made.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Mapping, Sequence

from harness.kube.api.objects import Object, spec_of
from harness.kube.api.versions import Version
from harness.kube.scheduling.filters import Failure, Filters
from harness.kube.scheduling.placement import NodeInfo, priority_of
from harness.kube.scheduling.preemption import preempt
from harness.kube.scheduling.scheduler import Choose, Unschedulable, score

__all__ = ["Standing", "Standings", "looks_at_nodes_alone"]

_MOST = 64


def looks_at_nodes_alone(pod: Object) -> bool:
    """Whether the pods on other nodes do not matter for the pod."""
    spec = spec_of(pod)
    affinity = spec.get("affinity") or {}
    elsewhere = affinity.get("podAffinity") or affinity.get("podAntiAffinity") or spec.get("topologySpreadConstraints")
    return not elsewhere and not spec.get("volumes")


class Standing:
    """The verdicts about equal pods. ``changed`` names the nodes that have to be tried again."""

    def __init__(self, pod: Object, version: Version) -> None:
        self._pod, self._version, self._priority = pod, version, priority_of(pod)
        self._asking = Filters.alone(pod)
        self._failures: dict[str, Failure] = {}
        self._scores: dict[str, tuple[float, ...]] = {}
        self._equals: dict[tuple[float, ...], list[str]] = {}
        self._refusal: Unschedulable | None = None
        self.changed: set[str] = set()

    def verdict(
        self, infos: Mapping[str, NodeInfo], choose: Choose, budgets: Sequence[Object] = ()
    ) -> str | Unschedulable:
        """As :func:`harness.kube.scheduling.scheduler.schedule`, with the nodes by name; the same refusal while nothing changes it."""
        for name in self.changed:
            self._ask(name, infos.get(name))
        self.changed.clear()
        if self._equals:
            return choose(self._equals[max(self._equals)])
        if self._refusal is not None:
            return self._refusal
        nodes = list(infos.values())
        failures = tuple(self._failures[name] for name in infos)
        refusal = Unschedulable(failures, self._version, preemption=preempt(self._pod, nodes, failures, budgets, None))
        if not any(self._has_victims(info) for info in nodes):  # else budgets and the victims' age count as well
            self._refusal = refusal
        return refusal

    def leave(self, name: str) -> None:
        """Removes a node."""
        self._ask(name, None)
        self.changed.add(name)

    def _ask(self, name: str, info: NodeInfo | None) -> None:
        before, standing = self._failures.pop(name, None), self._scores.pop(name, None)
        if standing is not None:
            equals = self._equals[standing]
            del equals[bisect_left(equals, name)]
            if not equals:
                del self._equals[standing]
        failure = self._asking.failure(info) if info is not None else None
        if info is None or failure is None or failure != before or self._has_victims(info):
            self._refusal = None
        if failure is not None:
            self._failures[name] = failure
        elif info is not None:
            self._scores[name] = found = score(self._asking, info)
            insort(self._equals.setdefault(found, []), name)

    def _has_victims(self, info: NodeInfo) -> bool:
        return info.lowest is not None and info.lowest < self._priority


class Standings:
    """The Standing of each kind of pods that was scheduled lately."""

    def __init__(self) -> None:
        self._known: dict[Hashable, Standing] = {}

    def changed(self, node: str) -> None:
        """Notes that a node was added or has changed."""
        for each in self._known.values():
            each.changed.add(node)

    def gone(self, node: str) -> None:
        """Notes that a node is gone; a later one with its name has another place in the order of nodes."""
        for each in self._known.values():
            each.leave(node)

    def of(self, look: Hashable, pod: Object, infos: Mapping[str, NodeInfo], version: Version) -> Standing:
        """The Standing of all pods with the fingerprint ``look``, with the messages of a Kubernetes version."""
        look = look, version
        found = self._known.pop(look, None)
        if found is None:
            found = Standing(pod, version)
            found.changed.update(infos)
            while len(self._known) >= _MOST:
                del self._known[next(iter(self._known))]
        self._known[look] = found
        return found
