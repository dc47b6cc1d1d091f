"""The loads of workloads as a world takes them: by `Kind/name`, a load or a curve of loads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.api.autoscalers import SCALED
from harness.kube.api.objects import Key
from harness.kube.workloads.loads import Curve, load_from

__all__ = ["curves"]


def curves(loads: Mapping[str, Any]) -> Iterator[tuple[Key, Curve]]:
    """Yield the curve of each workload, named as `Kind/name` or `Kind/namespace/name`.

    A load is `80%` or `{cpu: 80%, memory: 6Gi}`, a curve a list of such, each as `{at: seconds, load: ...}`. Raises ValueError.
    """
    for reference, value in loads.items():
        kind, *names = reference.split("/")
        if kind not in SCALED or not 1 <= len(names) <= 2 or not all(names):
            raise ValueError(
                f"'{reference}' is no workload that can be scaled: one of {', '.join(SCALED)}, as Kind/name"
            )
        points = value if isinstance(value, list | tuple) else [{"at": 0.0, "load": value}]
        curve = [(float(point["at"]), load_from(point["load"])) for point in points]
        yield (
            Key(kind, names[0] if len(names) == 2 else "default", names[-1]),
            sorted(curve, key=lambda point: point[0]),
        )
