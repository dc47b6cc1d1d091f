"""Changes code at random places, one operator, number or truth value at a time: some test must fail."""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.mutants.equivalent import EQUIVALENT
from tests.mutants.places import Mutant, mutants
from tests.mutants.trial import MOST, Copy, Fate

PROJECT = Path(__file__).parents[2]
PACKAGES = ("harness/kube", "harness/karpenter", "harness/nodes", "harness/clusters/memory", "fakeazure")


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code 1 when a change was noticed by no test."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--changes", type=int, default=100, metavar="N", help="how many (default 100)")
    parser.add_argument("--seed", type=int, default=1, help="draws the places (default 1)")
    parser.add_argument("--packages", default=",".join(PACKAGES), help=f"folders (default {','.join(PACKAGES)})")
    parser.add_argument("--tests", default="tests,scenarios", help="what is asked (default tests,scenarios)")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="at a time (default: all cores)")
    parser.add_argument(
        "--seconds", type=float, default=MOST, help=f"of tests that are asked about a change (default {MOST:g})"
    )
    parser.add_argument("--verbose", action="store_true", help="print each change that was noticed too")
    options = parser.parse_args(arguments)
    packages = options.packages.split(",")
    if missing := [name for name in packages if not (PROJECT / name).is_dir()]:
        parser.error(f"no such folder: {', '.join(missing)}")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Copy(PROJECT, Path(folder))
        chosen = drawn(places(copy.root, packages), options.changes, options.seed)
        fates: dict[Mutant, Fate] = {}
        for number, verdict in copy.tried(chosen, options.tests.split(","), options.workers, options.seconds):
            mutant, fate = chosen[number], verdict.fate
            if fate is Fate.SURVIVED and mutant.identity in EQUIVALENT:
                fate = Fate.EQUIVALENT
            fates[mutant] = fate
            if fate is not Fate.KILLED or options.verbose:
                print(f"{len(fates)}/{len(chosen)} {fate} ({len(verdict.tests)} tests): {mutant}", flush=True)
    print(table(fates, packages))
    return 1 if any(fate in (Fate.SURVIVED, Fate.UNREACHED) for fate in fates.values()) else 0


def places(root: Path, packages: Sequence[str]) -> list[Mutant]:
    """All changes that can be made to the packages."""
    found: list[Mutant] = []
    for package in packages:
        for file in sorted((root / package).rglob("*.py")):
            found.extend(mutants(str(file.relative_to(root)), file.read_bytes()))
    return found


def drawn(found: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """So many of the changes as the seed draws them, in the order of the files."""
    numbers = random.Random(seed).sample(range(len(found)), min(count, len(found)))
    return [found[number] for number in sorted(numbers)]


def table(fates: dict[Mutant, Fate], packages: Sequence[str]) -> str:
    """How many changes of each package were noticed, and how many were not."""
    counts = {package: Counter[Fate]() for package in packages}
    for mutant, fate in fates.items():
        counts[next(package for package in packages if mutant.path.startswith(f"{package}/"))][fate] += 1
    width = max(map(len, packages))
    lines = [f"{'':{width}}  {'  '.join(f'{fate:>10}' for fate in Fate)}  noticed"]
    for package, found in counts.items():
        that_count = found.total() - found[Fate.EQUIVALENT]
        share = f"{100 * found[Fate.KILLED] / that_count:6.0f}%" if that_count else "      -"
        lines.append(f"{package:{width}}  {'  '.join(f'{found[fate]:10}' for fate in Fate)}  {share}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
