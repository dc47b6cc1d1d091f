"""Records and actions in a snapshot: by the fields and arguments that our own classes and functions declare.

A name from a file is looked up among those of a `Layout`, and nowhere else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import Any, TypeAlias, get_type_hints

from fakeazure.snapshots.values import Json, Kind, Plain, Reader, Unreadable, Unwritable, Writer, shown
from lazyrecords import dataclass

KindOf: TypeAlias = Callable[[Any], Kind]
"""The kind of a type."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The types beside plain values.

    `shared` are records of which several values hold the same one: they stand in a table of that name, and their number where they are
    used. `attributes` tell of a class that is no record what to keep, and `made` how to make one from that. `actions` are the functions
    that a value can hold, `own` the classes of what a world has of its own, which no snapshot carries.
    """

    shared: Mapping[type, str]
    attributes: Mapping[type, Mapping[str, Any]]
    made: Mapping[type, Callable[[Mapping[str, Any]], Any]]
    actions: Mapping[str, Callable[..., Any]]
    own: tuple[type, ...]


class Record:
    """A record, as its class declares it; a field without underscores in front."""

    def __init__(self, type_: type, layout: Layout, kind_of: KindOf) -> None:
        """Keep what `type_` declares; its fields are looked at when they are first needed, since a record can hold its like."""
        self.type, self.name, self._layout, self._kind_of = type_, type_.__name__, layout, kind_of

    @cached_property
    def _fields(self) -> Mapping[str, tuple[str, Kind]]:
        attributes = self._layout.attributes.get(self.type)
        if attributes is None:
            hints = get_type_hints(self.type)
            attributes = {field.name: hints[field.name] for field in dataclasses.fields(self.type) if field.init}
        return {name.lstrip("_"): (name, self._kind_of(hint)) for name, hint in attributes.items()}

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """An object with every field."""
        if type(value) is not self.type:
            raise Unwritable(path, f"a {self.name} is expected, not a {type(value).__name__}")
        return {
            name: kind.write(getattr(value, attribute), to, f"{path}.{name}")
            for name, (attribute, kind) in self._fields.items()
        }

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """An object with every field and no other."""
        read = self.read_fields(value, source, path)
        make = self._layout.made.get(self.type)
        try:
            return self.type(**read) if make is None else make(read)
        except (ValueError, TypeError) as error:
            raise Unreadable(path, str(error)) from None

    def read_fields(self, value: Json, source: Reader, path: str) -> dict[str, Any]:
        """Return what the fields are, by the names of attributes."""
        if not isinstance(value, Mapping):
            raise Unreadable(path, f"an object is expected, not {shown(value)}")
        for name in [*value, *self._fields]:
            if name not in self._fields or name not in value:
                raise Unreadable(path, f"{ascii(name)[:80]} is {'unknown' if name in value else 'missing'}")
        return {
            attribute: kind.read(value[name], source, f"{path}.{name}")
            for name, (attribute, kind) in self._fields.items()
        }


@dataclass(frozen=True, slots=True)
class Shared:
    """A record that stands in a table."""

    table: str
    record: Record

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """Its number."""
        return to.number(self.table, self.record, value)

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """The record of that number."""
        if not isinstance(value, int) or isinstance(value, bool):
            raise Unreadable(path, f"a number in {self.table} is expected, not {shown(value)}")
        return source.shared(self.table, self.record, value, path)


@dataclass(frozen=True, slots=True)
class Either:
    """One of several types, or None. Records are told apart by their names, plain values by their form."""

    options: tuple[Kind, ...]
    empty: bool

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """Write it as the first option that takes it; a record of several names its own."""
        if value is None and self.empty:
            return None
        if len(self.options) == 1:
            return self.options[0].write(value, to, path)
        for option in self.options:
            if isinstance(option, Record) and type(value) is option.type:
                return {option.name: option.write(value, to, path)}
            if isinstance(option, Plain) and type(value) is option.type:
                return value
        raise Unwritable(path, f"it cannot be a {type(value).__name__}")

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """Read it as the option that it names, or whose form it has."""
        if value is None and self.empty:
            return None
        if len(self.options) == 1:
            return self.options[0].read(value, source, path)
        for option in self.options:
            if isinstance(option, Record) and isinstance(value, Mapping) and list(value) == [option.name]:
                return option.read(value[option.name], source, f"{path}.{option.name}")
            if isinstance(option, Plain) and type(value) is option.type:
                return value
        raise Unreadable(path, f"it cannot be {shown(value)}")


class Action:
    """A later action: a function of the layout, or `partial` of one. `left` arguments are given when it is done."""

    def __init__(self, layout: Layout, kind_of: KindOf, left: int) -> None:
        """Take those with so many arguments left."""
        self._layout, self._kind_of, self._left = layout, kind_of, left

    @cached_property
    def _names(self) -> Mapping[Callable[..., Any], str]:
        return {action: name for name, action in self._layout.actions.items()}

    def _bound(self, action: Callable[..., Any]) -> list[tuple[str, Any]]:
        """Return names and types of the arguments that are there already."""
        hints = get_type_hints(action)
        hints.pop("return", None)
        return list(hints.items())[: len(hints) - self._left]

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """An array of the action's name and its arguments, without those that are the world's own."""
        action, arguments = (value.func, value.args) if isinstance(value, partial) else (value, ())
        name = self._names.get(action)
        bound = self._bound(action) if name is not None else []
        if name is None or len(bound) != len(arguments) or (isinstance(value, partial) and value.keywords):
            raise Unwritable(path, f"{getattr(action, '__qualname__', action)} is no action that a snapshot can hold")
        return [name] + [
            self._kind_of(hint).write(argument, to, f"{path}.{parameter}")
            for (parameter, hint), argument in zip(bound, arguments, strict=True)
            if hint not in self._layout.own
        ]

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """Such an array."""
        if not isinstance(value, list) or not value:
            raise Unreadable(path, f"an array of an action and its arguments is expected, not {shown(value)}")
        name = value[0]
        action = self._layout.actions.get(name) if isinstance(name, str) else None
        if action is None:
            raise Unreadable(path, f"there is no action {shown(name)}")
        bound = self._bound(action)
        rows = iter(value[1:])
        if len(value) - 1 != sum(hint not in self._layout.own for _, hint in bound):
            raise Unreadable(path, f"{name} has another number of arguments")
        arguments = [
            source.own[hint]
            if hint in self._layout.own
            else self._kind_of(hint).read(next(rows), source, f"{path}.{parameter}")
            for parameter, hint in bound
        ]
        return partial(action, *arguments) if arguments else action
