"""SIGINT and SIGTERM for a command that has something to take back before it ends."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

from harness.clusters.waiting import Interrupted

__all__ = ["Interruption"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Within it the first signal only makes the next `check` raise, once; the second one ends the process as if this were not here.

    `first` is called when `check` is about to raise. On another thread than the main one signals stay as they are.
    """

    def __init__(self, first: Callable[[], None]) -> None:
        self._first = first
        self._number: int | None = None
        self.raised = False
        """Whether `check` has raised."""
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interruption:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raise Interrupted after the first signal, and never again."""
        if self._number is not None and not self.raised:
            self.raised = True
            self._first()
            raise Interrupted(self._number)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self._number is not None:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        self._number = number
