"""A simulated loop that goes on without end, beside the real controller in a bounded time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.clusters.memory.journal import Entry
from harness.engine.clock import SECOND
from harness.scenario.comparing.comparison import Comparison, Difference, Result
from harness.wording import counted

__all__ = ["BESIDE_RUNAWAY", "beside_runaway"]

BESIDE_RUNAWAY = 60.0
"""Seconds that the real controller runs. A loop that the simulated one ran several times in this time shows itself."""


def beside_runaway(
    about: Comparison, runaway: str, journal: Iterable[Entry], began: float, seconds: float
) -> Comparison:
    """Return the comparison with the real one's behaviour: it goes on, too, where it made a NodeClaim in the second half of the time."""
    made = [
        entry.at / SECOND - began
        for entry in journal
        if entry.verb == "create" and entry.key.kind == "NodeClaim" and entry.error is None
    ]
    late = sum(moment > BESIDE_RUNAWAY / 2 for moment in made)
    real = f"{counted(len(made), 'NodeClaim')} in {BESIDE_RUNAWAY:.0f} s, {late} of them in the second half"
    if late:
        return replace(about, reason=f"goes on without end, as does the real one: {real}", facts=1, seconds=seconds)
    difference = Difference("runaway", runaway, f"comes to rest: {real}")
    return replace(about, result=Result.DIFFER, differences=(difference,), seconds=seconds)
