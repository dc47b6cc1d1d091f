"""The world that answers: that of the task, else of the thread, else of the thread that started it, else the one entered last."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fakeazure.transports.limits import Limits
    from fakeazure.transports.wire import Reply


class Refused(ConnectionRefusedError):
    """A host that nothing in this process may reach while a mock is on; the text says which and what to do."""


class World(Protocol):
    """A cloud in the place of Azure."""

    @property
    def limits(self) -> Limits:
        """Return the limits of a request."""

    @property
    def credentials(self) -> Mapping[str, str]:
        """Variables of the environment from which the SDKs' credentials are made."""

    def catches(self, host: str) -> bool:
        """Tell whether requests to `host` are answered here. `Refused` for one that is neither answered nor let out."""

    def handle(self, method: str, url: str, headers: Mapping[str, str], raw: bytes, origin: str) -> Reply:
        """Answer a request; `origin` is the scheme and host that the client used."""

    def refusal(self, row: str, facts: Mapping[str, object]) -> Reply:
        """Answer a request that is not understood, with a row of ARM's texts."""


class Entry:
    """A world from when it is entered until it is left, by one thread or task."""

    def __init__(self, world: World) -> None:
        """Enter `world` in the thread that runs."""
        self.world = world
        self.thread = threading.current_thread()


class Active:
    """The worlds that are on, in the order of their entry: one lock and one list for the process.

    `began` runs when the first is entered, `ended` when the last is left.
    """

    def __init__(self, began: Callable[[World], None], ended: Callable[[], None]) -> None:
        """Begin with none."""
        self._began, self._ended = began, ended
        self._lock = threading.RLock()
        self._entries: tuple[Entry, ...] = ()
        self._of_task: ContextVar[tuple[Entry, ...]] = ContextVar("fakeazure entries", default=())
        self._of_starter: WeakKeyDictionary[threading.Thread, Entry] = WeakKeyDictionary()

    def enter(self, world: World) -> Entry:
        """Let `world` answer this task or thread, and those that it starts."""
        with self._lock:
            if not self._entries:
                self._began(world)
            entry = Entry(world)
            self._entries = (*self._entries, entry)
        if _in_task():
            self._of_task.set((*self._of_task.get(), entry))
        return entry

    def leave(self, entry: Entry) -> None:
        """End an entry, from any thread, in any order."""
        self._of_task.set(tuple(other for other in self._of_task.get() if other is not entry))
        with self._lock:
            self._entries = tuple(other for other in self._entries if other is not entry)
            if not self._entries:
                self._of_starter.clear()
                self._ended()

    def world(self) -> World | None:
        """Return the world that answers the code that runs, None while none is on."""
        entry = self._entry()
        return None if entry is None else entry.world

    def starting(self, thread: threading.Thread) -> None:
        """Let a thread that is about to start have the world of its starter."""
        entry = self._entry()
        if entry is not None:
            with self._lock:
                self._of_starter[thread] = entry

    def _entry(self) -> Entry | None:
        entries = self._entries
        if not entries:
            return None
        own = [entry for entry in self._of_task.get() if entry in entries]
        if own:
            return own[-1]
        thread = threading.current_thread()
        own = [entry for entry in entries if entry.thread is thread]
        if own:
            return own[-1]
        inherited = self._of_starter.get(thread)
        return inherited if inherited in entries else entries[-1]


def _in_task() -> bool:
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False
