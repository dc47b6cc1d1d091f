"""One provisioning pass over very many pods of core's own benchmark: CPU seconds, how many for each pod, what it comes to.

    python -m benchmarks.many_pods [PODS ...]

The pods are those of the largest workload that the Go scheduler was measured with, again and again under other names. From about 90,000
on the NodePool's limit is reached: the rest get its error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import count, islice
from time import process_time
from typing import Any

from benchmarks.scheduler import RELEASE, cases
from harness.karpenter.scheduling import CatalogIndexes, ClusterSnapshot, solve
from harness.kube.api.objects import name_of, with_metadata

_LARGEST = "upstream-20000"
_NUMBERS = (10_000, 20_000, 50_000, 100_000)


def _repeated(snapshot: ClusterSnapshot) -> Iterator[dict[str, Any]]:
    for turn in count():
        for pod in snapshot.pods:
            name = f"{name_of(pod)}-{turn}"
            yield with_metadata(pod, name=name, uid=name)


def measured(pods: int, indexes: CatalogIndexes) -> dict[str, Any]:
    """One pass over so many pods."""
    types, snapshot, options = cases()[_LARGEST].inputs()
    snapshot = replace(snapshot, pods=list(islice(_repeated(snapshot), pods)))
    by_pool = {name_of(snapshot.nodepools[0]): types}
    start = process_time()
    results = solve(snapshot, by_pool, release=RELEASE, options=options, indexes=indexes)
    seconds = process_time() - start
    return {
        "pods": pods,
        "cpu_seconds": round(seconds, 2),
        "microseconds_each": round(seconds / pods * 1e6, 1),
        "nodeclaims": len(results.nodeclaims),
        "errors": len(results.errors),
    }


if __name__ == "__main__":
    shared = CatalogIndexes()
    for number in map(int, sys.argv[1:] or _NUMBERS):
        print(measured(number, shared))
