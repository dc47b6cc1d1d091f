"""The loads of workloads as a world takes them: by `Kind/name`, a load or a curve of loads."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from fakeazure.arguments import is_seconds, shown
from harness.kube.api.autoscalers import SCALED
from harness.kube.api.objects import Key
from harness.kube.workloads.loads import Curve, load_from
from harness.wording import shortened

__all__ = ["curves"]

_SHOWN = 60
_POINT = ("at", "load")


def curves(loads: Mapping[str, Any]) -> Iterator[tuple[Key, Curve]]:
    """Yield the curve of each workload, named as `Kind/name` or `Kind/namespace/name`.

    A load is `80%` or `{cpu: 80%, memory: 6Gi}`, a curve a list of such, each as `{at: seconds, load: ...}`. Raises ValueError.
    """
    if not isinstance(loads, Mapping):
        raise ValueError(f"loads must be a mapping such as {{'Deployment/web': '80%'}}, not {shown(loads)}")
    for reference, value in loads.items():
        workload = _workload(reference)
        try:
            yield workload, _curve(value)
        except ValueError as error:
            raise ValueError(f"loads: {reference}: {error}") from None


def _workload(reference: object) -> Key:
    kind, *names = reference.split("/") if isinstance(reference, str) else ("",)
    if kind not in SCALED or not 1 <= len(names) <= 2 or not all(names):
        named = f"'{shortened(str(reference), _SHOWN)}'"
        raise ValueError(f"loads: {named} is no workload that can be scaled: one of {', '.join(SCALED)}, as Kind/name")
    return Key(kind, names[0] if len(names) == 2 else "default", names[-1])


def _curve(value: object) -> Curve:
    if not isinstance(value, list | tuple):
        return [(0.0, load_from(value))]
    if not value:
        raise ValueError("a list of loads has at least one entry")
    return sorted((_point(index, point) for index, point in enumerate(value)), key=lambda point: point[0])


def _point(index: int, point: object) -> tuple[float, Mapping[str, Any]]:
    if not isinstance(point, Mapping) or set(point) != set(_POINT):
        raise ValueError(f"[{index}]: an entry such as {{'at': 60, 'load': '80%'}} is expected, not {shown(point)}")
    at = point["at"]
    if not is_seconds(at) or math.isinf(at):
        raise ValueError(f"[{index}].at: seconds from 0 are expected, not {shown(at)}")
    try:
        return float(at), load_from(point["load"])
    except ValueError as error:
        raise ValueError(f"[{index}].load: {error}") from None
