"""Field errors of the API server: type, path, rejected value, detail, and the lines it prints for them.

Source: apimachinery pkg/util/validation/field/errors.go, pkg/api/errors/errors.go.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeAlias

from harness.kube.go.text import quote
from lazyrecords import dataclass

Pointer: TypeAlias = tuple[str | int, ...]
"""A place in an object: keys of mappings and indices of lists, from the root. The last key may be one that is absent."""


class ErrorType(StrEnum):
    """Kinds of field errors, by the name that the API uses as the cause's reason."""

    REQUIRED = "FieldValueRequired"
    DUPLICATE = "FieldValueDuplicate"
    INVALID = "FieldValueInvalid"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    TOO_LONG = "FieldValueTooLong"
    TOO_MANY = "FieldValueTooMany"
    TYPE_INVALID = "FieldValueTypeInvalid"


_WORDS = {
    ErrorType.REQUIRED: "Required value",
    ErrorType.DUPLICATE: "Duplicate value",
    ErrorType.INVALID: "Invalid value",
    ErrorType.NOT_SUPPORTED: "Unsupported value",
    ErrorType.FORBIDDEN: "Forbidden",
    ErrorType.TOO_LONG: "Too long",
    ErrorType.TOO_MANY: "Too many",
    ErrorType.TYPE_INVALID: "Invalid value",
}
_VALUELESS = frozenset({ErrorType.REQUIRED, ErrorType.FORBIDDEN, ErrorType.TOO_LONG})

BLOCKING = frozenset(
    {
        ErrorType.NOT_SUPPORTED,
        ErrorType.REQUIRED,
        ErrorType.TOO_LONG,
        ErrorType.TOO_MANY,
        ErrorType.TYPE_INVALID,
    }
)
"""Errors of these types keep the API server from evaluating CEL rules (apiextensions hasBlockingErr)."""

NO_FIELD: Final = "<nil>"
"""The path that the API server prints in an error about the whole object."""


class _Omitted:
    """The value of an error that prints none."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "OMITTED"


OMITTED: Final = _Omitted()


@dataclass(frozen=True, slots=True)
class Verbatim:
    """A value whose printed form is known already; ``syntax`` is its form in Go's syntax, where it differs."""

    text: str
    syntax: str = ""


@dataclass(frozen=True, slots=True)
class FieldError:
    """One complaint about one field.

    ``field`` is the path as the API server prints it, ``pointer`` the same place in the object. ``rule`` is the
    identifier of the rule that failed ("" for the schema itself), ``culprits`` the places inside the object that made
    it fail, where the rule can tell: for a forbidden label its key below ``pointer``.
    """

    type: ErrorType
    field: str
    detail: str = ""
    value: Any = OMITTED
    pointer: Pointer = ()
    rule: str = ""
    culprits: tuple[Pointer, ...] = ()

    @property
    def body(self) -> str:
        """Return the line without the path."""
        text = _WORDS[self.type]
        if self.type not in _VALUELESS and self.value is not OMITTED:
            text = f"{text}: {print_value(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text

    def __str__(self) -> str:
        return f"{self.field}: {self.body}"


def print_value(value: Any) -> str:
    """Return a rejected value as Go prints it in a field error."""
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return print_float(value)
    return value.text if isinstance(value, Verbatim) else go_json(value)


def go_syntax(value: Any) -> str:
    """Return ``%#v`` of a JSON value, as API servers up to 1.33 print rejected lists and mappings."""
    if isinstance(value, list | tuple):
        return f"[]interface {{}}{{{', '.join(go_syntax(entry) for entry in value)}}}"
    if isinstance(value, dict):
        entries = ", ".join(f"{quote(key)}:{go_syntax(value[key])}" for key in sorted(value))
        return f"map[string]interface {{}}{{{entries}}}"
    return "interface {}(nil)" if value is None else print_value(value)


def print_float(value: float) -> str:
    """Return ``%v`` of a float64."""
    return _shortest(value, low=-4, high=6)


def json_float(value: float) -> str:
    """Return a float64 as Go's encoding/json writes it."""
    return _shortest(value, low=-6, high=21).replace("e-0", "e-")


def go_json(value: Any) -> str:
    """Return compact JSON as Go's encoding/json writes it: keys sorted, ``<``, ``>`` and ``&`` escaped."""
    if isinstance(value, dict):
        return f"{{{','.join(f'{go_json(key)}:{go_json(value[key])}' for key in sorted(value))}}}"
    if isinstance(value, list | tuple):
        return f"[{','.join(map(go_json, value))}]"
    if isinstance(value, float):
        return json_float(value)
    text = json.dumps(value, ensure_ascii=False, default=str)
    for char in "<>&\u2028\u2029":
        if char in text:
            text = text.replace(char, f"\\u{ord(char):04x}")
    return text


def _shortest(value: float, low: int, high: int) -> str:
    """Return the shortest digits that read back as ``value``; exponent form outside 10**low … 10**high."""
    if not math.isfinite(value):
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN")
    if value == 0:
        return f"{value:.0f}"  # minus zero has its sign
    mantissa, _, exponent = f"{value!r}".partition("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    power = (
        int(exponent or 0) + len(whole) - 1 if whole.strip("0") else int(exponent or 0) - _leading_zeros(fraction) - 1
    )
    digits = digits.rstrip("0") or "0"
    if power < low or power >= high:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{'-' if power < 0 else '+'}{abs(power):02d}"
    if power < 0:
        return f"{sign}0.{'0' * (-power - 1)}{digits}"
    if len(digits) <= power + 1:
        return f"{sign}{digits}{'0' * (power + 1 - len(digits))}"
    return f"{sign}{digits[: power + 1]}.{digits[power + 1 :]}"


def _leading_zeros(text: str) -> int:
    return len(text) - len(text.lstrip("0"))


def invalid_message(group: str, kind: str, name: str, errors: Sequence[FieldError]) -> str:
    """Return the Status message of an object that is refused for ``errors`` ("" when there are none)."""
    if not errors:
        return ""
    return f"{kind}.{group} {quote(name)} is invalid: {aggregate(str(error) for error in errors)}"


def aggregate(texts: Iterable[str]) -> str:
    """Return several error texts as one: equal ones once, in brackets when more than one is left."""
    distinct = list(dict.fromkeys(texts))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"


def go_text(value: Any) -> str:
    """Return ``%v`` of a JSON value, as errors without a field print it."""
    if isinstance(value, list | tuple):
        return f"[{' '.join(go_text(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{key}:{go_text(value[key])}' for key in sorted(value))}]"
    if isinstance(value, str):
        return value
    return "<nil>" if value is None else print_value(value)
