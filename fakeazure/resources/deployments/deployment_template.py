"""A deployment's template: its scope of parameters, variables and copy loops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeGuard

from fakeazure.arm.api_versions import API_VERSIONS
from fakeazure.arm.bodies import section, text
from fakeazure.resources.deployments.declared_types import check_type
from fakeazure.resources.deployments.scope_functions import own_functions, reference_functions, scope_functions
from fakeazure.resources.deployments.template_expressions import evaluate
from fakeazure.resources.deployments.template_functions import Function
from fakeazure.resources.deployments.template_places import Place
from fakeazure.resources.deployments.template_values import Budget, TemplateError
from fakeazure.state import State

_LIMITS: Mapping[str, int] = {"parameters": 256, "variables": 512, "outputs": 64, "resources": 800}
"""The most parts of each kind in a template (learn.microsoft.com, "Template limits")."""
MOST_COPIES = 800
"""Rounds of a copy loop (learn.microsoft.com, "Template limits")."""
_BOUNDS: tuple[tuple[str, bool, str], ...] = (
    ("minLength", True, "Length of the value should be greater than or equal to"),
    ("maxLength", False, "Length of the value should be less than or equal to"),  # guess
    ("minValue", True, "The value should be greater than or equal to"),  # guess
    ("maxValue", False, "The value should be less than or equal to"),  # guess
)
"""Bound of a parameter, whether it is the least one, and the words of its refusal (that of `minLength` is recorded in issue 1350 of
microsoft/vscode-azurearmtools)."""


def check_count(part: str, actual: int) -> None:
    """Refuse a template with too many of a part."""
    if actual > _LIMITS[part]:
        raise TemplateError(
            f"The number of template {part} limit exceeded. Limit: '{_LIMITS[part]}' and actual: '{actual}'. Please see "
            f"https://aka.ms/arm-template/#{part} for usage details."
        )


class Scope:
    """The values that a template's expressions can ask for. Each variable is evaluated once, and all within one budget."""

    def __init__(
        self,
        state: State,
        place: Place,
        template: Mapping[str, Any],
        values: Mapping[str, Any],
        *,
        outer: Scope | None = None,
    ) -> None:
        """`given` are the values of parameters. Raises TemplateError for one that is missing, or of another type than declared.

        `outer` is the scope of the template that this one is nested in, where its expressions are that one's.
        """
        self._state, self.place, self._template = state, place, template
        self._budget: Budget = outer.spent if outer is not None else Budget()
        self.parameters: dict[str, Any] = {}
        self._variables = section(template, "variables")
        loops = self._variables.get("copy")
        self._loops = {str(loop["name"]): loop for loop in loops} if _are_loops(loops) else {}
        self._called = {name.lower(): name for name in (*self._variables, *self._loops)}
        """Names of variables in small letters → as the template has them."""
        self._given: Mapping[str, Any] = {}
        self._declared: Mapping[str, str] = {}
        """Names of parameters in small letters → as the template has them."""
        self._evaluated: dict[str, Any] = {}
        self._evaluating: set[tuple[str, str]] = set()
        self._copies: list[tuple[str, int]] = list(outer._copies) if outer is not None else []
        self.symbols: dict[str, tuple[str, ...]] = {}
        """Symbolic name → the ids of the resources that it means."""
        self.waiting: frozenset[str] = frozenset()
        """Keys of the template's resources that are not there yet."""
        for part in ("parameters", "variables", "outputs"):
            check_count(part, len(section(template, part)))
        self.functions: dict[str, Function] = {
            "parameters": Function("s", self._parameter),
            "variables": Function("s", self._variable),
            "copyindex": Function("si? i?", self._copy_index),
            **scope_functions(state, place, self._described),
            **reference_functions(state, place, self),
        }
        if outer is not None:
            self.functions |= {name: outer.functions[name] for name in ("parameters", "variables")}
            return
        self.functions |= own_functions(template, self._budget)
        declared = section(template, "parameters")
        self._given = {name.lower(): value for name, value in values.items()}
        self._declared = {name.lower(): name for name in declared}
        _check_names([name for name in values if name.lower() not in self._declared], declared)
        for name in declared:
            self._parameter(name)
        self.parameters = {name: self.parameters[name] for name in declared}

    def value(self, part: Any) -> Any:
        """A part of the template with its expressions evaluated. Raises TemplateError."""
        return evaluate(self._unrolled(part), self.functions, self._budget)

    def version_of(self, type_: str) -> str:
        """The api-version of a type that names none: with a template's `apiProfile` the namespace's newest, else none."""
        versions = API_VERSIONS.get(type_.partition("/")[0], ("",))
        return versions[-1] if text(self._template, "apiProfile") else ""

    @property
    def copies(self) -> tuple[tuple[str, int], ...]:
        """The copy loops around what is evaluated now, with the round of each."""
        return tuple(self._copies)

    def enter(self, copies: tuple[tuple[str, int], ...]) -> None:
        """Be within copy loops from here on."""
        self._copies.extend(copies)

    @property
    def base_url(self) -> str:
        """Return the cloud's own address, for messages."""
        return self._state.settings.base_url

    @property
    def spent(self) -> Budget:
        """Return the work that evaluating has taken."""
        return self._budget

    @contextmanager
    def copy(self, name: str, index: int) -> Iterator[None]:
        """Within it `copyIndex()` is `index`, of the loop of that name."""
        self._copies.append((name.lower(), index))
        try:
            yield
        finally:
            self._copies.pop()

    def count(self, loop: Mapping[str, Any]) -> int:
        """Return the number of passes of a copy loop."""
        number = self.value(loop.get("count"))
        if type(number) is not int or not 0 <= number <= MOST_COPIES:
            raise TemplateError(
                f"The template copy '{str(loop.get('name'))[:100]}' is not valid: the copy count must be an integer from 0 to "
                f"{MOST_COPIES}. Please see https://aka.ms/arm-resource-loops for usage details."
            )
        return number

    def _unrolled(self, part: Any) -> Any:
        """A part with the copy loops of its properties (`"copy": [{"name", "count", "input"}]`) as arrays."""
        if isinstance(part, list | tuple):
            return [self._unrolled(item) for item in part]
        if not isinstance(part, Mapping):
            return part
        self._budget.step(len(part))
        loops = part.get("copy")
        if not _are_loops(loops):
            return {key: self._unrolled(item) for key, item in part.items()}
        unrolled = {key: self._unrolled(item) for key, item in part.items() if key != "copy"}
        for loop in loops:
            unrolled[str(loop["name"])] = self.repeated(loop)
        return unrolled

    def repeated(self, loop: Mapping[str, Any]) -> list[Any]:
        """Return the value of a copy loop of a property, variable or output."""
        values, name = [], str(loop.get("name", ""))
        for index in range(self.count(loop)):
            with self.copy(name, index):
                values.append(escaped(self.value(loop["input"])))
        return values

    def _copy_index(self, name: Any = None, offset: int = 0) -> int:
        """`copyIndex([name,] [offset])`."""
        if isinstance(name, int):
            name, offset = None, name
        for loop, index in reversed(self._copies):
            if name is None or loop == name.lower():
                return index + offset
        raise TemplateError(
            "The template function 'copyIndex' is not expected at this location. The function can only be used in a resource with copy "
            "specified. Please see https://aka.ms/arm-copy for usage details."
        )

    def _parameter(self, reference: str) -> Any:
        """The value of a parameter; defaults may ask for other parameters, in whichever order they stand."""
        name = self._declared.get(reference.lower())
        if name is None:
            raise TemplateError(f"The template parameter '{reference[:100]}' is not found.")
        if name not in self.parameters:
            declared, value = section(self._template, "parameters")[name], None
            if name.lower() in self._given:
                value = section(self._given, name.lower()).get("value")
            if value is None and isinstance(declared, Mapping) and "defaultValue" in declared:
                with self._once("parameter", name):
                    value = self.value(declared["defaultValue"])
            nullable = isinstance(declared, Mapping) and declared.get("nullable") is True
            if value is None and not nullable:
                raise TemplateError(f"The value for the template parameter '{name[:100]}' is not provided.")
            if value is not None:
                _check_value(name, declared, value)
            self.parameters[name] = value
        return self.parameters[name]

    @contextmanager
    def _once(self, kind: str, name: str) -> Iterator[None]:
        """Within it a part of the template is evaluated, which must not ask for itself."""
        if (kind, name) in self._evaluating:
            raise TemplateError(f"The template {kind} '{name[:100]}' is not valid: it refers to itself")
        self._evaluating.add((kind, name))
        yield

    def _variable(self, reference: str) -> Any:
        """The value of a variable, which is called by its name in any case."""
        name = self._called.get(reference.lower())
        if name is None:
            raise TemplateError(f"The template variable '{reference[:100]}' is not found.")
        if name not in self._evaluated:
            with self._once("variable", name):
                self._evaluated[name] = (
                    evaluate(self.repeated(self._loops[name]), {}, self._budget)
                    if name in self._loops
                    else self.value(self._variables[name])
                )
        return self._evaluated[name]

    def _described(self) -> Mapping[str, Any]:
        """Return the template and its parameters as `deployment()` shows them."""
        shown = {key: self._template[key] for key in ("$schema", "contentVersion") if key in self._template}
        return {"template": shown, "parameters": {name: {"value": value} for name, value in self.parameters.items()}}


def is_loops(value: Sequence[Any]) -> bool:
    """Tell whether a list is one of copy loops, not a property that is called `copy`."""
    return bool(value) and all(
        isinstance(item, Mapping) and {"name", "count", "input"} <= item.keys() for item in value
    )


def _are_loops(value: Any) -> TypeGuard[Sequence[Mapping[str, Any]]]:
    return isinstance(value, list | tuple) and is_loops(value)


def escaped(value: Any) -> Any:
    """A value in which nothing is an expression any more."""
    if isinstance(value, str):
        return f"[{value}" if value.startswith("[") and value.endswith("]") else value
    if isinstance(value, Mapping):
        return {key: escaped(item) for key, item in value.items()}
    return [escaped(item) for item in value] if isinstance(value, list | tuple) else value


def _check_names(unknown: Sequence[str], declared: Mapping[str, Any]) -> None:
    """Refuse parameters that the template does not have (recorded in Azure/azure-quickstart-templates, issue 7528)."""
    if unknown:
        raise TemplateError(
            f"The template parameters '{', '.join(unknown)[:1000]}' in the parameters file are not valid; they are not present in the "
            "original template and can therefore not be provided at deployment time. The only supported parameters for this template "
            f"are '{', '.join(declared)[:1000]}'. Please see https://aka.ms/arm-deploy/#parameter-file for usage details."
        )


def _check_bounds(name: str, declared: Any, value: Any) -> None:
    """Refuse text or an array of another length, or an integer of another size, than its parameter is bound to."""
    if not isinstance(declared, Mapping) or isinstance(value, bool):
        return
    for key, least, words in _BOUNDS:
        bound, sized = declared.get(key), isinstance(value, str | list | tuple)
        if type(bound) is not int or sized != key.endswith("Length") or not (sized or isinstance(value, int)):
            continue
        size = len(value) if sized else value
        if size < bound if least else size > bound:
            raise TemplateError(
                f"The provided value for the template parameter '{name[:100]}' is not valid. {words} '{bound}'. Please see "
                "https://aka.ms/arm-template/#parameters for usage details."
            )


def _check_value(name: str, declared: Any, value: Any) -> None:
    """Refuse a value of another type than its parameter has, out of its bounds, or that is not among those allowed."""
    check_type("parameter", declared, value)
    _check_bounds(name, declared, value)
    allowed = declared.get("allowedValues") if isinstance(declared, Mapping) else None
    if isinstance(allowed, list | tuple) and not isinstance(value, list | tuple | Mapping) and value not in allowed:
        raise TemplateError(
            f"The provided value '{str(value)[:200]}' for the template parameter '{name[:100]}' is not valid. The parameter value is not "
            f"part of the allowed value(s): '{','.join(map(str, allowed))[:1000]}'."
        )
