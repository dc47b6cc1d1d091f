"""Pieces of work in processes of their own, several at a time: each begins as this process is and leaves nothing behind."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

TIMED_OUT = 97
"""Exit code of a piece of work that took longer than it may."""


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of work, which returns an exit code, and after how many seconds by the clock nothing more is expected of it."""

    number: int
    work: Callable[[], int]
    seconds: float


def done(jobs: deque[Job], workers: int) -> Iterator[tuple[Job, int]]:
    """Each job and its exit code, as they end; jobs that come in meanwhile are done too."""
    gc.collect()
    gc.freeze()
    running: dict[int, tuple[Job, float]] = {}
    while jobs or running:
        while jobs and len(running) < workers:
            job = jobs.popleft()
            running[_forked(job.work)] = job, time.monotonic() + job.seconds
        for process, (job, until) in list(running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if not ended and time.monotonic() < until:
                continue
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
            if not ended:
                os.waitpid(process, 0)
            del running[process]
            yield job, _exit_code(status) if ended else TIMED_OUT
        time.sleep(0.01)


def may_compute(seconds: float) -> None:
    """Ends this process after so many more CPU seconds, so an endless loop is one however busy the machine is."""
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_PROF, seconds)


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return TIMED_OUT if code == -signal.SIGPROF else code


def _forked(work: Callable[[], int]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 warns of threads, which wait for nothing here
        process = os.fork()
    if process:
        return process
    code = 98
    try:
        os.setsid()
        code = work()
    except BaseException:  # whatever it is, this process ends here
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
