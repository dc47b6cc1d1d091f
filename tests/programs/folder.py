"""A folder with the programs `harness`, `fakeazure` and `python` of this tree, for PATH."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.project.tree import ROOT

CLIENT = Path(__file__).with_name("client.py")
PROGRAMS = {"harness": "-m harness", "fakeazure": "-m fakeazure", "python": ""}


@contextmanager
def programs(folder: Path) -> Iterator[Mapping[str, str]]:
    """Variables under which the programs are found; they are forks of one process, which ends with the context."""
    address = folder / "server"
    for name, words in PROGRAMS.items():
        path = folder / name
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{CLIENT}" "{address}" {words} "$@"\n')
        path.chmod(0o755)
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST", "COVERAGE"))}
    variables = {"PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "COLUMNS": "160"}
    environment = {**inherited, **variables}
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.programs.server", str(address)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    with server, server.stdin, server.stdout:
        assert server.stdout.readline() == b"ready\n"
        yield environment
