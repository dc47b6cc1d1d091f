"""The resources of a template as steps, each with the steps that it waits for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fakeazure.arm.bodies import items, text
from fakeazure.arm.errors import Failure
from fakeazure.arm.ids import ResourceId
from fakeazure.arm.operations import CANCELED, SUCCEEDED, Operation
from fakeazure.arm.texts import failure
from fakeazure.resources.deployments.deployment_template import Place, Scope, check_count, resource_id
from fakeazure.resources.deployments.template_values import TemplateError, type_name
from lazyrecords import dataclass

_FIELDS = ("location", "tags", "properties", "sku", "identity", "zones", "kind", "extendedLocation")


@dataclass(slots=True)
class Step:
    """One resource of a template. `after` are the places of the steps that it waits for; `operation` is what its PUT started."""

    id: ResourceId
    version: str
    body: Mapping[str, Any]
    after: tuple[int, ...] = ()
    status: int = 0
    operation: Operation | None = None
    failure: Failure | None = None

    @property
    def done(self) -> bool:
        """Whether it is there."""
        return (
            self.status > 0 and self.failed is None and (self.operation is None or self.operation.status == SUCCEEDED)
        )

    @property
    def failed(self) -> Failure | None:
        """Why it is not there and never will be: what its PUT was answered, or its operation ended in."""
        if self.failure is not None or self.operation is None:
            return self.failure
        return failure("OperationPreempted") if self.operation.status == CANCELED else self.operation.failure


@dataclass(frozen=True, slots=True)
class _Declared:
    """One resource as the template has it, its expressions evaluated but for its body's."""

    id: ResourceId
    symbol: str
    version: str
    body: Mapping[str, Any]
    after: tuple[str, ...]
    wanted: bool
    """What its condition says."""


def steps(scope: Scope, place: Place, resources: Any) -> list[Step]:
    """Return the steps of a template's resources, those nested in others behind them. Raises TemplateError for what cannot be deployed:
    names and conditions of wrong types, what depends on something that is not there, or on itself."""
    declared: list[_Declared] = []
    for resource in _declared(scope, place, resources, ("", "")):
        declared.append(resource)
        check_count("resources", len(declared))
    wanted = [resource for resource in declared if resource.wanted]
    places: dict[str, int] = {}
    for number, resource in enumerate(wanted):
        if resource.id.key in places:
            raise TemplateError(
                f"The resource '{_shown(resource.id)}' is defined multiple times in a template. Please see "
                "https://aka.ms/arm-syntax-resources for usage details."
            )
        places |= dict.fromkeys(_aliases(resource), number)
    known = {alias for resource in declared for alias in _aliases(resource)}
    found = [
        Step(resource.id, resource.version, resource.body, _places(resource, places, known)) for resource in wanted
    ]
    _check_circles(found)
    return found


def _declared(scope: Scope, place: Place, resources: Any, above: tuple[str, str]) -> Iterator[_Declared]:
    symbols = list(resources) if isinstance(resources, Mapping) else None
    for index, item in enumerate(items({"resources": list(resources.values()) if symbols else resources}, "resources")):
        if "copy" in item:
            raise TemplateError("copy loops are not emulated by fakeazure")
        type_, name = text(item, "type"), _text(scope, item, "name")
        if type_.lower() == "microsoft.resources/deployments":
            raise TemplateError("nested and linked templates are not emulated by fakeazure")
        if above[0]:
            type_, name = f"{above[0]}/{type_}", f"{above[1]}/{name}"
        group = _text(scope, item, "resourceGroup") or str(place.group["name"])
        yield _Declared(
            resource_id(place.subscription, group, type_, name),
            symbols[index].lower() if symbols else "",
            _text(scope, item, "apiVersion"),
            {key: item[key] for key in _FIELDS if item.get(key) is not None},
            _after(scope, item),
            _condition(scope, item),
        )
        yield from _declared(scope, place, item.get("resources") or [], (type_, name))


def _text(scope: Scope, item: Mapping[str, Any], name: str) -> str:
    value = scope.value(item.get(name))
    if value is None:
        return ""
    if type_name(value) not in ("String", "Integer"):
        raise _wrong(item, name, "String", value)
    return str(value)


def _condition(scope: Scope, item: Mapping[str, Any]) -> bool:
    value = scope.value(item.get("condition", True))
    if not isinstance(value, bool):
        raise _wrong(item, "condition", "Boolean", value)
    return value


def _after(scope: Scope, item: Mapping[str, Any]) -> tuple[str, ...]:
    values = scope.value(item.get("dependsOn"))
    if values is None:
        return ()
    if not isinstance(values, list | tuple):
        raise _wrong(item, "dependsOn", "Array", values)
    for value in values:
        if not isinstance(value, str):
            raise _wrong(item, "dependsOn", "String", value)
    return tuple(value.lower() for value in values)


def _wrong(item: Mapping[str, Any], name: str, expected: str, value: Any) -> TemplateError:
    type_ = str(item.get("type"))[:200]
    return TemplateError(
        f"The template resource of type '{type_}' is not valid: the value of '{name}' is of type '{type_name(value)}', expected "
        f"'{expected}'. Please see https://aka.ms/arm-syntax-resources for usage details."
    )


def _shown(id_: ResourceId) -> str:
    return f"{id_.type}/{'/'.join(id_.names)}"


def _aliases(resource: _Declared) -> tuple[str, ...]:
    """What a `dependsOn` may call a resource: its id, `type/name` written in either way, its name, its symbolic name."""
    id_ = resource.id
    names = (id_.key, id_.key.partition("/providers/")[2], _shown(id_).lower(), "/".join(id_.names).lower())
    return (*names, id_.name.lower(), resource.symbol)


def _places(resource: _Declared, places: Mapping[str, int], known: set[str]) -> tuple[int, ...]:
    for name in resource.after:
        if name not in known:
            raise TemplateError(
                f"The resource '{name[:300]}' is not defined in the template. Please see https://aka.ms/arm-template for usage details."
            )
    parent = resource.id.parent
    after = [*resource.after, *([parent.key] if parent is not None else [])]
    return tuple(dict.fromkeys(places[name] for name in after if name in places))


def _check_circles(found: Sequence[Step]) -> None:
    """Refuse steps that wait for each other."""
    waiting = [len(step.after) for step in found]
    followers: list[list[int]] = [[] for _ in found]
    for number, step in enumerate(found):
        for before in step.after:
            followers[before].append(number)
    free = deque(number for number, count in enumerate(waiting) if not count)
    while free:
        for follower in followers[free.popleft()]:
            waiting[follower] -= 1
            if not waiting[follower]:
                free.append(follower)
    circle = next((step for step, count in zip(found, waiting, strict=True) if count), None)
    if circle is not None:
        raise TemplateError(
            f"Circular dependency detected on resource: '{circle.id}'. Please see https://aka.ms/arm-syntax-resources for usage details."
        )
