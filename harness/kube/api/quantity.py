"""Kubernetes resource quantities: exact arithmetic at nano precision and Go's canonical text.

Source: apimachinery pkg/api/resource/{quantity,amount,suffix}.go.
"""

from __future__ import annotations

import re
from dataclasses import field
from functools import lru_cache
from typing import Literal

from harness.kube.go.text import parse_int
from lazyrecords import dataclass

Format = Literal["BinarySI", "DecimalSI", "DecimalExponent"]

NANO = 1_000_000_000
"""Quantity.nano of 1."""

_MAX_BINARY = (1 << 63) - 1
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {0: ""} | {exponent: suffix for suffix, exponent in _BINARY.items()}
_SHAPE = re.compile(r"([+-]?)(0*)([0-9]*)(?:(\.)([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)\Z")
_INT64_DIGITS = 18  # longer numbers take Go's slow path, whose texts differ


class QuantityError(ValueError):
    """A text that is no quantity; the message is apimachinery's."""


_WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
_WRONG_NUMBER = "unable to parse numeric part of quantity"
_WRONG_SUFFIX = "unable to parse quantity's suffix"


@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """An amount in billionths of its unit, with the family of suffixes that it prints with.

    Two quantities are equal, and hash alike, when their amounts are equal; the format takes no part.
    """

    nano: int
    format: Format = "DecimalSI"
    text: str = field(default="", repr=False)
    """The text it was parsed from, where Go prints that again although it is not canonical; else empty."""

    @classmethod
    def parse(cls, text: str | int | float) -> Quantity:
        """The quantity of a manifest's string or number. Raises QuantityError."""
        if text.__class__ is str:
            return _parse(text)
        return _parse(str(text))  # a value that is no number does not read as one either

    @classmethod
    def stored(cls, value: str | int | float | None) -> Quantity:
        """Return the quantity of a manifest's value as the API server gives it back: in its own notation, null as 0.
        Raises QuantityError."""
        if value.__class__ is str:
            return stored_text(value)
        return Quantity(0) if value is None else stored_text(str(cls.parse(value)))

    def __str__(self) -> str:
        return self.text or _canonical(self.nano, self.format)

    def __add__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano + other.nano, self.format if self.nano else other.format)

    def __sub__(self, other: Quantity) -> Quantity:
        return Quantity(self.nano - other.nano, self.format if self.nano else other.format)

    def __neg__(self) -> Quantity:
        return Quantity(-self.nano, self.format)

    def __bool__(self) -> bool:
        return self.nano != 0

    def __hash__(self) -> int:
        return hash(self.nano)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.nano == other.nano

    def __lt__(self, other: Quantity) -> bool:
        return self.nano < other.nano

    def __le__(self, other: Quantity) -> bool:
        return self.nano <= other.nano

    def __gt__(self, other: Quantity) -> bool:
        return self.nano > other.nano

    def __ge__(self, other: Quantity) -> bool:
        return self.nano >= other.nano

    @property
    def negative(self) -> bool:
        return self.nano < 0

    def is_zero(self) -> bool:
        return self.nano == 0

    def value(self) -> int:
        """Whole units, rounded away from zero (Go's Value)."""
        return _divide_away(self.nano, NANO)

    def milli_value(self) -> int:
        """Thousandths, rounded away from zero (Go's MilliValue)."""
        return _divide_away(self.nano, NANO // 1000)

    def decimal(self, places: int = 0) -> str:
        """Return the amount without a suffix (Go's AsDec), as some messages print it: ``17179869184`` for 16Gi.

        Go keeps the decimals of the text: ``0.5`` is printed as 0.5, 500m as 0.500. ``places``: at least so many, see
        :func:`places_of`.
        """
        whole, rest = divmod(abs(self.nano), NANO)
        decimals = f"{rest:09d}"[:places] + f"{rest:09d}"[places:].rstrip("0")
        return f"{'-' if self.nano < 0 else ''}{whole}{'.' if decimals else ''}{decimals}"


ZERO = Quantity(0)


def _divide_away(number: int, divisor: int) -> int:
    return -(-number // divisor) if number >= 0 else number // divisor


@lru_cache(maxsize=4096)
def _parse(text: str) -> Quantity:
    if not text:
        raise QuantityError(_WRONG_FORMAT)
    match = _SHAPE.match(text)
    if match is None:
        raise QuantityError(_WRONG_FORMAT)
    sign, zeros, digits, _, decimals, suffix = match.groups()
    decimals = decimals or ""
    exponent, form = _suffix(suffix)
    number = digits or "0"
    scale = exponent - len(decimals) if form != "BinarySI" else -len(decimals)
    shifted = number + decimals
    short = _is_short(number, decimals, exponent, form)
    if not short and not (zeros or digits or decimals):
        raise QuantityError(_WRONG_NUMBER)
    if not shifted.strip("0"):
        return Quantity(0, form)
    if scale > 10_000 or len(shifted) > 4_000:  # beyond any use; Go computes for minutes
        raise QuantityError(_WRONG_SUFFIX)
    if short:
        value = int(shifted)
        amount = value << exponent if form == "BinarySI" else value
        if form == "BinarySI":
            canonical = bool(value & 7)
        else:
            canonical = scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"
        nano = amount * 10 ** (scale + 9)
        nano = -nano if sign == "-" else nano
        return Quantity(nano, form, text if canonical and text != _canonical(nano, form) else "")
    unscaled = int(shifted) << exponent if form == "BinarySI" else int(shifted)
    if scale >= -9:
        nano = unscaled * 10 ** (scale + 9)
    else:  # by no more than makes any of so many digits a fraction
        nano = -(-unscaled // 10 ** min(-scale - 9, len(shifted)))
    if form == "BinarySI":
        nano = min(nano, _MAX_BINARY * NANO)
        if nano < NANO:
            form = "DecimalSI"
    return Quantity(-nano if sign == "-" else nano, form)


def places_of(value: str | float | None) -> int:
    """Return the number of decimals that a quantity has when it is printed without a suffix: 3 for 1500m. Raises QuantityError."""
    match = _SHAPE.match("0" if value is None else str(value))
    if match is None:
        raise QuantityError(_WRONG_FORMAT)
    _, _, digits, _, decimals, suffix = match.groups()
    exponent, form = _suffix(suffix)
    if not _is_short(digits or "0", decimals or "", exponent, form):
        return 9
    return 0 if form == "BinarySI" else max(0, len(decimals or "") - exponent)


def _is_short(number: str, decimals: str, exponent: int, form: Format) -> bool:
    """Return whether Go takes the parser for short numbers; the other one computes with nine decimals."""
    if form == "BinarySI":
        # by Go's estimate of the decimal digits of the factor
        return not decimals and 15 - len(number) - exponent * 3 // 10 - 1 >= 0
    return len(number + decimals) <= _INT64_DIGITS and exponent - len(decimals) >= -9


@lru_cache(maxsize=4096)
def stored_text(text: str) -> Quantity:
    """Return the quantity as :meth:`Quantity.stored`. Decoding trims spaces; a fraction of a binary unit comes back as a decimal."""
    parsed = _parse(text.strip(" "))
    written = str(parsed)
    return parsed if written == text else _parse(written)


def _suffix(suffix: str) -> tuple[int, Format]:
    """Exponent (of 2 for BinarySI, else of 10) and format of a suffix."""
    if (decimal := _DECIMAL.get(suffix)) is not None:
        return decimal, "DecimalSI"
    if (binary := _BINARY.get(suffix)) is not None:
        return binary, "BinarySI"
    if suffix[0] in "eE" and (exponent := parse_int(suffix[1:])) is not None:
        return (exponent + (1 << 31)) % (1 << 32) - (1 << 31), "DecimalExponent"  # Go keeps 32 bits
    raise QuantityError(_WRONG_SUFFIX)


@lru_cache(maxsize=65536)
def _canonical(nano: int, form: Format) -> str:
    if nano == 0:
        return "0"
    sign = "-" if nano < 0 else ""
    amount = abs(nano)
    if form == "BinarySI" and amount >= 1024 * NANO and amount % NANO == 0:
        amount //= NANO
        power = 0
        while amount % 1024 == 0:
            amount //= 1024
            power += 10
        return f"{sign}{amount}{_BINARY_SUFFIX.get(power, '')}"
    exponent = -9
    while amount % 1000 == 0:
        amount //= 1000
        exponent += 3
    if form == "DecimalExponent":
        return f"{sign}{amount}e{exponent}" if exponent else f"{sign}{amount}"
    return f"{sign}{amount}{_DECIMAL_SUFFIX.get(exponent, '')}"
