"""Text from outside is shown, and nothing of it is obeyed: by a terminal, by GitHub's runner, by whoever reads lines."""

from __future__ import annotations

import contextlib
import io
import json
import os
import unicodedata
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import plainlines

TEXTS = st.text(st.characters(codec=None), max_size=60) | st.lists(
    st.sampled_from(
        ["a", " ", "\n", "\r", "\t", ":", "#", "[", "##[error]", "::error::", "\x1b[31m", "\x9b31m", "\u202e", "\u2028"]
    ),
    max_size=12,
).map("".join)


def obeyed(text: str) -> list[str]:
    """Characters that do something, whatever table of ours says: controls, line and paragraph separators, surrogates, bidi controls."""
    turns = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    marks = "\u061c\u200e\u200f"
    return [
        each
        for each in text
        if unicodedata.category(each) in ("Cc", "Zl", "Zp", "Cs")
        or unicodedata.bidirectional(each) in turns
        or each in marks
    ]


def commands(text: str) -> list[str]:
    """Lines that GitHub's runner takes for commands: .NET's TrimStart takes away all blanks before it looks."""
    return [line for line in text.split("\n") if line.lstrip().startswith("::") or "##[" in line]


@given(TEXTS)
def test_a_name_is_one_line_and_has_nothing_that_is_obeyed(text: str) -> None:
    assert obeyed(plainlines.printable(text)) == []


@given(TEXTS)
def test_a_text_keeps_its_lines_and_tabs(text: str) -> None:
    shown = plainlines.printable_lines(text)
    assert set(obeyed(shown)) <= {"\n", "\t"}
    assert shown.count("\n") == text.count("\n")
    assert commands(shown) == []


@given(TEXTS)
def test_a_printed_line_is_one_line_and_no_command(text: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        plainlines.print_line(text)
    assert out.getvalue().count("\n") == 1
    assert obeyed(out.getvalue()) == ["\n"]
    assert commands(out.getvalue()) == []


@given(TEXTS)
def test_json_says_the_same_value(text: str) -> None:
    shown = plainlines.json_text({text: [text]})
    assert json.loads(shown) == {text: [text]}
    assert set(obeyed(shown)) <= {"\n"}
    assert commands(shown) == []


def test_other_letters_stand_as_they_are() -> None:
    text = "Größe 東京 🚀 → a::b #[x]"
    assert plainlines.printable(text) == text
    assert plainlines.printable_lines(text) == text


def test_colours_of_ours_stay_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    name = plainlines.printable("a\x1b[31mred\n::error::b")
    plainlines.print_lines(f"\x1b[32mok\x1b[0m {name}\n\x1b[1m::error::c\x1b[0m\x1b]0;title\x07", coloured=True)
    assert capsys.readouterr().out == (
        "\x1b[32mok\x1b[0m a\\x1b[31mred\\n::error::b\n\x1b[1m\\x3a:error::c\x1b[0m\\x1b]0;title\\x07\n"
    )


def test_lines_that_are_joined_stay_that_many(capsys: pytest.CaptureFixture[str]) -> None:
    plainlines.print_lines(plainlines.joined(["a\nb", "::c"]), error=True)
    assert capsys.readouterr().err == "a\\nb\n\\x3a:c\n"


def test_escapes_are_those_of_yaml_in_double_quotes() -> None:
    text = "a\x1b\x85\u202e\u2028\n\t##[x]"
    assert yaml.safe_load(f'"{plainlines.printable(text)}"') == text


def test_in_a_log_of_both_streams_a_remark_stands_behind_what_it_is_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where nobody asked Python to write each piece at once."""
    log = tmp_path / "log"
    with log.open("w", encoding="utf-8") as out, open(os.dup(out.fileno()), "w", encoding="utf-8") as error:
        monkeypatch.setattr("sys.stdout", out)
        monkeypatch.setattr("sys.stderr", error)
        plainlines.print_line("a table")
        plainlines.print_line("a remark", error=True, flush=True)
    assert log.read_text(encoding="utf-8") == "a table\na remark\n"
