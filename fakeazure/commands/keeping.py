"""`fakeazure serve --keep`: a world that is in a folder again and again while it is served, and at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from fakeazure.snapshots.folder import Folder, read
from fakeazure.transports.live import Served

QUIET, LONGEST = 60.0, 600.0
"""Seconds without a change after which a changed world is saved, and those after which it is saved in any case."""


class Keeper:
    """Saves a served world; a context manager that has its folder to itself."""

    def __init__(self, served: Served, folder: Path, *, now: Callable[[], float], say: Callable[[str], None]) -> None:
        """Keep the world of `served` in `folder`; `now` tells seconds of the wall clock, `say` takes what went wrong, in one line."""
        self._served, self._folder, self._now, self._say = served, Folder(folder), now, say
        self._seen = self._saved = -1
        self._changed_at = self._saved_at = 0.0
        self._told = ""

    def __enter__(self) -> Keeper:
        """Lock the folder, take out what is there, and save it, which proves that both can be done. ValueError in one line."""
        folder = self._folder
        try:
            folder.__enter__()
            try:
                with self._served.lock:
                    if (snapshot := read(folder.path)) is not None:
                        self._served.cloud.restore(snapshot)
                self._write()
            except BaseException:
                folder.__exit__(None, None, None)
                raise
        except OSError as error:
            raise ValueError(f"{error.filename or folder.path}: {error.strerror or error}") from None
        except ValueError as error:
            raise ValueError(f"{folder.path}: {error}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let others have the folder."""
        self._folder.__exit__(kind, error, trace)

    def tick(self) -> None:
        """Save the world if it has changed, and not again for a while; to be called often."""
        now, changes = self._now(), self._served.cloud.changes
        if changes != self._seen:
            self._seen, self._changed_at = changes, now
        if changes != self._saved and (now - self._changed_at >= QUIET or now - self._saved_at >= LONGEST):
            self.save()

    def save(self) -> bool:
        """Save the world now. Returns whether it could be; why not is said once."""
        try:
            self._write()
        except (OSError, ValueError) as error:
            why = error.strerror or error if isinstance(error, OSError) else error
            message = f"{self._folder.path}: the world cannot be saved, what was saved before stays: {why}"
            if message != self._told:
                self._say(message)
            self._told = message
            self._changed_at = self._saved_at = self._now()  # tried again after as long a while
            return False
        self._told = ""
        return True

    def _write(self) -> None:
        with self._served.lock:
            changes, snapshot = self._served.cloud.changes, self._served.cloud.snapshot()
        self._folder.write(snapshot)
        self._saved, self._saved_at = changes, self._now()
