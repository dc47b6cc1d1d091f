"""A bound on the memory that one calculation takes, for engines that have none of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAGES = Path("/proc/self/statm")


class MemoryLimit:
    """Lets the process have `most` bytes more during one calculation, which ends in MemoryError where it wants more.

    The address space of the process is bounded (setrlimit), so nothing else may run meanwhile: the calculation has to
    hold the interpreter's lock all the time. Only Linux reports and bounds that space; elsewhere nothing is bounded.
    """

    def __init__(self, most: int) -> None:
        """Bound nothing yet."""
        self._most = most
        self._lock = threading.Lock()
        try:
            import resource
        except ImportError:
            self._resource = None
        else:
            self._resource = resource if _PAGES.exists() else None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Bound the calculation inside the block."""
        resource = self._resource
        if resource is None:
            yield
            return
        with self._lock:
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            wanted = int(_PAGES.read_text(encoding="ascii").split()[0]) * resource.getpagesize() + self._most
            limits = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
            resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *limits]), hard))
            try:
                yield
            finally:
                resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
