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


def side_lines(difference: Difference) -> Iterator[str]:
    """Yield a difference in the words of its place, with both sides below it; of lists only the items of one side."""
    note = f"  (kept: {difference.kept})" if difference.kept else ""
    yield f"{place_text(difference.fact)}{note}"
    left, right = what_differs(difference)
    if isinstance(left, list) and isinstance(right, list) and left is difference.left:
        yield "    the same in another order, or another number of times"
    mine, theirs = side_texts(difference)
    yield f"    A  {mine}"
    yield f"    B  {theirs}"


def side_texts(difference: Difference, width: int = _WIDTH) -> tuple[str, str]:
    """Both sides in a line each, cut at `width`; of lists they say that they are what only this side has."""
    left, right = what_differs(difference)
    mine, theirs = value_text(left, width), value_text(right, width)
    if left is difference.left and right is difference.right:
        return mine, theirs
    return f"only in A: {mine}", f"only in B: {theirs}"


def what_differs(difference: Difference) -> tuple[Any, Any]:
    """Both sides; of lists what only one of them has, where there is such."""
    left, right = difference.left, difference.right
    if isinstance(left, list) and isinstance(right, list):
        only = [item for item in left if item not in right], [item for item in right if item not in left]
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
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        text = ", ".join(value) if all(len(item) < 40 for item in value) else "; ".join(value)
        text = f"{len(value)}: {text}" if len(value) > 1 else text
    else:
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= width else f"{text[: width - 1]}… ({len(text)} characters)"
