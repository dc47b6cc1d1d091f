"""Whatever moves: pods are bound or named with a reason, budgets hold, and the story that is written passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.scenario.language.files import load_text
from harness.scenario.running.runner import Runner
from harness.scenario.running.verdicts import Outcome
from tests.migrate.moves import broken, plan_of

SEEDS = (2, 11, 28, 31, 37)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_generated_cluster_moves_as_it_is_said(seed: int, tmp_path: Path) -> None:
    plan = plan_of(seed, tmp_path)
    assert list(broken(plan)) == []
    (scenario,) = load_text(plan.story, file="move.yaml")
    report = Runner().run(scenario.cases[0])
    assert report.outcome is Outcome.PASSED, [str(each) for each in report.verdicts if not each.holds]
