"""The fixture `fake_azure`, in a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest, requests

@pytest.mark.fake_azure(region="westeurope", azure={"quota": {"cores": 8}})
class TestIt:
    def test_world(self, fake_azure):
        assert fake_azure.cloud.state.settings.location == "westeurope"
        url = f"https://management.azure.com/subscriptions/{fake_azure.subscription}?api-version=2022-12-01"
        token = fake_azure.credential().get_token("https://management.azure.com/.default").token
        assert requests.get(url, headers={"Authorization": f"Bearer {token}"}).status_code == 200
        fake_azure.calls.where(method="GET").times(1)

    def test_each_has_its_own(self, fake_azure):
        assert len(fake_azure.calls) == 0

@pytest.mark.fake_azure(azure={"faults": [{"what": "AllocationFailed"}]})
def test_a_fault_that_never_fires(fake_azure):
    pass
"""


def test_fixture(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(TESTS)
    plain = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PATH": os.environ["PATH"]}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "fakeazure.pytest_entry",
        "-p",
        "no:cacheprovider",
        "-q",
        "--strict-markers",
        "test_it.py",
    ]
    done = subprocess.run(command, cwd=tmp_path, env=plain, capture_output=True, text=True, check=False)
    assert "3 passed, 1 error" in done.stdout, done.stdout + done.stderr
    assert "declared faults never fired: AllocationFailed at " in done.stdout


def test_the_entry_imports_nothing_of_the_cloud() -> None:
    code = "import sys, fakeazure.pytest_entry; print(sorted(name for name in sys.modules if name.startswith('fakeazure.')))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['fakeazure.pytest_entry']"
