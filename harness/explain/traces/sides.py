"""A difference of two traces in words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from harness.trace.comparing import Difference

__all__ = ["WHOLE", "place_text", "side_lines", "side_texts", "value_text", "what_differs"]

WHOLE = 20_000
"""Characters of a side where it can be opened, or is read by a program: all sizes of a region have room."""

_WIDTH = 300
_PLAIN = (
    (r"\[Nodes\]\[0\]", "[its Node]"),
    (r"\[Nodes\]\[(\d+)\]", r"[its Node, number \1 from 0]"),
    (r"\[labels\]\[", "[label "),
    (r"\[conditions\]\[", "[condition "),
    (r"\[offered\]", "[sizes that the NodePool is offered]"),
)


def side_lines(one: Difference) -> Iterator[str]:
    """What differs, in the words of its place, with both sides below it; of lists what only one side has."""
    kept = f"  (kept: {one.kept})" if one.kept else ""
    yield f"{place_text(one.fact)}{kept}"
    left, right = what_differs(one)
    if isinstance(left, list) and isinstance(right, list) and left is one.left:
        yield "    the same in another order, or another number of times"
    mine, theirs = side_texts(one)
    yield f"    A  {mine}"
    yield f"    B  {theirs}"


def side_texts(one: Difference, width: int = _WIDTH) -> tuple[str, str]:
    """Both sides in a line each, cut at `width`; of lists they say that they are what only this side has."""
    left, right = what_differs(one)
    mine, theirs = value_text(left, width), value_text(right, width)
    if left is one.left and right is one.right:
        return mine, theirs
    return f"only in A: {mine}", f"only in B: {theirs}"


def what_differs(one: Difference) -> tuple[Any, Any]:
    """Both sides; of lists what only one of them has, where there is such."""
    left, right = one.left, one.right
    if isinstance(left, list) and isinstance(right, list):
        only = [each for each in left if each not in right], [each for each in right if each not in left]
        if any(only):
            return only
    return left, right


def place_text(fact: str) -> str:
    """`NodeClaims[default 1][Nodes][0][labels][a]` as `NodeClaims: default 1: its Node: label a`."""
    for pattern, words in _PLAIN:
        fact = re.sub(pattern, words, fact)
    return re.sub(r"\]\[|\[", ": ", fact).replace("]", "")


def value_text(value: Any, width: int = _WIDTH) -> str:
    """A value in one line, cut at `width`; `(nothing)` for an empty list."""
    if value in ([], {}, ""):
        return "(nothing)"
    if isinstance(value, list) and all(isinstance(each, str) for each in value):
        text = ", ".join(value) if all(len(each) < 40 for each in value) else "; ".join(value)
        text = f"{len(value)}: {text}" if len(value) > 1 else text
    else:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= width else f"{text[: width - 1]}… ({len(text)} characters)"
