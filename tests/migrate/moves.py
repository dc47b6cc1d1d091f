"""Moves of generated clusters, and what has to hold of each: `python -m tests.migrate.moves --cases 500 --seed 1`."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.cli import whole_parser
from harness.cli.migration_plan import MigrationPlan, planned
from harness.cli.pool_files import read_pool_files
from harness.migrate.judging.judgement import Move
from tests.migrate.fleets import generated_cluster


def plan_of(seed: int, folder: Path) -> MigrationPlan:
    """Return the plan for a generated cluster, by way of its files."""
    described, objects = generated_cluster(seed)
    (folder / "cluster.json").write_text(json.dumps(described))
    (folder / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    arguments = whole_parser().parse_args(["migrate", str(folder / "cluster.json"), str(folder / "dump.json")])
    return planned(arguments, read_pool_files(arguments))


def broken(plan: MigrationPlan) -> Iterator[str]:
    """Yield what does not hold of a move that has to."""
    walk = plan.walk
    if walk is None:
        yield f"not walked: {plan.problem}"
        return
    moves = {judged.name: judged for judged in plan.judged}
    for pod in walk.left:
        if not pod.why:
            yield f"{pod.pod} is left behind without a reason"
        judged = moves.get(pod.workload)
        if judged is None or judged.move not in (Move.BLOCKED, Move.STAYS) or not judged.why:
            yield f"{pod.pod} is left behind, and its workload is said to move"
    patched = {judged.running.workload.name for judged in plan.judged if judged.move is Move.PATCHED}
    for budget in walk.undercut:
        if budget.rpartition("/")[2] not in patched:  # a rollout heeds no budget
            yield f"{budget} is undercut"
    if not walk.passed and not walk.left and not walk.undercut:
        yield f"the story does not hold: {walk.problem}"


def main() -> int:
    """Walk the moves; exit code 1 where something does not hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    failed = 0
    with TemporaryDirectory() as folder:
        for seed in range(options.seed, options.seed + options.cases):
            plan = plan_of(seed, Path(folder))
            counts["clusters"] += 1
            counts["with a named reason"] += any(judged.move is Move.BLOCKED for judged in plan.judged)
            counts.update(str(judged.move) for judged in plan.judged)
            for line in broken(plan):
                failed += 1
                sys.stdout.write(f"seed {seed}: {line}\n")
    sys.stdout.write(", ".join(f"{count} {name}" for name, count in counts.items()) + f"; {failed} broken\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
