"""One simulation of each workload; its result is Go's. Prints our pods per second beside Go's, and how the cost of a pod grows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.scheduler import GO_LIMIT, Case, cases, oracle_path, report, run
from harness.karpenter.scheduling import CatalogIndexes

CASES = cases()
BRIEF = ("upstream-1000", "upstream-10000", "preference-respect-4000", "azure-mixed-10000-10")
REPORTS = Path("reports")


@pytest.mark.parametrize("name", BRIEF)
def test_simulation(benchmark: Any, name: str) -> None:
    case: Case = CASES[name]
    indexes = CatalogIndexes()
    run(case, indexes)
    _, results = benchmark.pedantic(lambda: run(case, indexes), rounds=3)
    assert case.difference(results) is None


def test_beside_go(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print()
        for line in report(list(CASES), oracle_path(), GO_LIMIT, REPORTS):
            print(line, flush=True)
    assert (REPORTS / "scheduler.svg").read_text().startswith("<svg")
