"""Validation of counts, and of amounts that may be percentages.

Source: kubernetes pkg/apis/apps/validation/validation.go (ValidatePositiveIntOrPercent, IsNotMoreThan100Percent),
pkg/apis/core/validation/validation.go (ValidateNonnegativeField).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.admission.places import Place
from harness.kube.api.amounts import percentage
from harness.kube.api.field_errors import FieldError

__all__ = ["above_all_errors", "amount_errors", "nonnegative_errors"]

_NONNEGATIVE = "must be greater than or equal to 0"
_PERCENT = (
    "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
    "regex used for validation is '[0-9]+%')"
)


def nonnegative_errors(holder: Mapping[str, Any], at: Place, *fields: str) -> Iterator[FieldError]:
    """Yield the errors of those fields that are negative numbers."""
    for field in fields:
        count = holder.get(field)
        if isinstance(count, int) and count < 0:
            yield at.child(field).invalid(count, _NONNEGATIVE)


def amount_errors(amount: int | str, at: Place) -> Iterator[FieldError]:
    """Yield the error of a negative number, or of a text that is no percentage."""
    if isinstance(amount, str):
        if percentage(amount) is None:
            yield at.invalid(amount, _PERCENT)
    elif amount < 0:
        yield at.invalid(amount, _NONNEGATIVE)


def above_all_errors(amount: int | str, at: Place) -> Iterator[FieldError]:
    """Yield the error of a percentage above 100."""
    percents = percentage(amount)
    if percents is not None and percents > 100:
        yield at.invalid(amount, "must not be greater than 100%")
