"""Installing the clients that need more than Python: a client is installed only where its program is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.clients.run import ROOT, java_command

# each makes the one folder that its client is looked for by
FAKES = {
    "mvn": 'for option; do case "$option" in -DoutputDirectory=*) folder="${option#*=}";; esac; done\n'
    'mkdir -p "$folder" && touch "$folder/new.jar"',
    "npm": 'mkdir -p "$3/node_modules"',
}
NEEDED = ("sh", "mkdir", "cp", "rm", "touch", "dirname", "env")


def fake(folder: Path, name: str, script: str = "exit 0") -> None:
    """Put a program into a folder."""
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


@pytest.mark.parametrize(("client", "program"), [("java", "mvn"), ("javascript", "npm")])
def test_a_client_is_installed_once_its_program_is_there(client: str, program: str, tmp_path: Path) -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not in PATH")
    programs, clients = tmp_path / "bin", tmp_path / "clients"
    programs.mkdir()
    for name in NEEDED:
        (programs / name).symlink_to(str(shutil.which(name)))
    installed = clients / client / ".installed"

    def run() -> str:
        command = [make, f"CLIENTS={clients}", str(installed)]
        return subprocess.run(
            command, cwd=ROOT, env={"PATH": str(programs)}, capture_output=True, text=True, check=True
        ).stdout

    assert f"no {program}, so" in run()
    assert not installed.exists()
    fake(programs, program, FAKES[program])
    assert "left out" not in run()
    assert installed.exists()


def test_jars_of_another_release_are_taken_away(tmp_path: Path) -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not in PATH")
    fake(tmp_path, "mvn", FAKES["mvn"])
    jars = tmp_path / "clients" / "java" / "jars"
    jars.mkdir(parents=True)
    (jars / "old.jar").touch()
    command = [make, f"CLIENTS={tmp_path / 'clients'}", str(jars.parent / ".installed")]
    subprocess.run(command, cwd=ROOT, env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, capture_output=True, check=True)
    assert [path.name for path in jars.iterdir()] == ["new.jar"]


def test_java_without_its_compiler_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jars, programs = tmp_path / "jars", tmp_path / "bin"
    jars.mkdir()
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))
    for name in ("java", "javac"):
        assert java_command(jars) == f"{name} is not in PATH: a JDK, 17 or newer, is needed"
        fake(programs, name)
    assert isinstance(java_command(jars), list)
