"""The memory of a process that serves for long: what requests took comes back."""

from __future__ import annotations

import sys

_M_ARENA_MAX = -8
"""A constant of glibc's malloc.h."""


def few_arenas() -> None:
    """One heap for all threads. Each thread of glibc's malloc gets one of its own otherwise, and what is free in it stays with it:
    10,000 large requests left 30 MB. Python runs one thread at a time, so nothing is lost. Does nothing on other systems.
    """
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, 1)
