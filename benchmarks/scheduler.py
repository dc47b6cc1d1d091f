"""The scheduler on the workloads of core's own benchmark and on a region's sizes, beside the Go scheduler.

    python -m benchmarks.scheduler [CASE...] [--oracle PATH]

Prints a line per case: our CPU seconds for one simulation (first on a list of instance types, then with its index at hand), pods per
second, Go's CPU seconds with one worker, the ratio, and peak memory. Every result is compared with what Go makes of the workload.
Go is measured in the same run when there is an oracle: ``--oracle``, KARPENTER_ORACLE, or what is built of the sources that
KARPENTER_SOURCES names. Else its recorded times are shown.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from harness.answer.ops.catalog import instance_types
from harness.answer.ops.schedule import with_defaults
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.releases import provider
from harness.karpenter.scheduling import (
    CatalogIndexes,
    ClusterSnapshot,
    SchedulingOptions,
    SchedulingResults,
    solve,
)

DATA = Path(__file__).parent / "data"
RELEASE = provider("1.14.0")


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


def run(case: Case, indexes: CatalogIndexes) -> tuple[float, SchedulingResults]:
    """CPU seconds of one simulation, and its results."""
    types, snapshot, options = case.inputs()
    name = snapshot.nodepools[0]["metadata"]["name"]
    start = time.process_time()
    results = solve(snapshot, {name: types}, release=RELEASE, options=options, indexes=indexes)
    return time.process_time() - start, results


def go_seconds(case: Case, oracle: str) -> float:
    """CPU seconds of the Go scheduler for the workload, with one worker."""
    files = [str(path) for path in case.files]
    flags = ["-", "ignore-preferences"] if case.facts["ignore_preferences"] else []
    command = [oracle, "solve", *files, "1", "1", *flags]
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(out)["solve_cpu_s"])


def oracle_path() -> str | None:
    """The program that KARPENTER_ORACLE names, or the oracle of the sources in KARPENTER_SOURCES, if any."""
    named = os.environ.get("KARPENTER_ORACLE")
    if named or not os.environ.get("KARPENTER_SOURCES"):
        return named or None
    from tests.conformance.build import BuildError, build

    try:
        return str(build(RELEASE.version).path)
    except BuildError as error:
        print(f"no Go scheduler beside ours: {error}", file=sys.stderr)
        return None


def table(names: Sequence[str], oracle: str | None) -> Iterator[str]:
    """The lines of the comparison, as they come. Raises AssertionError when a result differs from Go's."""
    known = cases()
    source = (
        "measured now" if oracle else "recorded; neither KARPENTER_ORACLE nor KARPENTER_SOURCES leads to a Go scheduler"
    )
    yield f"Go with one worker: {source}"
    yield f"{'workload':26}{'first s':>9}{'again s':>9}{'pods/s':>9}{'Go s':>9}{'Go pods/s':>11}{'ratio':>8}{'MiB':>6}"
    for name in names:
        case = known[name]
        indexes = CatalogIndexes()
        first, results = run(case, indexes)
        again, results = run(case, indexes)
        wrong = case.difference(results)
        assert wrong is None, f"{name}: {wrong}"
        go = go_seconds(case, oracle) if oracle else case.facts["go_cpu_seconds"]
        pods = case.facts["pods"]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        yield f"{name:26}{first:9.3f}{again:9.3f}{pods / again:9.0f}{go:9.3f}{pods / go:11.0f}{go / again:8.1f}{peak:6}"


def main(argv: Sequence[str] | None = None) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help="default: all")
    parser.add_argument("--oracle", default=oracle_path())
    options = parser.parse_args(argv)
    for line in table(options.cases or list(cases()), options.oracle):
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
