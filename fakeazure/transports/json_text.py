"""JSON as ARM reads and writes it: within a depth, numbers that are numbers, no constants that only JavaScript knows."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_MARK = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)


def read(raw: bytes, nesting: int) -> Mapping[str, Any] | None:
    """The object in a request body, None for an empty one. ValueError says in ARM's words what is wrong."""
    if not raw.strip():
        return None
    if raw.count(b"[") + raw.count(b"{") > nesting and depth(raw, nesting) > nesting:
        raise ValueError(f"The reader's MaxDepth of {nesting} has been exceeded.")
    found = json.loads(raw, parse_constant=_refused, parse_float=_number, parse_int=_whole)
    if not isinstance(found, Mapping):
        raise ValueError("The request body must be a JSON object.")
    return found


def depth(raw: bytes, enough: int) -> int:
    """How deep arrays and objects are nested; counting stops above `enough`."""
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
    """A document as the body of an answer."""
    return json.dumps(document, default=_plain, separators=(",", ":")).encode()


def _refused(text: str) -> float:
    raise ValueError(f"{text} is no JSON value.")


def _number(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"JSON number {text[:40]} is too large or small for a Double.")
    return value


def _whole(text: str) -> int:
    if len(text) > 40:
        raise ValueError(f"JSON integer {text[:40]} is too large or small for an Int64.")
    return int(text)


def _plain(value: object) -> object:
    """What `json` does not know: mappings that are no dict."""
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON value")
