"""The reaction of a controller to a write that the API server refuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.engine.engine import DONE, ReconcileError, Result, Wait
from harness.kube.api.status import ApiError

__all__ = ["after_refusal", "retried_after_refusals"]


def after_refusal(error: ApiError) -> Result:
    """Return the result after a refusal: nothing when the object is gone, another reconcile at once after a conflict.

    Raises ReconcileError for everything else.
    """
    if error.code == 404:
        return DONE
    if error.reason == "Conflict":
        return Result(0.0)
    raise ReconcileError(error.message) from error


@contextmanager
def retried_after_refusals(wait: Wait = Wait.PROGRESS) -> Iterator[None]:
    """Turn a refused write into a failed reconcile, tried again after a back-off; `wait`: POLL where only another change can help."""
    try:
        yield
    except ApiError as error:
        raise ReconcileError(error.message, wait=wait) from error
