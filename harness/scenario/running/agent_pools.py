"""Agent pools of a case: those that it is given, and the step `agentPool`."""

from __future__ import annotations

from typing import Any

from harness.reading.problems import Mark, Problem, ScenarioError
from harness.scenario.language.models.agent_pools import AgentPool, AgentPoolStep
from harness.scenario.running.run import Run

__all__ = ["add_agent_pools", "change_agent_pool", "pool_properties"]


def add_agent_pools(run: Run) -> None:
    """Make the pools of `given`. Raise ScenarioError with AKS's message for each that it refuses."""
    problems: list[Problem] = []
    for index, pool in enumerate(run.case.given.agent_pools):
        try:
            run.world.add_agent_pool(pool.name, pool_properties(pool))
        except ValueError as error:
            problems.append(Problem(run.case.given_mark("agentPools", index), f"given.agentPools[{index}]", str(error)))
    if problems:
        raise ScenarioError(problems)


def change_agent_pool(run: Run, step: AgentPoolStep, mark: Mark) -> None:
    """Take the step. Raise ScenarioError where there is no such pool, or AKS refuses."""
    try:
        if step.count is not None:
            run.world.scale_agent_pool(step.name, step.count)
        elif step.delete is not None:
            run.world.delete_agent_pool(step.name)
        else:
            run.world.taint_agent_pool(step.name, step.taint or ())
    except (LookupError, ValueError) as error:
        raise ScenarioError([Problem(mark, "when", str(error.args[0]))]) from error


def pool_properties(pool: AgentPool) -> dict[str, Any]:
    """Return a pool's properties by AKS's names, only those that the file has."""
    fields = type(pool).model_fields
    values = {
        field.alias or name: getattr(pool, name) for name, field in fields.items() if name in pool.model_fields_set
    }
    return {name: value for name, value in values.items() if name != "name"}
