"""Looks at what `eventually`, `always` and `never` are about, at every moment at which something has happened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from harness.scenario.running.checks import check
from harness.scenario.running.run import Run
from harness.scenario.running.watches import Watch

__all__ = ["watched"]


def _look(watch: Watch, run: Run, now: float) -> None:
    """Checks one entry, and notes what does not hold at `now`."""
    watch.add(tuple(verdict for verdict in check(watch.entry.inner, run) if not verdict.holds), now)


@contextmanager
def watched(run: Run) -> Iterator[None]:
    """Looks at the entries over virtual time before time moves on, whenever something has changed, and once more in the end."""
    run.watches = {entry.label: Watch(entry) for entry in run.case.then if entry.expectation.over_time is not None}
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
            _look(watch, run, clock.seconds)

    clock.leaving = look
    try:
        yield
    finally:
        clock.leaving = None
    look()
    for watch in run.watches.values():
        watch.seen[-1].end = clock.seconds
