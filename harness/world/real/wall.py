"""The wall clock beside an engine: virtual time that follows real time. The one module of the worlds that reads a clock."""

from __future__ import annotations

import time
from collections.abc import Callable

from harness.engine.clock import EPOCH, Clock
from harness.engine.engine import Engine

__all__ = ["Wall", "wall_clock"]

_EPOCH_NS = int(EPOCH.timestamp()) * 1_000_000_000


def wall_clock() -> Clock:
    """A clock that starts now, for a world in real time."""
    return Clock(time.time_ns() - _EPOCH_NS)


class Wall:
    """Runs due work of an engine in real time. Never waits."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._start, self._began = engine.clock.now, time.monotonic_ns()
        self._running = False

    def catch_up(self, go_on: Callable[[], bool] | None = None) -> None:
        """Move the engine's clock to now, and do the work that falls due on the way. Called from inside that, it does nothing.

        `go_on` is called between two steps (Engine.advance).
        """
        if self._running:
            return
        self._running = True
        try:
            now = self._start + time.monotonic_ns() - self._began
            self._engine.advance(max(0, now - self._engine.clock.now) / 1e9, go_on=go_on)
        finally:
            self._running = False
