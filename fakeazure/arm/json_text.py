"""JSON as ARM reads and writes it: within a depth, numbers that are numbers, no constants that only JavaScript knows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

_MARK = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"|\Z|\\\Z)|[\[\]{}]', re.DOTALL)
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]|\x00")
"""The ways to write half a surrogate pair: an escape, UTF-8, or a text in UTF-16."""
_INT64 = range(-(2**63), 2**63)


def read(raw: bytes, nesting: int, reader: Callable[[bytes, int], Any] | None = None) -> Mapping[str, Any] | None:
    """The object in a request body, read by `value` or by `reader`; None for an empty one. ValueError says in ARM's words what is wrong."""
    if not raw.strip():
        return None
    document = (reader or value)(raw, nesting)
    if not isinstance(document, Mapping):
        raise ValueError("The request body must be a JSON object.")
    return document


def value(raw: bytes, nesting: int) -> Any:
    """The JSON in a text. ValueError says in ARM's words what is wrong: the depth, a number, a constant that only JavaScript knows."""
    if raw.count(b"[") + raw.count(b"{") > nesting and depth(raw, nesting) > nesting:
        raise ValueError(too_deep(nesting))
    parsed = json.loads(raw, parse_constant=_refused, parse_float=_number, parse_int=_whole)
    return _paired(parsed) if _SURROGATE.search(raw) is not None else parsed


def too_deep(nesting: int) -> str:
    """Return ARM's words for a text that is nested deeper."""
    return f"The reader's MaxDepth of {nesting} has been exceeded."


def _paired(value: Any) -> Any:
    """A document with U+FFFD for each half of a surrogate pair that stands alone, as .NET writes it: no text can be sent with one."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_paired(item) for item in value]
    return {_paired(key): _paired(item) for key, item in value.items()} if isinstance(value, dict) else value


def depth(raw: bytes, enough: int) -> int:
    """Return the depth of nested arrays and objects; counting stops above `enough`."""
    deepest = level = 0
    for match in _MARK.finditer(raw):
        mark = match.group()
        if mark in b"[{":
            level += 1
            deepest = max(deepest, level)
            if deepest > enough:
                break
        elif mark in b"]}":
            level -= 1
    return deepest


def write(document: object) -> bytes:
    """A document as the body of an answer. A number that is none, which only a caller in process can have brought, is null in it."""
    try:
        return json.dumps(document, default=_plain, separators=(",", ":"), allow_nan=False).encode()
    except ValueError:
        return json.dumps(_finite(document), default=_plain, separators=(",", ":"), allow_nan=False).encode()


def _finite(value: Any) -> Any:
    """A document with null for each number that JSON does not have."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _refused(text: str) -> float:
    raise ValueError(f"{text} is no JSON value.")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"JSON number {text[:40]} is too large or small for a Double.")
    return value


def _whole(text: str) -> int:
    if len(text) > 20 or (number := int(text)) not in _INT64:
        raise ValueError(f"JSON integer {text[:40]} is too large or small for an Int64.")
    return number


def _plain(value: object) -> object:
    """Return values in types that `json` knows: mappings as dicts."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
