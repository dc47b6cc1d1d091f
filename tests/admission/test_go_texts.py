"""Texts as Go quotes them in messages (strconv.Quote)."""

from __future__ import annotations

import pytest

from harness.kube.go.text import quote


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
