"""Defaults that the API server fills in when workloads are written; a second time changes nothing.

Sources: kubernetes pkg/apis/{apps,batch}/v1/defaults.go, pkg/registry/batch/job/strategy.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.admission.defaults import default_template

__all__ = ["default_workload", "with_generated_selector"]

_CONTROLLER_UID = "batch.kubernetes.io/controller-uid"
_CRON_JOB: Mapping[str, Any] = {
    "concurrencyPolicy": "Allow",
    "suspend": False,
    "successfulJobsHistoryLimit": 3,
    "failedJobsHistoryLimit": 1,
}


_REPLICATED = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet"})
_LABELLED = frozenset({"Job", "ReplicationController"})
"""Kinds whose objects get the labels of their template where they have none."""


def default_workload(obj: dict[str, Any]) -> dict[str, Any]:
    """Return a workload as the API server stores it: one replica by default, ports and quantities of the template as in
    pods.

    The limits of a template do not become its requests yet: only pods get those. Raises QuantityError.
    """
    spec, kind = obj.get("spec") or {}, obj["kind"]
    made: dict[str, Any] = {}
    if spec.get("paused") is False:  # false is written as nothing at all
        spec = {key: value for key, value in spec.items() if key != "paused"}
        obj = {**obj, "spec": spec}
    if kind in _REPLICATED and spec.get("replicas") is None:
        made["replicas"] = 1
    if kind == "CronJob":
        made |= {field: value for field, value in _CRON_JOB.items() if spec.get(field) is None}
        template, inner = spec.get("jobTemplate") or {}, (spec.get("jobTemplate") or {}).get("spec") or {}
        changed = _template_defaults(inner)
        if changed:
            made["jobTemplate"] = {**template, "spec": {**inner, **changed}}
    else:
        made |= _template_defaults(spec)
    labels = (spec.get("template") or {}).get("metadata", {}).get("labels")
    if kind == "ReplicationController" and labels and not spec.get("selector"):
        made["selector"] = dict(labels)  # pkg/apis/core/v1/defaults.go (SetDefaults_ReplicationController)
    if kind == "Job":
        made |= _job_defaults(spec)
    if kind in _LABELLED and labels and not (obj.get("metadata") or {}).get("labels"):
        obj = {**obj, "metadata": {**(obj.get("metadata") or {}), "labels": dict(labels)}}
    return {**obj, "spec": {**spec, **made}} if made else obj


def _job_defaults(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the absent fields of a Job's spec (kubernetes pkg/apis/batch/v1/defaults.go)."""
    made: dict[str, Any] = {
        "backoffLimit": 6 if spec.get("backoffLimitPerIndex") is None else (1 << 31) - 1,
        "completionMode": "NonIndexed",
        "suspend": False,
        "podReplacementPolicy": "TerminatingOrFailed" if spec.get("podFailurePolicy") is None else "Failed",
        "manualSelector": False,
        "parallelism": 1,
    }
    if spec.get("parallelism") is None:
        made["completions"] = 1
    return {field: value for field, value in made.items() if spec.get(field) is None}


def with_generated_selector(job: dict[str, Any]) -> dict[str, Any]:
    """Return a new Job that has its uid with the selector of its pods, and the labels that they get.

    Source: kubernetes pkg/registry/batch/job/strategy.go (generateSelector).
    """
    meta, spec = job["metadata"], job.get("spec") or {}
    if spec.get("manualSelector"):
        return job
    template, selector = spec.get("template") or {}, spec.get("selector") or {}
    named = dict.fromkeys(("job-name", "batch.kubernetes.io/job-name"), meta["name"])
    owned = dict.fromkeys(("controller-uid", _CONTROLLER_UID), meta["uid"])
    template_meta = template.get("metadata") or {}
    labels = {**named, **owned, **(template_meta.get("labels") or {})}
    chosen = {_CONTROLLER_UID: meta["uid"], **(selector.get("matchLabels") or {})}
    template = {**template, "metadata": {**template_meta, "labels": labels}}
    return {**job, "spec": {**spec, "template": template, "selector": {**selector, "matchLabels": chosen}}}


def _template_defaults(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the field `template` of a workload's spec where defaults change it."""
    template = spec.get("template")
    if not template or not template.get("spec"):
        return {}
    inner = default_template(template["spec"])
    return {} if inner is template["spec"] else {"template": {**template, "spec": inner}}
