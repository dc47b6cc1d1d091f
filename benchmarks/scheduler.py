"""The scheduler on the workloads of core's own benchmark and on a region's sizes, beside the Go scheduler.

    python -m benchmarks.scheduler [CASE...] [--oracle PATH] [--go-limit SECONDS] [--reports DIR]

Prints a line per case: our CPU seconds for one simulation (first on a list of instance types, then with its index at hand), pods per
second, Go's CPU seconds with one worker, the ratio, and the peak memory of both processes; then how the cost of a pod grows with their
number, as a table and as bars. Every result is compared with what Go makes of the workload. Each case has a process of its own.
Go is measured in the same run when there is an oracle: ``--oracle``, KARPENTER_ORACLE, or what is built of the sources that
KARPENTER_SOURCES names. Else, and for what would take Go more than ``--go-limit`` seconds, its recorded times are shown.
``--reports`` also writes the figures (scheduler.json) and a plot (scheduler.svg).
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.growth import growth_table, svg
from harness.conformance.ops.catalog import instance_types
from harness.conformance.ops.schedule import with_defaults
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.releases import provider
from harness.karpenter.scheduling import (
    CatalogIndexes,
    ClusterSnapshot,
    SchedulingOptions,
    SchedulingResults,
    solve,
)

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(__file__).parent / "data"
RELEASE = provider("1.14.0")
GO_LIMIT = 60.0
REPEATS = 2


@dataclass(frozen=True, slots=True)
class Case:
    """One workload and what Go makes of it."""

    name: str
    facts: Mapping[str, Any]

    @property
    def files(self) -> list[Path]:
        """Instance types, NodePool, pods."""
        return [DATA / f"{self.facts[part]}.json.gz" for part in ("instance_types", "nodepool", "pods_file")]

    def inputs(self) -> tuple[Sequence[InstanceType], ClusterSnapshot, SchedulingOptions]:
        """What solve() takes."""
        types, nodepool, pods = self.files
        snapshot = ClusterSnapshot(*with_defaults([read(nodepool)], read(pods)))
        policy = "Ignore" if self.facts["ignore_preferences"] else "Respect"
        return types_of(types), snapshot, SchedulingOptions(preference_policy=policy)

    def difference(self, results: SchedulingResults) -> str | None:
        """What is not as Go has it."""
        got = {
            "nodeclaims": len(results.nodeclaims),
            "scheduled": sum(len(planned.pods) for planned in results.nodeclaims),
            "errors": len(results.errors),
            "cheapest_cost_per_hour": round(sum(planned.cheapest_price for planned in results.nodeclaims), 9),
        }
        wrong = {name: value for name, value in got.items() if abs(value - self.facts[name]) > 1e-6}
        return f"{wrong}, expected { {name: self.facts[name] for name in wrong} }" if wrong else None


def cases() -> dict[str, Case]:
    """All workloads by name."""
    expected = json.loads((DATA / "expected.json").read_text())
    return {name: Case(name, facts) for name, facts in expected.items()}


def read(path: Path) -> Any:
    """A gzipped JSON file."""
    with gzip.open(path) as file:
        return json.load(file)


@cache
def types_of(path: Path) -> Sequence[InstanceType]:
    """The instance types of a file."""
    return instance_types(read(path), RELEASE.vocabulary)


@dataclass(frozen=True, slots=True)
class Measured:
    """One case: CPU seconds of ours (the first simulation with a list of instance types, and the best of later ones) and of Go's.

    Memory is the peak of the whole process in MiB; `go_live` tells whether Go was measured in this run.
    """

    name: str
    pods: int
    first: float
    again: float
    mib: int
    go: float
    go_live: bool
    go_mib: int | None

    @property
    def ratio(self) -> float:
        """How many times faster than Go."""
        return self.go / self.again


def run(case: Case, indexes: CatalogIndexes) -> tuple[float, SchedulingResults]:
    """CPU seconds of one simulation, and its results."""
    types, snapshot, options = case.inputs()
    name = snapshot.nodepools[0]["metadata"]["name"]
    gc.collect()
    start = time.process_time()
    results = solve(snapshot, {name: types}, release=RELEASE, options=options, indexes=indexes)
    return time.process_time() - start, results


def measure_ours(case: Case) -> dict[str, Any]:
    """Ours, in this process. Raises AssertionError when the result differs from Go's."""
    indexes = CatalogIndexes()
    first, results = run(case, indexes)
    wrong = case.difference(results)
    assert wrong is None, f"{case.name}: {wrong}"
    again = [run(case, indexes)[0] for _ in range(REPEATS)]
    return {"first": first, "again": min(again), "mib": _peak_mib()}


def _peak_mib() -> int:
    """The most memory that this process has had. What getrusage tells begins with the memory of whoever started it."""
    status = Path("/proc/self/status")
    if status.exists():
        return (
            next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith("VmHWM")) // 1024
        )
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def ours(case: Case) -> dict[str, Any]:
    """Ours, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.scheduler", "--measure", case.name]
    found: dict[str, Any] = json.loads(_output(command))
    return found


def go(case: Case, oracle: str) -> tuple[float, int]:
    """CPU seconds of the Go scheduler for the workload, with one worker, and its peak memory in MiB (at least that of Python).

    Raises OracleError.
    """
    files = [str(path) for path in case.files]
    flags = ["-", "ignore-preferences"] if case.facts["ignore_preferences"] else []
    # a small process in between, because the peak of a child begins with that of its parent
    try:
        lines = _output([sys.executable, "-S", "-c", _PEAK, oracle, "solve", *files, "1", "1", *flags]).splitlines()
        return float(json.loads("".join(lines[:-1]))["solve_cpu_s"]), int(lines[-1]) // 1024
    except (subprocess.SubprocessError, ValueError, LookupError, TypeError) as error:
        raise OracleError(f"{oracle}: does not answer as an oracle: {type(error).__name__}") from error


_PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""


def _output(command: Sequence[str]) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT).stdout


def measure(case: Case, oracle: str | None, go_limit: float) -> Measured:
    """Both schedulers on one case."""
    recorded: float = case.facts["go_cpu_seconds"]
    live = oracle is not None and recorded <= go_limit
    seconds, mib = go(case, oracle) if oracle is not None and live else (recorded, None)
    return Measured(case.name, case.facts["pods"], **ours(case), go=seconds, go_live=live, go_mib=mib)


class OracleError(Exception):
    """A program that somebody named is no oracle; the message is a line for them."""


def oracle_path(named: str | None = None) -> str | None:
    """The program that is `named`, by default by KARPENTER_ORACLE, or the oracle of the sources in KARPENTER_SOURCES, if any.

    Raises OracleError.
    """
    path = named or os.environ.get("KARPENTER_ORACLE")
    if path:
        if not os.access(path, os.X_OK) or not Path(path).is_file():
            raise OracleError(f"{path}: no oracle: {'no such file' if not Path(path).exists() else 'not a program'}")
        return path
    if not os.environ.get("KARPENTER_SOURCES"):
        return None
    from tests.conformance.build import BuildError, build

    try:
        return str(build(RELEASE.version).path)
    except BuildError as error:
        print(f"no Go scheduler beside ours: {error}", file=sys.stderr)
        return None


def table(found: Iterable[Measured]) -> Iterator[str]:
    """The lines of the comparison, as they come."""
    head = ("first s", "again s", "pods/s", "MiB", "Go s", "Go pods/s", "Go MiB", "ratio")
    yield f"{'workload':25}" + "".join(f"{each:>10}" for each in head)
    for one in found:
        go_seconds = f"{one.go:.3f}{' ' if one.go_live else '*'}"
        yield (
            f"{one.name:25}{one.first:10.3f}{one.again:10.3f}{one.pods / one.again:10.0f}{one.mib:10}{go_seconds:>11}"
            f"{one.pods / one.go:9.0f}{one.go_mib or '':>10}{one.ratio:10.1f}"
        )
    yield "CPU seconds; pods/s by the later simulations; MiB is the peak of the process; * recorded, not measured in this run"


def report(names: Sequence[str], oracle: str | None, go_limit: float, reports: Path | None) -> Iterator[str]:
    """Everything that is printed, as it comes; with `reports` also written there."""
    known = cases()
    found: list[Measured] = []

    def measured() -> Iterator[Measured]:
        for name in names:
            found.append(measure(known[name], oracle, go_limit))
            yield found[-1]

    yield from table(measured())
    yield from growth_table(found)
    if reports is not None:
        reports.mkdir(parents=True, exist_ok=True)
        (reports / "scheduler.json").write_text(json.dumps([asdict(one) for one in found], indent=1) + "\n")
        (reports / "scheduler.svg").write_text(svg(found))
        yield f"written: {reports / 'scheduler.json'}, {reports / 'scheduler.svg'}"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--oracle")
    parser.add_argument("--go-limit", type=float, default=GO_LIMIT, metavar="SECONDS", help="default %(default)s")
    parser.add_argument("--reports", type=Path, metavar="DIR")
    parser.add_argument("--measure", metavar="CASE", help="ours alone, in this process, as JSON")
    options = parser.parse_args(argv)
    if options.measure:
        print(json.dumps(measure_ours(cases()[options.measure])))
        return 0
    try:
        oracle = oracle_path(options.oracle)
        for line in report(options.cases or list(cases()), oracle, options.go_limit, options.reports):
            print(line, flush=True)
    except OracleError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
