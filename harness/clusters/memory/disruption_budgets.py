"""The disruption controller of kube-controller-manager: the number of pods that each PodDisruptionBudget can spare.

Source: kubernetes 1.36 pkg/controller/disruption/disruption.go. As there, it counts anew when a pod changes, not when a workload is scaled.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

from harness.clusters.memory.eviction import budgets_of
from harness.engine.clock import Clock
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, Sink, View, Writer, key_by_place
from harness.kube.api.objects import (
    Object,
    condition,
    conditions_of,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)
from harness.kube.api.selectors import Selector
from harness.kube.disruption_budgets import budget_status

__all__ = ["DisruptionBudgets"]

_REQUIRED = ("currentHealthy", "desiredHealthy", "expectedPods")
"""Fields that a status has beside disruptionsAllowed, even if nothing could be counted."""


class DisruptionBudgets:
    """Computes the status of PodDisruptionBudgets."""

    name = "disruption-budgets"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer, sink: Sink, clock: Clock) -> None:
        self._view = view
        self._writer = writer
        self._sink = sink
        self._clock = clock

    def watches(self) -> Mapping[str, Router]:
        """Watch budgets, and the pods that they count."""
        return {"PodDisruptionBudget": key_by_place, "Pod": self._of_pod}

    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        budgets = self._view.list("PodDisruptionBudget")
        if not budgets:
            return ()
        namespace = namespace_of(change.object)
        own = [budget for budget in budgets if namespace_of(budget) == namespace]
        return [(namespace, name_of(budget)) for budget in budgets_of(change.object, own)]

    def reconcile(self, key: Hashable) -> Result:
        """Recount one budget."""
        assert isinstance(key, tuple)
        namespace, name = key
        budget = self._view.get("PodDisruptionBudget", name, namespace)
        if budget is None:
            return DONE
        selector = Selector.parse(spec_of(budget).get("selector"))
        pods = [pod for pod in self._view.list("Pod", namespace=namespace) if selector.matches(labels_of(pod))]
        if not pods:
            self._sink.event(budget, "Normal", "NoPods", "No matching pods found", source="controllermanager")
        counted = budget_status(budget, pods, self._view.get)
        status: Mapping[str, Any] = {"disruptionsAllowed": 0} if counted is None else counted
        conditions = self._conditions(budget, status["disruptionsAllowed"], failed=counted is None)
        status = {**status, "conditions": conditions}
        if any(status_of(budget).get(field) != value for field, value in status.items()):
            first = {} if status_of(budget) else dict.fromkeys(_REQUIRED, 0)
            self._writer.patch(
                "PodDisruptionBudget", name, {"status": {**first, **status}}, namespace=namespace, subresource="status"
            )
        return DONE

    def _conditions(self, budget: Object, allowed: int, *, failed: bool) -> list[Mapping[str, Any]]:
        """Return the conditions that tell whether a pod may be evicted (component-helpers apps/poddisruptionbudget)."""
        reason = "SyncFailed" if failed else "SufficientPods" if allowed else "InsufficientPods"
        generation = metadata_of(budget).get("generation", 1)
        now = {"type": "DisruptionAllowed", "status": "True" if allowed else "False", "reason": reason, "message": ""}
        present = condition(budget, now["type"])
        if present is not None and (present["status"], present["reason"]) == (now["status"], reason):
            since = present["lastTransitionTime"]
        else:
            since = self._clock.timestamp()
        others = [condition for condition in conditions_of(budget) if condition["type"] != now["type"]]
        return [*others, {**now, "observedGeneration": generation, "lastTransitionTime": since}]
