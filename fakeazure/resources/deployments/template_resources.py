"""The resources of a template as steps, each with the steps that it waits for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from fakeazure.arm.bodies import items, text
from fakeazure.arm.errors import Failure
from fakeazure.arm.operations import CANCELED, SUCCEEDED, Operation
from fakeazure.arm.real_namespaces import not_emulated
from fakeazure.arm.texts import failure
from fakeazure.resources.deployments.deployment_template import Scope, check_count
from fakeazure.resources.deployments.template_places import GROUPS, Target, target
from fakeazure.resources.deployments.template_values import TemplateError, type_name
from lazyrecords import dataclass

_FIELDS = (
    "location",
    "tags",
    "properties",
    "sku",
    "identity",
    "zones",
    "kind",
    "extendedLocation",
    "plan",
    "managedBy",
)
NESTED = "microsoft.resources/deployments"
Copies = tuple[tuple[str, int], ...]
"""The copy loops around a resource, outermost first, with the round of each."""


@dataclass(slots=True)
class Step:
    """One resource of a template. `after` are the places of the steps that it waits for; `operation` is what its PUT started."""

    id: Target
    version: str
    body: Mapping[str, Any]
    after: tuple[int, ...] = ()
    copies: Copies = ()
    status: int = 0
    operation: Operation | None = None
    failure: Failure | None = None

    @property
    def nested(self) -> bool:
        """Tell whether it is a deployment itself."""
        return self.id.type.lower() == NESTED

    @property
    def done(self) -> bool:
        """Return whether it is there."""
        return (
            self.status > 0 and self.failed is None and (self.operation is None or self.operation.status == SUCCEEDED)
        )

    @property
    def failed(self) -> Failure | None:
        """Return the reason why it is not there and never will be: the answer to its PUT, or the end of its operation."""
        if self.failure is not None or self.operation is None:
            return self.failure
        return failure("OperationPreempted") if self.operation.status == CANCELED else self.operation.failure


@dataclass(frozen=True, slots=True)
class _Declared:
    """One resource as the template has it, its expressions evaluated but for its body's. `names` are what else `dependsOn` may call it."""

    id: Target
    names: tuple[str, ...]
    version: str
    body: Mapping[str, Any]
    after: tuple[str, ...]
    wanted: bool
    """The value of its condition."""
    copies: Copies


def steps(scope: Scope, resources: Any) -> list[Step]:
    """Return the steps of a template's resources, those nested in others behind them; the scope then knows their symbols.

    Raises TemplateError for what cannot be deployed: names and conditions of wrong types, what depends on something that is not there, or
    on itself.
    """
    declared: list[_Declared] = []
    symbolic = isinstance(resources, Mapping)
    loops: set[str] = set()
    for resource in _declared(scope, resources, ("", ""), loops):
        declared.append(resource)
        check_count("resources", len(declared))
    scope.symbols = _symbols(declared)
    wanted = [resource for resource in declared if resource.wanted]
    places: dict[str, list[int]] = {}
    for number, resource in enumerate(wanted):
        if resource.id.key in places:
            raise TemplateError(
                f"The resource '{resource.id.type}/{'/'.join(resource.id.names)}' is defined multiple times in a template. Please see "
                "https://aka.ms/arm-syntax-resources for usage details."
            )
        for alias in dict.fromkeys(_aliases(resource, symbolic)):
            places.setdefault(alias, []).append(number)
    names = {alias for resource in declared for alias in _aliases(resource, symbolic)} | loops
    ordered = [
        Step(resource.id, resource.version, resource.body, _places(resource, places, names), resource.copies)
        for resource in wanted
    ]
    _check_circles(ordered)
    return ordered


def _symbols(declared: Sequence[_Declared]) -> dict[str, tuple[str, ...]]:
    ids_by_symbol: dict[str, tuple[str, ...]] = {}
    for resource in declared:
        for name in dict.fromkeys(resource.names):
            ids_by_symbol[name] = (*ids_by_symbol.get(name, ()), resource.id.path)
    return ids_by_symbol


def _declared(scope: Scope, resources: Any, above: tuple[str, str], loops: set[str]) -> Iterator[_Declared]:
    symbols = list(resources) if isinstance(resources, Mapping) else None
    for index, item in enumerate(items({"resources": list(resources.values()) if symbols else resources}, "resources")):
        symbol = symbols[index].lower() if symbols else ""
        loop = item.get("copy")
        if loop is None:
            yield from _one(scope, item, above, ((symbol,), ()), loops)
            continue
        if not isinstance(loop, Mapping):
            raise _wrong(item, "copy", "Object", loop)
        name = text(loop, "name", symbol).lower()
        loops |= {name, symbol}
        batch = 1 if text(loop, "mode").lower() == "serial" else 0
        batch = scope.value(loop.get("batchSize", batch)) if batch else 0
        for round_ in range(scope.count(loop)):
            before = range((round_ // batch - 1) * batch, round_ // batch * batch) if batch and round_ >= batch else ()
            names = (name, symbol, f"{name}[{round_}]", f"{symbol}[{round_}]")
            with scope.copy(name, round_):
                yield from _one(scope, item, above, (names, tuple(f"{name}[{number}]" for number in before)), loops)


def _one(
    scope: Scope,
    item: Mapping[str, Any],
    above: tuple[str, str],
    called: tuple[tuple[str, ...], tuple[str, ...]],
    loops: set[str],
) -> Iterator[_Declared]:
    """A resource and what is declared within it. `called` are its other names, and what it waits for beside its `dependsOn`."""
    if extension := text(item, "import") or text(item, "extension"):
        raise not_emulated(scope.base_url, f"Bicep's extension '{extension[:100]}'")
    type_, name = text(item, "type").rstrip("/"), _text(scope, item, "name")
    if above[0]:
        type_, name = f"{above[0]}/{type_}", f"{above[1]}/{name}"
    there = item.get("existing") is True
    yield _Declared(
        target(_scope_of(scope, item), type_, name),
        tuple(name for name in called[0] if name and not name.startswith("[")),
        _text(scope, item, "apiVersion") or scope.version_of(type_),
        {key: item[key] for key in _FIELDS if item.get(key) is not None}
        | (
            {key: item[key] for key in ("subscriptionId", "resourceGroup") if key in item}
            if type_.lower() == NESTED
            else {}
        ),
        () if there else (*_after(scope, item), *called[1]),
        not there and _condition(scope, item),
        scope.copies,
    )
    yield from _declared(scope, item.get("resources") or [], (type_, name), loops)


def _scope_of(scope: Scope, item: Mapping[str, Any]) -> str:
    """The ARM id of what a resource is in, or extends."""
    place = scope.place
    own = _text(scope, item, "scope")
    if own:
        return own.rstrip("/") if own.startswith("/") else f"{place.scope}/providers/{own}"
    subscription = _text(scope, item, "subscriptionId") or place.subscription
    group = _text(scope, item, "resourceGroup")
    if group:
        return f"/subscriptions/{subscription}/resourceGroups/{group}"
    return place.scope if subscription == place.subscription else f"/subscriptions/{subscription}"


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


def _aliases(resource: _Declared, symbolic: bool) -> tuple[str, ...]:
    """Return a resource's names for `dependsOn`: its id, its symbolic name or loop, and where there are no symbols its
    type and name.

    A template with symbols may call a resource as another one's symbol, so names are none there.
    """
    id_ = resource.id
    names: tuple[str, ...] = (id_.key, *resource.names)
    if id_.type.lower() == GROUPS:  # `subscriptionResourceId('Microsoft.Resources/resourceGroups', name)`
        names = (*names, f"{id_.key.rpartition('/resourcegroups/')[0]}/providers/{GROUPS}/{id_.name.lower()}")
    if symbolic:
        return names
    type_and_name = (id_.key.rpartition("/providers/")[2], f"{id_.type}/{'/'.join(id_.names)}".lower())
    return (*names, *type_and_name, "/".join(id_.names).lower(), id_.name.lower())


def _places(resource: _Declared, places: Mapping[str, Sequence[int]], names: set[str]) -> tuple[int, ...]:
    for name in resource.after:
        if name not in names:
            raise TemplateError(
                f"The resource '{name[:300]}' is not defined in the template. Please see https://aka.ms/arm-template for usage details."
            )
    parent = resource.id.parent
    after = [*resource.after, *([parent] if parent is not None else [])]
    return tuple(dict.fromkeys(place for name in after for place in places.get(name, ())))


def _check_circles(ordered: Sequence[Step]) -> None:
    """Refuse steps that wait for each other."""
    waiting = [len(step.after) for step in ordered]
    followers: list[list[int]] = [[] for _ in ordered]
    for number, step in enumerate(ordered):
        for before in step.after:
            followers[before].append(number)
    free = deque(number for number, count in enumerate(waiting) if not count)
    while free:
        for follower in followers[free.popleft()]:
            waiting[follower] -= 1
            if not waiting[follower]:
                free.append(follower)
    circle = next((step for step, count in zip(ordered, waiting, strict=True) if count), None)
    if circle is not None:
        raise TemplateError(
            f"Circular dependency detected on resource: '{circle.id}'. Please see https://aka.ms/arm-syntax-resources for usage details."
        )


def body_of_step(scope: Scope, step: Step) -> Any:
    """The body of a step's PUT, its expressions evaluated in the rounds of its loops. Raises TemplateError."""
    with ExitStack() as loops:
        for name, round_ in step.copies:
            loops.enter_context(scope.copy(name, round_))
        return scope.value(step.body)
