"""Temporary folders of this process, each with its owner in it, so that the leftovers of a killed run are found."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.clusters.owner import lives, this_process

__all__ = ["PURPOSES", "abandoned", "own_folder", "temporary_folder"]

PURPOSES = ("apiserver", "compare", "controller", "kind", "real")
"""Purposes of a folder, the middle of its name: certificates, logs and credentials of clusters and of controllers, traces."""

_PREFIX = "karpenter-harness-"


def own_folder(purpose: str) -> Path:
    """Return a new folder of this process. Raises ValueError for a purpose outside PURPOSES: nobody would find its leftovers."""
    if purpose not in PURPOSES:
        raise ValueError(f"a folder for {purpose!r}; PURPOSES are {', '.join(PURPOSES)}")
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-"))
    (folder / "owner").write_text(this_process(), encoding="utf-8")
    return folder


@contextmanager
def temporary_folder(purpose: str) -> Iterator[Path]:
    """Yield a folder as `own_folder` makes it, which goes with all that is in it."""
    folder = own_folder(purpose)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def abandoned() -> Iterator[Path]:
    """Yield the folders whose process has ended."""
    for folder in sorted(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
        if folder.name.startswith(tuple(f"{_PREFIX}{purpose}-" for purpose in PURPOSES)) and not _owner_lives(folder):
            yield folder


def _owner_lives(folder: Path) -> bool:
    with suppress(OSError, ValueError):
        return lives((folder / "owner").read_text(encoding="utf-8"))
    return False
