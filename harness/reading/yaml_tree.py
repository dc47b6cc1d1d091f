"""YAML as a tree that knows its lines: built from parser events, without recursion, so that no file can exhaust the stack.

libyaml's own composer recurses in C and dies on deep nesting; events do not. Aliases share nodes; `size` and `depth` count them as
expanded, so that a file whose aliases explode is refused before anything is built from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import Any

import yaml

from harness.reading.problems import Mark, Problem, ScenarioError
from lazyrecords import dataclass

__all__ = ["MAX_DEPTH", "Mapping", "Node", "Scalar", "Sequence", "compose", "new_loader"]

MAX_DEPTH = 100
MAX_VALUES = 400_000  # as many values as go-yaml allows aliases to make

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the pure Python one where libyaml is missing
_CORE = "tag:yaml.org,2002:"


@dataclass(slots=True, eq=False)
class Scalar:
    """A text as it stands in the file; `plain` when it was not quoted; `tag` is the explicit one, short (`!!str`), or empty."""

    line: int
    column: int
    text: str
    plain: bool
    tag: str = ""
    size: int = 1
    depth: int = 1


@dataclass(slots=True, eq=False)
class Sequence:
    """A list."""

    line: int
    column: int
    items: list[Node] = field(default_factory=list)
    size: int = 1
    depth: int = 1


@dataclass(slots=True, eq=False)
class Mapping:
    """A map with its keys in the order of the file; merged (`<<`) maps are kept apart in `merged`."""

    line: int
    column: int
    pairs: dict[str, tuple[Scalar, Node]] = field(default_factory=dict)
    merged: list[Mapping] = field(default_factory=list)
    size: int = 1
    depth: int = 1

    def get(self, key: str) -> tuple[Scalar, Node] | None:
        """Key and value under `key`, from a merged map when it is not set here."""
        own_pair = self.pairs.get(key)
        if own_pair is None:
            own_pair = next((pair for map_ in self.merged if (pair := map_.get(key))), None)
        return own_pair


Node = Scalar | Sequence | Mapping


class _Builder:
    """Turns the events of one document into a tree."""

    def __init__(self, file: str, first_line: int) -> None:
        self.file = file
        self.first_line = first_line
        self.problems: list[Problem] = []
        self.anchors: dict[str, Node] = {}
        self.open: list[tuple[Sequence | Mapping, str | None]] = []
        self.keys: list[Scalar | None] = []
        self.root: Node | None = None

    def mark(self, line: int, column: int) -> Mark:
        return Mark(self.file, line, column)

    def at(self, event: Any) -> tuple[int, int]:
        return event.start_mark.line + self.first_line, event.start_mark.column + 1

    def problem(self, place: tuple[int, int], message: str, hint: str = "") -> None:
        self.problems.append(Problem(self.mark(*place), "", message, hint))

    def fatal(self, place: tuple[int, int], message: str, hint: str = "") -> ScenarioError:
        self.problem(place, message, hint)
        return ScenarioError(self.problems)

    def tag_of(self, event: Any) -> str:
        """The explicit tag in its short form; tags that name no plain YAML type are a problem."""
        tag: str | None = event.tag
        if tag is None or tag == "!":
            return ""
        short = "!!" + tag[len(_CORE) :] if tag.startswith(_CORE) else tag
        if short not in {"!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq", "!!timestamp"}:
            self.problem(self.at(event), f"tag {short} is not allowed", "manifests hold plain values only")
        return short

    def start(self, node: Sequence | Mapping, event: Any) -> None:
        if len(self.open) >= MAX_DEPTH:
            raise self.fatal((node.line, node.column), f"nested more than {MAX_DEPTH} levels deep")
        if event.anchor:
            self.anchors[event.anchor] = node
        self.open.append((node, event.anchor))
        self.keys.append(None)

    def end(self) -> None:
        node, _ = self.open.pop()
        self.keys.pop()
        self.add(node)

    def alias(self, event: Any) -> None:
        place = self.at(event)
        target = self.anchors.get(event.anchor)
        if target is None:
            raise self.fatal(place, f"alias *{event.anchor} names no anchor")
        if any(target is node for node, _ in self.open):
            raise self.fatal(place, f"alias *{event.anchor} lies inside the value that it names")
        self.add(target, place)

    def add(self, node: Node, place: tuple[int, int] | None = None) -> None:
        """Put a finished value into its place: the root, a list, or a map (as key or value)."""
        place = place or (node.line, node.column)
        if not self.open:
            self.root = node
            return
        parent = self.open[-1][0]
        if isinstance(parent, Sequence):
            parent.items.append(node)
        else:
            key = self.keys[-1]
            if key is None:
                if not isinstance(node, Scalar):
                    hint = "a template with {{ … }} is rendered first, for example by helm template"
                    raise self.fatal(place, "a key must be a text", hint if isinstance(node, Mapping) else "")
                self.keys[-1] = Scalar(*place, node.text, node.plain, node.tag)
                return
            self.keys[-1] = None
            self.put(parent, key, node)
        parent.size += node.size
        parent.depth = max(parent.depth, node.depth + 1)
        if parent.size > MAX_VALUES:
            raise self.fatal(place, f"aliases expand to more than {MAX_VALUES} values")
        if parent.depth > MAX_DEPTH:
            raise self.fatal(place, f"nested more than {MAX_DEPTH} levels deep")

    def put(self, map_: Mapping, key: Scalar, value: Node) -> None:
        if key.text == "<<" and key.plain:
            several = value.items if isinstance(value, Sequence) else [value]
            for merged_map in several:
                if isinstance(merged_map, Mapping):
                    map_.merged.append(merged_map)  # the first of several wins
                else:
                    self.problem((key.line, key.column), "<< merges maps only")
            return
        first = map_.pairs.get(key.text)
        if first is not None:
            self.problem((key.line, key.column), f"key '{key.text}' is already set in line {first[0].line}")
            return
        map_.pairs[key.text] = (key, value)


def compose(text: str, *, file: str, first_line: int = 1) -> tuple[Node | None, list[Problem]]:
    """Return the tree of one YAML document (None when it is empty), and its mistakes short of syntax.

    `first_line` is the line of the file that the text begins with. Raises ScenarioError where the text is no YAML, is nested too
    deeply, or its aliases explode.
    """
    builder = _Builder(file, first_line)
    try:
        for event in _events(text):
            kind = type(event)
            if kind is yaml.ScalarEvent:
                place = builder.at(event)
                scalar = Scalar(*place, event.value, not event.style, builder.tag_of(event) if event.tag else "")
                if event.anchor:
                    builder.anchors[event.anchor] = scalar
                builder.add(scalar)
            elif kind is yaml.MappingStartEvent:
                builder.tag_of(event)
                builder.start(Mapping(*builder.at(event)), event)
            elif kind is yaml.SequenceStartEvent:
                builder.tag_of(event)
                builder.start(Sequence(*builder.at(event)), event)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                builder.end()
            elif kind is yaml.AliasEvent:
                builder.alias(event)
    except yaml.MarkedYAMLError as error:
        raise ScenarioError([*builder.problems, _syntax_problem(error, text, builder)]) from None
    root = builder.root
    if isinstance(root, Scalar) and root.plain and root.text == "" and not root.tag:
        root = None
    return root, builder.problems


def new_loader(text: str) -> Any:
    """A parser of a text, with `get_event` and `dispose`."""
    return _Loader(text)


def _events(text: str) -> Iterator[Any]:
    loader = new_loader(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


def _syntax_problem(error: yaml.MarkedYAMLError, text: str, builder: _Builder) -> Problem:
    mark = error.problem_mark or error.context_mark
    line, column = (mark.line, mark.column) if mark else (0, 0)
    lines = text.split("\n")
    source = lines[line] if line < len(lines) else ""
    indent = source[: len(source) - len(source.lstrip())]
    if "\t" in indent:
        place = (line + builder.first_line, indent.index("\t") + 1)
        return Problem(builder.mark(*place), "", "a tab cannot indent YAML", "use spaces")
    message = error.problem or error.context or "syntax error"
    context = f" {error.context}" if error.context and error.problem else ""
    return Problem(builder.mark(line + builder.first_line, column + 1), "", f"not YAML: {message}{context}")
