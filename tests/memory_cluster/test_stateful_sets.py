"""Numbers of pods of StatefulSets (kubernetes pkg/controller/statefulset), and names of pod templates."""

from __future__ import annotations

from typing import Any

from harness.kube.api.objects import name_of
from harness.kube.workloads.stateful_sets import stateful_set
from harness.kube.workloads.templates import template_hash
from harness.testing import pod


def owner(kind: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "metadata": {"name": "web", "uid": "web"}, "spec": spec}


def pods(*phases: str) -> list[dict[str, Any]]:
    return [{**pod(f"web-{number}"), "status": {"phase": phase}} for number, phase in enumerate(phases)]


def test_a_stateful_set_deletes_pods_beyond_its_replicas_once() -> None:
    first, going, surplus = pods("Running", "Running", "Running")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    for made in (first, going, surplus):
        made["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    plan = stateful_set(owner("StatefulSet", replicas=1), [first, going, surplus])
    assert ([name_of(each) for each in plan.delete], plan.create) == (["web-2"], ())


def test_a_template_whose_checksum_is_0_has_a_name() -> None:
    assert template_hash({"spec": {"nodeName": "cccbcbbbcccbcccbbcccbcccbcbbbcbbbbbbbbbb"}}) == "b"
