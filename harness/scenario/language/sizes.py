"""The numbers of pods and nodes that objects make, judged before any of them is made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.kube.api.objects import mapping_in
from harness.limits import NODES, PODS, Limit
from harness.reading.manifests import Manifest
from harness.reading.problems import Mark, Problem, dotted

__all__ = ["SCALED", "count_of", "scale_problem", "size_problems"]

_REPLICATED = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "ReplicationController"})
SCALED = (*sorted(_REPLICATED), "CronJob", "Job", "NodePool")
"""Kinds whose objects decide the number of others."""


def count_of(obj: Mapping[str, Any]) -> tuple[Limit, int, str] | None:
    """Return the count of an object: the limit that it counts against, the number at one time, and its field of `spec`."""
    kind, spec = obj.get("kind"), obj.get("spec")
    fields: Mapping[str, Any] = spec if isinstance(spec, Mapping) else {}
    if kind == "Pod":
        return PODS, 1, ""
    if kind in _REPLICATED:
        return PODS, _number(fields, "replicas", 1), "replicas"
    if kind == "Job":
        return PODS, _pods_of_job(fields), "parallelism"
    if kind == "CronJob":
        return PODS, _pods_of_job(mapping_in(mapping_in(fields.get("jobTemplate")).get("spec"))), "jobTemplate"
    if kind == "NodePool" and "replicas" in fields:
        return NODES, _number(fields, "replicas", 0), "replicas"
    return None


def _pods_of_job(spec: Mapping[str, Any]) -> int:
    return min(_number(spec, "parallelism", 1), _number(spec, "completions", 1 << 63))


def size_problems(manifests: Iterable[Manifest]) -> Iterator[Problem]:
    """Yield the objects with which a file exceeds its limit of pods, or of nodes of static NodePools. Raises LimitsError."""
    totals: dict[str, int] = {}
    for manifest in manifests:
        counted = count_of(manifest.object)
        if counted is None:
            continue
        limit, count, field = counted
        before = totals.get(limit.name, 0)
        totals[limit.name] = before + count
        if before + count > limit.most() >= before:  # the first one beyond the limit
            path = ("spec", field) if field else ()
            message = f"{before + count:,} {limit.name} are more than the {limit.most():,} that a file may ask for"
            yield Problem(manifest.document.position(path), dotted(path), message, limit.hint)


def scale_problem(
    objects: Iterable[Mapping[str, Any]], there: Iterable[Mapping[str, Any]], mark: Mark, path: str
) -> Problem | None:
    """Return the problem of the sizes that a step gives objects, beside those that are `there` already. Raises LimitsError."""
    sizes: dict[tuple[Any, ...], tuple[Limit, int]] = {}
    for obj in (*there, *objects):
        counted, metadata = count_of(obj), obj.get("metadata") or {}
        if counted is not None and not metadata.get("ownerReferences"):  # their owners are counted themselves
            limit, count, _ = counted
            sizes[obj.get("kind"), metadata.get("namespace") or "default", metadata.get("name")] = limit, count
    for limit in (PODS, NODES):
        total = sum(count for of, count in sizes.values() if of is limit)
        if total > limit.most():
            message = f"{total:,} {limit.name} are more than the {limit.most():,} that a step may ask for"
            return Problem(mark, path, message, limit.hint)
    return None


def _number(fields: Mapping[str, Any], name: str, absent: int) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and value >= 0 else absent
