"""Mistakes in a file, with their places: collected as values, all of them, and rendered late.

::

    Exception
    └── ScenarioError            a file that cannot be run; `problems` holds every mistake found in it
        └── FileUnreadable       not a file, not text, too large: nothing could be parsed
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from harness.wording import did_you_mean
from lazyrecords import dataclass
from plainlines import joined

__all__ = ["FileUnreadable", "Mark", "Problem", "ScenarioError", "did_you_mean", "dotted"]


@dataclass(frozen=True, slots=True, order=True)
class Mark:
    """A place in a file; line and column count from 1, as editors do."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


_FIRST, _LAST = 3000, 1000
"""Characters of each part of a mistake that are shown: names and values of a file may have millions."""


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One mistake: its place, its field, the message, and the right way (`hint` may be empty).

    The middle of what is too long to be read is left out.
    """

    mark: Mark
    path: str
    what: str
    hint: str = ""

    def __post_init__(self) -> None:
        """Leave out the middle of what is too long."""
        for name in ("path", "what", "hint"):
            text = getattr(self, name)
            if len(text) > _FIRST + _LAST:
                object.__setattr__(self, name, f"{text[:_FIRST]}…{text[-_LAST:]}")

    def __str__(self) -> str:
        path = f"{self.path}: " if self.path else ""
        hint = f"; {self.hint}" if self.hint else ""
        return f"{self.mark}: {path}{self.what}{hint}"


class ScenarioError(Exception):
    """Bad input. `problems` are sorted by place, without repetitions; the text of the error is one line for each."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = tuple(sorted(set(problems)))
        super().__init__(joined(map(str, self.problems)))

    def __reduce__(self) -> tuple[type[ScenarioError], tuple[tuple[Problem, ...]]]:
        """Return the error as other processes send it."""
        return type(self), (self.problems,)


class FileUnreadable(ScenarioError):
    """The file as a whole cannot be used: absent, binary, too large."""


def dotted(path: Sequence[str | int]) -> str:
    """`then[0].node.labels`: a path as one writes it; label keys stand as they are."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
