"""A regular expression as Go reads it (RE2's syntax), written in the syntax of the Rust crate ``regex``.

A pattern that Go refuses is refused in its words. Source: Go regexp/syntax/parse.go.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import field
from typing import NoReturn

from lazyrecords import dataclass

__all__ = ["MAX_LENGTH", "PatternError", "cut", "rust_pattern"]

MAX_LENGTH = 10_000
"""Characters of a pattern. One that somebody writes has some dozens."""

_MAX_NESTING = 200  # the crate `regex` ends at 250, Go at 1000
_MAX_REPEAT = 1000
_LARGEST = 0x10FFFF

_LOOKAROUND = "RE2 has no lookaround: write what may stand there, as in [^x], or a second condition"
_BACK_REFERENCE = "RE2 has no back-references: write out what may be repeated"
_POSSESSIVE = "RE2 has no possessive or atomic repetition and needs none: it never goes back"
_END = r"write \z for the very end of the text"
_COMMENT = "RE2 has no comments and conditions in patterns"
_NO_FLAG = "the flags are i, m, s and U"
_HINTS = (
    *((start, _LOOKAROUND) for start in ("(?=", "(?!", "(?<=", "(?<!")),
    *((start, _COMMENT) for start in ("(?#", "(?(")),
    ("(?>", _POSSESSIVE),
    ("(?P=", _BACK_REFERENCE),
)

_PERL = {"d": "0-9", "w": "0-9A-Za-z_", "s": r"\t\n\x0C\r "}
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_ASSERTIONS = {"A": r"\A", "z": r"\z", "b": r"(?-u:\b)", "B": r"(?-u:\B)"}
_POSIX = frozenset(
    "alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit".split()  # noqa: SIM905
)
_REPEAT = re.compile(r"\{(0|[1-9][0-9]*)(?:(,)(0|[1-9][0-9]*)?)?\}")
_PROPERTY = re.compile(r"\\([pP])(?:\{(\^?)([A-Za-z_]+)\}|([A-Za-z]))")
_NAMED = re.compile(r"\(\?P?<(\w+)>", re.ASCII)
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_SOME_FLAGS = re.compile(r"\(\?[imsU]*(?:-[imsU]*)?")
_HEX = re.compile(r"\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{2})")
_OCTAL = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")


class PatternError(ValueError):
    """A pattern that Go refuses, in Go's words; `hint` says how to do without, if there is a way to say."""

    def __init__(self, text: str, hint: str = "") -> None:
        self.text, self.hint = text, hint
        super().__init__(f"{text}; {hint}" if hint else text)


def rust_pattern(pattern: str) -> str:
    """The same pattern for the crate `regex`. Raises PatternError for one that Go refuses, and for one of absurd length or depth."""
    return _Reader(pattern).written()


def cut(pattern: str) -> str:
    """The beginning of a pattern, for messages."""
    return pattern if len(pattern) <= 80 else f"{pattern[:79]}…"


@dataclass(slots=True)
class _Level:
    """A group that is open, or the pattern itself."""

    repeatable: bool = False
    """Whether a repetition may follow here."""
    repeats: int = 1
    """The most repetitions inside the item before this place; of a list of items, the most."""
    most: int = field(default=1)


class _Reader:
    """One reading of a pattern, from left to right, without recursion."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0
        self.out: list[str] = []
        self.levels = [_Level()]
        self.repeated = False
        """Whether a repetition stands right before this place."""
        self.flags: list[str] = []
        """Changes of flags right before the place, as `(?i)`; Go's repetitions look past them."""

    def written(self) -> str:
        """Raise PatternError."""
        if len(self.pattern) > MAX_LENGTH:
            raise PatternError(f"a pattern has at most {MAX_LENGTH:,} characters, not {len(self.pattern):,}")
        while self.at < len(self.pattern):
            step = _STEPS.get(self.pattern[self.at], _Reader._literal)
            self.repeated = step(self) is True
        if len(self.levels) > 1:
            self._refuse("missing closing )", self.pattern)
        return "".join(self.out)

    def _refuse(self, problem: str, part: str, hint: str = "") -> NoReturn:
        raise PatternError(f"error parsing regexp: {problem}: `{cut(part)}`", hint)

    def _push(self, text: str, length: int, repeats: int = 1) -> None:
        """Write an item that a repetition may follow."""
        level = self.levels[-1]
        level.most = max(level.most, level.repeats)
        level.repeatable, level.repeats = True, repeats
        self._write(text)
        self.at += length

    def _write(self, text: str) -> None:
        self.out += [*self.flags, text]
        self.flags.clear()

    def _literal(self) -> None:
        self._push(_character(ord(self.pattern[self.at])), 1)

    def _plain(self) -> None:
        """Copy `.`, `^` and `$`, which mean the same in both."""
        self._push(self.pattern[self.at], 1)

    def _bar(self) -> None:
        level = self.levels[-1]
        level.most, level.repeatable, level.repeats = max(level.most, level.repeats), False, 1
        self._write("|")
        self.at += 1

    def _open(self) -> None:
        start, group = self.at, "(?:"
        if self.pattern.startswith("(?", start):
            named, flags = _NAMED.match(self.pattern, start), _FLAGS.match(self.pattern, start)
            if named:
                self.at = named.end()
            elif flags and (flags[2] is not None or "-" not in flags[0]):
                on, off = dict.fromkeys(flags[1]), dict.fromkeys(flags[2] or "")
                effective = "".join(flag for flag in on if flag not in off)
                group = f"(?{effective}{'-' if off else ''}{''.join(off)}{flags[3]}"
                self.at = flags.end()
                if flags[3] == ")":
                    self.flags += [group] if group != "(?)" else []
                    return
            else:
                self._refuse_perl()
        else:
            self.at += 1
        if len(self.levels) > _MAX_NESTING:
            self._refuse("expression nests too deeply", self.pattern)
        self.levels.append(_Level())
        self._write(group)

    def _refuse_perl(self) -> NoReturn:
        rest = self.pattern[self.at :]
        hint = next((hint for start, hint in _HINTS if rest.startswith(start)), _NO_FLAG)
        if rest.startswith(("(?P<", "(?<")) and len(rest) > (4 if rest[2] == "P" else 3):
            named = rest[: rest.find(">") + 1] or rest
            self._refuse("invalid named capture", named, hint if hint == _LOOKAROUND else "")
        flags = _SOME_FLAGS.match(rest)
        assert flags is not None
        self._refuse("invalid or unsupported Perl syntax", rest[: flags.end() + 1], hint)

    def _close(self) -> None:
        if len(self.levels) == 1:
            self._refuse("unexpected )", self.pattern)
        level = self.levels.pop()
        self._push(")", 1, max(level.most, level.repeats))

    def _repeat(self) -> bool:
        """Copy `*`, `+` and `?`; return whether it was one."""
        return self._repetition(self.pattern[self.at], None)

    def _braces(self) -> bool:
        """Copy `{2,3}`; anything else that begins so is a text."""
        match = _REPEAT.match(self.pattern, self.at)
        if match is None:
            self._literal()
            return False
        least = int(match[1][:5])
        most = int(match[3][:5]) if match[3] else None if match[2] else least
        if max(least, most or 0) > _MAX_REPEAT or (most is not None and most < least):
            self._refuse("invalid repeat count", match[0])
        return self._repetition(match[0], (least, most))

    def _repetition(self, text: str, counts: tuple[int, int | None] | None) -> bool:
        level, end = self.levels[-1], self.at + len(text)
        whole_text = f"{text}?" if self.pattern.startswith("?", end) else text
        if self.repeated:
            self._refuse(
                "invalid nested repetition operator", self.out[-1] + whole_text, _POSSESSIVE if text == "+" else ""
            )
        if not level.repeatable:
            self._refuse("missing argument to repetition operator", whole_text)
        if counts is not None:
            least, most = counts
            level.repeats *= least if most is None else most
            if max(least, most or 0) >= 2 and level.repeats > _MAX_REPEAT:
                self._refuse("invalid repeat count", text)
        self.out.append(whole_text)
        self.at += len(whole_text)
        return True

    def _escape(self) -> None:
        letter = self.pattern[self.at + 1 : self.at + 2]
        if letter in _ASSERTIONS:
            self._push(_ASSERTIONS[letter], 2)
        elif letter == "Q":
            quoted, _, _ = self.pattern[self.at + 2 :].partition(r"\E")
            self.at = min(self.at + len(quoted) + 4, len(self.pattern))
            for char in quoted:
                self._push(_character(ord(char)), 0)
        elif letter in ("p", "P"):
            self._push(*self._property())
        elif letter and letter in "dDsSwW":
            negated = "^" if letter.isupper() else ""
            self._push(f"[{negated}{_PERL[letter.lower()]}]", 2)
        else:
            code, length = self._code()
            self._push(_character(code), length)

    def _property(self) -> tuple[str, int]:
        """A class of Unicode as it is written, and its length in the pattern."""
        match = _PROPERTY.match(self.pattern, self.at)
        if match is None:
            rest = self.pattern[self.at :]
            end = rest.find("}") + 1 if rest[2:3] == "{" else 3
            self._refuse("invalid character class range", rest[:end] or rest)
        negated = (match[1] == "P") != bool(match[2])
        name = match[3] or match[4]
        return rf"\{'P' if negated else 'p'}{{{'any' if name == 'Any' else name}}}", len(match[0])

    def _code(self) -> tuple[int, int]:
        """The character that an escape stands for, and the length of the escape."""
        rest = self.pattern[self.at + 1 : self.at + 12]
        if not rest:
            self._refuse("trailing backslash at end of expression", "")
        letter = rest[0]
        if letter == "x":
            return self._hexadecimal()
        if octal := _OCTAL.match(rest):
            return int(octal[0], 8), 1 + len(octal[0])
        if letter in _CONTROLS:
            return _CONTROLS[letter], 2
        if letter.isascii() and not letter.isalnum():
            return ord(letter), 2
        hints = {"Z": _END, "k": _BACK_REFERENCE, "G": "", "K": ""}
        hint = _BACK_REFERENCE if letter in "123456789" else hints.get(letter, "")
        self._refuse("invalid escape sequence", f"\\{letter}", hint)

    def _hexadecimal(self) -> tuple[int, int]:
        match = _HEX.match(self.pattern, self.at + 2)
        if match is None:
            self._refuse("invalid escape sequence", self.pattern[self.at : self.at + 4])
        digits, code = match[1] or match[2], 0
        for number, digit in enumerate(digits, 1):
            code = code * 16 + int(digit, 16)
            if code > _LARGEST:
                self._refuse("invalid escape sequence", rf"\x{{{digits[:number]}")
        return code, 2 + len(match[0])

    def _class(self) -> None:
        """Copy `[…]`: each part is written so that none of it means anything else to the crate."""
        start, out = self.at, ["["]
        self.at += 1
        if self.pattern.startswith("^", self.at):
            out.append("^")
            self.at += 1
        first = True
        while first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                self._refuse("missing closing ]", self.pattern[start:])
            out.append(self._class_part(start))
            first = False
        out.append("]")
        length, self.at = self.at + 1 - start, start
        self._push("".join(out), length)

    def _class_part(self, start: int) -> str:
        """One part of a class: a named class, a range or a character."""
        rest = self.pattern[self.at : self.at + 2]
        if rest == "[:" and (end := self.pattern.find(":]", self.at + 2)) >= 0:
            name = self.pattern[self.at + 2 : end]
            if name.removeprefix("^") not in _POSIX:
                self._refuse("invalid character class range", self.pattern[self.at : end + 2])
            self.at = end + 2
            return f"[:{name}:]"
        if rest in (r"\p", r"\P"):
            text, length = self._property()
            self.at += length
            return text
        if rest[:1] == "\\" and rest[1:] and rest[1] in "dDsSwW":
            self.at += 2
            listed = _PERL[rest[1].lower()]
            return f"[^{listed}]" if rest[1].isupper() else listed
        before = self.at
        low = high = self._class_character(start)
        if self.pattern.startswith("-", self.at) and self.pattern[self.at + 1 : self.at + 2] not in ("]", ""):
            self.at += 1
            high = self._class_character(start)
            if high < low:
                self._refuse("invalid character class range", self.pattern[before : self.at])
        return _character(low) if low == high else f"{_character(low)}-{_character(high)}"

    def _class_character(self, start: int) -> int:
        if self.at >= len(self.pattern):
            self._refuse("missing closing ]", self.pattern[start:])
        if self.pattern[self.at] == "\\":
            code, length = self._code()
        else:
            code, length = ord(self.pattern[self.at]), 1
        self.at += length
        return code


def _character(code: int) -> str:
    """A character that stands for itself, in a class and outside."""
    char = chr(code)
    if char.isascii() and char.isalnum():
        return char
    if 0xD800 <= code < 0xE000:
        raise PatternError(f"error parsing regexp: invalid UTF-8: `\\x{{{code:X}}}`")
    return f"\\x{{{code:X}}}"


_STEPS: dict[str, Callable[[_Reader], object]] = {
    **dict.fromkeys(".^$", _Reader._plain),
    **dict.fromkeys("*+?", _Reader._repeat),
    "|": _Reader._bar,
    "(": _Reader._open,
    ")": _Reader._close,
    "[": _Reader._class,
    "{": _Reader._braces,
    "\\": _Reader._escape,
}
