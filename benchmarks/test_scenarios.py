"""A thousand small scenarios in one `harness run`, as a user would start it: goal under two seconds, start-up included."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

KINDS = {
    "labels of a Node": "- labels: {{are: {{kubernetes.azure.com/mode: {{written: {{value: user}}}}}}}}",
    "labels refused": "- labels: {{are: {{kubernetes.azure.com/x{number}: {{nodepool: no, value: a}}}}}}",
    "requirements": "- requirements: {{of: Standard_D4s_v5, are: {{karpenter.azure.com/sku-cpu: 4}}}}",
}
COUNT = 1000
GOAL = 2.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand(benchmark: Any, tmp_path: Path, kind: str) -> None:
    """Prints the seconds of the whole process beside the goal."""
    file = tmp_path / "many.yaml"
    file.write_text(
        "".join(f"---\nscenario: s{number}\nthen:\n{KINDS[kind].format(number=number)}\n" for number in range(COUNT))
    )

    def run() -> float:
        start = perf_counter()
        subprocess.run([sys.executable, "-m", "harness", "run", str(file)], check=True, capture_output=True)
        return perf_counter() - start

    seconds = benchmark.pedantic(run, rounds=3, iterations=1)
    print(f"\n{COUNT} scenarios, {kind}: {seconds:.2f} s (goal {GOAL:g} s)")


def test_import_budget(capsys: pytest.CaptureFixture[str]) -> None:
    """Prints what the default path's imports cost (goal 150 ms), by -X importtime in a fresh process."""
    code = "import harness.cli.run, harness.scenario.runner, harness.scenario.files, harness.world, harness.reports.terminal"
    best = 10.0
    for _ in range(5):
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-c", code], check=True, capture_output=True, text=True
        )
        total = sum(
            int(line.split("|")[0].split(":")[1])
            for line in done.stderr.splitlines()
            if "|" in line and "self" not in line
        )
        best = min(best, total / 1e6)
    with capsys.disabled():
        print(f"\nimports of the default path: {best * 1000:.0f} ms (goal 150 ms)")
    assert best < 10.0
