"""Moves of generated clusters, and what has to hold of each: `python -m tests.migrate.moves --cases 500 --seed 1`."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, process_time
from traceback import format_exc
from unittest.mock import patch

from harness.cli import whole_parser
from harness.cli.migration_plan import MigrationPlan, planned
from harness.cli.mistakes import Mistakes
from harness.cli.pool_files import read_pool_files
from harness.migrate.judging.judgement import Move
from harness.scenario.expectations.verdicts import Verdict
from harness.scenario.language.cases import Case
from harness.scenario.running.run import Run
from harness.scenario.running.runner import Runner
from tests.migrate.fleets import Object, generated_cluster
from tests.migrate.properties import broken

__all__ = ["Moved", "moved", "plan_of"]

_TELL = 25
"""The number of cases after which a line says how many there are so far."""
_KINDS: Mapping[str, str] = {
    r"allows no eviction|lets none of its pods go": "a budget that lets no pod go",
    r"no NodeClaim may name|keeps nothing off": "an expression that keeps pods off Nodes",
    r"no such label|the new Node has|matches no Node|does not have known values": "a label that the new Node has not",
    r"is bound to|volume|zone": "a zone, or a volume in one",
    r"limits have been exhausted|exceed limits": "the limits of the NodePool, from the pool's maximum",
    r"taint": "a taint",
    r"affinity|topology|skew": "other pods: affinity, anti-affinity, spread",
    r"which stays|pool that stays": "an agent pool that stays",
    r"resources|no instance type": "more than a machine has",
}
"""Pattern of a reason → its kind, the first that matches."""


@dataclass(frozen=True)
class Moved:
    """The outcome of one generated cluster: verdicts and reasons with their counts, what is broken, and the CPU's seconds."""

    seed: int
    verdicts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    broken: Sequence[str] = ()
    pods: int = 0
    seconds: float = 0.0


def plan_of(described: Object, objects: Sequence[Object], folder: Path) -> MigrationPlan:
    """Return the plan for a generated cluster, by way of its files."""
    (folder / "cluster.json").write_text(json.dumps(described))
    (folder / "dump.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}))
    arguments = whole_parser().parse_args(["migrate", str(folder / "cluster.json"), str(folder / "dump.json")])
    files = read_pool_files(arguments, Mistakes())
    assert files is not None
    return planned(arguments, files)


class _Walker(Runner):
    """Keeps the run of a walk."""

    def __init__(self) -> None:
        super().__init__()
        self.runs: list[Run] = []

    def examine(
        self, case: Case, *, recorded: bool = False, explained: bool = False
    ) -> tuple[Run, tuple[Verdict, ...]]:
        """Run a case, and keep its run."""
        run, verdicts = super().examine(case, recorded=recorded, explained=explained)
        self.runs.append(run)
        return run, verdicts


def moved(seed: int, *, again: bool = False) -> Moved:
    """Return what comes of the generated cluster of a seed; `again`: the story that is written is run once more for it."""
    start = process_time()
    walker = _Walker()
    described, objects = generated_cluster(seed)
    try:
        with TemporaryDirectory() as folder, patch("harness.migrate.walking.walk.Runner", lambda: walker):
            plan = plan_of(described, objects, Path(folder))
        problems = list(broken(plan, described, walker.runs[0] if walker.runs and not again else None))
    except Exception:  # a fault of ours is what is looked for
        return Moved(seed, broken=[format_exc()], seconds=process_time() - start)
    verdicts = Counter(str(judged.move) for judged in plan.judged)
    without = [judged for judged in plan.judged if judged.move in (Move.BLOCKED, Move.STAYS)]
    reasons = Counter(_kind(judged.why[0]) for judged in without if judged.why)
    pods = sum(judged.running.replicas for judged in plan.judged)
    return Moved(seed, verdicts, reasons, problems, pods, process_time() - start)


def _kind(reason: str) -> str:
    return next((kind for pattern, kind in _KINDS.items() if re.search(pattern, reason)), f"other: {reason}")


def report(moves: Sequence[Moved]) -> Iterator[str]:
    """Yield the figures of all moves."""
    verdicts, reasons = sum((move.verdicts for move in moves), Counter()), sum((m.reasons for m in moves), Counter())
    named = sum(bool(move.reasons) for move in moves)
    yield f"{len(moves)} clusters with {verdicts.total()} workloads and {sum(move.pods for move in moves)} pods"
    yield ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    yield f"{named} clusters and {reasons.total()} workloads with a named reason:"
    yield from (f"  {count} {kind}" for kind, count in reasons.most_common())
    yield f"{sum(len(move.broken) for move in moves)} broken; {median(m.seconds for m in moves):.1f} s of a CPU for half of them"


def all_moves(seeds: Iterable[int], processes: int, go_on: Callable[[], bool]) -> Iterator[Moved]:
    """Yield what comes of each seed, as soon as it is there; no further one is begun once `go_on` says no."""
    left, under_way = iter(seeds), set[Future[Moved]]()
    with ProcessPoolExecutor(processes) as executor:
        while True:
            room = 2 * processes - len(under_way) if go_on() else 0
            under_way |= {executor.submit(moved, seed) for seed in islice(left, room)}
            if not under_way:
                return
            ended, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in ended)


def main() -> int:
    """Walk the moves; exit code 1 where something does not hold."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=60.0, help="after which no further case is begun")
    options = parser.parse_args()
    end = monotonic() + 60 * options.minutes
    moves: list[Moved] = []
    for move in all_moves(
        range(options.seed, options.seed + options.cases), options.processes, lambda: monotonic() < end
    ):
        moves.append(move)
        for line in move.broken:
            sys.stdout.write(f"seed {move.seed}: {line}\n")
        if len(moves) % _TELL == 0:
            sys.stdout.write(f"{len(moves)} of {options.cases}\n")
        sys.stdout.flush()
    sys.stdout.write("\n".join(report(moves)) + "\n")
    return int(any(move.broken for move in moves) or len(moves) < options.cases)


if __name__ == "__main__":
    sys.exit(main())
