"""A file as headers and manifests: split into YAML documents, each with its values and with the place of every field.

A mistake in one document does not hide the mistakes of the others, so every `---` starts the parser anew (as kubectl does).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from pathlib import Path
from typing import Any

from harness.scenario.reading import yaml_tree as nodes
from harness.scenario.reading.problems import FileUnreadable, Mark, Problem, ScenarioError
from harness.scenario.reading.yaml_values import kubernetes_value, text_value

__all__ = ["MAX_BYTES", "Document", "decoded", "documents", "read_text", "substitute"]

MAX_BYTES = 4 * 1024 * 1024

_MARKER = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

PathTuple = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: `value` as text for a header, as kubectl reads it for a manifest; `node` knows the lines."""

    file: str
    node: nodes.Node
    value: Any
    prefix: PathTuple = ()

    @property
    def is_header(self) -> bool:
        """Whether this document is a scenario's header rather than a Kubernetes object."""
        return isinstance(self.value, dict) and "scenario" in self.value

    def position(self, path: Sequence[str | int] = ()) -> Mark:
        """Where the field stands: the place of its key (of the item, in a list); of its nearest parent when it is absent."""
        node = self.node
        place: nodes.Node | nodes.Scalar = node
        for part in (*self.prefix, *path):
            found = _step(node, part)
            if found is None:
                continue  # names of alternatives in a model's path, or a field that is not in the file
            place, node = found
        return Mark(self.file, place.line, place.column)

    def node_at(self, path: Sequence[str | int]) -> nodes.Node | None:
        """The part of the tree under a field; None when the file has no such field."""
        node: nodes.Node = self.node
        for part in (*self.prefix, *path):
            found = _step(node, part)
            if found is None:
                return None
            node = found[1]
        return node

    def has(self, path: Sequence[str | int]) -> bool:
        """Whether the file holds this field."""
        return self.node_at(path) is not None

    def substituted(self, values: Mapping[str, str]) -> Document:
        """This document with each `$(NAME)` of `values` replaced, in keys and in values; what is not quoted is read anew."""
        node = substitute(self.node, values)
        value = text_value(node) if self.is_header else kubernetes_value(node)
        document = replace(self, node=node, value=value)
        for part in self.prefix:
            document = replace(document, value=document.value[part])
        return document

    def variables(self) -> set[str]:
        """The names in `$(NAME)` anywhere in it."""
        return set(_names(self.node))

    def items(self) -> Iterator[Document]:
        """The objects of this manifest: itself, or the items of a `kind: List`."""
        if (
            isinstance(self.value, dict)
            and self.value.get("kind") == "List"
            and isinstance(self.value.get("items"), list)
        ):
            for index, item in enumerate(self.value["items"]):
                yield replace(self, value=item, prefix=(*self.prefix, "items", index))
        else:
            yield self


def _step(node: nodes.Node, part: str | int) -> tuple[nodes.Node, nodes.Node] | None:
    if isinstance(node, nodes.Sequence):
        if isinstance(part, int) and 0 <= part < len(node.items):
            return node.items[part], node.items[part]
        return None
    if not isinstance(node, nodes.Mapping):
        return None
    return node.get(str(part))


_VARIABLE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_-]*)\)")


def substitute(node: nodes.Node, values: Mapping[str, str]) -> nodes.Node:
    """The tree in which `$(NAME)` stands for its value; the places stay, and parts without variables are shared."""
    if isinstance(node, nodes.Scalar):
        text = _replaced(node.text, values)
        return node if text == node.text else replace(node, text=text)
    if isinstance(node, nodes.Sequence):
        items = [substitute(item, values) for item in node.items]
        return node if all(map(is_, items, node.items)) else replace(node, items=items)
    pairs: dict[str, tuple[nodes.Scalar, nodes.Node]] = {}
    changed = False
    for text, pair in node.pairs.items():
        name, value = _replaced(text, values), substitute(pair[1], values)
        if name != text:
            pair = (replace(pair[0], text=name), value)
            changed = True
        elif value is not pair[1]:
            pair = (pair[0], value)
            changed = True
        pairs[name] = pair
    merged = [map_ for one in node.merged if isinstance(map_ := substitute(one, values), nodes.Mapping)]
    if not changed and all(map(is_, merged, node.merged)):
        return node
    return replace(node, pairs=pairs, merged=merged)


def _replaced(text: str, values: Mapping[str, str]) -> str:
    if "$(" not in text:
        return text
    return _VARIABLE.sub(lambda match: values.get(match[1], match[0]), text)


def _names(node: nodes.Node) -> Iterator[str]:
    if isinstance(node, nodes.Scalar):
        if "$(" in node.text:
            yield from _VARIABLE.findall(node.text)
    elif isinstance(node, nodes.Sequence):
        for item in node.items:
            yield from _names(item)
    else:
        for text, (_, value) in node.pairs.items():
            if "$(" in text:
                yield from _VARIABLE.findall(text)
            yield from _names(value)
        for map_ in node.merged:
            yield from _names(map_)


def read_text(path: Path, file: str | None = None) -> str:
    """The text of a file; FileUnreadable when it is absent, larger than 4 MiB, or not text."""
    name = file or str(path)
    try:
        if path.is_dir():
            raise _unreadable(name, "is a directory")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
            size = path.stat().st_size if len(data) > MAX_BYTES else len(data)
    except OSError as error:
        raise _unreadable(name, f"cannot be read: {(error.strerror or str(error)).lower()}") from None
    return decoded(data, name, size)


def decoded(data: bytes, name: str, size: int = 0) -> str:
    """The text of what was read from `name` (`size` bytes, if more than the limit); FileUnreadable as for `read_text`."""

    def unreadable(what: str, hint: str = "", place: tuple[int, int] = (1, 1)) -> FileUnreadable:
        return _unreadable(name, what, hint, place)

    if len(data) > MAX_BYTES:
        raise unreadable(
            f"is {max(size, len(data)) / 1024 / 1024:.1f} MiB large", f"scenario files end at {MAX_BYTES >> 20} MiB"
        )
    if b"\0" in data:
        raise unreadable("is binary, not YAML")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise unreadable(f"byte 0x{data[error.start]:02x} is not UTF-8", place=(line, 1)) from None
    bad = _UNPRINTABLE.search(text)
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        column = bad.start() - text.rfind("\n", 0, bad.start())
        raise unreadable(f"character U+{ord(bad.group()):04X} is not allowed in YAML", place=(line, column))
    return text


def _unreadable(name: str, what: str, hint: str = "", place: tuple[int, int] = (1, 1)) -> FileUnreadable:
    return FileUnreadable([Problem(Mark(name, *place), "", what, hint)])


def documents(text: str, file: str) -> tuple[list[Document], list[Problem]]:
    """The documents of a text, empty ones left out, and every problem of their YAML."""
    found: list[Document] = []
    problems: list[Problem] = []
    for first_line, chunk in _chunks(text):
        try:
            node, issues = nodes.compose(chunk, file=file, first_line=first_line)
        except ScenarioError as error:
            problems.extend(error.problems)
            continue
        problems.extend(issues)
        if node is None:
            continue
        header = isinstance(node, nodes.Mapping) and "scenario" in node.pairs
        value = text_value(node) if header else kubernetes_value(node)
        found.append(Document(file, node, value))
    return found, problems


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    starts = [match.start() for match in _MARKER.finditer(text)]
    if not starts or text[: starts[0]].strip():
        starts.insert(0, 0)
    line = text.count("\n", 0, starts[0]) + 1
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        chunk = text[start:end]
        yield line, chunk
        line += chunk.count("\n")
