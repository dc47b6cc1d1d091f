"""A thousand small scenarios in one `harness run`, as a user would start it: goal under two seconds, start-up included.

Seconds here are CPU seconds of the whole process, so that a busy machine says the same as an idle one, nearly.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest

from tools.fleet import fleet

KINDS = {
    "labels of a Node": "- labels: {{are: {{kubernetes.azure.com/mode: {{written: {{value: user}}}}}}}}",
    "labels refused": "- labels: {{are: {{kubernetes.azure.com/x{number}: {{nodepool: no, value: a}}}}}}",
    "requirements": "- requirements: {{of: Standard_D4s_v5, are: {{karpenter.azure.com/sku-cpu: 4}}}}",
}
COUNT = 1000
GOAL = 2.0
LAUNCHES = 200
LAUNCH = """
scenario: s{number}
then:
- node: {{of: Pod/web, labels: {{kubernetes.azure.com/mode: user}}}}
---
{{apiVersion: karpenter.azure.com/v1beta1, kind: AKSNodeClass, metadata: {{name: default}}, spec: {{}}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {{name: default}}
spec:
  template: {{spec: {{nodeClassRef: {{group: karpenter.azure.com, kind: AKSNodeClass, name: default}}, requirements: []}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web}}
spec: {{containers: [{{name: c, image: i, resources: {{requests: {{cpu: 1}}}}}}]}}
"""
RUN = ["-m", "harness", "run"]
FLEET = 1000
SIMULATE = ["-m", "harness", "simulate", "--region", "eastus"]
ONE_SIZE = ["-m", "harness", "requirements", "--size", "Standard_D4s_v5", "--region", "eastus"]
DEFAULT_PATH = (
    "harness.cli.commands.run, harness.scenario.running.runner, harness.scenario.language.files, harness.world, "
    "harness.reports.terminal"
)


def cpu_seconds(arguments: list[str]) -> float:
    """What Python costs with these arguments, in a process of its own that may keep its bytecode, as a user's does."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def tell(capsys: pytest.CaptureFixture[str], line: str) -> None:
    """Prints a line although tests are quiet."""
    with capsys.disabled():
        print(f"\n{line}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand(benchmark: Any, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Prints the seconds of the whole process beside the goal."""
    file = tmp_path / "many.yaml"
    file.write_text(
        "".join(f"---\nscenario: s{number}\nthen:\n{KINDS[kind].format(number=number)}\n" for number in range(COUNT))
    )
    found: list[float] = []
    benchmark.pedantic(lambda: found.append(cpu_seconds([*RUN, str(file)])), rounds=3, iterations=1)
    tell(capsys, f"{COUNT} scenarios, {kind}: {min(found):.2f} s CPU (goal {GOAL:g} s)")


def test_launches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Scenarios that launch a Node each; imports and the region's instance types are shared out among them."""
    file = tmp_path / "launches.yaml"
    file.write_text("---".join(LAUNCH.format(number=number) for number in range(LAUNCHES)))
    each = cpu_seconds([*RUN, str(file)]) / LAUNCHES
    tell(capsys, f"{LAUNCHES} scenarios with a launch: {each * 1000:.1f} ms CPU each, start-up included")
    assert each > 0


def test_a_fleet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`harness simulate` on a believable fleet and all sizes of a region, from start-up to the last pod that runs."""
    file = tmp_path / "fleet.yaml"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": fleet(FLEET, 7)}))
    wall: list[float] = []
    spent: list[float] = []
    for _ in range(3):
        start = perf_counter()
        spent.append(cpu_seconds([*SIMULATE, str(file)]))
        wall.append(perf_counter() - start)
    tell(capsys, f"harness simulate, {FLEET} pods: {min(spent):.2f} s CPU, {min(wall):.2f} s (goal 2 s)")
    assert min(spent) > 0


def test_one_size(capsys: pytest.CaptureFixture[str]) -> None:
    """The cold start of a question about one size, imports and catalogue included."""
    best = min(cpu_seconds(ONE_SIZE) for _ in range(3))
    tell(capsys, f"python {' '.join(ONE_SIZE)}: {best * 1000:.0f} ms CPU")
    assert best > 0


def test_import_budget(capsys: pytest.CaptureFixture[str]) -> None:
    """Prints what the default path's imports cost; `python -X importtime` tells which."""
    best = min(cpu_seconds(["-c", f"import {DEFAULT_PATH}"]) for _ in range(5))
    bare = min(cpu_seconds(["-c", "pass"]) for _ in range(5))
    tell(capsys, f"imports of the default path: {(best - bare) * 1000:.0f} ms CPU (goal 150 ms on an idle machine)")
    assert best > bare
