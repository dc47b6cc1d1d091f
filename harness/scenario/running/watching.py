"""Looks at what `eventually`, `always` and `never` are about, at every moment at which something has happened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from harness.scenario.language.cases import Entry
from harness.scenario.language.models.moments import OverTime
from harness.scenario.running.checks import check
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict
from lazyrecords import dataclass

__all__ = ["Seen", "Watch", "watched"]


@dataclass(slots=True)
class Seen:
    """What did not hold from `start` until `end`, in seconds since the start of the world; nothing when all did."""

    start: float
    end: float
    failed: tuple[Verdict, ...]


@dataclass(slots=True)
class Watch:
    """One entry, and what was seen of it, in order; equal neighbours are one."""

    entry: Entry
    seen: list[Seen] = field(default_factory=list)

    def look(self, run: Run, now: float) -> None:
        """Asks once more."""
        failed = tuple(verdict for verdict in check(self.entry.inner, run) if not verdict.holds)
        if self.seen:
            self.seen[-1].end = now
            if self.seen[-1].failed == failed:
                return
        self.seen.append(Seen(now, now, failed))


@contextmanager
def watched(run: Run) -> Iterator[None]:
    """Looks at the entries over virtual time before time moves on, whenever something has changed, and once more in the end."""
    run.watches = {entry.label: Watch(entry) for entry in run.case.then if isinstance(entry.expectation.body, OverTime)}
    if not run.watches:
        yield
        return
    clock, recorder = run.world.clock, run.world.recorder
    known: tuple[int, ...] = ()

    def look() -> None:
        nonlocal known
        said = len(recorder.events), len(recorder.lines), len(recorder.disruptions)
        now = run.world.engine.revision, len(run.taken), *said
        if now == known:
            return
        known = now
        for watch in run.watches.values():
            watch.look(run, clock.seconds)

    clock.leaving = look
    try:
        yield
    finally:
        clock.leaving = None
    look()
    for watch in run.watches.values():
        watch.seen[-1].end = clock.seconds
