"""Scenarios as text: a header and objects, in the YAML that is read back as the same values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from harness.reading.yaml_values import resolve
from plainlines import is_printable, printable_lines

__all__ = ["objects_text", "scenario_text"]

_WIDTH = 140
_LINE = 90  # characters of a map or list that is written in one line
_NESTED = 3  # the deepest nesting of such a value


def scenario_text(header: Mapping[str, Any], objects: Iterable[Mapping[str, Any]]) -> str:
    """A scenario file of one header and its objects, keys in their order."""
    return objects_text([header, *objects])


def objects_text(documents: Iterable[Mapping[str, Any]]) -> str:
    """Return a file of these documents, keys in their order."""
    texts = (
        yaml.dump(document, Dumper=_Plain, sort_keys=False, width=_WIDTH, allow_unicode=True) for document in documents
    )
    return "---\n".join(
        map(printable_lines, texts)
    )  # its escapes are those of YAML, and a text that needs one has double quotes


class _Plain(yaml.SafeDumper):
    """YAML as Kubernetes reads it: without anchors, and with quotes around every text that it would take for something else."""

    def ignore_aliases(self, data: Any) -> bool:
        """Return True: every value is written where it stands."""
        return True

    def serialize(self, node: yaml.Node) -> None:
        """Write short maps and lists in one line, but for a document."""
        for child in _children(node):
            _in_one_line(child)
        super().serialize(node)


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [value for _, value in node.value]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _in_one_line(node: yaml.Node) -> tuple[int, int]:
    """Return depth and length of a value; a short and flat one is written in one line."""
    if isinstance(node, yaml.ScalarNode):
        return 0, len(node.value) + 2
    keys = sum(len(key.value) + 2 for key, _ in node.value) if isinstance(node, yaml.MappingNode) else 0
    below = [_in_one_line(child) for child in _children(node)]
    depth, length = max((child[0] for child in below), default=0) + 1, sum(child[1] for child in below) + keys
    if isinstance(node, yaml.CollectionNode):
        node.flow_style = length <= _LINE and depth <= _NESTED
    return depth, length


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    plain = text != "" and resolve(text) == text and isinstance(resolve(text), str) and is_printable(text)
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Plain.add_representer(str, _text)
