"""Plain values in a snapshot: one kind for each type, which writes JSON and reads it back.

A reader makes nothing before the value has the form that its type asks for.
"""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime
from typing import Any, Protocol

from lazyrecords import dataclass

Json = Any


class Unreadable(ValueError):
    """A value has not the form of its type; the text begins with the path to it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")


class Unwritable(ValueError):
    """A value cannot be part of a snapshot; the text begins with the path to it."""

    def __init__(self, path: str, problem: str) -> None:
        super().__init__(f"{path}: {problem}")


class Kind(Protocol):
    """One type in a snapshot."""

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """Return the JSON of a value. Unwritable."""
        ...

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """Return the value that JSON stands for. Unreadable."""
        ...


class Writer:
    """Writes values, and collects the shared records that they hold."""

    def __init__(self) -> None:
        """Begin with empty tables."""
        self.tables: dict[str, list[Json]] = {}
        self._numbers: dict[int, int] = {}
        self._held: list[Any] = []  # else another object could get the id of one that is gone

    def number(self, table: str, kind: Kind, value: Any) -> int:
        """Return a shared record's number, which it gets when it is first met."""
        if id(value) not in self._numbers:
            rows = self.tables.setdefault(table, [])
            number = self._numbers[id(value)] = len(rows)
            self._held.append(value)
            rows.append(None)
            rows[number] = kind.write(value, self, f"{table}[{number}]")
        return self._numbers[id(value)]


class Reader:
    """Reads values over the tables of shared records, for one world."""

    def __init__(self, tables: Mapping[str, Sequence[Json]], own: Mapping[type, Any]) -> None:
        """`own` is what the world has of the layout's own classes."""
        self.own = own
        self._tables = tables
        self._made: dict[tuple[str, int], Any] = {}

    def shared(self, table: str, kind: Kind, number: int, path: str) -> Any:
        """Return the shared record of a number, the same one each time."""
        rows = self._tables.get(table, ())
        if not 0 <= number < len(rows):
            raise Unreadable(path, f"there is no number {number} in {table}")
        key = (table, number)
        if key not in self._made:
            self._made[key] = _UNFINISHED
            self._made[key] = kind.read(rows[number], self, f"{table}[{number}]")
        if self._made[key] is _UNFINISHED:
            raise Unreadable(path, f"{table}[{number}] is a part of itself")
        return self._made[key]


_UNFINISHED = object()
NAMES: Mapping[Any, str] = {
    str: "text",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    types.NoneType: "null",
}


def shown(value: Json) -> str:
    """Return what a message says of a value: its form, and itself if it is short."""
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return "null" if value is None else ascii(value)[:60]


def at(path: str, key: Any) -> str:
    """Return the path of what a mapping has under a key."""
    return f"{path}[{ascii(key)[:120]}]"


_LEAST, _MOST = (moment.replace(tzinfo=UTC).timestamp() for moment in (datetime.min, datetime.max))
"""Numbers of a world are between these, since most are moments, in seconds since 1970: others can be written as no date."""
_BOUNDS = f"the number is not between {_LEAST:.0f} and {_MOST:.0f}"


@dataclass(frozen=True, slots=True)
class Plain:
    """Text, numbers, true and false."""

    type: type

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """Write the value as it is."""
        if not self._fits(value):
            raise Unwritable(path, f"{NAMES[self.type]} is expected, not a {type(value).__name__}")
        if self.type is not float:
            return value
        if not _LEAST <= value < _MOST:
            raise Unwritable(path, _BOUNDS)
        return float(value)

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """Read the value as it is; an integer can be a number too."""
        if not self._fits(value):
            raise Unreadable(path, f"{NAMES[self.type]} is expected, not {shown(value)}")
        if self.type is not float:
            return value
        if not _LEAST <= value < _MOST:
            raise Unreadable(path, _BOUNDS)
        return float(value)

    def _fits(self, value: Any) -> bool:
        if isinstance(value, bool) and self.type is not bool:
            return False
        return isinstance(value, (int, float) if self.type is float else self.type)


class Anything:
    """A document of ARM, which is JSON already."""

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """Write the value as it is: the text is made of all at once, and writing it finds values that are no JSON."""
        return value

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """Read the value as it is."""
        return value


@dataclass(frozen=True, slots=True)
class Items:
    """A list, a tuple or a set."""

    type: type
    item: Kind

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """An array; that of a set is in order."""
        if not isinstance(value, Set if issubclass(self.type, Set) else Sequence) or isinstance(value, str):
            raise Unwritable(path, f"a {self.type.__name__} is expected, not a {type(value).__name__}")
        rows = [self.item.write(item, to, f"{path}[{place}]") for place, item in enumerate(value)]
        return sorted(rows) if isinstance(value, Set) else rows

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """An array of any length."""
        if not isinstance(value, list):
            raise Unreadable(path, f"an array is expected, not {shown(value)}")
        return self.type(self.item.read(item, source, f"{path}[{place}]") for place, item in enumerate(value))


@dataclass(frozen=True, slots=True)
class Row:
    """A tuple of so many parts."""

    parts: tuple[Kind, ...]

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """An array."""
        return [
            part.write(item, to, f"{path}[{i}]") for i, (part, item) in enumerate(zip(self.parts, value, strict=True))
        ]

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """An array of just that length."""
        if not isinstance(value, list) or len(value) != len(self.parts):
            raise Unreadable(path, f"an array of {len(self.parts)} is expected, not {shown(value)}")
        return tuple(
            part.read(item, source, f"{path}[{i}]")
            for i, (part, item) in enumerate(zip(self.parts, value, strict=True))
        )


@dataclass(frozen=True, slots=True)
class Named:
    """A mapping with texts as keys."""

    value: Kind

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """An object."""
        return {key: self.value.write(item, to, at(path, key)) for key, item in value.items()}

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """An object with any keys."""
        if not isinstance(value, Mapping):
            raise Unreadable(path, f"an object is expected, not {shown(value)}")
        return {key: self.value.read(item, source, at(path, key)) for key, item in value.items()}


@dataclass(frozen=True, slots=True)
class Pairs:
    """A mapping with other keys."""

    key: Kind
    value: Kind

    def write(self, value: Any, to: Writer, path: str) -> Json:
        """An array of keys and values."""
        return [
            [self.key.write(key, to, path), self.value.write(item, to, at(path, key))] for key, item in value.items()
        ]

    def read(self, value: Json, source: Reader, path: str) -> Any:
        """An array of arrays of two."""
        return dict(Items(list, Row((self.key, self.value))).read(value, source, path))
