"""Expectations about a world with somebody else's Karpenter: without the facts that only the launching process knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.scenario.expectations import check
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.running.run import Run

__all__ = ["outside_verdicts"]

_OF_THE_LAUNCHER = frozenset({"from", "withheld"})
"""Keys of facts that an outside sender does not report: the source of a label's value, and the labels that were not sent."""


def outside_verdicts(run: Run) -> Iterator[Verdict]:
    """Yield the verdicts of the file's expectations, but for those about metrics: a world counts them where it has the simulated loop."""
    for entry in run.case.then:
        if entry.inner.expectation.metric is not None:
            continue
        for verdict in check(entry, run):
            seen = [
                difference
                for difference in verdict.differences
                if difference.path.rpartition(".")[2] not in _OF_THE_LAUNCHER
            ]
            yield replace(verdict, differences=tuple(seen))
