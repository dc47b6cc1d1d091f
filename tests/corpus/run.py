"""`make scenarios`: the corpus as `harness run` runs it, then the count of the design documents' rows that held.

The processes are forked when all files are read, so that each knows all cases and takes the next ones that nobody has. pytest runs the same
files (`pytest scenarios`); there each worker reads them all, and tells of each expectation, which is a third of the time.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from harness import garbage
from harness.cli.commands import run
from harness.scenario.language.cases import Case
from harness.scenario.running.verdicts import CaseReport, Outcome
from tests.corpus.seed_count import Cell, cells_of, lines


def main(arguments: Sequence[str]) -> int:
    """Runs what the words say, which are those of `harness run`; its exit code."""
    garbage.look_seldom()
    parser = argparse.ArgumentParser(prog="python -m tests.corpus.run", description=__doc__)
    run.add_arguments(parser)
    options = parser.parse_args(arguments)
    options.words = ["run", *arguments]
    return run.run(options, after=_count)


def _count(ended: Sequence[tuple[Case, CaseReport]]) -> None:
    cells: dict[str, set[Cell]] = {"tried": set(), "held": set(), "skipped": set()}
    for case, report in ended:
        found = set(cells_of(case))
        if report.outcome in (Outcome.SKIPPED, Outcome.EXPECTED_FAILURE):
            cells["skipped"] |= found
            continue
        cells["tried"] |= found
        if report.outcome is Outcome.PASSED:
            cells["held"] |= found
    for line in lines(cells["tried"], cells["held"], cells["skipped"] - cells["tried"]):
        print(line)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
