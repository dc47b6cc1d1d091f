"""What a mismatch is probably about: a signature that many mismatches of one cause share."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.conformance.compare import Difference

__all__ = ["short", "signature"]

INDEX = re.compile(r"\[\d+\]")
NUMBER = re.compile(r"\d+(\.\d+)?")
NAME = re.compile(r'"[^"]*"|\[[^\]]*\]|[^\s,:]*[/.][^\s,:]*')
# the children of these are named by the case, not by the protocol
NAMED = re.compile(
    r"(^|\.)(keys|labels|has|has_intersection|existing|errors|ignored|capacity|allocatable|annotations)\.(.*)"
)
LEAVES = (
    "len",
    "string",
    "operator",
    "values",
    "node_selector",
    "any",
    "has",
    "restricted",
    "well_known",
    "kubelet_can_set",
)


def signature(difference: Difference) -> str:
    """The path without indices and names, and what kind of thing stood there on both sides."""
    return f"{_place(difference.path)}: {_kind(difference.want)} → {_kind(difference.got)}"


def short(value: Any, length: int = 140) -> str:
    """One line of JSON, cut."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= length else text[: length - 1] + "…"


def _place(path: str) -> str:
    path = INDEX.sub("[]", path)
    match = NAMED.search(path)
    if match is None:
        return path
    head = path[: match.start(3)]
    leaf = next((leaf for leaf in LEAVES if re.search(rf"\.{leaf}(\b|$)", match[3])), "")
    return f"{head}*.{leaf}" if leaf else f"{head}*"


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return NUMBER.sub("N", NAME.sub("…", value))[:60] or '""'
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    return type(value).__name__
