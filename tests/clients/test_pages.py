"""What the how-to page tells users of az and of the Azure SDKs to type, typed; skips where `make test-clients` did not install them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.served import free_port
from tests.project.test_docs import blocks
from tests.project.tree import ROOT

VENV = Path(os.environ.get("FAKEAZURE_CLIENTS", ROOT / ".venv-clients"))
PAGE = ROOT / "docs/how-to/fakeazure.md"


def block(kind: str, name: str = "") -> str:
    [text] = [text for language, named, text in blocks(PAGE) if (language, named or "") == (kind, name)]
    return text


def programs(folder: Path, **found: Path | str) -> Path:
    folder.mkdir()
    for name, command in found.items():
        (folder / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (folder / name).chmod(0o755)
    return folder


def test_az_lists_sizes(tmp_path: Path) -> None:
    az = VENV / "az" / "bin" / "az"
    if not az.exists():
        pytest.skip(f"no az in {VENV}: make test-clients installs it")
    script = block("bash").replace("serve --state", f"serve --http-port {free_port()} --https-port 8443 --state")
    script = script.replace("8443", str(free_port()))
    found = programs(tmp_path / "bin", az=az, fakeazure=f"{sys.executable} -m fakeazure")
    environment = {"PATH": f"{found}:{os.environ['PATH']}", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    typed = subprocess.Popen(
        ["bash", "-ec", f"{script}\nkill %1"],
        cwd=tmp_path,
        env={**environment, "AZURE_CONFIG_DIR": str(tmp_path / "az"), "AZURE_CORE_COLLECT_TELEMETRY": "0"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _ = typed.communicate(timeout=300)
    finally:
        if typed.poll() is None:
            os.killpg(typed.pid, signal.SIGKILL)
    assert typed.returncode == 0, printed
    assert "virtualMachines  eastus       Standard_D2s_v5  1,2,3    None" in printed


def test_a_test_with_an_sdk(tmp_path: Path) -> None:
    packages = next(iter((VENV / "sdks" / "lib").glob("python3.*/site-packages")), None)
    if packages is None or packages.parent.name != f"python3.{sys.version_info.minor}":
        pytest.skip(f"no SDKs for this Python in {VENV}: make test-clients installs them")
    (tmp_path / "test_sizes.py").write_text(block("python", "test_sizes.py"))
    # the SDKs' own packages go last: what this Python has stays as it is
    (tmp_path / "conftest.py").write_text(f"import sys\nsys.path.append({str(packages)!r})\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "fakeazure.pytest_entry",
        "-p",
        "no:cacheprovider",
        "-q",
        "test_sizes.py",
    ]
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True, check=False)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
