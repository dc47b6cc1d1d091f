"""What a trace costs: the same cases with and without a recording, in turn, in one process: `python -m benchmarks.tracing [CASES]`.

CPU time, so that a busy machine tells the same. A figure is the best of several turns, and the ratio that of the sums.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time

from harness.scenario.language.cases import Case
from harness.scenario.language.files import load
from harness.scenario.running.runner import Runner
from harness.scenario.running.tracing import finished
from harness.trace import trace_lines
from harness.world import default_caches

__all__ = ["Cost", "cases", "measured"]

_ROOT = Path(__file__).parents[1]
_TURNS = 3
_COUNT = 60


@dataclass(frozen=True, slots=True)
class Cost:
    """CPU seconds of all cases: plain, recorded with the trace made, and with its text made, too; and the text's bytes."""

    plain: float
    recorded: float
    written: float
    size: int

    @property
    def ratio(self) -> float:
        """How many times as long it takes with a trace."""
        return self.recorded / self.plain

    def __str__(self) -> str:
        share = f"{100 * (self.ratio - 1):.1f} % more with a trace, {100 * (self.written / self.plain - 1):.1f} % with its file"
        return f"{self.plain:.2f} s CPU without, {share} ({self.size / 1e6:.1f} MB)"


def cases(count: int = _COUNT) -> list[Case]:
    """So many cases of the corpus in which something happens, evenly from all its files."""
    found = [
        case
        for path in sorted((_ROOT / "scenarios").rglob("*.yaml"))
        for scenario in load(path, path.name)
        for case in scenario.cases
        if case.manifests and case.seeds is None and case.header.skip is None
    ]
    return found[:: max(1, len(found) // count)][:count]


def measured(chosen: Sequence[Case], turns: int = _TURNS) -> Cost:
    """Runs each case with and without, in turn."""
    runner = Runner(default_caches())
    plain = recorded = written = 0.0
    size = 0
    for case in chosen:
        lines: list[str] = []

        def traced(case: Case = case) -> object:
            run, verdicts = runner.examine(case, recorded=True)
            return finished(run, verdicts, "passed")

        def text(case: Case = case, lines: list[str] = lines) -> None:
            run, verdicts = runner.examine(case, recorded=True)
            lines[:] = trace_lines(finished(run, verdicts, "passed"))

        def alone(case: Case = case) -> object:
            return runner.examine(case)

        alone()  # what cases share is made once
        taken = [[_seconds(each) for each in (alone, traced, text)] for _ in range(turns)]
        best = [min(column) for column in zip(*taken, strict=True)]
        plain, recorded, written = plain + best[0], recorded + best[1], written + best[2]
        size += sum(len(line) + 1 for line in lines)
    return Cost(plain, recorded, written, size)


def _seconds(work: Callable[[], object]) -> float:
    start = process_time()
    work()
    return process_time() - start


if __name__ == "__main__":
    print(measured(cases(int(sys.argv[1]) if len(sys.argv) > 1 else _COUNT)))
