"""Preemption as kube-scheduler's DefaultPreemption plugin decides it: the node, and its pods of lower priority that
have to go.

Every node counts as a candidate; the plugin stops at a tenth of them, but never below a hundred.
Sources: kubernetes pkg/scheduler/framework/preemption, pkg/scheduler/framework/plugins/defaultpreemption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from harness.kube.api.objects import (
    Object,
    condition,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
    uid_of,
)
from harness.kube.api.selectors import Selector
from harness.kube.api.versions import NEWEST, Version
from harness.kube.scheduling.filters import Failure, Filters
from harness.kube.scheduling.placement import NodeInfo, priority_of
from harness.kube.scheduling.volume_binding import PodVolumes
from lazyrecords import dataclass

__all__ = ["NOT_HELPFUL", "Futile", "Preemption", "preempt"]

NOT_HELPFUL = "Preemption is not helpful for scheduling"
_NO_VICTIMS = "No preemption victims found for incoming pod"
_NEVER = "not eligible due to preemptionPolicy=Never."
_TERMINATING = "not eligible due to a terminating pod on the nominated node."
_NOT_STARTED = "9999"  # a pod that has not started counts as starting now, later than every other one

MARK: Mapping[str, str] = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
"""The condition that marks a victim's status; the message depends on the scheduler."""


@dataclass(frozen=True, slots=True)
class Preemption:
    """The pods, the most important first, that have to leave a node for another pod."""

    node: str
    victims: tuple[Object, ...]


@dataclass(frozen=True, slots=True)
class Futile:
    """The reasons against preemption: one sentence about the pod itself, or the reasons of each node."""

    sentence: str = ""
    reasons: tuple[tuple[str, ...], ...] = ()

    @property
    def keeps_nomination(self) -> bool:
        """Return whether an earlier nomination still stands: the pod was not looked at."""
        return bool(self.sentence)


@dataclass(frozen=True, slots=True)
class _Candidate:
    node: str
    victims: tuple[Object, ...]
    violations: int

    @property
    def cost(self) -> tuple[int, int, int, int, str]:
        """The sort key between nodes: the smallest is best, except for the last part, the start of the victims, where the latest is."""
        highest = priority_of(self.victims[0])
        total = sum(priority_of(victim) + 2**31 for victim in self.victims)
        start = min(_start(victim) for victim in self.victims if priority_of(victim) == highest)
        return self.violations, highest, total, len(self.victims), start


def preempt(
    pod: Object,
    nodes: Sequence[NodeInfo],
    failures: Sequence[Failure],
    budgets: Sequence[Object],
    volumes: PodVolumes | None,
    namespaces: Sequence[Object] = (),
    promised: Mapping[str, Sequence[Object]] = MappingProxyType({}),
    version: Version = NEWEST,
) -> Preemption | Futile:
    """Return the pods that leave a node for a pod that no node takes, or why none do.

    `failures` are those of the nodes, in their order, `namespaces` the cluster's Namespaces, `promised` the pods for
    which others are to leave each node, `version` Kubernetes'.
    """
    if spec_of(pod).get("preemptionPolicy") == "Never":
        return Futile(_NEVER)
    priority = priority_of(pod)
    nominated = status_of(pod).get("nominatedNodeName")
    helpless = {failure.node for failure in failures if failure.helpless}
    if nominated and nominated not in helpless:
        there = next((info for info in nodes if info.name == nominated), None)
        if there is not None and any(priority_of(pod) < priority and _is_victim(pod) for pod in there.pods):
            return Futile(_TERMINATING)
    candidates: list[_Candidate] = []
    reasons: list[tuple[str, ...]] = []
    for index, failure in enumerate(failures):
        if failure.helpless:
            reasons.append((NOT_HELPFUL,))
            continue
        own = promised.get(nodes[index].name, ())
        result = _on_node(pod, index, nodes, budgets, volumes, namespaces, own, version)
        if isinstance(result, _Candidate):
            candidates.append(result)
        else:
            reasons.append(result)
    if not candidates:
        return Futile(reasons=tuple(reasons))
    least = min(candidate.cost[:4] for candidate in candidates)
    best = max(
        (candidate for candidate in candidates if candidate.cost[:4] == least), key=lambda candidate: candidate.cost[4]
    )
    return Preemption(best.node, best.victims)


def _on_node(
    pod: Object,
    index: int,
    nodes: Sequence[NodeInfo],
    budgets: Sequence[Object],
    volumes: PodVolumes | None,
    namespaces: Sequence[Object],
    nominated: Sequence[Object],
    version: Version,
) -> _Candidate | tuple[str, ...]:
    """The candidate with the fewest victims on this node, or the reasons why victims would not help."""
    info, priority = nodes[index], priority_of(pod)
    if info.lowest is None or info.lowest >= priority:
        return (_NO_VICTIMS,)
    lower = [pod for pod in info.pods if priority_of(pod) < priority]

    def failure(gone: Sequence[Object]) -> Failure | None:
        left = info.without(gone)
        around = [*nodes[:index], left, *nodes[index + 1 :]]
        problem = beside(pod, index, around, nominated, volumes, namespaces, version)
        return problem or Filters.for_pod(pod, around, volumes, namespaces, version).failure(left)

    refused = failure(lower)
    if refused is not None:
        return refused.reasons
    lower.sort(key=_importance)
    violating, others = _by_budget(lower, budgets)
    gone = list(lower)
    violations = 0
    for victim in (*violating, *others):
        gone.remove(victim)
        if failure(gone) is not None:
            gone.append(victim)
            violations += victim in violating
    return _Candidate(info.name, tuple(sorted(gone, key=_importance)), violations)


def beside(
    pod: Object,
    index: int,
    nodes: Sequence[NodeInfo],
    nominated: Sequence[Object],
    volumes: PodVolumes | None,
    namespaces: Sequence[Object],
    version: Version,
) -> Failure | None:
    """Return why the node does not take the pod together with the nominated pods of no lower priority; None when it does."""
    priority = priority_of(pod)
    others = [other for other in nominated if priority_of(other) >= priority and uid_of(other) != uid_of(pod)]
    if not others:
        return None
    crowded = nodes[index].with_also(others)
    around = [*nodes[:index], crowded, *nodes[index + 1 :]]
    return Filters.for_pod(pod, around, volumes, namespaces, version).failure(crowded)


def _by_budget(pods: Sequence[Object], budgets: Sequence[Object]) -> tuple[list[Object], list[Object]]:
    """The pods whose leaving would break a PodDisruptionBudget, and the others."""
    rules = [
        (
            namespace_of(budget),
            Selector.parse(spec_of(budget).get("selector")),
            status_of(budget).get("disruptedPods") or {},
        )
        for budget in budgets
    ]
    left = [int(status_of(budget).get("disruptionsAllowed") or 0) for budget in budgets]
    violating: list[Object] = []
    others: list[Object] = []
    for pod in pods:
        breaks = False
        for index, (namespace, selector, disrupted) in enumerate(rules):
            takes = selector.conditions and selector.matches(labels_of(pod))
            if labels_of(pod) and namespace == namespace_of(pod) and takes and name_of(pod) not in disrupted:
                left[index] -= 1
                breaks = breaks or left[index] < 0
        (violating if breaks else others).append(pod)
    return violating, others


def _importance(pod: Object) -> tuple[int, str]:
    return -priority_of(pod), _start(pod)


def _start(pod: Object) -> str:
    start: str = status_of(pod).get("startTime") or _NOT_STARTED
    return start


def _is_victim(pod: Object) -> bool:
    """Return whether the pod is on its way out because a scheduler preempted it."""
    mark = condition(pod, MARK["type"])
    return is_terminating(pod) and mark is not None and all(mark.get(key) == MARK[key] for key in ("status", "reason"))
