"""Records as JSON and back: each field under its own name, those with a default only when they differ from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, Self, get_args, get_origin, get_type_hints, is_typeddict

__all__ = ["Mistake", "Recorded", "Shape", "shape_of"]


class Mistake(ValueError):
    """A value that is no record of its class; the text names the field."""


class Recorded:
    """The base of all records."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """The record as JSON."""
        shape = shape_of(type(self))
        document = dict(shape.constant)
        for name, attribute, default in shape.written:
            value = getattr(self, attribute)
            if default is MISSING or value != default:
                document[name] = value
        return document

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Return the record of a JSON value; unknown keys are passed over. Raises Mistake."""
        arguments: dict[str, Any] = {}
        for name, attribute, default in shape_of(cls).written:
            if name in value:
                arguments[attribute] = value[name]
            elif default is MISSING:
                raise Mistake(f"{name}: missing")
        for name, attribute, fits, wanted in shape_of(cls).judged:
            if attribute in arguments and not fits(arguments[attribute]):
                raise Mistake(f"{name}: {wanted} is expected, not {arguments[attribute]!r:.60}")
        return cls(**arguments)


class Shape:
    """The way in which the records of a class are written, and judged."""

    def __init__(self, cls: type[Any]) -> None:
        hints = get_type_hints(cls)
        self.constant = {"t": 0.0, "fact": getattr(cls, "fact", "")} if hasattr(cls, "fact") else {}
        self.written: list[tuple[str, str, Any]] = []
        self.judged: list[tuple[str, str, Callable[[Any], bool], str]] = []
        self.schemas: dict[str, dict[str, Any]] = {}
        for field in fields(cls):
            name = field.name.rstrip("_")
            hint = hints[field.name]
            self.written.append((name, field.name, MISSING if field.metadata.get("always") else _default(field)))
            self.judged.append((name, field.name, _test(hint), _wanted(hint)))
            self.schemas[name] = _schema(hint)

    @property
    def required(self) -> list[str]:
        """The names that are always there."""
        return [name for name, _, default in self.written if default is MISSING]


def shape_of(cls: type[Any]) -> Shape:
    """The shape of a class of records."""
    return _shape_of(cls)  # type: ignore[arg-type]  # of a class with slots mypy takes the hash for its objects


@cache
def _shape_of(cls: Any) -> Shape:
    return Shape(cls)


def _default(record_field: Field[Any]) -> Any:
    if record_field.default_factory is not MISSING:
        return record_field.default_factory()
    return record_field.default


_NUMBER = (int, float)
_NAMES: Mapping[Any, tuple[str, Callable[[Any], bool], dict[str, Any]]] = {
    str: ("a text", lambda value: isinstance(value, str), {"type": "string"}),
    bool: ("true or false", lambda value: isinstance(value, bool), {"type": "boolean"}),
    int: (
        "a whole number",
        lambda value: isinstance(value, int) and not isinstance(value, bool),
        {"type": "integer"},
    ),
    float: (
        "a number",
        lambda value: isinstance(value, _NUMBER) and not isinstance(value, bool),
        {"type": "number"},
    ),
    type(None): ("null", lambda value: value is None, {"type": "null"}),
    Any: ("anything", lambda value: True, {}),
}


def _wanted(hint: Any) -> str:
    if hint in _NAMES:
        return _NAMES[hint][0]
    if is_typeddict(hint) or get_origin(hint) is Mapping:
        return "a map"
    if get_origin(hint) is Sequence:
        return "a list"
    return " or ".join(_wanted(arg) for arg in get_args(hint))


def _test(hint: Any) -> Callable[[Any], bool]:
    if hint in _NAMES:
        return _NAMES[hint][1]
    if is_typeddict(hint):
        return _test_of_keys(hint)
    parts = [_test(arg) for arg in get_args(hint)]
    if get_origin(hint) is Mapping:
        return lambda value: isinstance(value, Mapping) and all(map(parts[1], value.values()))
    if get_origin(hint) is Sequence:
        return lambda value: isinstance(value, list | tuple) and all(map(parts[0], value))
    return lambda value: any(test(value) for test in parts)


def _test_of_keys(hint: Any) -> Callable[[Any], bool]:
    """Return the test of a map with keys of its own; others may be there, too."""
    tests = {name: _test(key_hint) for name, key_hint in get_type_hints(hint).items()}
    required = hint.__required_keys__

    def fits(value: Any) -> bool:
        return isinstance(value, Mapping) and all(
            tests[name](value[name]) if name in value else name not in required for name in tests
        )

    return fits


def _schema(hint: Any) -> dict[str, Any]:
    if hint in _NAMES:
        return dict(_NAMES[hint][2])
    if is_typeddict(hint):
        keys = {name: _schema(key_hint) for name, key_hint in get_type_hints(hint).items()}
        return {"type": "object", "properties": keys, "required": sorted(hint.__required_keys__)}
    parts = [_schema(arg) for arg in get_args(hint)]
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": parts[1]} if parts[1] else {"type": "object"}
    if get_origin(hint) is Sequence:
        return {"type": "array", "items": parts[0]}
    return {"anyOf": parts}
