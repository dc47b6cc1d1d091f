"""The outcome of a whole run: its cases, counted."""

from __future__ import annotations

from collections import Counter

from harness.scenario.expectations.verdicts import CaseReport, Outcome
from lazyrecords import dataclass

__all__ = ["Summary"]


@dataclass(frozen=True, slots=True)
class Summary:
    """All case reports of a run, in its order; `seconds` is real time. `notes`: lines about its files, as of what is not simulated."""

    cases: tuple[CaseReport, ...]
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[Outcome, int]:
        """Return how many cases ended in each way; ways that did not occur are left out."""
        counted = Counter(case.outcome for case in self.cases)
        return {outcome: counted[outcome] for outcome in Outcome if counted[outcome]}

    @property
    def verdicts(self) -> int:
        """Return how many comparisons were made."""
        return sum(len(case.verdicts) for case in self.cases)

    @property
    def bad(self) -> tuple[CaseReport, ...]:
        """The cases because of which the run fails."""
        return tuple(case for case in self.cases if case.is_bad)

    @property
    def exit_code(self) -> int:
        """0 when everything is as expected, else 1."""
        return 1 if self.bad else 0
