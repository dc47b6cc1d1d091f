"""A deployment's template: its scope of parameters and variables, and the resources in it as steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from fakeazure.arm.bodies import items, section, text
from fakeazure.arm.errors import Failure
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.messages import Request
from fakeazure.arm.operations import RUNNING, Operation
from fakeazure.resources.deployments.template_expressions import TemplateError, evaluate
from fakeazure.state import State
from lazyrecords import dataclass


@dataclass(slots=True)
class Step:
    """One resource of a template. `operation` is what its PUT started."""

    id: ResourceId
    version: str
    body: Mapping[str, Any]
    after: tuple[str, ...]
    status: int = 0
    operation: Operation | None = None
    failure: Failure | None = None

    @property
    def done(self) -> bool:
        """Whether it is there."""
        return self.status > 0 and (self.operation is None or self.operation.status != RUNNING)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a template is deployed, and the deployment's name."""

    subscription: str
    group: Mapping[str, Any]
    """The resource group's document."""
    name: str


class Scope:
    """What a template's expressions can ask for."""

    def __init__(self, state: State, place: Place, template: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        """`given` are the values of parameters. Raises TemplateError for one that is missing."""
        self._state = state
        self._subscription = place.subscription
        self._group = place.group
        self._name = place.name
        self.parameters: dict[str, Any] = {}
        self._variables = section(template, "variables")
        self.functions: dict[str, Callable[..., Any]] = {
            "parameters": self._parameter,
            "variables": self._variable,
            "resourceId": self._id,
            "subscriptionResourceId": lambda type_, name: (
                f"/subscriptions/{self._subscription}/providers/{type_}/{name}"
            ),
            "resourceGroup": lambda: self._group,
            "subscription": lambda: {
                "id": f"/subscriptions/{self._subscription}",
                "subscriptionId": self._subscription,
                "tenantId": state.settings.tenant,
            },
            "deployment": lambda: {"name": self._name},
            "reference": self._reference,
        }
        for name, declared in section(template, "parameters").items():
            value = section(given, name).get("value") if name in given else None
            if value is None and isinstance(declared, Mapping) and "defaultValue" in declared:
                value = evaluate(declared["defaultValue"], self.functions)
            if value is None:
                raise TemplateError(f"The value for the template parameter '{name}' is not provided.")
            self.parameters[name] = value

    def _parameter(self, name: str) -> Any:
        if name not in self.parameters:
            raise TemplateError(f"The template parameter '{name}' is not found.")
        return self.parameters[name]

    def _variable(self, name: str) -> Any:
        if name not in self._variables:
            raise TemplateError(f"The template variable '{name}' is not found.")
        return evaluate(self._variables[name], self.functions)

    def _id(self, *parts: str) -> str:
        """`resourceId([subscription, [group,]] type, name...)`."""
        place = next(index for index, part in enumerate(parts) if "/" in part)
        above, type_, names = parts[:place], parts[place], parts[place + 1 :]
        group = above[-1] if above else self._group["name"]
        subscription = above[0] if len(above) > 1 else self._subscription
        return str(resource_id(subscription, group, type_, "/".join(names)))

    def _reference(self, id_: str, version: str = "", full: str = "") -> Any:
        if "/" not in id_:
            entry = next((one for one in self._state.store.all() if one.id.name == id_), None)
        else:
            entry = self._state.store.get(id_) or self._state.store.get(self._id(*id_.rsplit("/", 1)))
        if entry is None:
            raise TemplateError(f"The resource '{id_}' referenced is not there.")
        return entry.document if full.lower() == "full" else entry.document["properties"]


def resource_id(subscription: str, group: str, type_: str, name: str) -> ResourceId:
    """The id of a resource of a template: `Microsoft.Network/virtualNetworks/subnets` named `a/b`. TemplateError if they do not fit."""
    namespace, *types = type_.split("/")
    names = name.split("/")
    if not types or len(types) != len(names) or not all(names):
        raise TemplateError(
            f"The resource '{type_}' at '{name}' has an invalid name: it must have one segment for each type."
        )
    return ResourceId(subscription, group, namespace, tuple(types), tuple(names))


_FIELDS = ("location", "tags", "properties", "sku", "identity", "zones", "kind", "extendedLocation")


def steps(scope: Scope, request: Request, resources: Any, above: tuple[str, str] = ("", "")) -> Iterator[Step]:
    """The resources of a template, those nested in others behind them."""
    if isinstance(resources, Mapping):
        resources = list(resources.values())
    for item in items({"resources": resources}, "resources"):
        if "copy" in item:
            raise TemplateError("copy loops are not emulated by fakeazure")
        if evaluate(item.get("condition", True), scope.functions) is not True:
            continue
        type_, name = text(item, "type"), str(evaluate(item.get("name"), scope.functions))
        if type_.lower() == "microsoft.resources/deployments":
            raise TemplateError("nested and linked templates are not emulated by fakeazure")
        if above[0]:
            type_, name = f"{above[0]}/{type_}", f"{above[1]}/{name}"
        group = str(evaluate(item.get("resourceGroup") or request.params["group"], scope.functions))
        id_ = resource_id(request.params["subscription"], group, type_, name)
        body = {key: item[key] for key in _FIELDS if item.get(key) is not None}
        after = [str(one).lower() for one in evaluate(item.get("dependsOn") or [], scope.functions)]
        if id_.parent is not None:
            after.append(id_.parent.key)
        yield Step(id_, str(evaluate(item.get("apiVersion") or "", scope.functions)), body, tuple(after))
        yield from steps(scope, request, item.get("resources") or [], (type_, name))


def names(after: str, step: Step) -> bool:
    """Whether a `dependsOn` (an id, `type/name`, or a name) means a step."""
    key = step.id.key
    interleaved = key.partition("/providers/")[2]
    plain = f"{step.id.type}/{'/'.join(step.id.names)}".lower()
    return after == key or after in (interleaved, plain, step.id.name.lower())
