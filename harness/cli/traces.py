"""`--trace`: where a command leaves what happened."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING

from harness.cli.worlds import InputError

if TYPE_CHECKING:
    from harness.reading.manifests import Manifest
    from harness.scenario.running.tracing import Tracing
    from harness.trace import Recording
    from harness.world import World

__all__ = ["add_trace", "recording_of", "tracing", "write_recording"]


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Declares the options of `harness run`."""
    parser.add_argument("--trace", type=Path, metavar="DIR", help="write a trace of each case into this folder")
    parser.add_argument(
        "--trace-of", choices=("all", "failed"), default="all", help="of which cases traces are written (default all)"
    )


def recording_of(world: World, path: Path | None, manifests: Iterable[Manifest]) -> Recording | None:
    """Records a world where its trace is to be written, `manifests` with their places. Raises InputError for a file that cannot be."""
    if path is None:
        return None
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise InputError(f"--trace {path}: {'is a folder' if path.is_dir() else f'there is no folder {path.parent}'}")
    from harness.trace import record

    recording = record(world)
    for manifest in manifests:
        mark = manifest.document.position()
        recording.place(manifest.reference, mark.file, mark.line)
    return recording


def write_recording(recording: Recording | None, arguments: argparse.Namespace) -> None:
    """Writes its trace, with the command that makes it again."""
    if recording is None:
        return
    from harness.trace import write_trace

    write_trace(recording.trace(command=join(["harness", *arguments.words])), arguments.trace)


def tracing(arguments: argparse.Namespace) -> Tracing | None:
    """What the runner does with traces. Raises InputError for a folder that cannot be."""
    if arguments.trace is None:
        return None
    folder: Path = arguments.trace
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--trace {folder}: a file; a folder for the traces of the cases is expected")
    if arguments.karpenter != "simulated":
        raise InputError("--trace: traces of two Karpenters are what harness compare is for; take --karpenter simulated")
    from harness.scenario.running.tracing import Tracing

    return Tracing(folder, all=arguments.trace_of == "all")
