"""Observations of an expectation over virtual time, stretch after stretch."""

from __future__ import annotations

from dataclasses import field

from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Entry
from lazyrecords import dataclass

__all__ = ["Seen", "Watch"]


@dataclass(slots=True)
class Seen:
    """The failed verdicts from `start` until `end`, in seconds since the start of the world; none when all held."""

    start: float
    end: float
    failed: tuple[Verdict, ...]


@dataclass(slots=True)
class Watch:
    """One entry, and its observations, in order; equal neighbours are one."""

    entry: Entry
    start: float | None = None
    """Seconds since the start of the world from which on it counts; None as long as that moment has not come."""
    seen: list[Seen] = field(default_factory=list)

    def note(self, failed: tuple[Verdict, ...], now: float) -> None:
        """Note the verdicts that fail now."""
        if self.seen:
            self.seen[-1].end = now
            if self.seen[-1].failed == failed:
                return
        self.seen.append(Seen(now, now, failed))
