"""ARM templates as resources: their expressions are evaluated as Azure Resource Manager does it, nothing is deployed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from fakeazure.cloud import FakeAzure
from fakeazure.resources.deployments.deployment_runs import Deployment, planned
from fakeazure.resources.deployments.template_places import Place
from fakeazure.resources.deployments.template_resources import body_of_step
from fakeazure.resources.deployments.template_values import TemplateError
from fakeazure.state import State

__all__ = ["TemplateError", "template_resources"]

_DEEPEST = 5
"""Deployments within each other (learn.microsoft.com, "Template limits")."""


def template_resources(
    template: Mapping[str, Any], parameters: Mapping[str, Any]
) -> list[tuple[str, str, Mapping[str, Any]]]:
    """Return type, name and body of each resource of a template, those of nested deployments too.

    `parameters` are as a parameter file has them. Raises TemplateError for a template that Azure would refuse.
    """
    state = FakeAzure().state
    group = next(iter(state.groups.values()))
    place = Place(state.settings.subscription, group, "migrate", str(group["location"]))
    deployment = planned(state, place, {"template": template, "parameters": parameters})
    return list(_resources(state, deployment, 0))


def _resources(state: State, deployment: Deployment, depth: int) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    state.deployments[deployment.id.lower()] = deployment  # where nested ones look for whom their expressions belong to
    scope = deployment.scope(state)
    for step in deployment.steps:
        body = body_of_step(scope, step) if not step.nested else dict(step.body)
        if not step.nested:
            yield step.id.type, "/".join(step.id.names), body
        elif depth < _DEEPEST:
            inner = (body.get("properties") or {}).get("expressionEvaluationOptions") or {}
            apart = str(inner.get("scope", "")).lower() == "inner"
            properties = dict(body.get("properties") or {})
            if apart:
                properties["parameters"] = scope.value(properties.get("parameters") or {})
            place = replace(deployment.place, name=f"{deployment.place.name}-{depth + 1}")
            nested = planned(state, place, properties, outer=None if apart else deployment, copies=step.copies)
            yield from _resources(state, nested, depth + 1)
