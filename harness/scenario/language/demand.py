"""The requests of all pods of a case: the most that one Node can have to hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.api.quantity import Quantity
from harness.kube.scheduling.pods import requests_for_pods
from harness.reading.manifests import Manifest, read_manifests
from harness.scenario.language.cases import Case
from harness.scenario.language.models.steps import StepMap

__all__ = ["demand"]

_COUNTS = {
    **dict.fromkeys(("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"), "replicas"),
    "Job": "parallelism",
}


def demand(case: Case) -> Mapping[str, Quantity]:
    """Return resources by name, of all pods that the case's objects can make at one time. Raises ScenarioError for files it cannot read."""
    pods: list[Mapping[str, Any]] = []
    for manifest in _manifests(case):
        pod, count = _pods(manifest, case)
        pods += [pod] * count
    return requests_for_pods(pods)


def _manifests(case: Case) -> Iterator[Manifest]:
    yield from case.manifests
    for step in _steps(case):
        for name in step.apply or ():
            if not any(manifest.is_named(name) for manifest in case.manifests):
                yield from read_manifests(case.directory / name)


def _steps(case: Case) -> Iterator[StepMap]:
    return (step for step in case.header.when if isinstance(step, StepMap))


def _pods(manifest: Manifest, case: Case) -> tuple[Mapping[str, Any], int]:
    """Return the pod that an object is or makes, and the number of such pods."""
    spec = manifest.object.get("spec") or {}
    if manifest.kind == "Pod":
        return manifest.object, 1
    if manifest.kind == "CronJob":
        job = (spec.get("jobTemplate") or {}).get("spec") or {}
        return job.get("template") or {}, int(job.get("parallelism", 1))
    template = spec.get("template") or {}
    if manifest.kind == "DaemonSet":
        return template, 1
    if manifest.kind not in _COUNTS:
        return {}, 0
    scaled = [step.scale.replicas for step in _steps(case) if step.scale and manifest.is_named(step.scale.of)]
    return template, max([int(spec.get(_COUNTS[manifest.kind], 1)), *scaled])
