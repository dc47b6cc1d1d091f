"""How many pods and nodes objects ask for, judged before any of them is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.limits import NODES, PODS, Limit
from harness.reading.manifests import Manifest
from harness.reading.problems import Mark, Problem, dotted

__all__ = ["count_of", "scale_problem", "size_problems"]

_REPLICATED = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"})


def count_of(obj: Mapping[str, Any]) -> tuple[Limit, int, str] | None:
    """What an object makes: the limit that it counts against, how many of them at one time, and the field of `spec` that says so."""
    kind, spec = obj.get("kind"), obj.get("spec")
    fields: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {}
    if kind == "Pod":
        return PODS, 1, ""
    if kind in _REPLICATED:
        return PODS, _number(fields, "replicas", 1), "replicas"
    if kind == "Job":
        return PODS, min(_number(fields, "parallelism", 1), _number(fields, "completions", 1 << 63)), "parallelism"
    if kind == "NodePool" and "replicas" in fields:
        return NODES, _number(fields, "replicas", 0), "replicas"
    return None


def size_problems(manifests: Iterable[Manifest]) -> Iterator[Problem]:
    """The objects with which there are more pods, or nodes of static NodePools, than a file may ask for. Raises LimitsError."""
    totals: dict[str, int] = {}
    for manifest in manifests:
        counted = count_of(manifest.object)
        if counted is None:
            continue
        limit, count, field = counted
        before = totals.get(limit.name, 0)
        totals[limit.name] = before + count
        if before + count > limit.most() >= before:  # the first that is too much
            path = ("spec", field) if field else ()
            what = f"{before + count:,} {limit.name} are more than the {limit.most():,} that a file may ask for"
            yield Problem(manifest.document.position(path), dotted(path), what, limit.hint)


def scale_problem(obj: Mapping[str, Any], mark: Mark, path: str) -> Problem | None:
    """What is wrong with the size that a step gives an object. Raises LimitsError."""
    counted = count_of(obj)
    if counted is None or counted[1] <= counted[0].most():
        return None
    limit, count, _ = counted
    return Problem(
        mark, path, f"{count:,} {limit.name} are more than the {limit.most():,} that a step may ask for", limit.hint
    )


def _number(fields: Mapping[str, Any], name: str, absent: int) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and value >= 0 else absent
