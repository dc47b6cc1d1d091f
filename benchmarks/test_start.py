"""What everybody waits for: the import of the default path, `harness run` of a small file and of one with a matrix, and `make scenarios`.

CPU of whole processes with bytecode, the least of several runs; scenarios once, in as many processes as there are cores. The import is
made with the standard library's dataclasses, too, which is what `lazyrecords` is there for, and beside what must be paid in any case:
a model of pydantic and a YAML parser. Goals are for an idle machine.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
SCENARIOS = {
    "make scenarios": [
        *("-m", "pytest", "-q", "scenarios", "--processes", "auto", "--capture=no", "--assert=plain"),
        *("-p", "no:xdist"),
        *("-p", "no:faker", "-p", "no:hypothesispytest", "-p", "no:logging", "-p", "no:syrupy"),
    ],
    "harness run scenarios -n auto": ["-m", "harness", "run", "scenarios", "-n", "auto"],
}
STANDARD = "import dataclasses, lazyrecords; lazyrecords.dataclass = dataclasses.dataclass; "
GOALS = {"import harness.world": 0.15, "harness run, a small file": 0.3}
"""Seconds of CPU."""
GOAL = 25.0
"""Seconds that `make scenarios` may take on two idle cores."""
COMMANDS = {
    "python -c pass": ("-c", "pass"),
    "a model of pydantic, and yaml": ("-c", "import pydantic, yaml; pydantic.create_model('Model', a=int)(a=1)"),
    "import harness.world": ("-c", "import harness.world"),
    "import harness.world, standard dataclasses": ("-c", f"{STANDARD}import harness.world"),
    "harness run, a small file": ("-m", "harness", "run", "scenarios/requirements/within-a-nodepool.yaml"),
    "harness run, 28 cases of 7 releases": ("-m", "harness", "run", "scenarios/faq/refused-pods.yaml"),
    "harness explain": ("-m", "harness", "explain", "docs/examples/nodepools/default.yaml"),
}


def cpu(*arguments: str) -> float:
    """Seconds of CPU of a Python process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=ROOT, env=ENVIRONMENT, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.parametrize("name", COMMANDS)
def test_start(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    cpu(*COMMANDS[name])  # writes the bytecode
    least = min(cpu(*COMMANDS[name]) for _ in range(7))
    with capsys.disabled():
        print(f"\n{name}: {least:.3f} s of CPU" + (f" (goal {GOALS[name]:g} s)" if name in GOALS else ""))
    assert least > 0


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.perf_counter()
    spent = cpu(*SCENARIOS[name])
    took = time.perf_counter() - start
    with capsys.disabled():
        print(
            f"\n{name}, {os.cpu_count()} cores: {took:.1f} s, {spent:.1f} s of CPU (goal {GOAL:g} s on two idle cores)"
        )
    assert spent > 0
