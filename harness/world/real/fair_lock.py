"""A lock that threads get in the order of their requests. Python's own lets one thread take it again and again while others wait."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType

__all__ = ["FairLock"]


class FairLock:
    """A reentrant lock that goes to the thread that has waited longest. A `threading.Condition` can be made of it, as of an RLock."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._owner: int | None = None
        self._depth = 0
        self._queue: deque[tuple[int, threading.Lock]] = deque()

    @property
    def waiting(self) -> int:
        """Return the number of threads that wait for it."""
        return len(self._queue)

    def give_way(self) -> None:
        """Release it for all threads that wait now; return when the caller has it again.

        Raises RuntimeError if another thread holds it.
        """
        self._check()
        if self._queue:
            self._acquire_restore(self._release_save())

    def acquire(self) -> bool:
        """Wait for one's turn. Return True."""
        if self._is_owned():
            self._depth += 1
        else:
            self._acquire_restore(1)
        return True

    def release(self) -> None:
        """Release it, once for each `acquire`. Raises RuntimeError if another thread holds it."""
        self._check()
        self._depth -= 1
        if self._depth == 0:
            self._hand_on()

    def __enter__(self) -> FairLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def _check(self) -> None:
        if not self._is_owned():
            raise RuntimeError("cannot release a lock that is somebody else's")

    def _hand_on(self) -> None:
        with self._guard:
            if self._queue:
                self._owner, turn = self._queue.popleft()
                turn.release()
            else:
                self._owner = None

    # The methods that threading.Condition needs of a reentrant lock.

    def _is_owned(self) -> bool:
        return self._owner == threading.get_ident()

    def _release_save(self) -> int:
        depth, self._depth = self._depth, 0
        self._hand_on()
        return depth

    def _acquire_restore(self, depth: int) -> None:
        turn = threading.Lock()
        with self._guard:
            if self._owner is None:
                self._owner = threading.get_ident()
            else:
                turn.acquire()
                self._queue.append((threading.get_ident(), turn))
        try:
            turn.acquire()
        except BaseException:  # Ctrl-C while it waits: nobody may wait for a thread that wants it no more
            self._leave(turn)
            raise
        self._depth = depth

    def _leave(self, turn: threading.Lock) -> None:
        with self._guard:
            place = (threading.get_ident(), turn)
            if place in self._queue:
                self._queue.remove(place)
                return
        self._hand_on()
