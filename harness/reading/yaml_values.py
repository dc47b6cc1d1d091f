"""Values of the YAML tree, of two kinds: the harness's own keys hold text, manifests hold values as kubectl reads them."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import Any

from harness.reading.yaml_tree import Node, Scalar, Sequence

__all__ = ["kubernetes_value", "resolve", "text_value"]

# go-yaml v2 resolve.go, which kubectl reads manifests with: `y` and `on` are booleans, dates stay text.
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_INT = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)")


@lru_cache(maxsize=1 << 16)
def resolve(text: str) -> Any:
    """Return the value of an unquoted scalar as go-yaml v2 reads it: bool, int, float, None or text."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in "+-.0123456789":
        return text
    if text[0] == ".":
        return float(text) if _FLOAT.fullmatch(text) else text
    plain = text.replace("_", "")
    if _INT.fullmatch(plain):
        sign = -1 if plain[0] == "-" else 1
        digits = plain.lstrip("+-")
        base = 10
        if len(digits) > 1 and digits[0] == "0":
            base = {"x": 16, "X": 16, "b": 2, "B": 2, "o": 8, "O": 8}.get(digits[1], 8)
            digits = digits[2:] if digits[1].isalpha() else digits[1:]
        if len(digits) <= 64:  # strconv.ParseInt and ParseUint take no more than 64 bits; the rest may still be a float
            number = sign * int(digits, base)
            if -(2**63) <= number < 2**64:
                return number
    if _FLOAT.fullmatch(plain):
        number_ = float(plain)
        return text if math.isinf(number_) else number_
    return text


def _scalar(node: Scalar) -> Any:
    if node.tag in ("", "!!timestamp"):
        return resolve(node.text) if node.plain else node.text
    if node.tag == "!!str":
        return node.text
    value = resolve(node.text)
    if node.tag == "!!float" and isinstance(value, int):
        return float(value)
    return value


def as_sent(value: Any) -> Any:
    """Return a scalar as the API server reads it from kubectl, whose JSON has 50 for 50.0; a number beyond 64 bits stays a float."""
    if isinstance(value, float) and value.is_integer() and -(2**63) <= value < 2**63:
        return int(value)
    return value


def kubernetes_value(node: Node | None) -> Any:
    """The JSON-shaped value that kubectl sends for this tree; keys are text, whatever they look like."""
    if node is None:
        return None
    if isinstance(node, Scalar):
        return as_sent(_scalar(node))
    if isinstance(node, Sequence):
        return [kubernetes_value(item) for item in node.items]
    result: dict[str, Any] = {}
    for map_ in reversed(node.merged):
        result.update(kubernetes_value(map_))
    for text, (key, value) in node.pairs.items():
        result[_key(key) if key.plain else text] = kubernetes_value(value)
    return result


def _key(key: Scalar) -> str:
    value = _scalar(key)
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return key.text if value is None else format(value, "g") if isinstance(value, float) else str(value)


def text_value(node: Node | None) -> Any:
    """The value in the harness's own keys: every scalar is its text (`1.30` is not 1.3); an empty one is None, "missing"."""
    if node is None:
        return None
    if isinstance(node, Scalar):
        return None if node.plain and node.text == "" else node.text
    if isinstance(node, Sequence):
        return [text_value(item) for item in node.items]
    result: dict[str, Any] = {}
    for map_ in reversed(node.merged):
        result.update(text_value(map_))
    for text, (_, value) in node.pairs.items():
        result[text] = text_value(value)
    return result
