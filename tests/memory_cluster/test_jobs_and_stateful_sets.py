"""How many pods Jobs and StatefulSets have (kubernetes pkg/controller/{job,statefulset}), and names of pod templates."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.objects import name_of
from harness.kube.workloads.jobs import job
from harness.kube.workloads.stateful_sets import stateful_set
from harness.kube.workloads.templates import template_hash
from harness.testing import pod


def owner(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "web", "uid": "web"}, "spec": spec}


def pods(*phases: str) -> list[dict[str, Any]]:
    return [{**pod(f"web-{number}"), "status": {"phase": phase}} for number, phase in enumerate(phases)]


@pytest.mark.parametrize(
    ("spec", "phases", "created"),
    [
        ({}, [], 1),
        ({}, ["Running"], 0),
        ({}, ["Succeeded"], 0),
        ({}, ["Failed"], 1),
        ({"parallelism": 3}, [], 3),
        ({"parallelism": 3}, ["Running"], 2),
        ({"parallelism": 3}, ["Succeeded", "Running"], 0),
        ({"parallelism": 3}, ["Failed", "Running"], 2),
        ({"completions": 0}, [], 0),
        ({"parallelism": 0, "completions": 2}, [], 0),
        ({"parallelism": 2, "completions": 5}, [], 2),
        ({"parallelism": 2, "completions": 5}, ["Succeeded", "Succeeded", "Running"], 1),
        ({"parallelism": 2, "completions": 3}, ["Succeeded", "Succeeded"], 1),
        ({"parallelism": 2, "completions": 2}, ["Succeeded", "Succeeded"], 0),
        ({"completions": 2}, [], 1),
    ],
)
def test_a_job_has_pods_while_completions_are_missing(spec: dict[str, Any], phases: list[str], created: int) -> None:
    plan = job(owner("Job", **spec), pods(*phases))
    assert (len(plan.create), plan.delete) == (created, ())


def test_a_stateful_set_deletes_pods_beyond_its_replicas_once() -> None:
    first, going, surplus = pods("Running", "Running", "Running")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    for made in (first, going, surplus):
        made["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    plan = stateful_set(owner("StatefulSet", replicas=1), [first, going, surplus])
    assert ([name_of(each) for each in plan.delete], plan.create) == (["web-2"], ())


def test_a_template_whose_checksum_is_0_has_a_name() -> None:
    assert template_hash({"spec": {"nodeName": "cccbcbbbcccbcccbbcccbcccbcbbbcbbbbbbbbbb"}}) == "b"
