"""Prices that a case sets in a step: the real controller reads the price list at its start, and 12 hours later."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.scenario.language.models.steps import StepMap

if TYPE_CHECKING:
    from harness.scenario.language.cases import Case

__all__ = ["OWN_PRICES", "without_steps_prices"]

OWN_PRICES = "comes to something else without the prices that a step sets, of which the controller hears 12 hours later"
"""The reason why such a case is not compared."""


def without_steps_prices(case: Case) -> Case | None:
    """Return the case without the prices that it sets in steps; None where it sets none."""
    steps = [_step_without(step) if isinstance(step, StepMap) else None for step in case.header.when]
    if not any(steps):
        return None
    when = [changed or step for changed, step in zip(steps, case.header.when, strict=True)]
    return replace(case, header=case.header.model_copy(update={"when": when}))


def _step_without(step: StepMap) -> StepMap | None:
    azure = _without(step.azure)
    return None if azure is None else step.model_copy(update={"azure": azure})


def _without(azure: Any) -> Any:
    """Return a state of Azure without its prices, None where it has none."""
    return azure.model_copy(update={"prices": {}}) if azure is not None and azure.prices else None
