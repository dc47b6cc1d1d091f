"""One way to write a file that a user keeps: whole or not at all, and never over an input.

`atomicfiles` writes; this module decides where. A command with an option for a file calls `misplaced` before it has anything to
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
"""The name of standard output in place of a file's."""


def write_text(path: Path, text: str, *, mode: int = 0o666) -> None:
    """Make `text` the whole of a file, in UTF-8; half a surrogate pair, which UTF-8 does not have, becomes an escape.
    Raises OSError with the name."""
    write_bytes(path, text.encode("utf-8", "backslashreplace"), mode=mode)


def write_bytes(path: Path, content: bytes, *, mode: int = 0o666) -> None:
    """Make `content` the whole of a file. Raises OSError, which names the file; the old one is then as it was.

    `mode` is that of a new file.
    """
    sys.stdout.flush()  # earlier output comes first, where the file is standard output
    if str(path) == STDOUT:
        sys.stdout.buffer.write(content)
        sys.stdout.flush()
    else:
        atomicfiles.write(path, content, mode=mode)


def misplaced(path: Path, read: Iterable[Path] = ()) -> str:
    """Return why a file of this name cannot be written, or must not, since it is an input; empty where it can."""
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
