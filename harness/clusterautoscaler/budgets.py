"""PodDisruptionBudgets as the autoscaler reckons with them: what is left of each after the removals that are planned.

Source: autoscaler core/scaledown/pdb/basic.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.kube.api.objects import Object, labels_of, namespace_of, spec_of, status_of
from harness.kube.api.selectors import Selector

__all__ = ["Budgets"]


class Budgets:
    """The disruptions that each budget still allows."""

    def __init__(self, budgets: Iterable[Object]) -> None:
        self._rows = [
            (
                namespace_of(budget),
                Selector.parse(spec_of(budget).get("selector")),
                [int(status_of(budget).get("disruptionsAllowed") or 0)],
            )
            for budget in budgets
        ]

    def select(self, pod: Object) -> bool:
        """Return whether some budget selects the pod (MatchingPdbs)."""
        return any(True for _ in self._left_for(pod))

    def blocking(self, pods: Sequence[Object]) -> Object | None:
        """Return the first pod whose budget allows no disruption at all; None where all may go (CanRemovePods)."""
        return next((pod for pod in pods if any(left[0] < 1 for left in self._left_for(pod))), None)

    def allow_at_once(self, pods: Sequence[Object]) -> bool:
        """Return whether all these pods may go at the same time."""
        for namespace, selector, left in self._rows:
            count = sum(namespace_of(pod) == namespace and selector.matches(labels_of(pod)) for pod in pods)
            if count and count > left[0]:
                return False
        return True

    def remove(self, pods: Iterable[Object]) -> None:
        """Count pods as gone (RemovePods)."""
        for pod in pods:
            for left in self._left_for(pod):
                left[0] -= 1

    def _left_for(self, pod: Object) -> Iterable[list[int]]:
        namespace, labels = namespace_of(pod), labels_of(pod)
        return (left for place, selector, left in self._rows if place == namespace and selector.matches(labels))
