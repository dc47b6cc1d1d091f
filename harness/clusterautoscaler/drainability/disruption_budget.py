"""A pod stays whose PodDisruptionBudget allows no disruption.

Source: autoscaler simulator/drainability/rules/pdb/rule.go.
"""

from __future__ import annotations

from harness.clusterautoscaler.drainability.outcomes import Context, Outcome, Reason, Status
from harness.kube.api.objects import Object, name_of, namespace_of

__all__ = ["disruption_budget"]


def disruption_budget(pod: Object, context: Context) -> Status | None:
    """Keep a pod that may not be evicted now."""
    if context.budgets.blocking((pod,)) is None:
        return None
    text = f"not enough pod disruption budget to move {namespace_of(pod)}/{name_of(pod)}"
    return Status(Outcome.BLOCKED, Reason.NOT_ENOUGH_PDB, text)
