"""`make upgrades`: as many drawn manifests as asked for, under every pair of neighbours among releases and versions of Kubernetes."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from os import cpu_count

from harness.world import default_caches
from tests.upgrades.manifests import drawn_case
from tests.upgrades.worlds import Step, differences, steps

_SHOWN = 3


def seeds_of(manifests: int, first: int) -> list[int]:
    """The seeds of the cases that have so many manifests together."""
    seeds: list[int] = []
    drawn = 0
    while drawn < manifests:
        seeds.append(first + len(seeds))
        drawn += drawn_case(seeds[-1]).size
    return seeds


def differing(step: Step, seeds: list[int]) -> list[str]:
    """Returns a line for each case in which the upgraded world answers otherwise."""
    caches, lines = default_caches(), []
    for seed in seeds:
        found = list(differences(step, drawn_case(seed), caches, seed))
        if found:
            lines.append(f"{step}, seed {seed}: {len(found)} differences, first {found[0].text[:300]}")
    return lines


def main() -> int:
    """Prints what differs, and the counts. Exit code 1 when something does."""
    parser = argparse.ArgumentParser(prog="python -m tests.upgrades")
    parser.add_argument("--cases", type=int, default=2000, help="manifests")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    seeds, pairs = seeds_of(arguments.cases, arguments.seed), steps()
    wrong = 0
    with ProcessPoolExecutor(cpu_count()) as pool:
        for step, lines in zip(pairs, pool.map(partial(differing, seeds=seeds), pairs), strict=True):
            print(f"{step}: {len(seeds)} cases, {len(lines)} differ", flush=True)
            for line in lines[:_SHOWN]:
                print(f"  {line}")
            wrong += len(lines)
    manifests = sum(drawn_case(seed).size for seed in seeds)
    print(f"{manifests} manifests in {len(seeds)} cases, each under {len(pairs)} upgrades: {wrong} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
