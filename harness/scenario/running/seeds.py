"""A case under several seeds: its expectations must hold under all of them, or under some."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from harness.scenario.language.cases import Case
from harness.scenario.running.verdicts import Verdict

if TYPE_CHECKING:
    from harness.scenario.running.run import Run

__all__ = ["seeded_verdicts"]

_TOLD = 10


def seeded_verdicts(case: Case, examine: Callable[[Case], tuple[Run, tuple[Verdict, ...]]]) -> Iterator[Verdict]:
    """The verdicts under the seed that decides (the first that fails, or holds), named by it, and one on the share that held."""
    asked = case.seeds
    assert asked is not None
    runs = [(one.given.seed, examine(one)[1]) for one in map(case.seeded, range(asked.count))]
    held = [all(verdict.holds for verdict in verdicts) for _, verdicts in runs]
    wanted = asked.hold == "some"
    seed, verdicts = next((run for run, holds in zip(runs, held, strict=True) if holds == wanted), runs[0])
    for verdict in verdicts:
        yield replace(verdict, label=f"{verdict.label} (seed {seed})")
    share = f"{sum(held)} of {asked.count} seeds"
    mark = case.given_document.position(("seeds",))
    if any(held) if wanted else all(held):
        yield Verdict(f"seeds: held under {share}", mark)
        return
    others = [str(run[0]) for run, holds in zip(runs, held, strict=True) if not holds]
    listed = ", ".join(others[:_TOLD]) + (" …" if len(others) > _TOLD else "")
    yield Verdict.failed("seeds", mark, f"{asked.hold} of {asked.count} seeds hold", f"{share} hold; not {listed}")
