"""Texts as Go quotes them in messages (strconv.Quote), and numbers as it reads them (strconv.ParseFloat)."""

from __future__ import annotations

import math

import pytest

from harness.kube.go.text import parse_float, quote


@pytest.mark.parametrize(
    ("char", "quoted"),
    [
        ("a", "a"),
        (" ", " "),
        ('"', r"\""),
        ("\\", r"\\"),
        ("\n", r"\n"),
        ("\v", r"\v"),
        ("\0", r"\x00"),
        ("\x1b", r"\x1b"),
        ("\x7f", r"\x7f"),
        ("\x80", r"\u0080"),
        ("\xa0", r"\u00a0"),
        ("\xff", "\xff"),
        ("\u200b", r"\u200b"),
        ("\ue000", r"\ue000"),
        ("\uffff", r"\uffff"),
        ("\U00010000", "\U00010000"),
        ("\U0001f600", "\U0001f600"),
        ("\U000e0001", r"\U000e0001"),
        ("\U0010ffff", r"\U0010ffff"),
    ],
)
def test_a_character_in_quotes(char: str, quoted: str) -> None:
    assert quote(char) == f'"{quoted}"'
    assert quote(f"x{char}y") == f'"x{quoted}y"'


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1_000", 1000.0),
        ("1_0.5_0e1_0", 1.05e11),
        ("0_1", 1.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("+5", 5.0),
        ("1e-400", 0.0),
        ("0x1p-2", 0.25),
        ("0x_1p4", 16.0),
        ("0x1_0p1", 32.0),
        ("0x.8p1", 1.0),
        ("+inf", math.inf),
        ("-INF", -math.inf),
        ("Infinity", math.inf),
        *dict.fromkeys(
            (
                "1__0",
                "_1",
                "1_",
                "1._5",
                "1_.5",
                "1e_5",
                "1e",
                "1e+",
                " 5",
                "5 ",
                "",
                "+",
                "1,5",
                "\u0661",
                "1d",
                "infinit",
            ),
        ).items(),
        *dict.fromkeys(("0X1.8", "0x1", "0b1", "0o7", "-nan", "1e400", "-1e400")).items(),
    ],
)
def test_numbers_as_go_reads_them(text: str, value: float | None) -> None:
    """As a program that Go 1.26 ran printed them."""
    assert parse_float(text) == value


def test_nan_is_read_without_a_sign() -> None:
    assert math.isnan(parse_float("NaN") or 0.0)
