"""Numbers that 64 bits do not hold, as Go on amd64 has them."""

from __future__ import annotations

from math import inf, nan

import pytest

from harness.kube.go.text import parse_int, parse_int_lenient, to_int64, wrap_int

SMALLEST, GREATEST = -(2**63), 2**63 - 1


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1.9, 1),
        (-1.9, -1),
        (2.0**62, 2**62),
        (2.0**63 - 1024, 2**63 - 1024),  # the greatest that is held
        (-(2.0**63), SMALLEST),
        *((each, SMALLEST) for each in (2.0**63, 1.5 * 2.0**63, -1e19, 1e300, inf, -inf, nan)),
    ],
)
def test_a_float_becomes_an_integer(number: float, expected: int) -> None:
    assert to_int64(number) == expected


def test_sums_go_round() -> None:
    assert wrap_int(GREATEST) == GREATEST
    assert wrap_int(GREATEST + 1) == SMALLEST
    assert wrap_int(SMALLEST - 1) == GREATEST
    assert wrap_int(2**64) == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [("12", 12), ("-3", -3), ("", 0), ("1.5", 0), ("x", 0), ("9" * 30, GREATEST), ("-" + "9" * 30, SMALLEST)],
)
def test_a_text_whose_error_is_ignored(text: str, expected: int) -> None:
    assert parse_int_lenient(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12", 12),
        ("+007", 7),
        ("-0", 0),
        ("000", 0),
        ("9223372036854775807", GREATEST),
        ("9223372036854775808", None),
        ("-9223372036854775808", SMALLEST),
        ("-9223372036854775809", None),
        (f"{'0' * 5000}1", 1),
        (f"1{'0' * 5000}", None),
        ("", None),
        ("-", None),
        ("1_000", None),
        ("١", None),
    ],
)
def test_a_text_is_an_integer_of_64_bits_or_none(text: str, expected: int | None) -> None:
    """strconv.Atoi, which takes any number of digits (strconv/atoi.go)."""
    assert parse_int(text) == expected
    assert parse_int_lenient(f"{'9' * 5000}") == GREATEST
