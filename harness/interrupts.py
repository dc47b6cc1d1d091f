"""Signals that ask a command to end: it ends as after Ctrl-C, with what is known by then, and with the code that a shell gives."""

from __future__ import annotations

import signal
import threading
from types import FrameType

__all__ = ["Terminated", "code_of", "heed_termination"]


class Terminated(KeyboardInterrupt):
    """SIGTERM, as CI systems send it when time is up."""


def code_of(interrupt: KeyboardInterrupt) -> int:
    """Return the exit code after an interrupt: 128 and the number of the signal."""
    return 128 + (signal.SIGTERM if isinstance(interrupt, Terminated) else signal.SIGINT)


def heed_termination() -> None:
    """Make SIGTERM an exception of this process's main thread, unless somebody else minds it; a second one ends it at once."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)


def _terminate(number: int, frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise Terminated
