"""A sweep of 200 situations of a fleet of 30 pods: what one costs, how it scales on Dask workers, and that nothing is done twice.

`python -m benchmarks.sweep` prints the figures that docs/how-to/sweep.md names; it needs the extra `[sweep]` and some minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, process_time, sleep
from typing import Any

REGIONS = (
    "eastus,westeurope,swedencentral,japaneast,uksouth,germanynorth,brazilsouth,australiaeast,centralindia,westus3"
)
RELEASES = "1.6.1,1.6.2,1.6.5,1.6.8,1.7.2,1.10.2,1.12.1,1.13.0,1.13.1,1.14.2"
WHOLE = 57 * 26 * 3
"""The sweep of the whole world: all regions, releases and markets."""

_FLEET = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}
      requirements:
      - {key: karpenter.sh/capacity-type, operator: In, values: [spot, on-demand]}
      - {key: karpenter.azure.com/sku-family, operator: In, values: [D, E, F]}
---
apiVersion: karpenter.azure.com/v1beta1
kind: AKSNodeClass
metadata: {name: default}
spec: {imageFamily: Ubuntu}
"""

_APP = """---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {count}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers:
      - {{name: c, image: c, resources: {{requests: {{cpu: {cpu}, memory: {memory}}}}}}}
"""

_PLAN = """scenario: A fleet of 30 pods
given: {manifests: [fleet.yaml]}
cases:
- case: as it is
- case: no spot
  given: {azure: {quota: {lowPriorityCores: 0}}}
"""


def main() -> int:
    """Prints the figures, a line of JSON for each part; 1 where rows differ, or something was done twice."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep")
    parser.add_argument("--regions", default=REGIONS)
    parser.add_argument("--releases", default=RELEASES)
    arguments = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        apps = (("web", 16, "1", "2Gi"), ("worker", 10, "2", "4Gi"), ("cache", 4, "500m", "12Gi"))
        texts = (_APP.format(name=app, count=count, cpu=cpu, memory=memory) for app, count, cpu, memory in apps)
        (folder / "fleet.yaml").write_text(_FLEET + "".join(texts))
        (folder / "plan.yaml").write_text(_PLAN)
        sweep = _Sweep(folder, ["--regions", arguments.regions, "--releases", arguments.releases])
        alone = _told("one process", sweep.local())
        one, two = (_told(f"Dask workers: {count}", sweep.on_workers(count)) for count in (1, 2))
        _told("scaling", scaling(one, two))
        killed = _told("killed", sweep.killed())
        equal = len({(folder / each).read_bytes() for each in sweep.tables}) == 1
        _told("rows", {"situations": alone["situations"], "equal": equal})
    return int(not equal or bool(killed["twice"]))


def _told(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """Prints a part's figures as soon as they are known."""
    print(json.dumps({name: found}), flush=True)
    return found


class _Sweep:
    def __init__(self, folder: Path, options: list[str]) -> None:
        self._folder, self._options = folder, options
        self.tables: list[str] = []

    def _start(self, table: str, *options: str) -> subprocess.Popen[str]:
        command = [
            sys.executable,
            "-m",
            "harness",
            "sweep",
            "plan.yaml",
            *self._options,
            "-o",
            table,
            "--format",
            "json",
        ]
        return subprocess.Popen([*command, *options], cwd=self._folder, stdout=subprocess.PIPE, text=True)

    def _ended(self, process: subprocess.Popen[str], table: str) -> dict[str, Any]:
        out, _ = process.communicate()
        if process.returncode:
            raise SystemExit(f"harness sweep ended with {process.returncode}")
        self.tables.append(table)
        found: dict[str, Any] = json.loads(out)
        return found

    def local(self) -> dict[str, Any]:
        """One process, without Dask: what a situation costs, with all that starting costs."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = self._ended(self._start("local.csv", "-n", "1"), "local.csv")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {
            "situations": found["situations"],
            "cpu_seconds_each": round(spent / found["situations"], 4),
            "rss_mib": round(after.ru_maxrss / 1024),
        }

    def on_workers(self, count: int) -> dict[str, Any]:
        """The same on Dask workers, each with one thread."""
        table = f"workers{count}.csv"
        with _cluster(count) as (client, engine):
            client.run(_warm)
            before, start = client.run(process_time), monotonic()
            found = self._ended(self._start(table, "--engine", engine), table)
            seconds, after = monotonic() - start, client.run(process_time)
            spent = [after[worker] - before[worker] for worker in after]
            rss = client.run(_most_mib)
            overhead = _overhead(client)
        return {
            "situations": found["situations"],
            "seconds": round(seconds, 1),
            "cpu_seconds_of_workers": [round(each, 1) for each in sorted(spent)],
            "rss_mib": sorted(rss.values()),
            "scheduling_ms_per_batch": round(overhead * 1000, 2),
        }

    def killed(self) -> dict[str, Any]:
        """A worker dies, then the client; the same command goes on. `twice` are situations that were run although they were known."""
        table, part = "killed.csv", self._folder / "killed.csv.part"
        with _cluster(2) as (client, engine):
            running = self._start(table, "--engine", engine)
            _wait(part, 1, running)
            os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
            after_worker = len(_keys(part))
            _wait(part, after_worker + 1, running)
            running.send_signal(signal.SIGKILL)
            running.communicate()
            known = _keys(part)
            again = self._start(table, "--engine", engine)
            told = self._ended(again, table)
        counted = Counter(known)
        return {
            "known_when_a_worker_was_killed": after_worker,
            "known_when_the_client_was_killed": len(known),
            "ran_after_that": told["ran"],
            "known_before": told["known_before"],
            "twice": sum(counted.values()) - len(counted) + told["ran"] + len(known) - told["situations"],
        }


@contextmanager
def _cluster(count: int) -> Iterator[tuple[Any, str]]:
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"threads_per_worker": 1, "dashboard_address": None, "memory_limit": "300MiB"}
    with LocalCluster(n_workers=count, processes=True, protocol="tcp", **options) as cluster, Client(cluster) as client:
        yield client, str(cluster.scheduler_address).replace("tcp://", "dask://")


def _warm() -> None:
    import harness.sweep.simulation  # noqa: F401


def _most_mib() -> int:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _nothing(number: int, payload: bytes) -> list[tuple[str, bytes]]:
    return [(str(number), payload)] * 4


def _overhead(client: Any, tasks: int = 400) -> float:
    """Seconds that the scheduler and the client take for one batch that costs nothing."""
    payload = os.urandom(4000)  # a batch with the manifests of such a fleet
    start = monotonic()
    client.gather(client.map(_nothing, range(tasks), payload=payload, pure=False))
    return (monotonic() - start) / tasks


def scaling(one: dict[str, Any], two: dict[str, Any]) -> dict[str, Any]:
    """Two workers measured; a thousand by calculation: the dearer of what a worker computes and what the scheduler hands out."""
    alone, apart = one["cpu_seconds_of_workers"][0], two["cpu_seconds_of_workers"]
    each = min(alone / one["situations"], sum(apart) / two["situations"])
    overhead = (
        min(run["scheduling_ms_per_batch"] for run in (one, two)) / 1000
    )  # a spike of load is no property of the scheduler
    batches = -(-WHOLE // 2)
    return {
        "times_as_fast_by_the_clock": round(one["seconds"] / two["seconds"], 2),
        "times_as_fast_by_cpu": round(alone / max(apart), 2),
        f"{WHOLE}_situations": {
            "on_1_worker_seconds": round(WHOLE * each),
            "on_2_workers_seconds": round(WHOLE * sum(apart) / two["situations"] / 2),
            "on_1000_workers_seconds": round(max(WHOLE / 1000 * each, batches * overhead), 1),
            "of_which_scheduling": round(batches * overhead, 1),
        },
    }


def _keys(part: Path) -> list[str]:
    lines = part.read_text(encoding="utf-8").splitlines() if part.exists() else []
    return [json.loads(line)[0] for line in lines if line.endswith("]")]


def _wait(part: Path, rows: int, running: subprocess.Popen[str]) -> None:
    while len(_keys(part)) < rows and running.poll() is None:
        sleep(0.02)


if __name__ == "__main__":
    sys.exit(main())
