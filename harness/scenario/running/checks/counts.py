"""Expected numbers: a number, or conditions on one."""

from __future__ import annotations

from harness.scenario.language.models.base import Model
from harness.scenario.running.matching import Difference, differences

__all__ = ["count_differences", "wants_none"]


def count_differences(wanted: int | float | Model, actual: float, path: str = "") -> list[Difference]:
    """Return the differences of a number from the expected one."""
    return differences(wanted, actual, path)


def wants_none(wanted: int | float | Model | None) -> bool:
    """Return whether a count says that there must be none."""
    return wanted == 0 and not isinstance(wanted, Model)
