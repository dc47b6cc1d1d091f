"""Checks of `eventually`, `always` and `never`, at every moment at which something has happened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.scenario.expectations import check
from harness.scenario.expectations.moments import START, first
from harness.scenario.expectations.watches import Watch
from harness.scenario.language.cases import Entry
from harness.scenario.running.run import Run

__all__ = ["watched"]


def _look(watch: Watch, run: Run, now: float) -> None:
    """Check one entry whose beginning has come or is known to come, and note the failures at `now`."""
    if watch.start is None:
        watch.start = _start(watch.entry, run)
    if watch.start is None:
        return
    with run.history_from(watch.start):
        watch.note(tuple(verdict for verdict in check(watch.entry.inner, run) if not verdict.holds), now)


def _start(entry: Entry, run: Run) -> float | None:
    """Return the seconds since the start of the world at which an entry begins to count; None where that is not known yet."""
    beginning = dict(entry.expectation.body.moments()).get("from")
    reached = START if beginning is None else first(beginning, run)
    return None if reached is None else reached.seconds


@contextmanager
def watched(run: Run) -> Iterator[None]:
    """Look at the entries over virtual time before time moves on, whenever something has changed, and once more in the end."""
    run.watches = {entry.label: Watch(entry) for entry in run.case.then if entry.expectation.body.looks_at}
    if not run.watches:
        yield
        return
    clock, recorder = run.world.clock, run.world.recorder
    last_state: tuple[int, ...] = ()

    def look() -> None:
        nonlocal last_state
        counts = len(recorder.events), len(recorder.lines), len(recorder.disruptions)
        now = run.world.engine.revision, len(run.taken), *counts
        if now == last_state:
            return
        last_state = now
        for watch in run.watches.values():
            _look(watch, run, clock.seconds)

    clock.leaving = look
    try:
        yield
    finally:
        clock.leaving = None
    look()
    for watch in run.watches.values():
        if watch.seen:
            watch.seen[-1].end = clock.seconds
