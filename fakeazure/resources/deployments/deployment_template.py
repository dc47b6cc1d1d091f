"""A deployment's template: where it is deployed, and its scope of parameters and variables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakeazure.arm.bodies import section, text
from fakeazure.arm.ids import ResourceId
from fakeazure.resources.deployments.template_expressions import evaluate
from fakeazure.resources.deployments.template_functions import Function
from fakeazure.resources.deployments.template_values import Budget, TemplateError, type_name
from fakeazure.state import State
from lazyrecords import dataclass

_LIMITS: Mapping[str, int] = {"parameters": 256, "variables": 512, "outputs": 64, "resources": 800}
"""Of the numbers of a template's parts (learn.microsoft.com, "Template limits")."""
_TYPES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "string": ("String", ("String",)),
    "securestring": ("SecureString", ("String",)),
    "int": ("Int", ("Integer",)),
    "bool": ("Bool", ("Boolean",)),
    "object": ("Object", ("Object",)),
    "secureobject": ("SecureObject", ("Object",)),
    "array": ("Array", ("Array",)),
}
"""Type of a parameter → as a deployment shows it, and the types of JSON that it takes."""
_EXPECTED: Mapping[str, str] = {"String": "String, Uri"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a template is deployed, and the deployment's name."""

    subscription: str
    group: Mapping[str, Any]
    """The resource group's document."""
    name: str


def check_count(part: str, actual: int) -> None:
    """Refuse a template with too many of a part."""
    if actual > _LIMITS[part]:
        raise TemplateError(
            f"The number of template {part} limit exceeded. Limit: '{_LIMITS[part]}' and actual: '{actual}'. Please see "
            f"https://aka.ms/arm-template/#{part} for usage details."
        )


def shown_type(declared: Any, value: Any) -> str:
    """The type of a parameter as a deployment shows it: the declared one, else that of its value."""
    name = text(declared, "type").lower() if isinstance(declared, Mapping) else ""
    return _TYPES[name][0] if name in _TYPES else type_name(value)


class Scope:
    """What a template's expressions can ask for. Each variable is evaluated once, and all within one budget."""

    def __init__(self, state: State, place: Place, template: Mapping[str, Any], given: Mapping[str, Any]) -> None:
        """`given` are the values of parameters. Raises TemplateError for one that is missing, or of another type than declared."""
        self._state = state
        self._place = place
        self._budget = Budget()
        self.parameters: dict[str, Any] = {}
        self._variables = section(template, "variables")
        self._evaluated: dict[str, Any] = {}
        self._evaluating: set[str] = set()
        check_count("parameters", len(section(template, "parameters")))
        check_count("variables", len(self._variables))
        check_count("outputs", len(section(template, "outputs")))
        self.functions: Mapping[str, Function] = {
            "parameters": Function("s", self._parameter),
            "variables": Function("s", self._variable),
            "resourceid": Function("s s*", self._id),
            "subscriptionresourceid": Function("s s*", self._subscription_id),
            "resourcegroup": Function("", lambda: place.group),
            "subscription": Function("", self._subscription),
            "deployment": Function("", lambda: {"name": place.name}),
            "reference": Function("s s? s?", self._reference),
        }
        for name, declared in section(template, "parameters").items():
            value = section(given, name).get("value") if name in given else None
            if value is None and isinstance(declared, Mapping) and "defaultValue" in declared:
                value = self.value(declared["defaultValue"])
            if value is None:
                raise TemplateError(f"The value for the template parameter '{name[:100]}' is not provided.")
            _check_type(declared, value)
            self.parameters[name] = value

    def value(self, part: Any) -> Any:
        """A part of the template with its expressions evaluated. Raises TemplateError."""
        return evaluate(part, self.functions, self._budget)

    def _parameter(self, name: str) -> Any:
        if name not in self.parameters:
            raise TemplateError(f"The template parameter '{name[:100]}' is not found.")
        return self.parameters[name]

    def _variable(self, name: str) -> Any:
        if name in self._evaluated:
            return self._evaluated[name]
        if name not in self._variables:
            raise TemplateError(f"The template variable '{name[:100]}' is not found.")
        if name in self._evaluating:
            raise TemplateError(f"The template variable '{name[:100]}' is not valid: it refers to itself")
        self._evaluating.add(name)
        self._evaluated[name] = self.value(self._variables[name])
        return self._evaluated[name]

    def _subscription(self) -> Mapping[str, str]:
        subscription = self._place.subscription
        tenant = self._state.settings.tenant
        return {"id": f"/subscriptions/{subscription}", "subscriptionId": subscription, "tenantId": tenant}

    def _id(self, *parts: str) -> str:
        """`resourceId([subscription, [group,]] type, name...)`."""
        above, type_, names = _split("resourceId", parts, 2)
        group = above[-1] if above else self._place.group["name"]
        subscription = above[0] if len(above) > 1 else self._place.subscription
        return str(resource_id(subscription, group, type_, "/".join(names)))

    def _subscription_id(self, *parts: str) -> str:
        """`subscriptionResourceId([subscription,] type, name...)`."""
        above, type_, names = _split("subscriptionResourceId", parts, 1)
        subscription = above[0] if above else self._place.subscription
        id_ = resource_id(subscription, "", type_, "/".join(names))
        return f"/subscriptions/{subscription}/providers/{str(id_).partition('/providers/')[2]}"

    def _reference(self, id_: str, version: str = "", full: str = "") -> Any:
        store = self._state.store
        if "/" in id_:
            entry = store.get(id_) or store.get(self._id(*id_.rsplit("/", 1)))
        else:
            self._budget.step(store.count)
            entry = next((resource for resource in store.all() if resource.id.name == id_), None)
        if entry is None:
            raise TemplateError(f"The resource '{id_[:200]}' referenced is not there.")
        return entry.document if full.lower() == "full" else entry.document["properties"]


def _split(function: str, parts: tuple[str, ...], most: int) -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """What stands before the type, the type, and the names behind it."""
    place = next((index for index, part in enumerate(parts) if "/" in part), None)
    if place is None or place > most:
        raise TemplateError(
            f"Unable to evaluate template language function '{function}': function requires fully qualified resource type as one of "
            f"its arguments. Please see https://aka.ms/arm-functions#{function.lower()} for usage details."
        )
    return parts[:place], parts[place], parts[place + 1 :]


def _check_type(declared: Any, value: Any) -> None:
    name = text(declared, "type").lower() if isinstance(declared, Mapping) else ""
    if name in _TYPES and type_name(value) not in _TYPES[name][1]:
        [expected] = _TYPES[name][1]
        raise TemplateError(
            f"Template parameter JToken type is not valid. Expected '{_EXPECTED.get(expected, expected)}'. Actual '{type_name(value)}'. "
            "Please see https://aka.ms/resource-manager-parameter-files for usage details."
        )


def resource_id(subscription: str, group: str, type_: str, name: str) -> ResourceId:
    """The id of a resource of a template: `Microsoft.Network/virtualNetworks/subnets` named `a/b`. TemplateError if they do not fit."""
    namespace, *types = type_.split("/")
    names = name.split("/")
    if not types or len(types) != len(names) or not all((namespace, *types, *names)):
        raise TemplateError(
            f"The resource '{type_[:200]}' at '{name[:200]}' has an invalid name: it must have one segment for each type."
        )
    return ResourceId(subscription, group, namespace, tuple(types), tuple(names))
