"""What a controller does when the API server refuses a write."""

from __future__ import annotations

from harness.engine.engine import DONE, ReconcileError, Result
from harness.kube.api.status import ApiError

__all__ = ["after_refusal"]


def after_refusal(error: ApiError) -> Result:
    """Returns what follows: nothing when the object is gone, another reconcile at once after a conflict.

    Raises ReconcileError for everything else.
    """
    if error.code == 404:
        return DONE
    if error.reason == "Conflict":
        return Result(0.0)
    raise ReconcileError(error.message) from error
