"""One way to write a file that a user keeps: whole or not at all, and never over what is read.

`atomicfiles` writes; here is what may be written where. Whoever has an option for a file asks `misplaced` before there is anything to
write, so that nobody waits for minutes for a file that cannot be.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

import atomicfiles

__all__ = ["STDOUT", "misplaced", "write_bytes", "write_text"]

STDOUT = "-"
"""The name under which standard output is written to."""


def write_text(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Make `text` the whole of a file, in UTF-8; half a character, which that has not, stands there as an escape. OSError with the name."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"), mode=mode)


def write_bytes(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Make `content` the whole of a file. Raises OSError, which names the file; the old one is then as it was.

    `mode` is that of a file that is new.
    """
    sys.stdout.flush()  # of what is printed before comes before, where the file is standard output
    if str(path) == STDOUT:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        atomicfiles.write(path, content, mode=mode)


def misplaced(path: Path, read: Iterable[Path] = ()) -> str:
    """Return why a file of this name cannot be written, or must not, since it is one of those that are read; empty where it can."""
    if str(path) == STDOUT:
        return ""
    if path.is_dir():
        return "is a folder"
    place = path.absolute().parent
    if not place.is_dir():
        return f"there is no folder {path.parent}"
    allowed = os.access(path, os.W_OK) if path.exists() else os.access(place, os.W_OK | os.X_OK)
    if not allowed:
        return "permission denied"
    lost = atomicfiles.overwritten(path, read)
    return "" if lost is None else f"{lost} would be overwritten, which is read"
