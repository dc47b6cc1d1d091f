"""The verdicts of a run: one for every expectation and every row of a table, each with its place in the file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from enum import StrEnum

from harness.reading.problems import Mark, Problem
from harness.scenario.expectations.matching import Difference
from lazyrecords import dataclass

__all__ = ["CaseReport", "Outcome", "Verdict"]


class Outcome(StrEnum):
    """The end of a case."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    EXPECTED_FAILURE = "xfailed"
    UNEXPECTED_PASS = "xpassed"
    ERROR = "error"


_BAD = frozenset({Outcome.FAILED, Outcome.ERROR, Outcome.UNEXPECTED_PASS})


_EMPTY = Difference("", "something to look at", "an expectation without any field")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One comparison: `label` names it (`then[0].node.labels.team`); without differences it holds. `why`: how the state came about.

    `about` names the objects that differ, where the expectation is about several or about the nearest of some.
    """

    label: str
    mark: Mark
    differences: tuple[Difference, ...] = ()
    why: tuple[str, ...] = ()
    about: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Return whether everything was as expected."""
        return not self.differences

    @classmethod
    def compared(cls, label: str, mark: Mark, differences: Iterable[Difference]) -> Verdict:
        """The verdict of a comparison."""
        return cls(label, mark, tuple(differences))

    @classmethod
    def failed(cls, label: str, mark: Mark, expected: str, actual: str, note: str = "") -> Verdict:
        """A verdict with one difference."""
        return cls(label, mark, (Difference("", expected, actual, note),))

    @classmethod
    def empty(cls, label: str, mark: Mark) -> Verdict:
        """Return the failed verdict of an expectation that says nothing to expect."""
        return cls(label, mark, (_EMPTY,))

    @property
    def is_empty(self) -> bool:
        """Return whether it is that of an expectation that says nothing to expect."""
        return self.differences == (_EMPTY,)


@dataclass(frozen=True, slots=True)
class CaseReport:
    """The outcome of one case. `seconds` is real time; `reason` belongs to skipped and expected failures, `error` to errors.

    `trace` is the path of its trace, where one was written. `problems` are the mistakes of a case that cannot be run.
    """

    name: str
    file: str
    mark: Mark
    outcome: Outcome
    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""
    error: str = ""
    seconds: float = 0.0
    tags: tuple[str, ...] = field(default=())
    trace: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """Return the failed verdicts."""
        return tuple(verdict for verdict in self.verdicts if not verdict.holds)

    @property
    def is_bad(self) -> bool:
        """Return whether a run fails because of it."""
        return self.outcome in _BAD

    @property
    def id(self) -> str:
        """`file::name`, as pytest calls it."""
        return f"{self.file}::{self.name}"
