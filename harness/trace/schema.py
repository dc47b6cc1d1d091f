"""The JSON Schema of a line of a trace and the table of its facts, made from their classes."""

from __future__ import annotations

from typing import Any

from harness.trace.facts import KINDS
from harness.trace.header import VERSION, Header
from harness.trace.values import Recorded, shape_of

__all__ = ["trace_schema", "trace_table"]


def trace_schema() -> dict[str, Any]:
    """The schema that each line fits: the header, or a fact. Later versions may add keys and facts."""
    facts = [_schema(kind, {"fact": {"const": name}}) for name, kind in KINDS.items()]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"A line of a trace, version {VERSION}",
        "anyOf": [_schema(Header, {"trace": {"const": VERSION}}), *facts],
    }


def trace_table() -> str:
    """Return the rows of the reference page: each kind with its keys and its description; `?` marks a key that may be left out."""
    rows = ["| kind | keys beside `t` and `fact` | what it says |", "|---|---|---|"]
    for name, kind in KINDS.items():
        shape = shape_of(kind)
        optional = {key for key in shape.schemas if key not in shape.required}
        keys = ", ".join(f"`{key}`{'?' if key in optional else ''}" for key in shape.schemas if key != "t")
        rows.append(f"| `{name}` | {keys} | {(kind.__doc__ or '').strip()} |")
    return "\n".join(rows) + "\n"


def _schema(kind: type[Recorded], fixed: dict[str, Any]) -> dict[str, Any]:
    shape = shape_of(kind)
    return {
        "title": kind.__name__,
        "description": (kind.__doc__ or "").strip(),
        "type": "object",
        "properties": {**shape.schemas, **fixed},
        "required": list(dict.fromkeys([*fixed, *shape.required])),
    }
