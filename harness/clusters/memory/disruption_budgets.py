"""The disruption controller of kube-controller-manager: how many pods each PodDisruptionBudget can spare.

Source: kubernetes 1.36 pkg/controller/disruption/disruption.go. As there, it counts anew when a pod changes, not when a workload is scaled.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

from harness.clusters.memory.eviction import budgets_of
from harness.engine.engine import DONE, Result, Router
from harness.engine.ports import Change, ChangeType, View, Writer
from harness.kube.api.objects import labels_of, name_of, namespace_of, spec_of, status_of
from harness.kube.api.selectors import Selector
from harness.kube.disruption_budgets import budget_status

__all__ = ["DisruptionBudgets"]

_REQUIRED = ("currentHealthy", "desiredHealthy", "expectedPods")
"""What a status has beside what is allowed, even if nothing could be counted."""


class DisruptionBudgets:
    """Computes the status of PodDisruptionBudgets."""

    name = "disruption-budgets"
    backoff = (0.005, 1000.0)

    def __init__(self, view: View, writer: Writer) -> None:
        self._view = view
        self._writer = writer

    def watches(self) -> Mapping[str, Router]:
        """Budgets, and the pods that they count."""
        return {"PodDisruptionBudget": self._own, "Pod": self._of_pod}

    def _own(self, change: Change) -> Iterable[Hashable]:
        if change.type is not ChangeType.DELETED:
            yield (namespace_of(change.object), name_of(change.object))

    def _of_pod(self, change: Change) -> Iterable[Hashable]:
        budgets = self._view.list("PodDisruptionBudget")
        if not budgets:
            return ()
        namespace = namespace_of(change.object)
        own = [each for each in budgets if namespace_of(each) == namespace]
        return [(namespace, name_of(each)) for each in budgets_of(change.object, own)]

    def reconcile(self, key: Hashable) -> Result:
        """Recounts one budget."""
        assert isinstance(key, tuple)
        namespace, name = key
        budget = self._view.get("PodDisruptionBudget", name, namespace)
        if budget is None:
            return DONE
        selector = Selector.parse(spec_of(budget).get("selector"))
        pods = [pod for pod in self._view.list("Pod", namespace=namespace) if selector.matches(labels_of(pod))]
        counted = budget_status(budget, pods, self._view.get)
        status = {"disruptionsAllowed": 0} if counted is None else counted
        if any(status_of(budget).get(field) != value for field, value in status.items()):
            first = {} if status_of(budget) else dict.fromkeys(_REQUIRED, 0)
            self._writer.patch(
                "PodDisruptionBudget", name, {"status": {**first, **status}}, namespace=namespace, subresource="status"
            )
        return DONE
