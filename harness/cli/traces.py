"""`--trace`: where a command leaves what happened."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.cli.destinations import check_outputs
from harness.cli.output import command_text, display_name
from harness.cli.worlds import InputError
from harness.outputs import write_text
from plainlines import print_line

if TYPE_CHECKING:
    from harness.explain.pods.scheduling import PodExplanation
    from harness.reading.manifests import Manifest
    from harness.scenario.running.tracing import Tracing
    from harness.trace import Recording
    from harness.world import World

__all__ = ["add_trace", "recording_of", "tracing", "write_recording"]


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `harness run`."""
    parser.add_argument("--trace", type=Path, metavar="DIR", help="write a trace of each case into this folder")
    parser.add_argument(
        "--trace-of", choices=("all", "failed"), default="all", help="of which cases traces are written (default all)"
    )


def recording_of(world: World, arguments: argparse.Namespace, manifests: Iterable[Manifest]) -> Recording | None:
    """Record a world if a trace, a page or a film of it is wanted, `manifests` with their places. Raises InputError for a bad file."""
    path: Path | None = getattr(arguments, "trace", None)
    live = getattr(arguments, "live", False)
    check_outputs(arguments, "trace", "html", "markdown")
    if path is None and arguments.html is None and not live:
        return None
    if live and arguments.format == "json":
        raise InputError("--live: a film is no JSON; take --trace FILE beside --format json")
    from harness.trace import record

    recording = record(world)
    for manifest in manifests:
        mark = manifest.document.position()
        recording.place(manifest.reference, mark.file, mark.line)
    return recording


def write_recording(
    recording: Recording | None,
    arguments: argparse.Namespace,
    explained: Iterable[PodExplanation] = (),
    notes: Sequence[str] = (),
) -> None:
    """Write its trace, with the command that makes it again, and its page, and show its film.

    It holds the causes against the explained pods and the changes that would help them; the page has `notes`, too:
    assumptions and guesses.
    """
    if recording is None:
        return
    from harness.explain.pods.recorded import record_reasons
    from harness.trace import write_trace

    record_reasons(recording, explained)

    trace = recording.trace(command=command_text(arguments))
    if getattr(arguments, "trace", None) is not None:
        write_trace(trace, arguments.trace)
    if arguments.html is not None:
        from harness.reports.picture.world import world_page

        write_text(arguments.html, world_page(trace.to_json(), notes=notes))
    if getattr(arguments, "live", False):
        from harness.cli.commands.watch import show_trace

        show_trace(trace)
        print_line()


def tracing(arguments: argparse.Namespace) -> Tracing | None:
    """Return the runner's use of traces. Raises InputError for an impossible folder."""
    if arguments.trace is None:
        return None
    folder: Path = arguments.trace
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--trace {folder}: a file; a folder for the traces of the cases is expected")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"--trace {folder}: {error.strerror}") from error
    from harness.scenario.running.tracing import Tracing

    return Tracing(Path(display_name(folder)), all=arguments.trace_of == "all")
