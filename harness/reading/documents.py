"""A file as headers and manifests: split into YAML documents, each with its values and with the place of every field.

A mistake in one document does not hide the mistakes of the others, so every `---` starts the parser anew (as kubectl does).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from pathlib import Path
from typing import Any, BinaryIO

from atomicfiles.inputs import open_input
from harness.reading import one_pass
from harness.reading import yaml_tree as nodes
from harness.reading.problems import FileUnreadable, Mark, Problem, ScenarioError
from harness.reading.yaml_values import kubernetes_value, text_value
from lazyrecords import dataclass

__all__ = ["MAX_BYTES", "MAX_HEADER", "Document", "documents", "read_stream", "read_text", "substitute"]

MAX_BYTES = 1 << 30
"""The size of the largest file: a dump of a cluster has some hundred MiB. A stream without an end is not read for ever."""

MAX_HEADER = 4 << 20
"""The size of a scenario's header, which is written by hand."""

_FIRST = 1 << 16
_PART = 1 << 20  # a read makes room for all bytes of the request
_SIGNATURES = (
    (b"\x1f\x8b", "compressed by gzip", "unpack it first: gunzip -k FILE"),
    (b"BZh91AY&SY", "compressed by bzip2", "unpack it first: bunzip2 -k FILE"),
    (b"\xfd7zXZ\0", "compressed by xz", "unpack it first: unxz -k FILE"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "unpack it first: unzstd FILE"),
    (b"PK\x03\x04", "a zip archive", "unpack it first"),
    (b"\xff\xfe", "UTF-16", "in PowerShell: kubectl get … -o yaml | Out-File -Encoding utf8 FILE"),
    (b"\xfe\xff", "UTF-16", "write it in UTF-8"),
)
"""First bytes → a form of files that people have of manifests, and the way to text. No archive is unpacked: nobody knows into how much."""
_MARKER = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE)
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

PathTuple = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """One YAML document: `value` as text for a header, as kubectl reads it for a manifest; its tree knows the lines.

    `tree` is made at its first use where the value was read without it. `parts` are the places of a List's items then.
    """

    file: str
    tree: nodes.Node | one_pass.Excerpt
    value: Any
    prefix: PathTuple = ()
    parts: Callable[[], Sequence[one_pass.Excerpt]] = tuple

    @property
    def node(self) -> nodes.Node:
        """The tree."""
        return self.tree.tree(self.file) if isinstance(self.tree, one_pass.Excerpt) else self.tree

    def with_tree(self) -> Document:
        """Return the document with its tree made, for who asks for many places: each question makes it anew otherwise."""
        return replace(self, tree=self.node)

    @property
    def is_header(self) -> bool:
        """Return whether this document is a scenario's header rather than a Kubernetes object."""
        return isinstance(self.value, dict) and "scenario" in self.value

    def position(self, path: Sequence[str | int] = ()) -> Mark:
        """Return the place of a field: of its key (of the item, in a list); of its nearest parent when it is absent."""
        node = self.node
        place: nodes.Node | nodes.Scalar = node
        for part in (*self.prefix, *path):
            step = _step(node, part)
            if step is None:
                continue  # names of alternatives in a model's path, or a field that is not in the file
            place, node = step
        return Mark(self.file, place.line, place.column)

    def node_at(self, path: Sequence[str | int]) -> nodes.Node | None:
        """The part of the tree under a field; None when the file has no such field."""
        node: nodes.Node = self.node
        for part in (*self.prefix, *path):
            step = _step(node, part)
            if step is None:
                return None
            node = step[1]
        return node

    def has(self, path: Sequence[str | int]) -> bool:
        """Return whether the file holds this field."""
        return self.node_at(path) is not None

    def substituted(self, values: Mapping[str, str]) -> Document:
        """Return this document with each `$(NAME)` of `values` replaced, in keys and in values; unquoted texts are read anew."""
        node = substitute(self.node, values)
        value = text_value(node) if self.is_header else kubernetes_value(node)
        document = replace(self, tree=node, value=value)
        for part in self.prefix:
            document = replace(document, value=document.value[part])
        return document

    def composed(self) -> Document:
        """Return the document with its tree made, for readers that use it often."""
        return replace(self, tree=self.node, parts=tuple)

    def variables(self) -> set[str]:
        """The names in `$(NAME)` anywhere in it."""
        if isinstance(self.tree, one_pass.Excerpt) and self.tree.text.find("$(", self.tree.start, self.tree.end) < 0:
            return set()
        return set(_names(self.node))

    def items(self) -> Iterator[Document]:
        """Yield the objects of this manifest: itself, or the items of a `kind: List`, or of a `PodList` as the API server writes it."""
        listed = _list_of(self.value)
        if listed is not None:
            parts = self.parts()
            for index, item in enumerate(self.value["items"]):
                if listed and isinstance(item, dict):  # items of a typed list do not repeat their kind
                    item = {"apiVersion": self.value.get("apiVersion"), "kind": listed, **item}
                if parts:
                    yield Document(self.file, parts[index], item)
                else:
                    yield replace(self, value=item, prefix=(*self.prefix, "items", index))
        else:
            yield self


def _list_of(value: Any) -> str | None:
    """Return the kind that the items of a typed list have, empty for those of a plain `List`; None for an object that is no list."""
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        return None
    kind, metadata = value.get("kind"), value.get("metadata")
    if not isinstance(kind, str) or not kind.endswith("List"):
        return None
    if kind != "List" and isinstance(metadata, dict) and "name" in metadata:
        return None  # an object of somebody's own kind
    return kind.removesuffix("List")


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
    merged = [map_ for part in node.merged if isinstance(map_ := substitute(part, values), nodes.Mapping)]
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
    """The text of a file; FileUnreadable when it is absent, not text, or too large."""
    name = file or str(path)
    try:
        with open_input(path) as stream:
            return read_stream(stream, name)
    except IsADirectoryError:
        raise _unreadable(name, "is a directory") from None
    except OSError as error:
        raise _unreadable(name, f"cannot be read: {(error.strerror or str(error)).lower()}") from None


def read_stream(stream: BinaryIO, name: str) -> str:
    """The text of a stream, called `name`; FileUnreadable as for `read_text`."""
    data = bytearray(stream.read(_FIRST))
    if b"\0" not in data:  # else the problem is reported at once, also of a stream without an end
        while len(data) <= MAX_BYTES and (part := stream.read(_PART)):
            data += part
    if len(data) > MAX_BYTES:
        raise _unreadable(name, "is too large", f"files end at {MAX_BYTES >> 30} GiB")
    if mistake := _other_form(data):
        raise _unreadable(name, *mistake)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _unreadable(name, f"byte 0x{data[error.start]:02x} is not UTF-8", place=(line, 1)) from None
    del data  # a dump is large
    bad = _UNPRINTABLE.search(text)
    if bad:
        line = text.count("\n", 0, bad.start()) + 1
        column = bad.start() - text.rfind("\n", 0, bad.start())
        raise _unreadable(name, f"character U+{ord(bad.group()):04X} is not allowed in YAML", place=(line, column))
    return text


def _other_form(data: bytearray) -> tuple[str, str] | None:
    """Return the problem of bytes that are no text in UTF-8, and the hint; None where they may be one."""
    for signature, form, hint in _SIGNATURES:
        if data.startswith(signature):
            return f"is {form}, not YAML", hint
    return ("is binary, not YAML", "") if b"\0" in data else None


def _unreadable(name: str, problem: str, hint: str = "", place: tuple[int, int] = (1, 1)) -> FileUnreadable:
    return FileUnreadable([Problem(Mark(name, *place), "", problem, hint)])


def documents(text: str, file: str) -> tuple[list[Document], list[Problem]]:
    """Return the documents of a text, empty ones left out, and every problem of their YAML."""
    result: list[Document] = []
    problems: list[Problem] = []
    if text.lstrip()[:1] == "{":
        read = one_pass.read_json(text)
        if read is not None and not any("scenario" in part.value for part, _ in read):
            return [Document(file, place, part.value, parts=part.items) for part, place in read], []
    plain = one_pass.without_managed_fields(text)
    line, counted = 1, 0
    for start, end in _chunks(plain):
        line, counted = line + plain.count("\n", counted, start), start
        if not plain[start:end].removeprefix("---").strip():
            continue
        read_one = one_pass.read_yaml(plain, start, end, line) if "scenario" not in plain[start:end] else None
        if read_one is not None:
            place = one_pass.Excerpt(plain, start, end, line)
            result.append(Document(file, place, read_one.value, parts=read_one.items))
            continue
        document, issues = _with_tree(plain, start, end, file, line)
        problems += issues
        result += [document] if document is not None else []
    return result, problems


def _with_tree(text: str, start: int, end: int, file: str, line: int) -> tuple[Document | None, list[Problem]]:
    """Return the document between two places, the first of them in `line`, and the problems of its YAML."""
    try:
        node, problems = nodes.compose(text[start:end], file=file, first_line=line)
    except ScenarioError as error:
        return None, list(error.problems)
    if node is None:
        return None, problems
    header = isinstance(node, nodes.Mapping) and "scenario" in node.pairs
    if header and end - start > MAX_HEADER:
        size = f"is {(end - start) / 1024 / 1024:.1f} MiB large"
        problems.append(Problem(Mark(file, line, 1), "", size, f"headers of scenarios end at {MAX_HEADER >> 20} MiB"))
        return None, problems
    return Document(file, node, text_value(node) if header else kubernetes_value(node)), problems


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the beginning and the end of each document."""
    starts = [match.start() for match in _MARKER.finditer(text)]
    if not starts or text[: starts[0]].strip():
        starts.insert(0, 0)
    yield from zip(starts, [*starts[1:], len(text)], strict=True)
