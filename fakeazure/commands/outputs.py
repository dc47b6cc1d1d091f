"""The files that commands write for a user: whole or not at all, and never over a file that the command reads."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import atomicfiles
from fakeazure.catalog.errors import CatalogueError

__all__ = ["check_output", "write_text"]


def check_output(option: str, path: Path | None, read: Iterable[Path | None]) -> None:
    """Refuse an output that is one of the files that are read, by whatever name. CatalogueError with both names."""
    lost = (
        atomicfiles.overwritten(path, [inputs for inputs in read if inputs is not None]) if path is not None else None
    )
    if lost is not None:
        raise CatalogueError(f"{option} {path}: {lost} would be overwritten, which is read")


def write_text(path: Path, text: str) -> None:
    """Make `text` the whole of a file. OSError, which names it; the old file is then as it was."""
    atomicfiles.write(path, text.encode())
