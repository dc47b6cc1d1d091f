"""What docs/how-to/security.md says of sockets: commands open none, look nobody up, and a served cloud listens where it is told."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.tree import ROOT
from tests.small_world import POD, POOL

#: Runs a command line and prints each socket event of the process and what is asked of it, after `SOCKET `.
PROGRAM = """
import sys

def heard(event, arguments):
    if event.startswith("socket.") and event != "socket.__new__" or event == "urllib.Request":
        print("SOCKET", event, arguments[-1] if event in ("socket.bind", "socket.connect") else arguments[:2], file=sys.stderr, flush=True)

sys.addaudithook(heard)
program, *words = sys.argv[1:]
if program == "harness":
    from harness.__main__ import main
else:
    from fakeazure.__main__ import main
sys.argv[1:] = words
sys.exit(main())
"""


def events(folder: Path, *words: str) -> tuple[list[str], str]:
    """The socket events of one command, run in a folder, and what it prints on standard output."""
    (folder / "pool.yaml").write_text(f"{POOL}---\n{POD}")
    command = [sys.executable, "-c", PROGRAM, *words]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return [line for line in done.stderr.splitlines() if line.startswith("SOCKET ")], done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("harness", "simulate", "pool.yaml", "--html", "page.html"),
        ("harness", "explain", "pool.yaml"),
        ("harness", "validate", "pool.yaml"),
        ("harness", "upgrade-check", "--from", "1.13.1", "--to", "1.14.0", "pool.yaml"),
        ("harness", "run", str(ROOT / "scenarios" / "faq" / "mode.yaml"), "-n", "1"),
        ("harness", "capture", "pool.yaml", "-o", "scenario.yaml"),
        ("harness", "requirements", "--size", "Standard_D4s_v5"),
        ("fakeazure", "skus", "--region", "eastus", "--size", "Standard_D2s_v5"),
        ("fakeazure", "prices", "--size", "Standard_D2s_v5"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_command_asks_nobody_and_listens_nowhere(words: tuple[str, ...], tmp_path: Path) -> None:
    assert events(tmp_path, *words)[0] == []


def test_a_served_cloud_listens_on_the_loopback_address_and_asks_nobody(tmp_path: Path) -> None:
    ports = ("--http-port", "0", "--https-port", "-1", "--for", "0.1")
    found, printed = events(tmp_path, "fakeazure", "serve", *ports)
    assert {line.rpartition("SOCKET ")[2] for line in found} == {"socket.bind ('127.0.0.1', 0)"}
    assert "http://127.0.0.1:" in printed


def test_private_keys_of_a_served_cloud_are_its_users_only(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("HTTPS needs the program openssl")
    ports = ("--http-port", "0", "--https-port", "0", "--for", "0.1")
    _, printed = events(tmp_path, "fakeazure", "serve", *ports)
    made = {path.name: path.stat().st_mode & 0o077 for path in (tmp_path / ".fakeazure").iterdir()}
    assert {name for name in made if name.endswith(".key")} == {"ca.key", "server.key"}
    assert {name: mode for name, mode in made.items() if name.endswith(".key") and mode} == {}
    secret = next(line for line in printed.splitlines() if line.startswith("export FAKEAZURE_SECRET=")).partition("=")[
        2
    ]
    written = [path for path in tmp_path.rglob("*") if path.is_file() and secret in path.read_text(errors="replace")]
    assert written == []  # it is printed, and nowhere else
    assert {path.name for path in tmp_path.iterdir()} == {".fakeazure", "pool.yaml"}


def test_the_test_hears_sockets(tmp_path: Path) -> None:
    program = PROGRAM.partition("program, *words")[0] + (
        "import socket\nwith socket.socket() as s:\n    s.bind(('127.0.0.1', 0))\n    s.connect_ex(('127.0.0.1', 9))\n"
        "socket.getaddrinfo('localhost', 1)\n"
    )
    heard = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stderr
    assert [line.split()[1] for line in heard.splitlines()] == ["socket.bind", "socket.connect", "socket.getaddrinfo"]
