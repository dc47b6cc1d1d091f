"""The changes of a deployment: its resources beside those that are there, property by property."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.resources.deployments.deployment_runs import Deployment
from fakeazure.resources.deployments.scope_functions import lookup
from fakeazure.resources.deployments.template_resources import body_of_step
from fakeazure.resources.deployments.template_values import TemplateError
from fakeazure.state import State

_SAME_IN_ANY_CASE = ("location", "id")


def changes(state: State, deployment: Deployment) -> list[dict[str, Any]]:
    """Return the changes in ARM's form: what would be created, modified, deleted, left as it is or ignored."""
    scope, rows, named = deployment.scope(state), list[dict[str, Any]](), set[str]()
    for step in deployment.steps:
        named.add(step.id.key)
        before = lookup(state, step.id.path)
        if step.nested:
            rows.append({"resourceId": step.id.path, "changeType": "Deploy"})
            continue
        try:
            body = body_of_step(scope, step)
        except TemplateError as error:
            rows.append({"resourceId": step.id.path, "changeType": "Unsupported", "unsupportedReason": str(error)})
            continue
        after = {"apiVersion": step.version, "id": step.id.path, "name": step.id.name, "type": step.id.type, **body}
        rows.append(_change(step.id.path, before, after, body))
    complete = deployment.properties["mode"] == "Complete"
    head = f"{deployment.place.scope}/providers/".lower()
    for entry in state.store.all() if deployment.place.group is not None else ():
        if len(entry.id.types) == 1 and entry.id.key.startswith(head) and entry.id.key not in named:
            kind = "Delete" if complete else "Ignore"
            rows.append({"resourceId": str(entry.id), "changeType": kind, "before": entry.document})
    return rows


def _change(
    id_: str, before: Mapping[str, Any] | None, after: Mapping[str, Any], body: Mapping[str, Any]
) -> dict[str, Any]:
    if before is None:
        return {"resourceId": id_, "changeType": "Create", "after": after}
    delta = list(_delta("", before, body))
    shown = {"resourceId": id_, "changeType": "Modify" if delta else "NoChange", "before": before, "after": after}
    return {**shown, "delta": delta} if delta else shown


def _delta(path: str, before: Any, after: Any) -> Iterator[dict[str, Any]]:
    """The differences in what `after` names; what Azure filled in is not one."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key, value in after.items():
            inner = f"{path}.{key}" if path else key
            if key in before:
                yield from _delta(inner, before[key], value)
            elif value not in (None, {}, []):
                yield {"path": inner, "propertyChangeType": "Create", "after": value}
        return
    if isinstance(before, list | tuple) and isinstance(after, list | tuple):
        if len(before) == len(after):
            for place, (old, new) in enumerate(zip(before, after, strict=True)):
                yield from _delta(f"{path}.{place}", old, new)
            return
    elif before == after or (
        path.rpartition(".")[2] in _SAME_IN_ANY_CASE and str(before).lower() == str(after).lower()
    ):
        return
    yield {"path": path, "propertyChangeType": "Modify", "before": before, "after": after}
