"""Files that are whole or not there: written beside, brought to the disk, and only then put in the old one's place.

Where the disk is full, where the process ends or the writer fails, the old file is as it was, and nothing new stays beside it.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from itertools import count
from pathlib import Path
from typing import BinaryIO

__all__ = ["leftovers", "overwritten", "replacing", "write"]

_NEW = ".new"
_LONGEST = 200
"""Bytes of a name that leave room for more; the longest of a file has 255, four for a character at most."""
_OPEN = re.compile(r"/dev/(?:std(?:in|out|err)|fd/\d+)|/proc/(?:self|thread-self|\d+)/fd/\d+")
_NUMBERS = {"stdin": 0, "stdout": 1, "stderr": 2}


def write(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Make `content` the whole of a file, as `replacing` does."""
    with replacing(path, mode=mode) as file:
        file.write(content)


@contextmanager
def replacing(path: Path, *, mode: int = 0o666) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes the place of `path` when the block has ended without an error.

    A link stays one: the file behind it is replaced. A file that exists keeps its permissions, and its owner where this process may give
    files away; one that does not gets `mode` less the process's mask. What is no regular file (a pipe, a device) is written to as it is,
    and what is open (`/dev/stdout`) goes on where it is. OSError, which names `path`.
    """
    target = Path(os.path.realpath(path))
    try:
        there = path.stat() if path.exists() else None
        if _OPEN.fullmatch(str(path.absolute())):
            with _opened(path) as stream:
                yield stream
        elif there is not None and not stat.S_ISREG(there.st_mode):
            with path.open("wb") as special:
                yield special
        elif there is not None and not os.access(target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        else:
            yield from _beside(target, mode, there)
    except OSError as error:
        if error.filename is not None and Path(error.filename).parent != target.parent:
            raise  # another file's, opened in the block
        raise OSError(error.errno, error.strerror or str(error), str(path)) from None


def _beside(target: Path, mode: int, there: os.stat_result | None) -> Iterator[BinaryIO]:
    new, descriptor = _created_beside(target, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if there is not None:
                _like(there, descriptor)
            yield file
            file.flush()
            os.fsync(descriptor)
        new.replace(target)
    except BaseException:
        with suppress(OSError):
            new.unlink()
        raise
    _sync(target.parent)


def _like(there: os.stat_result, descriptor: int) -> None:
    """Give the new file owner and mode of the old one, where the system has them (Windows has not)."""
    if hasattr(os, "fchown") and (there.st_uid, there.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):
            os.fchown(descriptor, there.st_uid, there.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(there.st_mode))


def overwritten(path: Path, read: Iterable[Path]) -> Path | None:
    """Return the file among those that are read which writing to `path` would replace: the same one, by another name or link, too."""
    try:
        there = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(there.st_mode):
        return None
    for file in read:
        with suppress(OSError):
            if os.path.samestat(file.stat(), there):
                return file
    return None


def leftovers(path: Path) -> list[Path]:
    """Return what processes that were killed left beside `path`."""
    return sorted(path.parent.glob(f"{escape(_beginning(path))}*{_NEW}"))


def _opened(path: Path) -> BinaryIO:
    """Another handle on a file that this process has open, at the place that it has come to; of another process the file itself."""
    name = path.name
    if path.absolute().parts[1] == "proc" and path.absolute().parts[2] not in ("self", "thread-self", str(os.getpid())):
        return path.open("ab")
    return os.fdopen(os.dup(_NUMBERS[name] if name in _NUMBERS else int(name)), "wb")


def _beginning(path: Path) -> str:
    """Return the beginning of the new file's name; a name that is nearly as long as a file's may be is cut."""
    return f".{path.name if len(os.fsencode(path.name)) <= _LONGEST else path.name[: _LONGEST // 4]}."


def _created_beside(target: Path, mode: int) -> tuple[Path, int]:
    """Create an empty file in the folder of `target` that nobody else has opened."""
    for number in count():
        new = target.parent / f"{_beginning(target)}{os.getpid()}-{number}{_NEW}"
        try:
            return new, os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), mode)
        except FileExistsError:
            continue
    raise AssertionError("numbers do not end")


def _sync(folder: Path) -> None:
    """Bring a folder's list of names to the disk, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
