"""The memory cluster, the fake cloud, sweeps and pages where a system has neither fork nor the rest of POSIX, nor UTF-8 as its encoding.

Each command runs in a Python that lacks what Windows lacks, or is told that it is on macOS. The real systems are in CI only
(`.github/workflows/test.yaml`, job `laptops`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project.tree import ROOT
from tests.small_world import POD, POOL

WITHOUT_POSIX = """\
import os, signal, sys
for name in ("fork", "forkpty", "register_at_fork", "geteuid", "getegid", "getuid", "getgid", "fchown", "fchmod", "chown", "killpg",
             "setsid", "pread", "pwrite", "sched_getaffinity", "O_NOFOLLOW", "O_CLOEXEC", "O_DIRECTORY"):
    vars(os).pop(name, None)
for name in ("SIGALRM", "SIGHUP", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE", "SIGQUIT", "setitimer", "alarm",
             "pthread_sigmask"):
    vars(signal).pop(name, None)
for name in ("fcntl", "grp", "pwd", "resource", "termios", "tty", "pty"):
    sys.modules[name] = None
"""
MACOS = "import sys, sysconfig\nsysconfig.get_config_vars()  # of the real system\nsys.platform = 'darwin'\n"
SYSTEMS = {"without POSIX": WITHOUT_POSIX, "macOS": MACOS}
WRITTEN = POD.replace("{name: web}", "{name: web, annotations: {note: größe}}", 1)
SCENARIO = (
    f"scenario: ein Knoten für web\ngiven: {{manifests: [pool.yaml]}}\nthen: [{{pods: {{bound: 1}}}}]\n---\n{WRITTEN}"
)
COMMANDS = (
    ("harness", "run", "a test.yaml", "--junit", "report.xml", "--html", "page.html"),
    ("harness", "run", "a test.yaml", "-n", "auto"),
    ("harness", "simulate", "pool.yaml", "pod.yaml", "--html", "-"),
    ("harness", "validate", "pool.yaml"),
    ("harness", "explain", "pool.yaml", "pod.yaml"),
    ("harness", "sweep", "plan.yaml", "-o", "rows.csv", "--html", "sweep.html"),
    ("fakeazure", "skus", "--region", "eastus"),
    ("fakeazure", "serve", "--http-port", "0", "--https-port", "-1", "--for", "1"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with files of a user, one of them with a blank in its name."""
    (tmp_path / "pool.yaml").write_text(POOL, encoding="utf-8")
    (tmp_path / "pod.yaml").write_text(WRITTEN, encoding="utf-8")
    (tmp_path / "a test.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "plan.yaml").write_text(
        "scenario: two\ngiven: {manifests: [pool.yaml, pod.yaml]}\nmatrix: {region: [eastus, westeurope]}\n",
        encoding="utf-8",
    )
    return tmp_path


DRIVER = """\
import json, sys
from fakeazure.__main__ import main as fakeazure
from harness.cli import main as harness

for program, *arguments in json.loads(sys.argv[1]):
    sys.argv = [program, *arguments]
    code = fakeazure() if program == "fakeazure" else harness(arguments)
    print("exit code", code, "of", program, *arguments, file=sys.stderr)
"""


def on(system: str, folder: Path, *commands: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run commands of this project one after the other as such a system would, with an encoding that has few letters."""
    site = folder / ".site"
    site.mkdir(exist_ok=True)
    (site / "sitecustomize.py").write_text(SYSTEMS[system], encoding="utf-8")
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join((str(site), str(ROOT))),
        "PYTHONWARNDEFAULTENCODING": "1",
        "PYTHONWARNINGS": "error::EncodingWarning",
        "PYTHONIOENCODING": "utf-8",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
        "LC_ALL": "C",
    }
    return subprocess.run(
        [sys.executable, "-c", DRIVER, json.dumps(commands)],
        cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_commands_work(folder: Path, system: str) -> None:
    done = on(system, folder, *COMMANDS)
    ended = [line for line in done.stderr.splitlines() if line.startswith("exit code")]
    assert ended == [f"exit code 0 of {' '.join(command)}" for command in COMMANDS], done.stderr
    assert all((folder / name).stat().st_size for name in ("report.xml", "page.html", "rows.csv", "sweep.html"))


@pytest.mark.slow
@pytest.mark.parametrize("system", SYSTEMS)
def test_what_a_system_cannot_do_is_said_in_one_line(folder: Path, system: str) -> None:
    (folder / "b.yaml").write_text(SCENARIO, encoding="utf-8")
    commands = [("harness", "run", "a test.yaml", "b.yaml", "-n", "2")]
    lines = ["harness run: -n: this system cannot fork processes (it can on Linux): leave it out"]
    if system == "without POSIX":
        commands.append(
            ("fakeazure", "serve", "--http-port", "0", "--https-port", "-1", "--for", "1", "--keep", "world")
        )
        lines.append("fakeazure: world: this system cannot lock the folder of --keep (Linux and macOS can)")
    said = [line for line in on(system, folder, *commands).stderr.splitlines() if not line.startswith("exit code 2")]
    assert said == lines


@pytest.mark.parametrize("ending", ["\r\n", "\n"])
def test_places_are_right_whatever_ends_a_line(folder: Path, ending: str) -> None:
    """An editor on Windows writes CRLF."""
    text = POOL.replace("requirements: []", "requirements: [{key: a b, operator: Exists}]").replace("\n", ending)
    (folder / "pool.yaml").write_bytes(text.encode())
    done = subprocess.run(
        [sys.executable, "-m", "harness", "validate", "pool.yaml"],
        cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.startswith("pool.yaml:8:23: ")
