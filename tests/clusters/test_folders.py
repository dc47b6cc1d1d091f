"""Folders of runs: what a killed run leaves of certificates and credentials is found by `make clean-clusters`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness.clusters.folders import PURPOSES, abandoned, own_folder, temporary_folder
from harness.clusters.leases import leftovers
from tests.project.tree import ROOT, modules

KILLED = """
import os, signal, sys
from harness.clusters.folders import own_folder
print(own_folder(sys.argv[1]), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def _temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)


@pytest.mark.parametrize("purpose", PURPOSES)
def test_what_a_killed_run_leaves_is_found(purpose: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, purpose]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    folder = Path(done.stdout.strip())
    assert folder.parent == tmp_path
    assert list(abandoned()) == [folder]
    found = dict(leftovers())
    found[f"folder {folder}"]()
    assert not folder.exists()


def test_what_somebody_uses_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "karpenter-harness-mine").mkdir()  # a checkout, perhaps
    (tmp_path / "another").mkdir()
    with temporary_folder("real") as folder:
        assert list(abandoned()) == []
        assert folder.stat().st_mode & 0o777 == 0o700
    assert not folder.exists()
    assert (tmp_path / "karpenter-harness-mine").exists()


def test_a_folder_goes_with_an_error() -> None:
    left: list[Path] = []

    def fail() -> None:
        with temporary_folder("compare") as folder:
            left.append(folder)
            (folder / "key.pem").touch()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    [folder] = left
    assert not folder.exists()


def test_a_folder_that_nobody_would_find_is_none() -> None:
    with pytest.raises(ValueError, match="PURPOSES are apiserver, "):
        own_folder("other")


def test_folders_for_runs_are_made_here_only() -> None:
    """What lies elsewhere is not found; a folder of one command's own files goes with the command's block."""
    elsewhere = {
        path.relative_to(ROOT).as_posix()
        for path in modules()
        if path.is_relative_to(ROOT / "harness") and "mkdtemp" in path.read_text()
    }
    assert elsewhere == {os.path.join("harness", "clusters", "folders.py")}
