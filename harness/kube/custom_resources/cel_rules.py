"""Rules beyond the schema (x-kubernetes-validations), and how the API server applies them.

A rule's check is either a predicate of our own or a compiled CEL expression; this module does not care. It decides where and when
rules run, which failures count on updates, and how they are printed.

Source: apiextensions-apiserver pkg/apiserver/schema/cel/validation.go.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from harness.kube.api.field_errors import NO_FIELD, OMITTED, ErrorType, FieldError, Pointer
from harness.kube.custom_resources.correlation import Correlation, old_element, same
from harness.kube.custom_resources.schema import Schema
from lazyrecords import dataclass

NOT_AN_INT = "invalid data, expected int, got float64"
"""The message of a rule that reads an integer which came as a float."""


class CelError(Exception):
    """The evaluation of a rule failed; the message is cel-go's (``no such key: values``)."""


class _Misread(dict[str, Any]):
    """A map with integers that came as floats, which a rule may not touch."""

    __slots__ = ("floats",)

    def __init__(self, fields: Mapping[str, Any], floats: frozenset[str]) -> None:
        super().__init__(fields)
        self.floats = floats

    def __contains__(self, key: object) -> bool:
        self._touch(key)
        return super().__contains__(key)

    def __getitem__(self, key: str) -> Any:
        self._touch(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """Raise CelError."""
        self._touch(key)
        return super().get(key, default)

    def _touch(self, key: object) -> None:
        if key in self.floats:
            raise CelError(NOT_AN_INT)


def without_marks(value: Any) -> tuple[Any, tuple[str, ...]]:
    """A value as plain maps and lists, and the dotted paths from it, through maps only, to integers that came as floats."""
    if isinstance(value, list):
        return [without_marks(entry)[0] for entry in value], ()
    if not isinstance(value, dict):
        return value, ()
    fields: dict[str, Any] = {}
    paths: list[str] = []
    marked = value.floats if value.__class__ is _Misread else frozenset()
    for key, entry in value.items():
        fields[key], below = without_marks(entry)
        paths += [key] if key in marked else [f"{key}.{path}" for path in below]
    return fields, tuple(paths)


def cel_equal(new: Any, old: Any) -> bool:
    """Return CEL's ``==`` of a value and the one that it replaces, which reads both until they differ in size. Raises CelError."""
    if isinstance(new, dict) and isinstance(old, dict):
        return len(new) == len(old) and all(key in old and cel_equal(new[key], old[key]) for key in dict.keys(new))
    if isinstance(new, list) and isinstance(old, list):
        return len(new) == len(old) and all(cel_equal(item, other) for item, other in zip(new, old, strict=True))
    return same(new, old)


def _unmarked(value: Any) -> Any:
    """The value itself, whose own fields may all be touched."""
    return dict(value.items()) if value.__class__ is _Misread else value


def _unmarked_items(value: Any) -> Any:
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _has_floats(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_floats, value.values()))
    return any(map(_has_floats, value)) if isinstance(value, list) else value.__class__ is float


def _as_rules_read(schema: Schema, value: Any) -> Any:
    """The value with its maps marked where an integer came as a float: the schema takes 3.0 for one, CEL does not."""
    if isinstance(value, list):
        return value if schema.items is None else [_as_rules_read(schema.items, entry) for entry in value]
    if not isinstance(value, dict):
        return value
    fields, floats = {}, set()
    for key, entry in value.items():
        below = schema.properties.get(key) or schema.additional
        fields[key] = entry if below is None else _as_rules_read(below, entry)
        if below is not None and below.type == ("integer",) and entry.__class__ is float:
            floats.add(key)
    return _Misread(fields, frozenset(floats)) if floats else fields


@dataclass(frozen=True, slots=True)
class _Ratchet:
    """The correlation of the value at hand, and of its nearest parent that has one."""

    current: Correlation | None
    parent: Correlation | None

    def tolerates(self) -> bool:
        nearest = self.current or self.parent
        return nearest is not None and nearest.unchanged()

    def key(self, key: str) -> _Ratchet:
        if self.current is None:
            return self
        if self.parent is None and key in ("apiVersion", "kind"):
            return _CREATED
        return _Ratchet(self.current.key(key), self.current)

    def index(self, index: int) -> _Ratchet:
        return self if self.current is None else _Ratchet(self.current.index(index), self.current)


_CREATED = _Ratchet(None, None)


def evaluate(
    schema: Schema,
    value: Any,
    old: Any = None,
    correlation: Correlation | None = None,
    *,
    prints_value: bool = True,
    unread: Container[Pointer] = (),
) -> list[FieldError]:
    """The failures of all rules on a resource, sorted by text.

    ``old`` is the value that an update replaces; with a ``correlation`` of both, unchanged errors are tolerated.
    ``prints_value``: the API server prints the value of a scalar that a rule refuses and nothing for maps and lists; older ones
    print the name of the schema type for both. ``unread``: places whose own rules do not run.
    """
    rules = _Rules(prints_value, unread)
    ratchet = _Ratchet(correlation, None) if correlation is not None else _CREATED
    if _has_floats(value):
        value = _as_rules_read(schema, value)
    if old is not None and _has_floats(old):
        old = _as_rules_read(schema, old)
    rules.visit(schema, value, old, "", (), ratchet)
    return sorted(rules.failures, key=str)


class _Rules:
    """The rules as they run on one resource; ``failures`` are collected."""

    __slots__ = ("_prints_value", "_unread", "failures")

    def __init__(self, prints_value: bool, unread: Container[Pointer]) -> None:
        self._prints_value, self._unread = prints_value, unread
        self.failures: list[FieldError] = []

    def visit(self, schema: Schema, value: Any, old: Any, path: str, at: Pointer, ratchet: _Ratchet) -> None:
        """Run the rules of a value and of all that it holds."""
        if value is None:
            return
        for rule in () if at in self._unread else schema.rules:
            if rule.transition and old is None and not rule.optional_old:
                continue
            try:
                if value.__class__ is float and schema.type == ("integer",):
                    raise CelError(NOT_AN_INT)
                if rule.check(value, old):
                    continue
                detail, shown = rule.message, value if self._prints_value else schema.cel_type
                if self._prints_value and schema.cel_type in ("object", "array"):
                    shown = OMITTED
                if not rule.transition and ratchet.tolerates():
                    continue
            except CelError as failure:
                detail, shown = f"{failure} evaluating rule: {rule.message}", schema.cel_type
            places = tuple((*at, *place) for place in rule.culprits(value))
            self.failures.append(FieldError(ErrorType.INVALID, path or NO_FIELD, detail, shown, at, rule.id, places))
        if not schema.has_rules:
            return
        if isinstance(value, dict):
            self._visit_fields(schema, value, old, path, at, ratchet)
        elif isinstance(value, list) and schema.items is not None and schema.items.has_rules:
            for index, entry in enumerate(value):
                before, place = old_element(schema, _unmarked(entry), _unmarked_items(old)), f"{path}[{index}]"
                self.visit(schema.items, entry, before, place, (*at, index), ratchet.index(index))

    def _visit_fields(
        self, schema: Schema, value: dict[str, Any], old: Any, path: str, at: Pointer, ratchet: _Ratchet
    ) -> None:
        fields, old_fields = _unmarked(value), _unmarked(old)
        below = [(key, f"{path}.{key}" if path else key, child) for key, child in schema.ruled if key in fields]
        additional = schema.additional
        if additional is not None and additional.has_rules:
            below += [(key, f"{path}[{key}]", additional) for key in fields if key not in schema.properties]
        for key, place, child in below:
            before = old_fields.get(key) if isinstance(old_fields, Mapping) else None
            self.visit(child, fields[key], before, place, (*at, key), ratchet.key(key))
