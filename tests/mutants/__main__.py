"""Changes code at random places, one operator, number or truth value at a time: some test must fail."""

from __future__ import annotations

import argparse
import os
import random
import re
import tempfile
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from tests.mutants.equivalent import Equivalents
from tests.mutants.places import Mutant, mutants
from tests.mutants.trial import MOST, Copy, Fate

PROJECT = Path(__file__).parents[2]
PACKAGES = ("harness/kube", "harness/karpenter", "harness/nodes", "harness/clusters/memory", "fakeazure")


class Side(StrEnum):
    """What a goal is set for."""

    MODEL = "model"
    CLOUD = "fakeazure"


_PRINTED = re.compile(rf"^.*\b(?:{Fate.SURVIVED}|{Fate.UNREACHED}) \([^)]*\): ([^:]+):\d+: (.*)$", re.MULTILINE)
GOALS = {Side.MODEL: 95, Side.CLOUD: 90}
"""How many percent of the changes of each side some test should notice."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 when fewer changes were noticed than the goal of the model or of the cloud asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--changes", type=int, default=100, metavar="N", help="how many (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="draws the places (default 1)")
    parser.add_argument("--packages", default=",".join(PACKAGES), help=f"folders (default {','.join(PACKAGES)})")
    parser.add_argument("--tests", default="tests,scenarios", help="what is asked (default tests,scenarios)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="at a time (default: all cores)")
    parser.add_argument(
        "--seconds", type=float, default=MOST, help=f"of tests that are asked about a change (default {MOST:g})"
    )
    parser.add_argument(
        "--again", type=Path, metavar="FILE", help="try what an earlier run printed of changes that no test noticed"
    )
    parser.add_argument("--verbose", action="store_true", help="print each change that was noticed too")
    options = parser.parse_args(arguments)
    packages = options.packages.split(",")
    if missing := [name for name in packages if not (PROJECT / name).is_dir()]:
        parser.error(f"no such folder: {', '.join(missing)}")
    if options.again and not options.again.is_file():
        parser.error(f"no such file: {options.again}")
    equivalents = Equivalents()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(PROJECT, Path(folder))
        found = places(copy.root, packages)
        if options.again:
            chosen = unnoticed(found, options.again.read_text(encoding="utf-8"))
        else:
            chosen = drawn(found, options.changes, options.seed)
        fates: dict[Mutant, Fate] = {}
        for number, verdict in copy.tried(chosen, options.tests.split(","), options.workers, options.seconds):
            mutant, fate = chosen[number], verdict.fate
            if fate in (Fate.SURVIVED, Fate.UNREACHED) and equivalents.has(mutant):
                fate = Fate.EQUIVALENT
            fates[mutant] = fate
            if fate is not Fate.KILLED or options.verbose:
                asked = verdict.by or f"{len(verdict.tests)} tests"
                print(f"{len(fates)}/{len(chosen)} {fate} ({asked}): {mutant}", flush=True)
    print(table(fates, packages))
    shares = {which: noticed(found) for which, found in by_side(fates).items()}
    return 1 if any(share is not None and share < GOALS[which] for which, share in shares.items()) else 0


def places(root: Path, packages: Sequence[str]) -> list[Mutant]:
    """All changes that can be made to the packages."""
    found: list[Mutant] = []
    for package in packages:
        for file in sorted((root / package).rglob("*.py")):
            found.extend(mutants(str(file.relative_to(root)), file.read_bytes()))
    return found


def side(path: str) -> Side:
    """Which goal a file counts for."""
    return Side.CLOUD if path.startswith("fakeazure/") else Side.MODEL


def drawn(found: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of the changes as the seed draws them, in the order of the files: as many of the cloud as of the model.

    Where one side has less than half of them, all of it is drawn, and more of the other.
    """
    chance = random.Random(seed)
    numbers = {which: [n for n, mutant in enumerate(found) if side(mutant.path) is which] for which in Side}
    model, cloud = numbers[Side.MODEL], numbers[Side.CLOUD]
    half = max(count // 2, count - len(model))
    of_cloud = chance.sample(cloud, min(half, len(cloud)))
    of_model = chance.sample(model, min(count - len(of_cloud), len(model)))
    return [found[number] for number in sorted(of_model + of_cloud)]


def unnoticed(found: Sequence[Mutant], printed: str) -> list[Mutant]:
    """The changes that a run printed as survived or unreached, wherever their lines have moved; those that are gone are left out."""
    named = set(_PRINTED.findall(printed))
    return [mutant for mutant in found if (mutant.path, *str(mutant).split(": ", 1)[1:]) in named]


def table(fates: dict[Mutant, Fate], packages: Sequence[str]) -> str:
    """How many changes of each package and of each side were noticed, how many were not, and how many should be."""
    counts = {package: Counter[Fate]() for package in packages}
    for mutant, fate in fates.items():
        counts[next(package for package in packages if mutant.path.startswith(f"{package}/"))][fate] += 1
    rows = [(package, found, GOALS[side(f"{package}/")]) for package, found in counts.items()]
    rows += [(which, found, GOALS[which]) for which, found in by_side(fates).items() if which not in counts and found]
    width = max(len(name) for name, _, _ in rows)
    lines = [f"{'':{width}}  {'  '.join(f'{fate:>10}' for fate in Fate)}  noticed  goal"]
    for name, found, goal in rows:
        percent = noticed(found)
        share = f"{percent:6.1f}%" if percent is not None else "      -"
        lines.append(f"{name:{width}}  {'  '.join(f'{found[fate]:10}' for fate in Fate)}  {share}  {goal:3}%")
    return "\n".join(lines)


def by_side(fates: dict[Mutant, Fate]) -> dict[Side, Counter[Fate]]:
    """What became of the changes of the model and of the cloud."""
    return {which: Counter(fate for mutant, fate in fates.items() if side(mutant.path) is which) for which in Side}


def noticed(found: Counter[Fate]) -> float | None:
    """How many percent of the changes that could be noticed were; none could where all are equivalent."""
    could = found.total() - found[Fate.EQUIVALENT]
    return 100 * found[Fate.KILLED] / could if could else None


if __name__ == "__main__":
    raise SystemExit(main())
