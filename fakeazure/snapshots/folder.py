"""The folder that a world is kept in from one start of its server to the next, for one server at a time."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import TracebackType

import atomicfiles
from atomicfiles.inputs import open_input
from fakeazure.snapshots.files import PACKED, VERSION

FILE, _LOCK = "world.json.gz", "lock"
_EARLIER = "world.snapshot"
_HOLDER = re.compile(rb"(?:\d{1,10}\n)?")
"""The content of a lock: nothing yet, or the process that had it last."""


class Folder:
    """A folder that nobody else writes to meanwhile; a context manager."""

    def __init__(self, path: Path) -> None:
        """Nothing is made or opened yet."""
        self.path = path
        self._descriptor = -1

    def __enter__(self) -> Folder:
        """Make the folder and lock it. ValueError if another process has, if the lock is somebody else's file, or on Windows; OSError."""
        try:
            import fcntl
        except ImportError:
            raise ValueError("this system cannot lock the folder of --keep (Linux and macOS can)") from None

        self.path.mkdir(parents=True, exist_ok=True)
        self._descriptor = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.read(self._descriptor, 20).decode(errors="replace").strip()
            os.close(self._descriptor)
            if not isinstance(error, BlockingIOError):
                raise OSError(error.errno, error.strerror, str(self.path)) from None
            raise ValueError(
                f"process {holder if holder.isdecimal() else '(unknown)'} keeps its world here: stop it, or name another folder"
            ) from None
        if _HOLDER.fullmatch(os.pread(self._descriptor, 20, 0)) is None:
            os.close(self._descriptor)
            raise ValueError(f"the file {_LOCK} is there, and no lock of fakeazure's: name another folder")
        os.truncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)
        for left in atomicfiles.leftovers(self.path / FILE):
            left.unlink()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let others have it."""
        os.close(self._descriptor)

    def write(self, snapshot: bytes) -> None:
        """Keep a snapshot; the one before stays until this one is whole. Only this user may read it. OSError."""
        atomicfiles.write(self.path / FILE, snapshot, mode=0o600)


def read(folder: Path) -> bytes | None:
    """Return the snapshot in a folder; None where there is none. ValueError for one of an earlier version, or too large; OSError."""
    path = folder / FILE
    if not path.exists():
        if (folder / _EARLIER).exists():
            raise ValueError(
                f"{_EARLIER} is of an earlier version, a pickle, which could run code and is not read; worlds are kept as JSON of version "
                f"{VERSION} in {FILE} now: remove it and start anew"
            )
        return None
    with open_input(path) as file:
        return file.read(PACKED + 1)
