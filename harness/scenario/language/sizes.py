"""How many pods and nodes objects ask for, judged before any of them is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.limits import NODES, PODS, Limit
from harness.reading.manifests import Manifest
from harness.reading.problems import Mark, Problem, dotted

__all__ = ["SCALED", "count_of", "scale_problem", "size_problems"]

_REPLICATED = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"})
SCALED = (*sorted(_REPLICATED), "Job", "NodePool")
"""Kinds whose objects say how many of others there are."""


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


def scale_problem(
    objects: Iterable[Mapping[str, Any]], there: Iterable[Mapping[str, Any]], mark: Mark, path: str
) -> Problem | None:
    """What is wrong with the sizes that a step gives objects, beside those that are `there` already. Raises LimitsError."""
    sizes: dict[tuple[Any, ...], tuple[Limit, int]] = {}
    for obj in (*there, *objects):
        counted, metadata = count_of(obj), obj.get("metadata") or {}
        if counted is not None and not metadata.get("ownerReferences"):  # what makes those is counted itself
            limit, count, _ = counted
            sizes[obj.get("kind"), metadata.get("namespace") or "default", metadata.get("name")] = limit, count
    for limit in (PODS, NODES):
        total = sum(count for of, count in sizes.values() if of is limit)
        if total > limit.most():
            what = f"{total:,} {limit.name} are more than the {limit.most():,} that a step may ask for"
            return Problem(mark, path, what, limit.hint)
    return None


def _number(fields: Mapping[str, Any], name: str, absent: int) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and value >= 0 else absent
