"""Text as a terminal and a CI log may have it: whatever a name, a label or a message holds, it is shown and does nothing.

What comes from outside may hold control characters, which a terminal obeys, marks that turn the direction of writing, and line breaks,
with which a name begins a line of its own. All of them are shown as escapes. GitHub's runner takes a line that begins with `::`, and
`##[` anywhere in a line, for a command (actions/runner src/Runner.Common/ActionCommand.cs, TryParseV2 and TryParse): neither is printed
but by `print_commands`. Everything that a command prints goes through one of the functions here.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from typing import Any

__all__ = [
    "is_printable",
    "joined",
    "json_text",
    "print_commands",
    "print_document",
    "print_line",
    "print_lines",
    "print_over",
    "printable",
    "printable_lines",
]

_OBEYED = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 but for tabs and line breaks, DEL, C1
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f"  # direction of writing, and what some take for line breaks
    "\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f"  # annotations, what is no character, and tags, which nobody sees
    "\ud800-\udfff"  # halves of a character, which no encoding has
)
_MARK = r"##\["
_IN_LINE = re.compile(f"[\t\n{_OBEYED}]|{_MARK}")
_IN_TEXT = re.compile(f"[{_OBEYED}]|{_MARK}")
_COMMAND = re.compile(r"^([^\S\n]*):(?=:)", re.MULTILINE)
_COLOUR = re.compile("(\x1b\\[[0-9]{1,2}m)")


def printable(text: str) -> str:
    """Return the text in one line, with an escape for each character that a terminal or a log obeys: `\\x1b[31m`, `a\\nb`."""
    return _IN_LINE.sub(_escape, text) if _IN_LINE.search(text) is not None else text


def is_printable(text: str) -> bool:
    """Return whether the text can be printed as it is, wherever in a line it comes to stand."""
    return _IN_LINE.search(text) is None and "::" not in text


def _escape(match_: re.Match[str]) -> str:
    text = match_[0]
    return "#\\x23[" if len(text) > 1 else text.encode("unicode_escape").decode("ascii")


def joined(lines: Iterable[str]) -> str:
    """Return a text of these lines; a line break within one of them is shown as an escape."""
    return "\n".join(map(printable, lines))


def printable_lines(text: str) -> str:
    """Return a text of several lines with an escape for each character that is obeyed, and for what begins a command to the runner."""
    if _IN_TEXT.search(text) is not None:
        text = _IN_TEXT.sub(_escape, text)
    return _COMMAND.sub(r"\1\\x3a", text) if "::" in text else text


def print_line(text: str = "", *, error: bool = False, flush: bool = False) -> None:
    """Print one line, on standard error where `error` says so."""
    _write(f"{printable_lines(printable(text))}\n", error, flush)


def print_lines(text: str, *, error: bool = False, flush: bool = False, coloured: bool = False) -> None:
    """Print a text of several lines; what in it comes from outside went through `printable`. `coloured`: it has colours of ours."""
    _write(f"{_painted(text) if coloured else printable_lines(text)}\n", error, flush)


def _painted(text: str) -> str:
    """The text with its colours; a line may begin with one."""
    parts = [part if _COLOUR.fullmatch(part) else _IN_TEXT.sub(_escape, part) for part in _COLOUR.split(text)]
    return re.sub("^((?:\x1b\\[[0-9]{1,2}m|[^\\S\n])*):(?=:)", r"\1\\x3a", "".join(parts), flags=re.MULTILINE)


def print_document(text: str, *, flush: bool = False) -> None:
    """Print JSON, XML, YAML or Markdown on standard output: what makes it escapes in its own language what it holds."""
    _write(printable_lines(text), False, flush)


def print_over(text: str, width: int) -> None:
    """Print on standard error over the line that stands there, as a terminal shows how far something has come."""
    _write(f"\r{printable(text):{width}}", True, True)


def print_commands(text: str) -> None:
    """Print commands to GitHub's runner on standard output, which are one line each and have its escapes."""
    _write(_IN_TEXT.sub(_escape, text), False, False)


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """Return a value as JSON in which characters that are obeyed are JSON's own escapes, and all others stand as they are."""
    import json  # few commands need it

    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return _IN_TEXT.sub(_json_escape, text) if _IN_TEXT.search(text) is not None else text


def _json_escape(match_: re.Match[str]) -> str:
    text = match_[0]
    return "#\\u0023[" if len(text) > 1 else _units(text)


def _units(character: str) -> str:
    """A character as JSON escapes it: by the units of UTF-16."""
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[start : start + 4]}" for start in range(0, len(units), 4))


def _write(text: str, error: bool, flush: bool) -> None:
    stream = sys.stderr if error else sys.stdout
    if error and sys.stdout is not None:
        sys.stdout.flush()  # in a log of both, a remark stands behind what it is about
    stream.write(text)
    if flush:
        stream.flush()
