"""Manifests in one pass, from the text to the objects that kubectl would send: large dumps are read without a tree.

Only plain YAML and JSON go this way. Unusual texts (anchors, tags, merged keys, a key set twice, a mistake) are left to the tree
(`yaml_tree`), which reports each mistake with its place; the values are the same. Nor are managedFields read: nothing here depends on
the writers of fields, and they are half of a dump.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import field
from typing import Any

import yaml

from harness.reading import yaml_tree
from harness.reading.problems import ScenarioError
from harness.reading.yaml_values import as_sent, resolve
from lazyrecords import dataclass

__all__ = ["Excerpt", "Read", "read_json", "read_yaml", "without_managed_fields"]

_MANAGED = re.compile(r"^( +)managedFields:\n(?=\1(?:  )?- apiVersion: )(?:\1(?:-| ).*\n)+", re.MULTILINE)
_ITEMS = "items"
# half of a pair of surrogates, which Go reads as U+FFFD
_LONE = re.compile(
    r"\\u[dD][89aAbB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89aAbB][0-9a-fA-F]{2})\\u[dD][c-fC-F][0-9a-fA-F]{2}"
)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")  # YAML has no pairs of them
_EVENTS = (
    yaml.ScalarEvent,
    yaml.MappingStartEvent,
    yaml.SequenceStartEvent,
    yaml.MappingEndEvent,
    yaml.SequenceEndEvent,
)
_BLANK = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """The part of a text that a value was read from. Its tree, which knows the lines, is made at its first use."""

    text: str = field(repr=False)
    start: int
    end: int
    first_line: int = 0
    """The line of `start`, where it is known."""

    def tree(self, file: str) -> yaml_tree.Node:
        """Return the tree; of a text that YAML cannot read (there is such JSON) its beginning."""
        begin = self.text.rfind("\n", 0, self.start) + 1
        line = self.first_line or self.text.count("\n", 0, begin) + 1
        column = self.start - begin
        part = " " * column + _SURROGATE.sub(r"\\ufffd", self.text[self.start : self.end])
        try:
            root, _ = yaml_tree.compose(part, file=file, first_line=line)
        except ScenarioError:
            root = None
        return root or yaml_tree.Mapping(line, column + 1)


@dataclass(frozen=True, slots=True)
class Read:
    """A value; `items` returns the places of its `items`."""

    value: Any
    items: Callable[[], list[Excerpt]]


class _Unusual(Exception):
    """A construct that only the tree reads."""


def without_managed_fields(text: str) -> str:
    """The text with blank lines for each list of managedFields, so that all other lines keep their numbers."""
    if "managedFields:" not in text:
        return text
    return _MANAGED.sub(lambda match: "\n" * match[0].count("\n"), text)


def read_yaml(text: str, start: int, end: int, first_line: int = 0) -> Read | None:
    """The YAML document between two places of a text, or None for the tree to read it; `first_line` is the line of `start`."""
    part = text[start:end]
    try:
        value, starts, last = _Builder().read(part)
    except (_Unusual, yaml.YAMLError):
        return None

    def items() -> list[Excerpt]:
        excerpts = []
        line, counted = first_line, 0
        for number, first in enumerate(starts):
            after = part.rfind("\n", 0, starts[number + 1]) + 1 if number + 1 < len(starts) else last
            line, counted = line + part.count("\n", counted, first), first
            excerpts.append(Excerpt(text, start + first, start + after, line if first_line else 0))
        return excerpts if all(excerpt.start < excerpt.end for excerpt in excerpts) else []

    return Read(value, items)


class _Builder:
    """Turns the events of plain YAML into values; repeated texts are kept once."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def read(self, text: str) -> tuple[Any, list[int], int]:
        """Return the value, the places where the items of its `items` begin, and the place where they end."""
        loader: Any = yaml_tree.new_loader(text)
        try:
            root, starts, last = self._document(loader.get_event)
        finally:
            loader.dispose()
        if len(root) != 1 or root[0] is None:
            raise _Unusual
        return root[0], starts, last

    def _document(self, next_event: Callable[[], Any]) -> tuple[list[Any], list[int], int]:
        intern = self.texts.setdefault
        scalar, map_start, list_start, map_end, list_end = _EVENTS
        root: list[Any] = []
        here: Any = root  # the container that is open
        key: str | None = None
        open_: list[tuple[Any, str | None]] = []  # the containers around it, and the key under which each goes on
        starts: list[int] = []
        last = 0
        listed: Any = None  # the list under `items`
        while True:
            event = next_event()
            kind = event.__class__
            if here is listed:
                if kind is list_end:
                    last = event.start_mark.index
                else:
                    starts.append(event.start_mark.index)
            if kind is scalar:
                if event.tag is not None or event.anchor is not None:
                    raise _Unusual
                text = event.value
                text = intern(text, text)
                plain = not event.style
                if here.__class__ is dict and key is None:
                    if (plain and resolve(text).__class__ is not str) or text in here or text == "<<":
                        raise _Unusual
                    key = text
                    continue
                value = as_sent(resolve(text)) if plain else text
            elif kind is map_start or kind is list_start:
                if event.anchor is not None or event.tag is not None or len(open_) >= yaml_tree.MAX_DEPTH:
                    raise _Unusual
                value = {} if kind is map_start else []
                if here.__class__ is dict:
                    if key is None:
                        raise _Unusual
                    if key == _ITEMS and len(open_) == 1 and kind is list_start and not event.flow_style:
                        listed = value  # its items begin on lines of their own
                    here[key] = value
                else:
                    here.append(value)
                open_.append((here, None))
                here, key = value, None
                continue
            elif kind is map_end or kind is list_end:
                here, key = open_.pop()
                continue
            elif kind is yaml.StreamEndEvent:
                break
            elif kind is yaml.AliasEvent:
                raise _Unusual
            else:
                continue
            if here.__class__ is dict:
                here[key] = value
                key = None
            else:
                here.append(value)
        return root, starts, last


def read_json(text: str) -> list[tuple[Read, Excerpt]] | None:
    """Return the objects of a JSON text, one after the other as kubectl takes them; None when it is none.

    A key that is set twice, NaN and texts that are no JSON at all are left to the tree.
    """
    objects: list[tuple[Read, Excerpt]] = []
    decoder = json.JSONDecoder(
        object_pairs_hook=_unique, parse_constant=_refused, parse_int=_integer, parse_float=_float
    )
    text = _LONE.sub(r"\\ufffd", text)
    place = _after_blanks(text, 0)
    try:
        while place < len(text):
            value, end = decoder.raw_decode(text, place)
            if not isinstance(value, dict):
                return None
            objects.append((Read(value, _JsonItems(text, place)), Excerpt(text, place, end)))
            place = _after_blanks(text, end)
    except (ValueError, RecursionError, _Unusual):
        return None
    return objects


def _after_blanks(text: str, place: int) -> int:
    match = _BLANK.match(text, place)
    return match.end() if match is not None else place


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Unusual
    if "managedFields" in value and isinstance(value["managedFields"], list):
        del value["managedFields"]
    return value


def _integer(text: str) -> int | float:
    """Return a number; one that no 64 bits hold is a float, as in Go."""
    number = int(text) if len(text) < 21 else 1 << 64
    return number if -(2**63) <= number < 2**64 else float(text)


def _float(text: str) -> int | float:
    value: int | float = as_sent(float(text))
    return value


def _refused(_: str) -> Any:
    raise _Unusual


class _JsonItems:
    """The places of the items of a JSON list; computed once, for the message of a mistake."""

    def __init__(self, text: str, start: int) -> None:
        self._text, self._start = text, start
        self._found: list[Excerpt] | None = None

    def __call__(self) -> list[Excerpt]:
        if self._found is None:
            self._found = list(self._items())
        return self._found

    def _items(self) -> list[Excerpt]:
        text, decoder = self._text, json.JSONDecoder()
        place = self._after(self._start, "{")
        while text[place] != "}":
            key, place = decoder.raw_decode(text, place)
            place = self._after(self._after(place), ":")
            if key == _ITEMS:
                break
            _, place = decoder.raw_decode(text, place)
            place = self._after(self._after(place), ",")
        if text[place] != "[":
            return []
        excerpts = []
        place = self._after(place, "[")
        while text[place] != "]":
            _, end = decoder.raw_decode(text, place)
            excerpts.append(Excerpt(text, place, end))
            place = self._after(self._after(end), ",")
        return excerpts

    def _after(self, place: int, sign: str = "") -> int:
        """Return the next place that is not blank, after `sign` if it stands here."""
        if sign and self._text[place] == sign:
            place += 1
        return _after_blanks(self._text, place)
