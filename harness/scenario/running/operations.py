"""Steps that people take with kubectl beside apply, delete, patch and scale: cordon, uncordon, drain, rollout."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.api.objects import name_of, namespace_of
from harness.reading.problems import Mark, Problem, ScenarioError
from harness.scenario.language.models.steps import Rollout, StepMap
from harness.scenario.running.run import Run
from harness.world.rollouts import VERBS

__all__ = ["existing", "operate"]

_ON_NODES = ("cordon", "uncordon", "drain")


def operate(run: Run, step: StepMap, mark: Mark) -> None:
    """Take the step, where it is one of these. Raises ScenarioError for missing objects, or those that kubectl would refuse."""
    for verb in _ON_NODES:
        for reference in getattr(step, verb) or ():
            for node in _nodes(run, reference, mark):
                getattr(run.world, verb)(name_of(node))
    if step.rollout is not None:
        _roll_out(run, step.rollout, mark)


def existing(run: Run, reference: str, mark: Mark) -> Mapping[str, Any]:
    """Return the object that a step names. Raises ScenarioError where there is none."""
    obj = run.find(reference)
    if obj is None:
        raise ScenarioError([Problem(mark, "when", f"there is no {reference} at this point")])
    return obj


def _nodes(run: Run, reference: str, mark: Mark) -> list[Mapping[str, Any]]:
    nodes, missing = run.nodes_of(reference)
    if not nodes:
        raise ScenarioError([Problem(mark, "when", missing)])
    return list(nodes)


def _roll_out(run: Run, rollout: Rollout, mark: Mark) -> None:
    changes = [(verb, reference) for verb in VERBS for reference in getattr(rollout, verb) or ()]
    for verb, reference in changes:
        for workload in run.matching(reference) or [existing(run, reference, mark)]:
            try:
                refused = run.world.rollout(verb, workload["kind"], name_of(workload), namespace_of(workload))
            except ValueError as error:
                raise ScenarioError([Problem(mark, "when", f"{reference}: {error}")]) from error
            run.refused(refused, reference)
