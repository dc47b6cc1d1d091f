"""The supervisor of a cluster's programs is a script by itself: it starts, tells of a program, and ends with its input."""

from __future__ import annotations

from pathlib import Path

from harness.clusters.apiserver.processes import Processes
from harness.clusters.waiting import poll


def test_it_starts_a_program_and_tells_of_its_end(tmp_path: Path) -> None:
    folder = tmp_path / "cluster"
    folder.mkdir()
    processes = Processes(folder)
    try:
        processes.start("short", "/bin/sh", "-c", "echo said; exit 7")
        poll(lambda: "short" in processes.exited, "the program to end", seconds=30)
        assert processes.exited == {"short": 7}
        assert (folder / "short.log").read_text() == "said\n"
    finally:
        processes.stop()
    assert not folder.exists()
