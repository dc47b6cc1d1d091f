"""Deployments of templates at a resource group or a subscription: put, read, validated, compared (what-if), exported, cancelled.

Templates have parameters, variables, functions of their own, copy loops, resources (also nested, symbolic and existing ones), conditions,
`dependsOn`, nested deployments and outputs. What a `templateLink` points at is not fetched.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from fakeazure.arm.bodies import body_of, section, text
from fakeazure.arm.errors import ArmError
from fakeazure.arm.lists import largest_page, wanted_by
from fakeazure.arm.messages import Request, Response
from fakeazure.arm.operations import RUNNING, no_effect
from fakeazure.arm.routes import Route
from fakeazure.arm.texts import refuse
from fakeazure.guids import guid_of
from fakeazure.resources.deployments import what_if
from fakeazure.resources.deployments.deployment_runs import Deployment, planned, start
from fakeazure.resources.deployments.template_places import Place
from fakeazure.resources.deployments.template_values import TemplateError
from fakeazure.state import State
from fakeazure.timers import timestamp

_SUBSCRIPTION = "/subscriptions/{subscription}"
_GROUP = f"{_SUBSCRIPTION}/resourceGroups/{{group}}"
_SCOPES = (_GROUP, _SUBSCRIPTION)
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
_OF_DEPLOYMENTS: Mapping[str, bool] = MappingProxyType({"provisioningState": True})
"""The fields of a filter on deployments (azure-rest-api-specs, Deployments_ListByResourceGroup)."""
_WEEK = 7 * 86400.0
"""Seconds after which ARM gives a deployment up."""


def _place(state: State, request: Request) -> Place:
    """Return the place to which a request deploys; the record of a deployment at a subscription has a location of its own."""
    subscription, name = request.params["subscription"], request.params["name"]
    if "group" in request.params:
        group = state.group(subscription, request.params["group"])
        return Place(subscription, group, name, str(group["location"]))
    location = state.location_of(request.body, "deployments") if isinstance(request.body, Mapping) else ""
    return Place(subscription, None, name, location or state.settings.location)


def _scope(state: State, request: Request) -> str:
    subscription = request.params["subscription"]
    if "group" not in request.params:
        return f"/subscriptions/{subscription}"
    return str(state.group(subscription, request.params["group"])["id"])


def _read(state: State, request: Request) -> Deployment:
    properties = section(body_of(request), "properties")
    if text(properties, "mode", "Incremental").lower() not in ("incremental", "complete"):
        raise refuse("InvalidRequestContent", target="mode", reason="'mode' must be Incremental or Complete.")
    try:
        return planned(state, _place(state, request), properties)
    except TemplateError as error:
        raise refuse("InvalidTemplate", reason=str(error)) from None


def _put(state: State, request: Request) -> Response:
    old = state.deployments.get(_place(state, request).id.lower())
    if isinstance(old, Deployment) and old.operation is not None and old.operation.status == RUNNING:
        raise refuse(
            "DeploymentActive", name=old.name, started=timestamp(old.started), end=timestamp(old.started + _WEEK)
        )
    deployment = _read(state, request)
    operation = start(state, deployment)
    return state.operations.accepted(
        200 if old is not None else 201, operation, request.api_version, deployment.document()
    )


def _found(state: State, request: Request) -> Deployment:
    deployment = state.deployments.get(
        f"{_scope(state, request)}/providers/Microsoft.Resources/deployments/{request.params['name']}".lower()
    )
    if not isinstance(deployment, Deployment):
        raise refuse("DeploymentNotFound", name=request.params["name"])
    return deployment


def _get(state: State, request: Request) -> Response:
    return Response(200, body=_found(state, request).document())


def _list(state: State, request: Request) -> Response:
    head = f"{_scope(state, request)}/providers/".lower()
    wanted, most = wanted_by(request, _OF_DEPLOYMENTS), largest_page(request)
    documents = [
        deployment.document()
        for key, deployment in state.deployments.items()
        if key.startswith(head) and isinstance(deployment, Deployment)
    ]
    return Response(200, body={"value": [document for document in documents if wanted(document["properties"])][:most]})


def _validate(state: State, request: Request) -> Response:
    deployment = _read(state, request)
    resources = [{"id": step.id.path} for step in deployment.steps]
    properties = {**deployment.properties, "provisioningState": "Succeeded", "validatedResources": resources}
    return Response(200, body={**deployment.document(), "properties": properties})


def _what_if(state: State, request: Request) -> Response:
    deployment = _read(state, request)
    operation = state.operations.start(
        "POST whatIf",
        subscription=request.params["subscription"],
        namespace="Microsoft.Resources",
        location=deployment.place.location,
        seconds=0,
        finish=no_effect,
    )
    changes = what_if.changes(state, deployment)
    operation.result = {
        "status": "Succeeded",
        "properties": {"correlationId": guid_of(deployment.id), "changes": changes},
    }
    return state.operations.accepted(202, operation, request.api_version)


def _cancel(state: State, request: Request) -> Response:
    deployment = _found(state, request)
    if deployment.operation is None or deployment.operation.status != RUNNING:
        raise refuse("CannotCancelDeployment", name=deployment.name, state=deployment.properties["provisioningState"])
    for step in deployment.steps:
        if step.nested and step.operation is not None:
            state.operations.cancel(step.operation)
    state.operations.cancel(deployment.operation)
    deployment.properties["provisioningState"] = "Canceled"
    return Response(204)


def _export(state: State, request: Request) -> Response:
    return Response(200, body={"template": _found(state, request).template})


def _operation_items(deployment: Deployment) -> Iterator[dict[str, Any]]:
    for number, step in enumerate(deployment.steps):
        failure = step.failed
        state_ = "Failed" if failure is not None else "Succeeded" if step.done else "Running"
        properties: dict[str, Any] = {
            "provisioningOperation": "Create",
            "provisioningState": state_,
            "statusCode": "OK" if failure is None else _STATUSES.get(failure.status, str(failure.status)),
            "targetResource": {"id": step.id.path, "resourceType": step.id.type, "resourceName": step.id.name},
        }
        if failure is not None:
            properties["statusMessage"] = {"status": "Failed", "error": failure.document()}
        id_ = guid_of(f"{deployment.id}/{number}").replace("-", "")[:16].upper()
        yield {"id": f"{deployment.id}/operations/{id_}", "operationId": id_, "properties": properties}


def _operations(state: State, request: Request) -> Response:
    return Response(200, body={"value": list(_operation_items(_found(state, request)))[: largest_page(request)]})


def _operation(state: State, request: Request) -> Response:
    for item in _operation_items(_found(state, request)):
        if item["operationId"].lower() == request.params["operation"].lower():
            return Response(200, body=item)
    raise refuse("NotFound", id=request.path)


def _delete(state: State, request: Request) -> Response:
    try:
        deployment = _found(state, request)
    except ArmError:
        return Response(204)
    del state.deployments[deployment.id.lower()]
    return Response(204)


def routes() -> Iterator[Route[State]]:
    """The rows of the routing table."""
    for scope in _SCOPES:
        all_ = f"{scope}/providers/Microsoft.Resources/deployments"
        single = f"{all_}/{{name}}"
        yield Route("PUT", single, _put)
        yield Route("GET", single, _get)
        yield Route("DELETE", single, _delete)
        yield Route("GET", all_, _list)
        yield Route("POST", f"{single}/validate", _validate)
        yield Route("POST", f"{single}/whatIf", _what_if)
        yield Route("POST", f"{single}/cancel", _cancel)
        yield Route("POST", f"{single}/exportTemplate", _export)
        for path in (single, f"{scope}/deployments/{{name}}"):  # SDKs ask for operations without the provider
            yield Route("GET", f"{path}/operations", _operations)
            yield Route("GET", f"{path}/operations/{{operation}}", _operation)
