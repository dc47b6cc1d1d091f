"""Records as JSON and back: each field under its own name, those with a default only when they say more than it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import cache
from typing import Any, Self, get_args, get_origin, get_type_hints, is_typeddict

__all__ = ["Mistake", "Recorded", "Shape", "shape_of"]


class Mistake(ValueError):
    """A value that is no record of its class; the text names the field."""


class Recorded:
    """What all records share."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """The record as JSON."""
        shape = shape_of(type(self))
        found = dict(shape.constant)
        for name, attribute, default in shape.written:
            value = getattr(self, attribute)
            if default is MISSING or value != default:
                found[name] = value
        return found

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """The record of a JSON value; what it does not know is passed over. Raises Mistake."""
        found: dict[str, Any] = {}
        for name, attribute, default in shape_of(cls).written:
            if name in value:
                found[attribute] = value[name]
            elif default is MISSING:
                raise Mistake(f"{name}: missing")
        for name, attribute, fits, wanted in shape_of(cls).judged:
            if attribute in found and not fits(found[attribute]):
                raise Mistake(f"{name}: {wanted} is expected, not {found[attribute]!r:.60}")
        return cls(**found)


class Shape:
    """How the records of a class are written, and judged."""

    def __init__(self, cls: type[Any]) -> None:
        hints = get_type_hints(cls)
        self.constant = {"t": 0.0, "fact": getattr(cls, "fact", "")} if hasattr(cls, "fact") else {}
        self.written: list[tuple[str, str, Any]] = []
        self.judged: list[tuple[str, str, Callable[[Any], bool], str]] = []
        self.schemas: dict[str, dict[str, Any]] = {}
        for each in fields(cls):
            name = each.name.rstrip("_")
            hint = hints[each.name]
            self.written.append((name, each.name, MISSING if each.metadata.get("always") else _default(each)))
            self.judged.append((name, each.name, _test(hint), _wanted(hint)))
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


def _default(each: Field[Any]) -> Any:
    if each.default_factory is not MISSING:
        return each.default_factory()
    return each.default


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
    return " or ".join(_wanted(each) for each in get_args(hint))


def _test(hint: Any) -> Callable[[Any], bool]:
    if hint in _NAMES:
        return _NAMES[hint][1]
    if is_typeddict(hint):
        return _test_of_keys(hint)
    parts = [_test(each) for each in get_args(hint)]
    if get_origin(hint) is Mapping:
        return lambda value: isinstance(value, Mapping) and all(map(parts[1], value.values()))
    if get_origin(hint) is Sequence:
        return lambda value: isinstance(value, list | tuple) and all(map(parts[0], value))
    return lambda value: any(test(value) for test in parts)


def _test_of_keys(hint: Any) -> Callable[[Any], bool]:
    """Of a map with keys of its own; others may be there, too."""
    tests = {name: _test(each) for name, each in get_type_hints(hint).items()}
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
        keys = {name: _schema(each) for name, each in get_type_hints(hint).items()}
        return {"type": "object", "properties": keys, "required": sorted(hint.__required_keys__)}
    parts = [_schema(each) for each in get_args(hint)]
    if get_origin(hint) is Mapping:
        return {"type": "object", "additionalProperties": parts[1]} if parts[1] else {"type": "object"}
    if get_origin(hint) is Sequence:
        return {"type": "array", "items": parts[0]}
    return {"anyOf": parts}
