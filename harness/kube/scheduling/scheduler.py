"""kube-scheduler's decision for one pod: the node it fits, or the sentence that tells why it fits none, and the pods
that would have to leave.

Sources: kubernetes pkg/scheduler/schedule_one.go, pkg/scheduler/framework/types.go (FitError).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from harness.kube.api.objects import Object, status_of
from harness.kube.api.selectors import Selector
from harness.kube.api.versions import KNOWN, Version
from harness.kube.scheduling.filters import NOT_NAMED, NOT_SELECTED, UNTOLERATED_TAINT, Failure, Filters
from harness.kube.scheduling.loads import Load, load_of_incoming
from harness.kube.scheduling.node_affinity import preferred_weight
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.preemption import NOT_HELPFUL, Futile, Preemption, beside, preempt
from harness.kube.scheduling.scores import Row, Score, allocation, scored
from harness.kube.scheduling.soft_spread import SoftSpread
from harness.kube.scheduling.taints import PREFER_NO_SCHEDULE, tolerates
from harness.kube.scheduling.volume_binding import PodVolumes
from lazyrecords import dataclass

__all__ = ["NO_NODES", "Choose", "Unschedulable", "row", "schedule", "scores"]

NO_NODES = "no nodes available to schedule pods"

UNTOLERATED = f"{UNTOLERATED_TAINT}(s)"
_TAINTS_HIDDEN = Version(1, 34, 2)
"""From this version on the sentence names no taints (pkg/scheduler/framework/plugins/tainttoleration; kubernetes #134740, #135023)."""

_DEVICES = Version(1, 34).line
"""From this version on the plugin for claims of devices has its say when a pod could preempt others."""

_LEFT_OUT = Version(1, 33)
"""From this version on nodes that a pod leaves out by their names are told apart (as in 1.33.6 to 1.37.0; older ones were not read)."""


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """No node takes the pod.

    `problem` is about the pod itself, found before any node was tried; `preemption` is the result of preemption.
    """

    failures: tuple[Failure, ...]
    version: Version = KNOWN[1]
    problem: str = ""
    preemption: Preemption | Futile = Futile()

    @property
    def message(self) -> str:
        """The text of the PodScheduled condition and of the FailedScheduling event."""
        count = len(self.failures)
        if not count:
            return NO_NODES
        reasons = Counter(self._worded(reason) for failure in self.failures for reason in failure.reasons)
        first = f"0/{count} nodes are available: {self.problem or _histogram(reasons)}."
        if isinstance(self.preemption, Preemption):
            return first
        if self.problem and self.version.line >= _DEVICES:
            # the plugin for claims of devices misses data that it would have prepared, and says no more than that
            return f"{first} not found"
        claims = "no new claims to deallocate, " if self.version.line >= _DEVICES else ""
        if self.preemption.sentence:
            return f"{first} {claims}preemption: {self.preemption.sentence}"
        helped = self.preemption.reasons or ((NOT_HELPFUL,),) * count
        why = Counter(reason for sentences in helped for reason in sentences)
        return f"{first} {claims}preemption: 0/{count} nodes are available: {_histogram(why)}."

    def _worded(self, reason: str) -> str:
        if reason == NOT_NAMED and self.version < _LEFT_OUT:
            return NOT_SELECTED
        return UNTOLERATED if self.version >= _TAINTS_HIDDEN and reason.startswith(UNTOLERATED_TAINT) else reason


def _histogram(reasons: Mapping[str, int]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))


Choose = Callable[[Sequence[str]], str]
"""Breaks a tie between equally good nodes (the real scheduler draws one at random)."""


Nominated = Mapping[str, Sequence[Object]]
"""The pods that are nominated for each node (`status.nominatedNodeName`)."""


def schedule(
    pod: Object,
    nodes: Sequence[NodeInfo],
    *,
    choose: Choose = min,
    version: Version = KNOWN[1],
    volumes: PodVolumes | None = None,
    nominated: Nominated | None = None,
    budgets: Sequence[Object] = (),
    namespaces: Sequence[Object] = (),
    siblings: Selector | None = None,
) -> str | Unschedulable:
    """The name of the node for this pod, or why there is none.

    `version` is Kubernetes', `volumes` the pod's claims, `budgets` and `namespaces` the cluster's PodDisruptionBudgets and Namespaces;
    `siblings` selects the pods beside which it is spread (:func:`~harness.kube.scheduling.soft_spread.sibling_selector`).
    """
    if volumes is not None and volumes.problem is not None:
        failures = tuple(Failure(info.name, (), True) for info in nodes)
        return Unschedulable(failures, version, volumes.problem, _futile(pod))
    filters = Filters.for_pod(pod, nodes, volumes, namespaces, version)

    def failure(index: int, info: NodeInfo) -> Failure | None:
        others = (nominated or {}).get(info.name)
        problem = beside(pod, index, nodes, others, volumes, namespaces, version) if others else None
        return problem or filters.failure(info)

    # most nodes are full, and the whole reason is needed only where no node takes the pod
    fitting = [
        info for index, info in enumerate(nodes) if info.has_room(filters.requests) and failure(index, info) is None
    ]
    if not fitting:
        problems = [problem for index, info in enumerate(nodes) if (problem := failure(index, info)) is not None]
        preemption = preempt(pod, nodes, problems, budgets, volumes, namespaces, nominated or {}, version)
        return Unschedulable(tuple(problems), version, preemption=preemption)
    if len(fitting) == 1:
        return fitting[0].name
    own: str | None = status_of(pod).get("nominatedNodeName")
    if own and any(info.name == own for info in fitting):
        return own
    totals = {name: score.total for name, score in scores(filters, nodes, fitting, version, siblings).items()}
    best = max(totals.values())
    return choose(sorted(name for name, total in totals.items() if total == best))


def _futile(pod: Object) -> Futile:
    """The result of preemption where no node was tried."""
    result = preempt(pod, (), (), (), None)
    return result if isinstance(result, Futile) else Futile()


def row(asking: Filters, load: Load, info: NodeInfo, version: Version) -> Row:
    """Return the facts of a node that its scores are made from, but for the pods beside which the pod is spread. `load` is the pod's."""
    untolerated = sum(
        taint.get("effect") == PREFER_NO_SCHEDULE
        and not any(tolerates(toleration, taint) for toleration in asking.tolerations)
        for taint in info.taints
    )
    return Row(untolerated, preferred_weight(asking.pod, info.node), allocation(load, info, version))


def scores(
    asking: Filters,
    nodes: Sequence[NodeInfo],
    fitting: Sequence[NodeInfo],
    version: Version,
    siblings: Selector | None = None,
) -> dict[str, Score]:
    """The scores of the nodes that take the pod, by name; see :func:`schedule`."""
    load = load_of_incoming(asking.pod)
    spread = SoftSpread.for_pod(asking.pod, nodes, fitting, siblings)
    rows = [
        replace(
            row(asking, load, info, version),
            spread=spread.count(info) if spread is not None else None,
            together=asking.affinity.preference(info) if asking.affinity is not None else 0,
        )
        for info in fitting
    ]
    return {info.name: score for info, score in zip(fitting, scored(rows), strict=True)}
