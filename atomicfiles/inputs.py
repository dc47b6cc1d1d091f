"""Files that are read: regular ones, and what a shell has opened. Nothing else, since it may never answer or never end.

A pipe that nobody writes to waits for ever, a device may have no end, and a socket cannot be opened. A checkout of somebody else's can hold
each of them, or a link to one.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

__all__ = ["is_regular", "open_input", "read_input"]

_SHELL = re.compile(r"/dev/(?:stdin|fd/\d+)|/proc/self/fd/\d+")
"""Names under which a process has what its shell opened for it: `<(…)` is a pipe of bash, zsh and ksh that is called so."""


def open_input(path: Path) -> BinaryIO:
    """Open a file to read it as bytes. OSError, which names it: also for a folder, a pipe, a socket and a device.

    The null device is an empty file, as `KUBECONFIG=/dev/null` uses it.
    """
    if _SHELL.fullmatch(os.path.abspath(path)):
        return path.open("rb")
    _check(path, path.stat())  # before it is opened: a device may begin to do something then
    # without waiting, since another file may have taken the name meanwhile
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        _check(path, os.fstat(descriptor))
    except OSError:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_input(path: Path) -> bytes:
    """Return all of a file. OSError as `open_input`."""
    with open_input(path) as file:
        return file.read()


def is_regular(path: Path) -> bool:
    """Return whether a file can be looked into and be read from its beginning afterwards, as a pipe of a shell cannot."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except (OSError, ValueError):
        return False


def _check(path: Path, status: os.stat_result) -> None:
    if stat.S_ISREG(status.st_mode) or _is_null(status):
        return
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    kinds = {stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
    kind = kinds.get(stat.S_IFMT(status.st_mode), "a device")
    raise OSError(errno.EINVAL, f"is {kind}, not a file", str(path))


def _is_null(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and os.path.samestat(status, os.stat(os.devnull))
