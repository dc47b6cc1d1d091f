"""Prices of a case's own, which the real controller never hears of: it goes by the price list that it brings along."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.scenario.language.models.steps import StepMap

if TYPE_CHECKING:
    from harness.scenario.language.cases import Case

__all__ = ["OWN_PRICES", "at_azures_prices"]

OWN_PRICES = "comes to something else by Azure's own price list, which is the only one that the controller asks"
"""Why such a case is not compared."""


def at_azures_prices(case: Case) -> Case | None:
    """The case without the prices that it sets, at the beginning or in a step; None where it sets none."""
    azure = _without(case.given.azure)
    steps = [_step_without(step) if isinstance(step, StepMap) else None for step in case.header.when]
    if azure is None and not any(steps):
        return None
    given = case.given if azure is None else case.given.model_copy(update={"azure": azure})
    when = [changed or step for changed, step in zip(steps, case.header.when, strict=True)]
    return replace(case, given=given, header=case.header.model_copy(update={"when": when}))


def _step_without(step: StepMap) -> StepMap | None:
    azure = _without(step.azure)
    return None if azure is None else step.model_copy(update={"azure": azure})


def _without(azure: Any) -> Any:
    """A state of Azure without its prices, None where it has none."""
    return azure.model_copy(update={"prices": {}}) if azure is not None and azure.prices else None
