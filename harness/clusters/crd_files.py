"""CRD files of a user in place of our tables: the same schema engine, and a real CEL engine for the rules (`cel_engine`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.clusters.cel_engine import Check, EngineMissing, RuleError, TooCostly, compiled
from harness.karpenter.validation.crds import RuleRow
from harness.kube.api.field_errors import Pointer
from harness.kube.custom_resources.admission import CustomResource
from harness.kube.custom_resources.cel_rules import CelError
from harness.kube.custom_resources.scale import Scale
from harness.kube.custom_resources.schema import Rule, SchemaError, parse_schema
from harness.kube.go.patterns import PatternError, searcher
from harness.reading.documents import Document, documents, read_text
from harness.reading.problems import Problem, ScenarioError
from lazyrecords import dataclass

__all__ = ["CelEngineMissing", "CrdFileError", "CrdFiles"]

Path_ = tuple[str | int, ...]


class CrdFileError(ValueError):
    """CRD files that cannot be used; `problems` are the mistakes with their places, where they have any."""

    def __init__(self, text: str, problems: Sequence[Problem] = ()) -> None:
        self.problems = tuple(problems)
        super().__init__(text)

    @classmethod
    def at(cls, problems: Sequence[Problem]) -> CrdFileError:
        """Return the error of several mistakes; the text is one line for each."""
        ordered = sorted(set(problems))
        return cls("\n".join(map(str, ordered)), ordered)


class CelEngineMissing(CrdFileError):
    """The extra ``crds`` is not installed."""


@dataclass(frozen=True, slots=True)
class _Definition:
    """One served version of a kind: its `spec`, its schema, and its place."""

    kind: str
    spec: Mapping[str, Any]
    schema: Mapping[str, Any]
    document: Document
    place: Path_

    def problem(self, place: Path_, mistake: str) -> Problem:
        """A mistake in the schema, at a place below it."""
        return Problem(self.document.position((*self.place, *place)), "", f"{self.kind}: {mistake}")


class CrdFiles:
    """The custom resource definitions in a directory's ``*.yaml`` and ``*.yml`` files, other documents ignored.

    Can be given to ``harness.world.World`` and to ``harness.karpenter.validation.admission.admit`` as ``crds``. Schemas and rules
    are compiled when a kind is first asked for, or all of them by ``compile``. `shown` is the directory's name in messages.
    Raises CrdFileError.
    """

    def __init__(self, directory: Path, shown: str = "") -> None:
        self.name = str(directory)
        self.manifests: list[Mapping[str, Any]] = []
        if not directory.is_dir():
            raise CrdFileError(f"{directory}: no such directory")
        self._definitions: dict[str, _Definition] = {}
        self._scales: dict[str, Scale] = {}
        self._resources: dict[tuple[str, bool], CustomResource] = {}
        problems: list[Problem] = []
        for file in sorted(path for path in directory.glob("*") if path.suffix in (".yaml", ".yml")):
            name = str(Path(shown or directory) / file.name)
            try:
                read, wrong = documents(read_text(file, name), name)
            except ScenarioError as error:
                read, wrong = [], list(error.problems)
            problems += wrong
            for document in read:
                if isinstance(document.value, dict) and document.value.get("kind") == "CustomResourceDefinition":
                    problems += self._added(document)
        if problems:
            raise CrdFileError.at(problems)
        if not self.manifests:
            raise CrdFileError(f"{directory}: no CustomResourceDefinition in its YAML files")

    def _added(self, document: Document) -> list[Problem]:
        """Add a document's kinds; return its mistakes."""
        try:
            spec = document.value["spec"]
            for number, version in enumerate(spec["versions"]):
                if version.get("served") is False:
                    continue
                kind = spec["names"]["kind"]
                schema = version["schema"]["openAPIV3Schema"]
                place = ("spec", "versions", number, "schema", "openAPIV3Schema")
                name = f"{spec['group']}/{version['name']}/{kind}"
                self._definitions[name] = _Definition(str(kind), spec, schema, document, place)
                if (scale := (version.get("subresources") or {}).get("scale")) is not None:
                    self._scales[name] = Scale.from_definition(scale)
            self.manifests.append(document.value)
        except (AttributeError, KeyError, TypeError) as error:
            mistake = f"not a CustomResourceDefinition of apiextensions.k8s.io/v1 ({error})"
            return [Problem(document.position(("spec",)), "", mistake)]
        return []

    @property
    def kinds(self) -> tuple[str, ...]:
        """``group/version/Kind`` of every resource."""
        return tuple(self._definitions)

    def compile(self) -> None:
        """Compile every kind now. Raises CrdFileError with all mistakes, CelEngineMissing without the extra."""
        problems: list[Problem] = []
        for name in self._definitions:
            try:
                self.resource(*name.rsplit("/", 1))
            except CelEngineMissing:
                raise
            except CrdFileError as error:
                problems += error.problems
        if problems:
            raise CrdFileError.at(problems)

    def rules(self, kind: str = "") -> tuple[RuleRow, ...]:
        """The rules of all kinds, or of one. Raises CrdFileError."""
        return tuple(
            RuleRow(name, path, rule, "", "")
            for name, definition in self._definitions.items()
            if not kind or definition.kind == kind
            for path, rules in _rules(definition).items()
            for rule in rules
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
        definition = self._definitions[name]
        group, version, kind = name.split("/")
        rules = _rules(definition)
        try:
            schema = parse_schema(definition.schema, lambda path: rules.get(path, ()), integer_formats=integer_formats)
        except SchemaError as error:
            raise CrdFileError.at([definition.problem((), str(error))]) from None
        return CustomResource(
            group,
            version,
            kind,
            schema,
            namespaced=definition.spec.get("scope") == "Namespaced",
            scale=self._scales.get(name),
        )


def _rules(definition: _Definition) -> dict[str, tuple[Rule, ...]]:
    """The compiled rules of a definition by the schema path they stand at. Raises CrdFileError with every mistake, of patterns too."""
    rules: dict[str, tuple[Rule, ...]] = {}
    problems: list[Problem] = []
    for path, place, node in _nodes(definition.schema, "", ()):
        if not isinstance(node, Mapping):
            problems.append(definition.problem(place, "a schema is a map"))
            continue
        if isinstance(pattern := node.get("pattern"), str):
            try:
                searcher(pattern)
            except PatternError as error:
                problems.append(definition.problem((*place, "pattern"), f"pattern: {error}"))
        made = []
        entries = node.get("x-kubernetes-validations") or ()
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            at = (*place, "x-kubernetes-validations", number)
            try:
                made.append(_rule(entry, definition, at))
            except EngineMissing as error:
                raise CelEngineMissing(str(error)) from None
            except RuleError as error:
                problems.append(definition.problem((*at, "rule"), str(error)))
        if made and path is not None:
            rules[path] = tuple(made)
    if problems:
        raise CrdFileError.at(problems)
    return rules


def _nodes(node: Any, path: str | None, place: Path_) -> Iterator[tuple[str | None, Path_, Any]]:
    """All nodes of a schema with their paths (`spec.list[].map{}`) and places; those below `allOf` and its like have no path."""
    yield path, place, node
    if not isinstance(node, Mapping):
        return
    properties = node.get("properties")
    for name, child in (properties if isinstance(properties, Mapping) else {}).items():
        below = None if path is None else f"{path}.{name}" if path else name
        yield from _nodes(child, below, (*place, "properties", name))
    for key, suffix in (("items", "[]"), ("additionalProperties", "{}"), ("not", None)):
        if isinstance(node.get(key), Mapping):
            below = None if path is None or suffix is None else path + suffix
            yield from _nodes(node[key], below, (*place, key))
    for key in ("allOf", "anyOf", "oneOf"):
        children = node.get(key)
        for number, child in enumerate(children if isinstance(children, list) else ()):
            yield from _nodes(child, None, (*place, key, number))


def _rule(entry: Any, definition: _Definition, place: Path_) -> Rule:
    """Return the rule of one entry. Raises RuleError."""
    if not isinstance(entry, Mapping) or not isinstance(entry.get("rule"), str):
        raise RuleError("a rule is a map with `rule`, a text")
    expression = entry["rule"].strip()
    if unsupported := sorted(set(entry) - {"rule", "message", "optionalOldSelf"}):
        raise RuleError(f"rule {_shown(expression)}: {', '.join(unsupported)} is not supported")
    optional = entry.get("optionalOldSelf") is True
    try:
        check = _bounded(compiled(expression, optional=optional), definition, (*place, "rule"))
    except EngineMissing:
        raise
    except RuleError as error:
        raise RuleError(f"rule {_shown(expression)} {error}") from None
    return Rule(
        id=f"cel:{expression}",
        message=str(entry.get("message") or f"failed rule: {expression}").strip(),
        check=check,
        transition=re.search(r"\boldSelf\b", expression) is not None,
        culprits=_each_alone(check) if expression.startswith("self.all(") else _no_culprits,
        optional_old=optional,
        expression=expression,
    )


def _shown(expression: str) -> str:
    return repr(expression if len(expression) <= 160 else f"{expression[:159]}…")


def _bounded(check: Check, definition: _Definition, place: Path_) -> Check:
    """Return the check, where a rule that the engine does not end is a mistake of the CRD file. Raises ScenarioError then."""

    def bounded(value: Any, old: Any) -> bool:
        try:
            return check(value, old)
        except TooCostly as error:
            raise ScenarioError([definition.problem(place, f"this rule {error}")]) from None

    return bounded


def _no_culprits(value: Any) -> tuple[Pointer, ...]:
    return ()


def _each_alone(check: Callable[[Any, Any], bool]) -> Callable[[Any], tuple[Pointer, ...]]:
    """Return the culprits of a rule about all elements: those that fail it alone."""

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
