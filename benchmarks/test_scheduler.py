"""One simulation of each workload; its result is Go's. The last test prints our pods per second beside Go's."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.scheduler import Case, cases, oracle_path, run, table
from harness.karpenter.scheduling import CatalogIndexes

CASES = cases()
BRIEF = ("upstream-100", "upstream-1000", "upstream-5000", "preference-ignore-4000", "azure-mixed-1000-10")


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_simulation(benchmark: Any, case: Case) -> None:
    indexes = CatalogIndexes()
    run(case, indexes)
    _, results = benchmark.pedantic(lambda: run(case, indexes), rounds=2 if case.facts["pods"] > 2000 else 5)
    assert case.difference(results) is None


def test_beside_go(capsys: pytest.CaptureFixture[str]) -> None:
    lines = table(BRIEF, oracle_path())
    with capsys.disabled():
        print("", *lines, sep="\n")
