"""Expectations about a world whose Karpenter is somebody else: what only the one who launches can tell is left out of account."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from harness.scenario.running.checks import check
from harness.scenario.running.run import Run
from harness.scenario.running.verdicts import Verdict

__all__ = ["outside_verdicts"]

_OF_THE_LAUNCHER = frozenset({"from", "withheld"})
"""Where the value of a label comes from, and what was not sent: a sender that is somebody else does not tell."""


def outside_verdicts(run: Run) -> Iterator[Verdict]:
    """The verdicts of the expectations of the file, but for those about metrics: a world counts them where it has the simulated loop."""
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
