"""Every key of a plan's `given` reaches the world."""

from __future__ import annotations

import inspect
from dataclasses import fields
from pathlib import Path

import pytest

from harness.sweep.plan import read_plan
from harness.sweep.situation import Situation
from harness.world import World

NOT_OF_A_SITUATION = {
    "caches",  # shared by the worlds of one process
    "clock",  # each situation has its own
    "cloud_timing",  # said by `recorded`
    "cluster",  # always in memory
    "simulated",  # always
    "timing",  # said by `times` and `recorded`
}
PLAN = """\
scenario: given
given: {GIVEN}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
"""


def test_a_situation_has_every_argument_of_a_world() -> None:
    arguments = set(inspect.signature(World).parameters)

    assert arguments - {field.name for field in fields(Situation)} == NOT_OF_A_SITUATION


@pytest.mark.parametrize(
    ("given", "argument", "value"),
    [
        pytest.param("storageClasses: false", "storage_classes", False, id="storage classes"),
        pytest.param("timing: {recorded: true}", "recorded", True, id="recorded times"),
        pytest.param("simulation: {limit: 10s}", "time_limit", 10.0, id="time limit"),
    ],
)
def test_a_plan_takes_what_a_scenario_takes(tmp_path: Path, given: str, argument: str, value: object) -> None:
    path = tmp_path / "plan.yaml"
    path.write_text(PLAN.replace("GIVEN", given), encoding="utf-8")

    (planned,) = read_plan(path, "plan.yaml").planned

    assert planned.situation.arguments()[argument] == value
    World(**planned.situation.arguments())
