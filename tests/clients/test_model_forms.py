"""Names that stand for all types have the same form in all models of the Python SDKs; skips where the SDKs are not installed."""

from __future__ import annotations

import json
import subprocess

import pytest

from fakeazure.arm.forms import ANYWHERE
from tests.clients.test_pages import VENV

READ_ONLY = ("compute Usage.", "network Usage.", "network VirtualNetworkUsage.", "network EffectiveRoute.")
"""Models of answers, which no body has."""


def test_a_name_has_one_form_in_all_models() -> None:
    python = VENV / "sdks" / "bin" / "python"
    if not python.exists():
        pytest.skip(f"no SDKs in {VENV}: make test-clients installs them")
    forms = json.dumps({name: form.words for name, form in ANYWHERE.items()})
    command = [python, "-m", "tests.clients.model_forms"]
    done = subprocess.run(command, input=forms, text=True, capture_output=True, check=True)
    assert int(done.stderr.split()[0]) > 1000
    assert [line for line in done.stdout.splitlines() if not line.startswith(READ_ONLY)] == []
