"""The Azure SDKs, aiohttp and httpx under `mock_azure()`, without a network where the system lets us take it away."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.test_pages import VENV
from tests.project.tree import ROOT

SUITE = ROOT / "tests/clients/in_process_suite.py"
UNSHARE = ["unshare", "--map-root-user", "--net"]


def without_network() -> list[str]:
    """What runs a command without a network; empty where that is not allowed."""
    try:
        allowed = subprocess.run([*UNSHARE, "true"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return []
    return UNSHARE if allowed else []


def test_a_suite_of_somebody_who_uses_the_sdks(tmp_path: Path) -> None:
    packages = next(iter((VENV / "sdks" / "lib").glob("python3.*/site-packages")), None)
    if packages is None or packages.parent.name != f"python3.{sys.version_info.minor}":
        pytest.skip(f"no SDKs for this Python in {VENV}: make test-clients installs them")
    # the SDKs' own packages go last: what this Python has stays as it is
    (tmp_path / "conftest.py").write_text(f"import sys\nsys.path.append({str(packages)!r})\n")
    (tmp_path / "test_suite.py").write_text(SUITE.read_text())
    guard = without_network()
    print("without a network" if guard else "with the mock's own guard")
    options = ["-p", "fakeazure.pytest_entry", "-p", "no:cacheprovider", "-q", "test_suite.py"]
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    command = [*guard, sys.executable, "-m", "pytest", *options]
    done = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "18 passed" in done.stdout, done.stdout
