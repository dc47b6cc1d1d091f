"""Passes of the disruption controller over large clusters, beside Go's.

    python -m benchmarks.disruption [CASE...] [--oracle PATH] [--passes N] [--go-limit SECONDS] [--reports DIR]

A case is a kind of cluster and a number of nodes (``tight-1000``), see ``tests/conformance/cases/disruption/fleets.py``. A line per case
and method: CPU seconds for finding the candidates (ours with the state made anew, which Karpenter keeps up to date) and for computing the
command, Go's of both, and the ratio of their sums. Both sides make ``--passes``, each over a cluster made anew with nothing known of the
one before, and their fastest counts: a single one of some milliseconds varies by a factor of two. ``first`` is our first pass, which also
does what a process does once. What comes of each pass is compared with Go's. Each case and method has a process of its own, which looks
for garbage as seldom as ``harness`` does. Go is measured in the same run when there is an oracle, as in ``benchmarks.scheduler``; else,
and for what would take Go more than ``--go-limit`` seconds, its recorded times are shown. Nothing waits for a validation.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.garbage import garbage_seldom
from benchmarks.scheduler import GO_LIMIT, RELEASE, OracleError, oracle_path
from harness.conformance import AnswerContext
from harness.conformance.disruption import cluster_of
from harness.karpenter.disruption.methods.order import Attempt, attempt, methods_of
from harness.karpenter.disruption.situation import after_waiting
from tests.conformance.cases.disruption.fleets import fleet

__all__ = ["PASSES", "RECORDED", "Pass", "ours", "report"]

PASSES = 5

ROOT = Path(__file__).resolve().parent.parent
_MULTI, _SINGLE = "MultiNodeConsolidation", "SingleNodeConsolidation"


@dataclass(frozen=True, slots=True)
class Recorded:
    """Go's CPU seconds for candidates and command, and what came of it: decision, nodes that go, nodes that come."""

    candidates: float
    compute: float
    outcome: tuple[str, int, int] | None


#: core 1.14.0, go1.26, GOMAXPROCS=1, the better of two runs (one of tight-1000), by case and method
RECORDED: Mapping[tuple[str, str], Recorded] = {
    ("empty-100", "Emptiness"): Recorded(0.002, 0.001, ("delete", 100, 0)),
    ("empty-1000", "Emptiness"): Recorded(0.022, 0.015, ("delete", 1000, 0)),
    ("mixed-100", _MULTI): Recorded(0.016, 0.147, ("replace", 5, 1)),
    ("mixed-100", _SINGLE): Recorded(0.005, 0.011, ("replace", 1, 1)),
    ("packed-100", _MULTI): Recorded(0.004, 0.214, None),
    ("packed-100", _SINGLE): Recorded(0.005, 0.012, ("replace", 1, 1)),
    ("tight-100", _MULTI): Recorded(0.009, 0.235, None),
    ("tight-100", _SINGLE): Recorded(0.008, 1.438, None),
    ("mixed-1000", _MULTI): Recorded(0.052, 0.628, ("replace", 12, 1)),
    ("mixed-1000", _SINGLE): Recorded(0.074, 0.158, ("delete", 1, 0)),
    ("packed-1000", _MULTI): Recorded(0.058, 0.822, None),
    ("packed-1000", _SINGLE): Recorded(0.069, 0.092, ("replace", 1, 1)),
    ("tight-1000", _MULTI): Recorded(0.195, 1.390, None),
    ("tight-1000", _SINGLE): Recorded(0.125, 108.826, None),
}
CASES = tuple(dict.fromkeys(case for case, _ in RECORDED))


@dataclass(frozen=True, slots=True)
class Pass:
    """One method's pass over one case: CPU seconds of both sides, and whether both come to the same.

    ``first`` are those of our first pass, candidates and command together.
    """

    case: str
    method: str
    first: float
    candidates: float
    compute: float
    go_candidates: float
    go_compute: float
    go_live: bool
    same: bool

    @property
    def ratio(self) -> float:
        """How many times faster ours is."""
        return (self.go_candidates + self.go_compute) / max(self.candidates + self.compute, 1e-6)


def request_of(case: str) -> dict[str, Any]:
    """The cluster of a case."""
    kind, _, nodes = case.rpartition("-")
    return fleet(int(nodes), 1, kind)


def ours(case: str, method: str) -> tuple[float, float, tuple[str, int, int] | None]:
    """Our CPU seconds for candidates and command, and what came of it, in this process."""
    return our_pass(request_of(case), method)


def our_pass(request: Mapping[str, Any], method: str) -> tuple[float, float, tuple[str, int, int] | None]:
    """The same over the cluster of a `disrupt` request."""
    context = AnswerContext(RELEASE)
    cluster = cluster_of(request, context)
    begun = time.process_time()
    situation, wait = cluster.situation()
    (chosen,) = (each for each in methods_of(situation.rules) if each.name == method)
    found: list[float] = []

    def compute(*given: Any) -> Any:
        found.append(time.process_time())
        return type(chosen).compute(chosen, *given)

    chosen.compute = compute  # type: ignore[method-assign]
    made: Attempt = after_waiting(attempt(situation, chosen, validates=False), wait)
    ended = time.process_time()
    commands = made.findings.commands if made.findings is not None else ()
    found = found or [ended]  # there was no candidate
    outcome = None
    if commands:
        outcome = commands[0].decision, len(commands[0].candidates), len(commands[0].replacements)
    return found[0] - begun, ended - found[0], outcome


def go(case: str, oracle: str, methods: Sequence[str]) -> dict[str, Recorded]:
    """The Go code on the same cluster, with one worker: the fastest pass of each method, which may stand there several times.

    Raises OracleError.
    """
    return go_passes(request_of(case), oracle, methods)


def go_passes(
    request: Mapping[str, Any], oracle: str, methods: Sequence[str], limit: float | None = None
) -> dict[str, Recorded]:
    """The same over the cluster of a `disrupt` request. Raises OracleError, and TimeoutExpired after `limit` seconds."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(request, file)
        file.flush()
        command = [oracle, "consolidate", file.name, "1", *methods]
        environment = {**os.environ, "GOMAXPROCS": "1"}
        try:
            lines = subprocess.run(
                command, check=True, stdout=subprocess.PIPE, text=True, env=environment, timeout=limit
            ).stdout
            return _fastest(map(json.loads, lines.splitlines()), methods)
        except subprocess.TimeoutExpired:
            raise
        except (OSError, subprocess.SubprocessError, ValueError, LookupError, TypeError) as error:
            raise OracleError(f"{oracle}: does not answer as an oracle: {type(error).__name__}") from error


def _fastest(passes: Iterable[Mapping[str, Any]], methods: Sequence[str]) -> dict[str, Recorded]:
    found: dict[str, Recorded] = {}
    for told in passes:
        first = next(iter(told["commands"] or ()), None)
        outcome = None if first is None else (first["decision"], first["candidates"], first["replacements"])
        made, known = Recorded(told["candidates_cpu_s"], told["compute_cpu_s"], outcome), found.get(told["method"])
        if known is None or made.candidates + made.compute < known.candidates + known.compute:
            found[told["method"]] = made
    return {method: found[method] for method in methods}


def passes(case: str, oracle: str | None, go_limit: float, number: int = PASSES) -> Iterator[Pass]:
    """All methods of a case, the fastest of so many passes of each. Raises OracleError."""
    methods = [method for known, method in RECORDED if known == case]
    short = [method for method in methods if RECORDED[case, method].compute <= go_limit]
    for method in methods:
        theirs = go(case, oracle, [method] * number)[method] if oracle and method in short else RECORDED[case, method]
        made = _several(case, method, number)
        outcomes = {outcome for _, _, outcome in made}
        candidates, compute, _ = min(made, key=lambda one: one[0] + one[1])
        times = made[0][0] + made[0][1], candidates, compute, theirs.candidates, theirs.compute
        yield Pass(case, method, *times, bool(oracle) and method in short, outcomes == {theirs.outcome})


def _several(case: str, method: str, number: int) -> list[tuple[float, float, tuple[str, int, int] | None]]:
    """Ours, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.disruption", "--measure", case, method, "--passes", str(number)]
    measured = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout)
    return [(candidates, compute, tuple(outcome) if outcome else None) for candidates, compute, outcome in measured]


def report(
    cases: Sequence[str], oracle: str | None, go_limit: float, reports: Path | None, number: int = PASSES
) -> Iterator[str]:
    """Everything that is printed, as it comes; with `reports` also written there. Raises OracleError."""
    head = ("first", "candidates", "compute", "Go cand.", "Go compute", "ratio")
    yield f"{'cluster':13}{'method':26}" + "".join(f"{each:>12}" for each in head)
    found = []
    for case in cases:
        for each in passes(case, oracle, go_limit, number):
            found.append(each)
            seconds = "".join(f"{one:12.3f}" for one in (each.first, each.candidates, each.compute, each.go_candidates))
            theirs = f"{each.go_compute:.3f}{' ' if each.go_live else '*'}"
            yield (
                f"{each.case:13}{each.method:26}{seconds}{theirs:>12}{each.ratio:12.1f}"
                f"{'' if each.same else '  not what Go does'}"
            )
    yield f"CPU seconds of the fastest of {number} passes; * recorded, not measured in this run"
    if reports is not None:
        reports.mkdir(parents=True, exist_ok=True)
        (reports / "disruption.json").write_text(json.dumps([asdict(each) for each in found], indent=1) + "\n")
        yield f"written: {reports / 'disruption.json'}"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--oracle", metavar="PATH")
    parser.add_argument("--passes", type=int, default=PASSES, metavar="N", help="of each method, default %(default)s")
    parser.add_argument("--go-limit", type=float, default=GO_LIMIT, metavar="SECONDS", help="default %(default)s")
    parser.add_argument("--reports", type=Path, metavar="DIR")
    parser.add_argument("--measure", nargs=2, metavar=("CASE", "METHOD"), help="ours alone, in this process, as JSON")
    options = parser.parse_args(argv)
    if options.measure:
        with garbage_seldom():
            print(json.dumps([ours(*options.measure) for _ in range(options.passes)]))
        return 0
    try:
        oracle = oracle_path(options.oracle)
        for line in report(options.cases or CASES, oracle, options.go_limit, options.reports, options.passes):
            print(line, flush=True)
    except OracleError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
