"""The eviction subresource: the PodDisruptionBudget that forbids an eviction, and the answer then.

Source: kubernetes pkg/registry/core/pod/storage/eviction.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.kube.api.objects import Object, condition_is, labels_of, metadata_of, name_of, spec_of, status_of
from harness.kube.api.selectors import Selector
from harness.kube.api.status import ApiError, too_many_requests

_VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
_SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def budgets_of(pod: Object, budgets: Sequence[Object]) -> list[Object]:
    """The PodDisruptionBudgets (of the pod's namespace) whose selector takes the pod."""
    labels = labels_of(pod)
    return [budget for budget in budgets if Selector.parse(spec_of(budget).get("selector")).matches(labels)]


def check_eviction(pod: Object, budgets: Sequence[Object]) -> Object | None:
    """The budget that this eviction uses up, if any. Raises ApiError 429 when it is spent, 500 when two match."""
    if status_of(pod).get("phase") in ("Succeeded", "Failed", "Pending") or metadata_of(pod).get("deletionTimestamp"):
        return None
    matching = budgets_of(pod, budgets)
    if len(matching) > 1:
        raise ApiError(500, "InternalError", _SEVERAL)
    if not matching:
        return None
    budget = matching[0]
    status = status_of(budget)
    healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if not condition_is(pod, "Ready"):
        policy = spec_of(budget).get("unhealthyPodEvictionPolicy") or "IfHealthyBudget"
        if policy == "AlwaysAllow" or (healthy >= desired and desired > 0):
            return None
    if status.get("observedGeneration", 0) < metadata_of(budget).get("generation", 0):
        raise _spent(f"The disruption budget {name_of(budget)} is still being processed by the server.")
    if status.get("disruptionsAllowed", 0) <= 0:
        raise _spent(
            f"The disruption budget {name_of(budget)} needs {desired} healthy pods and has {healthy} currently"
        )
    return budget


def _spent(message: str) -> ApiError:
    return too_many_requests(_VIOLATES, causes=[{"reason": "DisruptionBudget", "message": message}])
