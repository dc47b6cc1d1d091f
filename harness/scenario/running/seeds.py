"""A case under several seeds: its expectations must hold under all of them, or under some."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from harness import garbage
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Case
from harness.wording import first_few
from lazyrecords import dataclass

__all__ = ["Seeded", "under_seeds"]

_TOLD = 10
_WHY = 8

Verdicts = tuple[Verdict, ...]


@dataclass(frozen=True, slots=True)
class Seeded:
    """The results of a case under its seeds. `case` has the seed that decides: the first that fails, or holds if one is enough."""

    case: Case
    decides: Verdicts
    share: Verdict

    def verdicts(self, judged: Iterable[Verdict] | None = None) -> Verdicts:
        """Return the verdicts under that seed (`judged`: the same with reasons), with its name, and one on the share that held."""
        seed = self.case.given.seed or 0
        deciding = self.decides if judged is None else judged
        return (*(replace(verdict, label=f"{verdict.label} (seed {seed})") for verdict in deciding), self.share)


def under_seeds(case: Case, examine: Callable[[Case], Verdicts]) -> Seeded:
    """Examine the case under each of its seeds."""
    seeds = case.seeds
    assert seeds is not None
    runs: list[tuple[Case, Verdicts]] = []
    for seeded in map(case.seeded, range(seeds.count)):
        runs.append((seeded, examine(seeded)))
        garbage.after_world()
    held = [all(verdict.holds for verdict in verdicts) for _, verdicts in runs]
    wanted = seeds.hold == "some"
    decides = next((run for run, holds in zip(runs, held, strict=True) if holds == wanted), runs[0])
    share = f"{sum(held)} of {seeds.count} seeds"
    mark = case.given_document.position(("seeds",))
    if any(held) if wanted else all(held):
        return Seeded(*decides, Verdict(f"seeds: held under {share}", mark))
    failed = [run for run, holds in zip(runs, held, strict=True) if not holds]
    numbers = [str(seeded.given.seed or 0) for seeded, _ in failed]
    listed = ", ".join(numbers[:_TOLD]) + (" …" if len(numbers) > _TOLD else "")
    share_verdict = Verdict.failed(
        "seeds", mark, f"{seeds.hold} of {seeds.count} seeds hold", f"{share} hold; not {listed}"
    )
    return Seeded(*decides, replace(share_verdict, why=tuple(_apart(failed))))


def _apart(failed: Sequence[tuple[Case, Verdicts]]) -> Iterator[str]:
    """Yield the failures, each with its seeds; equal ones are grouped."""
    alike: dict[str, list[str]] = {}
    for case, verdicts in failed:
        worst = next(verdict for verdict in verdicts if not verdict.holds)
        alike.setdefault(f"{worst.label}: {worst.differences[0]}", []).append(str(case.given.seed or 0))
    for text, seeds in list(alike.items())[:_WHY]:
        yield f"seed{'' if len(seeds) == 1 else 's'} {first_few(seeds, _TOLD)}: {text}"
    if len(alike) > _WHY:
        yield f"… and {len(alike) - _WHY} other ways to fail"
