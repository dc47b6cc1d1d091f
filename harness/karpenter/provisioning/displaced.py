"""Pods of nodes that are going away which are not worth a new node now: protected, or blocked for good by a budget.

Source: core pkg/utils/pdb/pdb.go (IsCurrentlyReschedulable), pkg/utils/pod/scheduling.go (IsDisruptable).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.karpenter.lifecycle.drain import do_not_disrupt, is_evictable
from harness.kube.objects import Object, condition, labels_of, name_of, namespace_of, spec_of
from harness.kube.pods import is_active
from harness.kube.selectors import Selector


def unmovable(pods: Iterable[Object], budgets: Sequence[Object], now: int) -> frozenset[str]:
    """The pods (`namespace/name`) that a drain cannot move now. `now` is in nanoseconds since the start."""
    parsed = [(budget, Selector.parse(spec_of(budget).get("selector"))) for budget in budgets]
    return frozenset(
        f"{namespace_of(pod)}/{name_of(pod)}"
        for pod in pods
        if (is_active(pod) and do_not_disrupt(pod, now)) or _blocked(pod, parsed, now)
    )


def _blocked(pod: Object, budgets: Sequence[tuple[Object, Selector]], now: int) -> bool:
    if not budgets or not is_evictable(pod, now):
        return False
    matching = [
        budget
        for budget, selector in budgets
        if namespace_of(budget) == namespace_of(pod) and selector.matches(labels_of(pod))
    ]
    if len(matching) > 1:
        return True
    for budget in matching:
        spec = spec_of(budget)
        ready = condition(pod, "Ready")
        if spec.get("unhealthyPodEvictionPolicy") == "AlwaysAllow" and ready is not None and ready["status"] == "False":
            return False
        if _never_allows(spec):
            return True
    return False


def _never_allows(spec: Mapping[str, Any]) -> bool:
    """Whether a budget allows no disruption whatever the number of pods."""
    return spec.get("maxUnavailable") in (0, "0%") or spec.get("minAvailable") == "100%"
