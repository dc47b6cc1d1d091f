"""The pods of a Job."""

from __future__ import annotations

from collections.abc import Sequence

from harness.kube.api.objects import Object, spec_of
from harness.kube.workloads.plans import Plan, living
from harness.kube.workloads.templates import pod_from_template

__all__ = ["job"]


def job(owner: Object, pods: Sequence[Object]) -> Plan:
    """Keep up to `parallelism` pods while completions are missing; without a number of completions, until the first pod
    succeeds.

    Source: kubernetes pkg/controller/job/job_controller.go manageJob.
    """
    spec = spec_of(owner)
    done = sum(1 for pod in pods if (pod.get("status") or {}).get("phase") == "Succeeded")
    parallelism, completions = int(spec.get("parallelism", 1)), spec.get("completions")
    wanted = min(parallelism, int(completions) - done) if completions is not None else 0 if done else parallelism
    missing = wanted - len(living(pods))
    template = spec.get("template") or {}
    return Plan(create=tuple(pod_from_template(owner, template) for _ in range(max(0, missing))))
