"""The folder that `harness migrate` writes: never over what it reads, and over an earlier answer only when it is told to."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from harness.cli.destinations import named_inputs
from harness.cli.worlds import InputError
from harness.migrate.folder import FILES
from harness.outputs import misplaced, write_text

__all__ = ["check_folder", "write_folder"]


def check_folder(arguments: argparse.Namespace) -> None:
    """Check that the folder of `--output` can be written to. Raises InputError."""
    folder: Path | None = arguments.output
    if folder is None:
        return
    option = f"--output {folder}"
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{option}: is a file, not a folder")
    if not folder.exists():
        parent = folder.absolute().parent
        if not parent.is_dir():
            raise InputError(f"{option}: there is no folder {folder.parent}")
        if not os.access(parent, os.W_OK | os.X_OK):
            raise InputError(f"{option}: permission denied")
        return
    inputs = list(named_inputs(arguments))
    if lost := next((path for path in inputs if folder.resolve() in (path.resolve(), path.resolve().parent)), None):
        raise InputError(f"{option}: {lost} is read, which lies there; name another folder")
    if not arguments.force and any(folder.iterdir()):
        raise InputError(f"{option}: is not empty; --force writes over the files of an earlier run")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{option}: permission denied")


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write files into a folder, which is made where there is none; those of an earlier run that are none now go.

    Nothing is written or removed where one of them cannot be. Raises OSError, which names the file.
    """
    folder.mkdir(exist_ok=True)
    stale = [folder / name for name in FILES if name not in files and (folder / name).exists()]
    for path in (*(folder / name for name in files), *stale):
        if obstacle := misplaced(path):
            raise OSError(0, obstacle, str(path))
    for path in stale:
        path.unlink()
    for name, text in files.items():
        write_text(folder / name, text)
