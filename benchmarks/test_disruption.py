"""Each pass over a large cluster comes to what Go's comes to. Prints the times of both sides."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.disruption import CASES, RECORDED, ours, report
from benchmarks.scheduler import GO_LIMIT, oracle_path

REPORTS = Path("reports")
BRIEF = (("mixed-100", "MultiNodeConsolidation"), ("tight-1000", "SingleNodeConsolidation"))


@pytest.mark.parametrize(("case", "method"), BRIEF)
def test_pass(benchmark: Any, case: str, method: str) -> None:
    _, _, outcome = benchmark.pedantic(lambda: ours(case, method), rounds=1)
    assert outcome == RECORDED[case, method].outcome


def test_beside_go(capsys: pytest.CaptureFixture[str]) -> None:
    lines = []
    with capsys.disabled():
        print()
        for line in report(CASES, oracle_path(), GO_LIMIT, REPORTS):
            lines.append(line)
            print(line, flush=True)
    assert not [line for line in lines if "not what Go does" in line]
