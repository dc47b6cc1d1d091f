"""Pods of nodes that are going away: which of them are worth a new node now, and which are protected, or blocked for good by a budget.

Source: core ``pkg/utils/pdb/pdb.go`` (IsCurrentlyReschedulable), ``pkg/utils/pod/{scheduling,events}.go``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from harness.karpenter.labels.core import DO_NOT_DISRUPT
from harness.karpenter.lifecycle.nodes.protection import Protection, protection_of, tolerates_disruption
from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.scheduling.nodeclaims.planned import SchedulingEvent, pod_key
from harness.kube.api.objects import Object, annotations_of, condition, labels_of, namespace_of, spec_of, status_of
from harness.kube.api.selectors import Selector
from harness.kube.scheduling.pods import is_active, is_daemon, is_reschedulable, is_static

_DEDUPE_SECONDS = 120.0


class BudgetSelectors:
    """The meaning of disruption budgets for each pod, worked out once while the budgets' specs are the same."""

    def __init__(self) -> None:
        self._budgets: Sequence[Object] = ()
        self._specs: list[tuple[str, Mapping[str, Any]]] = []
        self._parsed: list[tuple[str, Selector]] = []
        self._of_pod: dict[int, tuple[Object, tuple[int, ...], bool]] = {}
        self._movable: dict[int, bool] = {}

    def _look(self, budgets: Sequence[Object]) -> None:
        self._budgets = budgets
        specs = [(pod_key(budget), spec_of(budget)) for budget in budgets]
        if specs != self._specs:
            self._parsed = [
                (namespace_of(budget), Selector.parse(spec_of(budget).get("selector"))) for budget in budgets
            ]
            self._specs = specs
            self.forget(0)

    def forget(self, most: int) -> None:
        """Drops everything where it is about more pods than this."""
        if len(self._of_pod) > most:
            self._of_pod.clear()
            self._movable.clear()

    def about(self, pod: Object, budgets: Sequence[Object]) -> tuple[tuple[int, ...], bool]:
        """The places of the budgets that select the pod, and whether budgets count for it; ``budgets`` are all of a moment, in order."""
        if budgets is not self._budgets:
            self._look(budgets)
        entry = self._of_pod.get(id(pod))
        if entry is None:
            namespace, labels = namespace_of(pod), labels_of(pod)
            places = [
                place
                for place, (own, selector) in enumerate(self._parsed)
                if own == namespace and selector.matches(labels)
            ]
            counts = is_active(pod) and not is_static(pod) and not tolerates_disruption(pod)
            entry = self._of_pod[id(pod)] = pod, tuple(places), counts
        return entry[1], entry[2]

    def movable(self, pod: Object, judge: Callable[[Object], bool]) -> bool:
        """The judgement about a pod, which :meth:`about` was asked about, by the specs of budgets alone."""
        movable = self._movable.get(id(pod))
        if movable is None:
            movable = self._movable[id(pod)] = judge(pod)
        return movable


class Displaced:
    """Judges the pods of nodes that are being deleted or may be disrupted. ``now`` is in nanoseconds since the start."""

    def __init__(
        self, budgets: Iterable[Object], now: int, rules: SchedulingRules, selectors: BudgetSelectors | None = None
    ) -> None:
        self._budgets = sorted(budgets, key=pod_key)  # as the API server lists them
        self._selectors = selectors if selectors is not None else BudgetSelectors()
        self.knows_budgets = bool(self._budgets)
        """Whether there is any budget."""
        self._now, self._rules = now, rules
        self.events: list[SchedulingEvent] = []
        """Karpenter's events about the pods that were judged."""
        self.momentary = False
        """Whether a pod was judged that the annotation do-not-disrupt protects for a while: another moment may then have another answer."""

    def movable(self, pod: Object) -> bool:
        """Return whether the pod has to find another place, and may be evicted."""
        if DO_NOT_DISRUPT not in annotations_of(pod):
            if not self._about(pod)[0]:
                return is_reschedulable(pod)
            return self._selectors.movable(pod, self._is_movable)
        return self._is_movable(pod)

    def _is_movable(self, pod: Object) -> bool:
        looked_at = is_active(pod) or self._rules.protects_ending
        protection = self._protection(pod) if looked_at else Protection(active=False)
        tolerated = tolerates_disruption(pod)
        if protection.event is not None and not is_static(pod) and not (tolerated and is_daemon(pod)):
            self.events.append(_event(pod, *protection.event))
        evictable = is_active(pod) and not tolerated and not is_static(pod) and not protection.active
        blocked = evictable and self._blocking(pod, lambda budget: _never_allows(spec_of(budget)))
        return is_reschedulable(pod) and not protection.active and not blocked

    def disruptable(self, pod: Object) -> bool:
        """Return whether no annotation keeps the pod where it is."""
        if DO_NOT_DISRUPT not in annotations_of(pod) or not is_active(pod):
            return True
        protection = self._protection(pod)
        if protection.event is not None:
            self.events.append(_event(pod, *protection.event))
        return not protection.active

    def protected(self, pod: Object) -> bool:
        """Return whether do-not-disrupt protects the pod, also one that has ended."""
        return self._protection(pod).active

    def told(self, pod: Object) -> SchedulingEvent | None:
        """The event that Karpenter publishes when it reads the annotation do-not-disrupt (core pkg/utils/pod/scheduling.go
        IsDoNotDisruptActive)."""
        event = self._protection(pod).event
        return _event(pod, *event) if event is not None else None

    def budgets_against(self, pod: Object) -> Sequence[Object]:
        """The disruption budgets that allow no eviction of the pod now; several where more than one select it."""
        places, counts = self._about(pod)
        if not places or not counts or (DO_NOT_DISRUPT in annotations_of(pod) and self._protection(pod).active):
            return ()
        return self._blocking(pod, lambda budget: not status_of(budget).get("disruptionsAllowed"))

    def _about(self, pod: Object) -> tuple[tuple[int, ...], bool]:
        return self._selectors.about(pod, self._budgets) if self._budgets else ((), False)

    def _protection(self, pod: Object) -> Protection:
        protection = protection_of(pod, self._now, may_end=self._rules.protection_may_end)
        self.momentary = self.momentary or protection.event is not None  # of one for ever nothing is said
        return protection

    def _blocking(self, pod: Object, forbids: Callable[[Object], bool]) -> Sequence[Object]:
        matching = [self._budgets[place] for place in self._about(pod)[0]]
        if len(matching) > 1 and self._rules.several_budgets_block:
            return matching
        for budget in matching:
            spec = spec_of(budget)
            ready = condition(pod, "Ready")
            lenient = spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow"
            if lenient and ready is not None and ready["status"] == "False":
                return ()
            if forbids(budget):
                return (budget,)
        return ()


def _never_allows(spec: Mapping[str, Any]) -> bool:
    """Return whether a PodDisruptionBudget never allows a disruption, whatever the number of pods."""
    never: Sequence[object] = (0, "0%")
    return spec.get("maxUnavailable") in never or spec.get("minAvailable") == "100%"


def _event(pod: Object, kind: str, reason: str, message: str) -> SchedulingEvent:
    return SchedulingEvent("Pod", pod_key(pod), kind, reason, message, _DEDUPE_SECONDS)
