"""CRD files of the user's in place of our tables: the same schema engine, and a real CEL engine for the rules.

Needs the extra ``crds`` (cel-expr-python), imported when the first rule is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml

from harness.karpenter.validation.crds import RuleRow
from harness.karpenter.validation.predicate_logic import attempt, cel_all
from harness.kube.api.field_errors import Pointer
from harness.kube.custom_resources.admission import CustomResource
from harness.kube.custom_resources.cel_rules import NOT_AN_INT, CelError, without_marks
from harness.kube.custom_resources.schema import Rule, SchemaError, parse_schema, python_pattern


class CrdFileError(ValueError):
    """A CRD file that cannot be used; the message names it."""


class CelEngineMissing(CrdFileError):
    """The extra ``crds`` is not installed."""


class CrdFiles:
    """The custom resource definitions in a directory's ``*.yaml`` and ``*.yml`` files, other documents ignored.

    Can be given to ``harness.world.World`` and to ``harness.karpenter.validation.admission.admit`` as ``crds``. Schemas and rules
    are compiled when a kind is first asked for, or all of them by ``compile``. Raises CrdFileError.
    """

    def __init__(self, directory: Path) -> None:
        self.name = str(directory)
        self.manifests: list[Mapping[str, Any]] = []
        if not directory.is_dir():
            raise CrdFileError(f"{directory}: no such directory")
        self._definitions: dict[str, tuple[Mapping[str, Any], Mapping[str, Any], Path]] = {}
        self._resources: dict[tuple[str, bool], CustomResource] = {}
        files = sorted(path for path in directory.glob("*") if path.suffix in (".yaml", ".yml"))
        for file in files:
            for document in _documents(file):
                if isinstance(document, dict) and document.get("kind") == "CustomResourceDefinition":
                    self._add(document, file)
        if not self.manifests:
            raise CrdFileError(f"{directory}: no CustomResourceDefinition in its YAML files")

    def _add(self, document: Mapping[str, Any], file: Path) -> None:
        try:
            spec = document["spec"]
            for version in spec["versions"]:
                if version.get("served") is False:
                    continue
                name = f"{spec['group']}/{version['name']}/{spec['names']['kind']}"
                self._definitions[name] = (spec, version["schema"]["openAPIV3Schema"], file)
            self.manifests.append(document)
        except (KeyError, TypeError) as error:
            raise CrdFileError(f"{file}: not a CustomResourceDefinition of apiextensions.k8s.io/v1 ({error})") from None

    @property
    def kinds(self) -> tuple[str, ...]:
        """``group/version/Kind`` of every resource."""
        return tuple(self._definitions)

    def compile(self) -> None:
        """Compiles every kind now. Raises CrdFileError for the first that cannot be used, CelEngineMissing without the extra."""
        for name in self._definitions:
            self.resource(*name.rsplit("/", 1))

    def rules(self, kind: str = "") -> tuple[RuleRow, ...]:
        """The rules of all kinds, or of one. Raises CrdFileError."""
        return tuple(
            RuleRow(name, path, _rule(entry), "", "")
            for name, (_, definition, _) in self._definitions.items()
            if not kind or name.rpartition("/")[2] == kind
            for path, entries in _rules(definition).items()
            for entry in entries
        )

    def resource(self, api_version: str, kind: str, *, integer_formats: bool = False) -> CustomResource | None:
        """The definition of a kind, None when there is none. Raises CrdFileError for schemas or rules that do not compile."""
        name = f"{api_version}/{kind}"
        if name not in self._definitions:
            return None
        if (name, integer_formats) not in self._resources:
            self._resources[name, integer_formats] = self._compile(name, integer_formats)
        return self._resources[name, integer_formats]

    def _compile(self, name: str, integer_formats: bool) -> CustomResource:
        spec, definition, file = self._definitions[name]
        group, version, kind = name.split("/")
        rules = _rules(definition)
        try:
            schema = parse_schema(
                definition,
                lambda path: tuple(_rule(entry) for entry in rules.get(path, ())),
                integer_formats=integer_formats,
            )
        except CelEngineMissing:
            raise
        except (SchemaError, CrdFileError) as error:
            raise CrdFileError(f"{file}: {kind}: {error}") from None
        return CustomResource(group, version, kind, schema, namespaced=spec.get("scope") == "Namespaced")


def _documents(file: Path) -> list[Any]:
    try:
        return list(
            yaml.load_all(file.read_text(encoding="utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        )
    except (yaml.YAMLError, UnicodeDecodeError, OSError) as error:
        raise CrdFileError(f"{file}: {' '.join(str(error).split())}") from None


def _rules(definition: Mapping[str, Any]) -> dict[str, list[Mapping[str, Any]]]:
    """The rules of a definition by the schema path they stand at."""
    rules: dict[str, list[Mapping[str, Any]]] = {}
    _collect(definition, "", rules)
    return rules


def _collect(definition: Mapping[str, Any], path: str, rules: dict[str, list[Mapping[str, Any]]]) -> None:
    if definition.get("x-kubernetes-validations"):
        rules[path] = definition["x-kubernetes-validations"]
    for name, child in (definition.get("properties") or {}).items():
        _collect(child, f"{path}.{name}" if path else name, rules)
    if isinstance(definition.get("items"), dict):
        _collect(definition["items"], f"{path}[]", rules)
    if isinstance(definition.get("additionalProperties"), dict):
        _collect(definition["additionalProperties"], f"{path}{{}}", rules)


def _rule(entry: Mapping[str, Any]) -> Rule:
    unsupported = sorted(set(entry) - {"rule", "message", "optionalOldSelf"})
    if unsupported:
        raise CrdFileError(f"rule {entry.get('rule')!r}: {', '.join(unsupported)} is not supported")
    expression = entry["rule"].strip()
    optional = entry.get("optionalOldSelf") is True
    check = _optional_check(expression) if optional else _check(expression)
    message = (entry.get("message") or f"failed rule: {expression}").strip()
    return Rule(
        id=f"cel:{expression}",
        message=message,
        check=check,
        transition=re.search(r"\boldSelf\b", expression) is not None,
        culprits=_each_alone(check) if expression.startswith("self.all(") else _no_culprits,
        optional_old=optional,
        expression=expression,
    )


def _no_culprits(value: Any) -> tuple[Pointer, ...]:
    return ()


def _each_alone(check: Callable[[Any, Any], bool]) -> Callable[[Any], tuple[Pointer, ...]]:
    """The culprits of a rule about all elements: those that fail it alone."""

    def culprits(value: Any) -> tuple[Pointer, ...]:
        return tuple(step for step, alone in _elements(value) if not _passes(check, alone))

    return culprits


def _elements(value: Any) -> Iterator[tuple[Pointer, Any]]:
    if isinstance(value, Mapping):
        yield from (((key,), {key: item}) for key, item in value.items())
    elif isinstance(value, Sequence) and not isinstance(value, str):
        yield from (((number,), [item]) for number, item in enumerate(value))


def _passes(check: Callable[[Any, Any], bool], value: Any) -> bool:
    try:
        return check(value, None)
    except CelError:
        return False


@cache
def _environment() -> Any:
    """cel-cpp with Kubernetes' ``find`` and the strings extension."""
    try:
        from cel_expr_python import cel
        from cel_expr_python.ext import ext_strings
    except ImportError:
        raise CelEngineMissing(
            'evaluating CRD files needs a CEL engine: pip install "karpenter-azure-harness[crds]"'
        ) from None
    kind = cel.Type
    overload = cel.Overload("string_find_string", kind.STRING, [kind.STRING, kind.STRING], True, _find)
    return cel.NewEnv(
        variables={"self": kind.DYN, "oldSelf": kind.DYN},
        extensions=[ext_strings.ExtStrings()],
        functions=[cel.FunctionDecl("find", [overload])],
    )


def _find(text: str, pattern: str) -> str:
    match = _pattern(pattern).search(text)
    return match[0] if match else ""


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    return re.compile(python_pattern(pattern), re.ASCII)


@cache
def _optional_environment() -> Any:
    """The same with CEL's optional values, in which an old value may be there or not."""
    _environment()
    from cel_expr_python import cel
    from cel_expr_python.ext import ext_bindings, ext_optional, ext_strings

    return cel.NewEnv(
        variables={"self": cel.Type.DYN, "old": cel.Type.DYN, "updates": cel.Type.BOOL},
        extensions=[ext_optional.ExtOptional(), ext_bindings.ExtBindings(), ext_strings.ExtStrings()],
    )


@cache
def _optional_check(expression: str) -> Callable[[Any, Any], bool]:
    """The check of a rule with `optionalOldSelf`: `oldSelf` is an optional value, none when the object is new."""
    bound = f"cel.bind(oldSelf, updates ? optional.of(old) : optional.none(), ({expression}))"
    try:
        program = _optional_environment().compile(bound)
    except CelEngineMissing:
        raise
    except Exception as error:
        raise CrdFileError(f"rule {expression!r} does not compile: {error}") from None

    def check(value: Any, old: Any) -> bool:
        outcome = program.eval(data={"self": value, "old": old, "updates": old is not None}).value()
        if isinstance(outcome, bool):
            return outcome
        raise CelError(_as_cel_go(str(outcome)))

    return check


@cache
def _check(expression: str) -> Callable[[Any, Any], bool]:
    environment = _environment()
    try:
        program = environment.compile(expression)
    except Exception as error:
        raise CrdFileError(f"rule {expression!r} does not compile: {error}") from None

    def check(value: Any, old: Any) -> bool:
        outcome = program.eval(data={"self": value, "oldSelf": old}).value()
        if isinstance(outcome, bool):
            return outcome
        # failures come back as a value of type error
        message = str(outcome)
        if _MARKED in message:
            each = _EACH.fullmatch(expression)
            if each and isinstance(value, list):
                return cel_all(attempt(partial(_element_passes, expression, each[1], entry)) for entry in value)
            plain, floats = without_marks(value)
            return _unreadable(expression, "self", floats)(plain, without_marks(old)[0])
        raise CelError(NOT_AN_INT if _ERROR_TEXT in message else _as_cel_go(message))

    return check


_MARKED = "Non-CEL value type"
"""What cel-cpp says of a map with marks: it takes plain maps only."""
_EACH = re.compile(r"self\.all\((\w+), .*\)", re.DOTALL)
_ERROR = "[][0] == 0"
_ERROR_TEXT = "Index error: index=0 size=0"


def _element_passes(expression: str, name: str, element: Any) -> bool:
    """Whether a rule about all elements of a list holds for this one, which it calls `name`. Raises CelError."""
    plain, floats = without_marks(element)
    return _unreadable(expression, name, floats)([plain], None)


def _unreadable(expression: str, holder: str, floats: tuple[str, ...]) -> Callable[[Any, Any], bool]:
    """The check of a rule in which reading one of the paths is an error, which `&&` and `||` absorb as any other."""
    for path in floats:
        field = rf"\b{holder}\.{re.escape(path)}\b"
        expression = re.sub(rf"has\({field}\)", f"({_ERROR})", expression)
        expression = re.sub(field, "dyn([][0])", expression)
    return _check(expression)


_MESSAGES = (
    (re.compile(r'NOT_FOUND: Key not found in map : "(.*)"\Z', re.DOTALL), r"no such key: \1"),
    (re.compile(r"INVALID_ARGUMENT: cannot convert (\w+) to (\w+)\Z"), r"type conversion error from '\1' to '\2'"),
    (re.compile(r".*Index error: index=(-?\d+) size=\d+\Z"), r"index out of bounds: \1"),
)


def _as_cel_go(message: str) -> str:
    """cel-cpp's words for a failed evaluation as the API server's engine puts them."""
    for pattern, replacement in _MESSAGES:
        if pattern.match(message):
            return pattern.sub(replacement, message)
    return message
