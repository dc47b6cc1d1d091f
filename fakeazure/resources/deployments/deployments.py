"""Deployments of a resource group: a template's resources are PUT one after the other as their dependencies allow, by the cloud itself.

Templates have parameters, variables, resources (also nested ones), conditions, `dependsOn`, outputs and the functions of
`template_expressions`; copy loops and linked templates are refused in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import partial
from typing import Any

from fakeazure.arm.bodies import body_of, section, text
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.operations import Operation, no_effect
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources.deployments.deployment_template import Place, Scope, shown_type
from fakeazure.resources.deployments.template_resources import Step, steps
from fakeazure.resources.deployments.template_values import TemplateError
from fakeazure.state import State
from fakeazure.timers import timestamp
from lazyrecords import dataclass

_GROUP = "/subscriptions/{subscription}/resourceGroups/{group}"
_STATUSES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    412: "PreconditionFailed",
    429: "TooManyRequests",
    500: "InternalServerError",
    503: "ServiceUnavailable",
}
"""Names of statuses of HTTP, as .NET has them."""
_ALL = f"{_GROUP}/providers/Microsoft.Resources/deployments"
ONE = f"{_ALL}/{{name}}"
_MOST = 800
"""Deployments that a group remembers (learn.microsoft.com, "Resource group limits")."""
_PAUSE = 1.0
"""Seconds between two looks at what is still running."""


@dataclass(slots=True)
class Deployment:
    """A deployment while it runs and after."""

    id: str
    name: str
    properties: dict[str, Any]
    place: Place
    template: Mapping[str, Any]
    parameters: Mapping[str, Any]
    started: float
    """Seconds since the epoch."""
    steps: list[Step] = field(default_factory=list)
    operation: Operation | None = None

    def scope(self, state: State) -> Scope:
        """Return what the template's expressions can ask for; it is made anew from what a snapshot can hold."""
        return Scope(
            state, self.place, self.template, {name: {"value": value} for name, value in self.parameters.items()}
        )

    def document(self) -> dict[str, Any]:
        """As ARM shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "type": "Microsoft.Resources/deployments",
            "properties": self.properties,
        }


def _read(state: State, request: Request) -> Deployment:
    properties = section(body_of(request), "properties")
    template = section(properties, "template")
    if not template:
        raise refuse("InvalidTemplate", reason="only templates in the request are emulated by fakeazure, no links")
    group = state.group(request.params["subscription"], request.params["group"])
    place = Place(request.params["subscription"], group, request.params["name"])
    try:
        scope = Scope(state, place, template, section(properties, "parameters"))
        found = steps(scope, place, template.get("resources") or [])
    except TemplateError as error:
        raise refuse("InvalidTemplate", reason=str(error)) from None
    name = place.name
    shown: dict[str, Any] = {
        "provisioningState": "Accepted",
        "mode": text(properties, "mode", "Incremental").capitalize(),
        "templateHash": str(int(guid_of(repr(template)).replace("-", ""), 16))[:19],
        "parameters": {
            key: {"type": shown_type(declared, scope.parameters[key]), "value": scope.parameters[key]}
            for key, declared in section(template, "parameters").items()
        },
        "timestamp": timestamp(state.now()),
        "duration": "PT0S",
        "correlationId": guid_of(f"{group['id']}/{name}"),
        "providers": [],
        "dependencies": [],
    }
    for parameter in shown["parameters"].values():
        if parameter["type"].startswith("Secure"):
            del parameter["value"]
    id_ = f"{group['id']}/providers/Microsoft.Resources/deployments/{name}"
    return Deployment(id_, name, shown, place, template, scope.parameters, state.now(), found)


def _put(state: State, request: Request) -> Response:
    deployment = _read(state, request)
    existed = deployment.id.lower() in state.deployments
    _keep(state, deployment)
    deployment.operation = state.operations.start(
        "PUT deployments",
        subscription=request.params["subscription"],
        namespace="Microsoft.Resources",
        location=deployment.place.group["location"],
        seconds=None,
        finish=no_effect,
    )
    take_turn(state, deployment)
    status = 200 if existed else 201
    return state.operations.accepted(status, deployment.operation, request.api_version, deployment.document())


def _keep(state: State, deployment: Deployment) -> None:
    """Remember a deployment, and forget the oldest of its group that have ended where there are too many, as ARM does."""
    state.deployments.pop(deployment.id.lower(), None)
    group = f"{deployment.place.group['id']}/providers/".lower()
    others = [key for key in state.deployments if key.startswith(group)]
    for key in others[: max(0, len(others) + 1 - _MOST)]:
        del state.deployments[key]
    state.deployments[deployment.id.lower()] = deployment


def take_turn(state: State, deployment: Deployment) -> None:
    """Look at what has ended, PUT what can be PUT now, and end the deployment or look again later."""
    outputs: Mapping[str, Any] = {}
    failure: Failure | None = None
    try:
        scope = deployment.scope(state)
        failure = _go_on(state, deployment, scope)
        if failure is None and not all(step.done for step in deployment.steps):
            state.timers.after(_PAUSE, partial(take_turn, state, deployment))
            return
        if failure is None:
            outputs = scope.value(section(deployment.template, "outputs"))
    except TemplateError as error:
        failure = Failure("DeploymentOutputEvaluationFailed", f"Unable to evaluate template outputs: {error}")
    if failure is not None:
        deployment.properties |= {"provisioningState": "Failed", "error": failure.document()}
    else:
        deployment.properties |= {"provisioningState": "Succeeded", "outputs": outputs}
    deployment.properties["outputResources"] = [{"id": str(step.id)} for step in deployment.steps if step.done]
    deployment.properties["duration"] = f"PT{state.now() - deployment.started:.1f}S"
    if deployment.operation is not None:
        state.operations.end(deployment.operation, failure)


def _go_on(state: State, deployment: Deployment, scope: Scope) -> Failure | None:
    """PUT what can be PUT now. Returns why the deployment has failed, None while it has not."""
    deployment.properties["provisioningState"] = "Running"
    progress = True
    while progress:
        progress = False
        for step in deployment.steps:
            if step.status == 0 and all(deployment.steps[place].done for place in step.after):
                _send(state, step, scope)
                progress = True
    failures = [failure for step in deployment.steps if (failure := step.failed) is not None]
    if not failures:
        return None
    message = (
        "At least one resource deployment operation failed. Please list deployment operations for details. Please see "
        "https://aka.ms/arm-deployment-operations for usage details."
    )
    return Failure("DeploymentFailed", message, 409, details=tuple(failures))


def _send(state: State, step: Step, scope: Scope) -> None:
    try:
        body = scope.value(step.body)
    except TemplateError as error:
        step.status, step.failure = 400, Failure("InvalidTemplate", str(error))
        return
    answer = state.send("PUT", str(step.id), {"api-version": step.version}, body)
    step.status = answer.status
    if answer.status >= 400:
        told = (answer.body or {}).get("error", {})
        step.failure = Failure(str(told.get("code")), str(told.get("message")), answer.status, told.get("target"))
    elif url := answer.headers.get("Azure-AsyncOperation"):
        step.operation = state.operations.get(url.partition("?")[0].rpartition("/")[2])


def _found(state: State, request: Request) -> Deployment:
    group = state.group(request.params["subscription"], request.params["group"])
    found = state.deployments.get(
        f"{group['id']}/providers/Microsoft.Resources/deployments/{request.params['name']}".lower()
    )
    if not isinstance(found, Deployment):
        raise refuse("DeploymentNotFound", name=request.params["name"])
    return found


def _get(state: State, request: Request) -> Response:
    return Response(200, body=_found(state, request).document())


def _list(state: State, request: Request) -> Response:
    group = state.group(request.params["subscription"], request.params["group"])
    head = f"{group['id']}/providers/".lower()
    found = [one for key, one in state.deployments.items() if key.startswith(head) and isinstance(one, Deployment)]
    return Response(200, body={"value": [one.document() for one in found]})


def _validate(state: State, request: Request) -> Response:
    deployment = _read(state, request)
    resources = [{"id": str(step.id)} for step in deployment.steps]
    properties = {**deployment.properties, "provisioningState": "Succeeded", "validatedResources": resources}
    return Response(200, body={**deployment.document(), "properties": properties})


def _operations(state: State, request: Request) -> Response:
    found = _found(state, request)
    value = []
    for number, step in enumerate(found.steps):
        failure = step.failed
        state_ = "Failed" if failure is not None else "Succeeded" if step.done else "Running"
        properties: dict[str, Any] = {
            "provisioningOperation": "Create",
            "provisioningState": state_,
            "statusCode": "OK" if failure is None else _STATUSES.get(failure.status, str(failure.status)),
            "targetResource": {"id": str(step.id), "resourceType": step.id.type, "resourceName": step.id.name},
        }
        if failure is not None:
            properties["statusMessage"] = {"status": "Failed", "error": failure.document()}
        id_ = guid_of(f"{found.id}/{number}").replace("-", "")[:16].upper()
        value.append({"id": f"{found.id}/operations/{id_}", "operationId": id_, "properties": properties})
    return Response(200, body={"value": value})


def _delete(state: State, request: Request) -> Response:
    try:
        found = _found(state, request)
    except ArmError:
        return Response(204)
    del state.deployments[found.id.lower()]
    return Response(204)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    yield Route("PUT", ONE, _put)
    yield Route("GET", ONE, _get)
    yield Route("DELETE", ONE, _delete)
    yield Route("GET", _ALL, _list)
    yield Route("POST", f"{ONE}/validate", _validate)
    yield Route("GET", f"{ONE}/operations", _operations)
