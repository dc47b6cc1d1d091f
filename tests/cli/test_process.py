"""The command as a process: readers that go, locales without arrows, full disks, links and directories that lead nowhere."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {containers: [{name: c}]}\n"


def run(command: str, here: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A shell command in which `harness` is this checkout's."""
    (here / "p.yaml").write_text(POD)
    (here / "harness").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m harness "$@"\n')
    (here / "harness").chmod(0o755)
    values = {**os.environ, "PYTHONPATH": str(ROOT), "PATH": f"{here}:{os.environ['PATH']}", **environment}
    return subprocess.run(["/bin/sh", "-c", command], cwd=here, env=values, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command", ["--version", "--help", "simulate p.yaml", "labels agentpool", "simulate none.yaml"]
)
def test_readers_may_go(tmp_path: Path, command: str) -> None:
    done = run(f"harness {command} | true", tmp_path)
    assert "Traceback" not in done.stderr
    assert "BrokenPipe" not in done.stderr


def test_a_verdict_that_nobody_read_is_no_success(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("scenario: x\nthen: [{pods: {bound: 1}}]\n")
    done = run("(harness run s.yaml; echo $? > code) | true", tmp_path)
    assert "Traceback" not in done.stderr
    assert (tmp_path / "code").read_text() in ("1\n", "141\n")  # as the reader goes sooner or later


def test_locale_without_arrows(tmp_path: Path) -> None:
    done = run("harness upgrade-check --from 1.12.2 --to 1.13.1 p.yaml", tmp_path, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("provider 1.12.2 \\u2192 1.13.1")


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    done = run("harness simulate p.yaml >&-", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (tmp_path / "s.yaml").write_text("scenario: x\nthen: [{pods: {bound: 0}}]\n")
    for command in ("harness run s.yaml --junit /dev/full", "harness simulate p.yaml > /dev/full"):
        done = run(command, tmp_path)
        assert "1 passed" in done.stdout or "simulate" in command  # verdicts are not lost with the file
        assert (done.returncode, done.stderr.count("\n")) == (3, 1)
        assert done.stderr.startswith("harness: ")
        assert "no space left on device" in done.stderr


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "gone.yaml").symlink_to("nowhere.yaml")
    done = run("harness simulate loop.yaml gone.yaml", tmp_path)
    assert done.returncode == 2
    assert [line.split(": ")[0] for line in done.stderr.splitlines()] == ["gone.yaml:1:1", "loop.yaml:1:1"]
    done = run('mkdir gone && cd gone && rmdir "$PWD" && harness simulate ../p.yaml', tmp_path)
    assert "Traceback" not in done.stderr


def test_pipes_in_a_folder_are_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("scenario: x\nthen: [{pods: {bound: 0}}]\n")
    os.mkfifo(tmp_path / "pipe.yaml")
    assert run("timeout 60 harness run .", tmp_path).returncode == 0


def test_who_runs_the_command_is_left_to_end_itself(tmp_path: Path) -> None:
    done = run(f"{sys.executable} -m cProfile -o profile -m harness simulate p.yaml", tmp_path)
    assert done.stderr == ""
    assert (tmp_path / "profile").stat().st_size


def test_what_is_said_at_the_very_end_is_heard(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import atexit\natexit.register(print, 'the end')\n")
    done = run("harness simulate p.yaml", tmp_path, PYTHONPATH=f"{tmp_path}:{ROOT}", PYTHONUNBUFFERED="")
    assert done.returncode == 0
    assert done.stdout.endswith("the end\n")


def test_what_a_shell_opens_is_read(tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    (tmp_path / "p.sh").write_text("harness simulate <(cat p.yaml)")
    whole = run("harness simulate p.yaml", tmp_path)
    for command in ("bash p.sh", "cat p.yaml | harness simulate /dev/stdin", "harness simulate /dev/fd/0 < p.yaml"):
        done = run(command, tmp_path)
        assert (done.returncode, done.stdout, done.stderr) == (0, whole.stdout, ""), command
