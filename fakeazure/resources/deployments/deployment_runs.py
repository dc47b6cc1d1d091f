"""Deployments that run: a template's resources are PUT as their dependencies allow, those of nested deployments within them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import partial
from typing import Any

from fakeazure.arm.api_versions import API_VERSIONS
from fakeazure.arm.bodies import section, text
from fakeazure.arm.errors import ArmError, Failure
from fakeazure.arm.operations import RUNNING, Operation, no_effect
from fakeazure.guids import guid_of
from fakeazure.resources.deployments.declared_types import check_type, shown_type
from fakeazure.resources.deployments.deployment_template import Scope, is_loops
from fakeazure.resources.deployments.scope_functions import NotYet
from fakeazure.resources.deployments.template_places import Place
from fakeazure.resources.deployments.template_resources import Copies, Step, body_of_step, steps
from fakeazure.resources.deployments.template_specs import linked, template_of
from fakeazure.resources.deployments.template_values import TemplateError
from fakeazure.state import State
from fakeazure.timers import timestamp
from lazyrecords import dataclass

_MOST = 800
"""Deployments that a group remembers (learn.microsoft.com, "Resource group limits")."""
_PAUSE = 1.0
"""Seconds between two looks at what is still running."""
_DEEPEST = 5
"""Deployments within each other."""


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
    outer: str = ""
    """Key of the deployment whose template this one's expressions belong to, empty for one of its own."""
    copies: Copies = ()
    """The loops of the outer template around it."""
    depth: int = 0

    def __post_init__(self) -> None:
        """Refuse properties without the parts that are read, which a snapshot can hold. ValueError."""
        for name in ("mode", "provisioningState"):
            if not isinstance(self.properties.get(name), str):
                raise ValueError(f"properties.{name} must be a string")

    def scope(self, state: State) -> Scope:
        """Return what the template's expressions can ask for; it is made anew from what a snapshot can hold."""
        scope = Scope(state, self.place, self.template, given(self.parameters), outer=_outer(state, self.outer))
        scope.enter(self.copies)
        return scope

    def document(self) -> dict[str, Any]:
        """Return it as ARM shows it."""
        return {
            "id": self.id,
            "name": self.name,
            "type": "Microsoft.Resources/deployments",
            **({"location": self.place.location} if self.place.group is None else {}),
            "properties": self.properties,
        }


def given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Values of parameters in the form in which a deployment is given them."""
    return {name: {"value": value} for name, value in parameters.items()}


def _outer(state: State, key: str) -> Scope | None:
    deployment = state.deployments.get(key) if key else None
    return deployment.scope(state) if isinstance(deployment, Deployment) else None


def planned(
    state: State, place: Place, properties: Mapping[str, Any], *, outer: Deployment | None = None, copies: Copies = ()
) -> Deployment:
    """Return the deployment that `properties` describe, with its steps. `outer` is the one whose scope its expressions are in.

    Raises TemplateError.
    """
    template = template_of(state, properties)
    scope = Scope(
        state,
        place,
        template,
        section(properties, "parameters"),
        outer=outer.scope(state) if outer is not None else None,
    )
    scope.enter(copies)
    planned_steps = steps(scope, template.get("resources") or [])
    declared = section(template, "parameters") if outer is None else {}
    shown: dict[str, Any] = {
        "provisioningState": "Accepted",
        "mode": text(properties, "mode", "Incremental").capitalize(),
        "templateHash": str(int(guid_of(repr(template)).replace("-", ""), 16))[:19],
        "parameters": {
            key: {"type": shown_type(declaration, scope.parameters[key]), "value": scope.parameters[key]}
            for key, declaration in declared.items()
        },
        "timestamp": timestamp(state.now()),
        "duration": "PT0S",
        "correlationId": guid_of(place.id),
        **({"templateLink": properties["templateLink"]} if properties.get("templateLink") else {}),
        "providers": _providers(planned_steps),
        "dependencies": [],
    }
    for parameter in shown["parameters"].values():
        if parameter["type"].startswith("Secure"):
            del parameter["value"]
    deployment = Deployment(place.id, place.name, shown, place, template, scope.parameters, state.now(), planned_steps)
    if outer is not None:
        deployment.outer, deployment.copies = outer.id.lower(), copies
    return deployment


def _providers(planned_steps: list[Step]) -> list[dict[str, Any]]:
    """The resource providers of a template, each with its types."""
    types: dict[str, list[str]] = {}
    for step in planned_steps:
        namespace, _, type_ = step.id.type.partition("/")
        types.setdefault(namespace, []).append(type_)
    return [
        {"namespace": name, "resourceTypes": [{"resourceType": type_} for type_ in dict.fromkeys(inner)]}
        for name, inner in types.items()
    ]


def start(state: State, deployment: Deployment) -> Operation:
    """Let a deployment begin; another one of its name is forgotten."""
    _keep(state, deployment)
    place = deployment.place
    deployment.operation = state.operations.start(
        "PUT deployments",
        subscription=place.subscription,
        namespace="Microsoft.Resources",
        location=place.location,
        seconds=None,
        finish=no_effect,
        resource=deployment.id.lower(),
    )
    take_turn(state, deployment)
    return deployment.operation


def _keep(state: State, deployment: Deployment) -> None:
    """Remember a deployment, and forget the oldest of its scope that have ended where there are too many, as ARM does."""
    state.deployments.pop(deployment.id.lower(), None)
    head = f"{deployment.place.scope}/providers/".lower()
    others = [key for key in state.deployments if key.startswith(head)]
    for key in others[: max(0, len(others) + 1 - _MOST)]:
        del state.deployments[key]
    state.deployments[deployment.id.lower()] = deployment


def take_turn(state: State, deployment: Deployment) -> None:
    """Look at what has ended, PUT what can be PUT now, and end the deployment or look again later."""
    if deployment.operation is not None and deployment.operation.status != RUNNING:
        return
    outputs: Mapping[str, Any] = {}
    failure: Failure | None = None
    try:
        scope = deployment.scope(state)
        failure = _go_on(state, deployment, scope)
        if failure is None and not all(step.done for step in deployment.steps):
            state.timers.after(_PAUSE, partial(take_turn, state, deployment))
            return
        if failure is None:
            scope.waiting = frozenset()
            outputs = _outputs(scope, section(deployment.template, "outputs"))
    except TemplateError as error:
        failure = Failure(_OUTPUTS, f"Unable to evaluate template outputs: {error}")
    except ArmError as error:
        failure = error.failure
    if failure is None and deployment.properties["mode"] == "Complete":
        _clear(state, deployment)
    if failure is not None:
        deployment.properties |= {"provisioningState": "Failed", "error": failure.document()}
    else:
        deployment.properties |= {"provisioningState": "Succeeded", "outputs": outputs}
    deployment.properties["outputResources"] = [{"id": step.id.path} for step in deployment.steps if step.done]
    deployment.properties["duration"] = f"PT{state.now() - deployment.started:.1f}S"
    if deployment.operation is not None:
        state.operations.end(deployment.operation, failure)


_OUTPUTS = "DeploymentOutputEvaluationFailed"


def _outputs(scope: Scope, declared: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outputs of a deployment that has ended.

    Raises ArmError with each that cannot be evaluated or is of another type than declared, in ARM's words (pull request 1442 of
    Azure/azure-policy; how several names are joined is a guess).
    """
    outputs: dict[str, Any] = {}
    failures: list[Failure] = []
    for name, output in declared.items():
        try:
            if not isinstance(output, Mapping) or scope.value(output.get("condition", True)) is False:
                continue
            value = _output(scope, name, output)
        except TemplateError as error:
            failures.append(Failure(_OUTPUTS, f"The template output '{name}' is not valid: {error}.", target=name))
            continue
        type_ = shown_type(output, value)
        outputs[name] = {"type": type_} if type_.startswith("Secure") else {"type": type_, "value": value}
    if failures:
        names = ",".join(str(failure.target) for failure in failures)
        words = "Please see error details and deployment operations. Please see https://aka.ms/arm-common-errors for usage details."
        message = f"Unable to evaluate template outputs: '{names}'. {words}"
        raise ArmError(Failure(_OUTPUTS, message, details=tuple(failures)))
    return outputs


def _output(scope: Scope, name: str, output: Mapping[str, Any]) -> Any:
    loop = output.get("copy")
    if isinstance(loop, Mapping) and is_loops([{"name": name, **loop}]):
        value: Any = scope.value(scope.repeated({"name": name, **loop}))
    else:
        value = scope.value(output.get("value"))
    check_type("output", output, value)
    return value


def _clear(state: State, deployment: Deployment) -> None:
    """Delete what a complete deployment does not name: that of the group which its template has not."""
    own_keys = {step.id.key for step in deployment.steps}
    head = f"{deployment.place.scope}/providers/".lower()
    for entry in tuple(state.store.all()):
        if len(entry.id.types) == 1 and entry.id.key.startswith(head) and entry.id.key not in own_keys:
            version = API_VERSIONS.get(entry.id.namespace, ("",))[-1]
            state.send("DELETE", str(entry.id), {"api-version": version}, {})


def _go_on(state: State, deployment: Deployment, scope: Scope) -> Failure | None:
    """PUT what can be PUT now. Returns why the deployment has failed, None while it has not."""
    deployment.properties["provisioningState"] = "Running"
    _learn(scope, deployment)
    progress = True
    while progress:
        progress = False
        scope.waiting = frozenset(step.id.key for step in deployment.steps if not step.done)
        for step in deployment.steps:
            if step.status == 0 and all(deployment.steps[place].done for place in step.after):
                progress = _send(state, deployment, step, scope) or progress
    failures = [failure for step in deployment.steps if (failure := step.failed) is not None]
    under_way = any(step.operation is not None and step.operation.status == RUNNING for step in deployment.steps)
    stuck = [step for step in deployment.steps if step.status == 0]
    if not failures and stuck and not under_way:
        failures = [Failure("InvalidTemplate", f"The resource '{stuck[0].id}' refers to one that waits for it.")]
    if not failures:
        return None
    message = (
        "At least one resource deployment operation failed. Please list deployment operations for details. Please see "
        "https://aka.ms/arm-deployment-operations for usage details."
    )
    return Failure("DeploymentFailed", message, 409, details=tuple(failures))


def _learn(scope: Scope, deployment: Deployment) -> None:
    """Let the scope know what symbols mean, or what the template's resources are called where it has no symbols."""
    resources = deployment.template.get("resources") or []
    if isinstance(resources, Mapping):
        steps(scope, resources)  # names and conditions are evaluated as when the deployment was planned
        return
    for step in deployment.steps:
        name = step.id.name.lower()
        scope.symbols[name] = (*scope.symbols.get(name, ()), step.id.path)


def _send(state: State, deployment: Deployment, step: Step, scope: Scope) -> bool:
    """PUT a resource. Returns False where it refers to another one that is not there yet."""
    try:
        if step.nested:
            _nest(state, deployment, step, scope)
            return True
        body = body_of_step(scope, step)
    except NotYet:
        return False
    except TemplateError as error:
        step.status, step.failure = 400, Failure("InvalidTemplate", str(error))
        return True
    except ArmError as error:
        step.status, step.failure = error.failure.status, error.failure
        return True
    answer = state.send("PUT", step.id.path, {"api-version": step.version}, body)
    step.status = answer.status
    if answer.status >= 400:
        refusal = (answer.body or {}).get("error", {})
        step.failure = Failure(
            str(refusal.get("code")), str(refusal.get("message")), answer.status, refusal.get("target")
        )
    elif url := answer.headers.get("Azure-AsyncOperation"):
        step.operation = state.operations.get(url.partition("?")[0].rpartition("/")[2])
    return True


def _nest(state: State, deployment: Deployment, step: Step, scope: Scope) -> None:
    """Start a deployment within another one: in a scope of its own, or (unless it says so) in that of the outer template."""
    if deployment.depth >= _DEEPEST:
        raise TemplateError(f"deployments are nested more than {_DEEPEST} deep")
    raw = section(step.body, "properties")
    inner = text(section(raw, "expressionEvaluationOptions"), "scope").lower() == "inner"
    other_parts = {key: value for key, value in step.body.items() if key != "properties"}
    options = {key: value for key, value in raw.items() if key != "template"}
    evaluated = body_of_step(
        scope, Step(step.id, step.version, {**other_parts, "properties": options}, (), step.copies)
    )
    template = {"template": raw["template"]} if "template" in raw else {}
    properties = linked({**evaluated["properties"], **template}, deployment.properties)
    head = step.id.path.rpartition("/providers/")[0].split("/")
    subscription, group = head[2], state.group(head[2], head[4]) if len(head) > 4 else None
    location = text(evaluated, "location") or str((group or {}).get("location") or deployment.place.location)
    place = Place(subscription, group, step.id.name, location)
    nested = planned(state, place, properties, outer=None if inner else deployment, copies=step.copies)
    nested.depth = deployment.depth + 1
    step.status, step.operation = 201, start(state, nested)
