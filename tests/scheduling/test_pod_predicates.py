"""Who looks after a pod: core pkg/utils/pod/scheduling.go."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.scheduling.pods import (
    affinity_terms,
    failed_to_schedule,
    has_resource_claims,
    is_active,
    is_daemon,
    is_provisionable,
    is_reschedulable,
    is_scheduled,
    is_static,
    is_terminal,
    limits_for_pods,
    requests_for_pods,
)
from harness.testing import pod

Object = dict[str, Any]


def made(owner: tuple[str, str] | None = None, phase: str = "Running", *, going: bool = False, **spec: Any) -> Object:
    found = pod(**spec)
    if owner is not None:
        version, kind = owner
        found["metadata"]["ownerReferences"] = [{"apiVersion": version, "kind": kind, "name": "o", "uid": "o"}]
    if going:
        found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    return {**found, "status": {"phase": phase}}


DAEMON, STATEFUL, NODE, REPLICAS = (
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "StatefulSet"),
    ("v1", "Node"),
    ("apps/v1", "ReplicaSet"),
)


@pytest.mark.parametrize(
    ("subject", "moves"),
    [
        (made(), True),
        (made(REPLICAS), True),
        (made(phase="Pending"), True),
        (made(phase="Succeeded"), False),
        (made(phase="Failed"), False),
        (made(going=True), False),
        (made(REPLICAS, going=True), False),
        (made(STATEFUL), True),
        (made(STATEFUL, going=True), True),  # its successor comes when it has gone
        (made(STATEFUL, "Succeeded"), False),
        (made(STATEFUL, "Succeeded", going=True), True),
        (made(("example.com/v1", "StatefulSet"), going=True), False),
        (made(DAEMON), False),
        (made(NODE), False),
        (made(("extensions/v1beta1", "DaemonSet")), True),
    ],
)
def test_pods_that_need_another_place_when_their_node_goes(subject: Object, moves: bool) -> None:
    """IsReschedulable."""
    assert is_reschedulable(subject) is moves


UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


@pytest.mark.parametrize(
    ("owner", "fields", "status", "waits"),
    [
        (None, {}, {"conditions": [UNSCHEDULABLE]}, True),
        (REPLICAS, {}, {"conditions": [{"type": "Ready", "status": "False"}, UNSCHEDULABLE]}, True),
        (None, {}, {}, False),
        (None, {}, {"conditions": [{**UNSCHEDULABLE, "reason": "SchedulingGated"}]}, False),
        (None, {}, {"conditions": [{**UNSCHEDULABLE, "type": "Ready"}]}, False),
        (None, {"nodeName": "a"}, {"conditions": [UNSCHEDULABLE]}, False),
        (None, {}, {"conditions": [UNSCHEDULABLE], "nominatedNodeName": "a"}, False),
        (DAEMON, {}, {"conditions": [UNSCHEDULABLE]}, False),
        (NODE, {}, {"conditions": [UNSCHEDULABLE]}, False),
    ],
)
def test_pods_that_karpenter_provisions_for(
    owner: tuple[str, str] | None, fields: Object, status: Object, waits: bool
) -> None:
    """IsProvisionable."""
    subject = {**made(owner, **fields), "status": status}
    assert is_provisionable(subject) is waits
    assert failed_to_schedule(subject) is (UNSCHEDULABLE in status.get("conditions", ()))
    assert is_scheduled(subject) is ("nodeName" in fields)
    assert (is_daemon(subject), is_static(subject)) == (owner is DAEMON, owner is NODE)


@pytest.mark.parametrize(
    ("phase", "going", "terminal", "active"),
    [
        ("Pending", False, False, True),
        ("Running", False, False, True),
        ("Running", True, False, False),
        ("Succeeded", False, True, False),
        ("Failed", True, True, False),
    ],
)
def test_pods_that_have_ended(phase: str, going: bool, terminal: bool, active: bool) -> None:
    subject = made(phase=phase, going=going)
    assert (is_terminal(subject), is_active(subject)) == (terminal, active)


CLAIMING = {"name": "c", "image": "i", "resources": {"claims": [{"name": "gpu"}]}}


@pytest.mark.parametrize(
    ("spec", "of_pod", "of_containers"),
    [
        ({}, False, False),
        ({"resourceClaims": []}, False, False),
        ({"resourceClaims": [{"name": "gpu"}]}, True, False),
        ({"containers": [CLAIMING]}, True, True),
        ({"initContainers": [CLAIMING]}, True, True),
    ],
)
def test_pods_that_use_dynamic_resources(spec: Object, of_pod: bool, of_containers: bool) -> None:
    subject = pod(**spec)
    assert has_resource_claims(subject) is of_pod
    assert has_resource_claims(subject, only_containers=True) is of_containers


def test_sums_over_pods_know_how_many_they_are() -> None:
    limited = pod(containers=[{"name": "c", "resources": {"limits": {"cpu": "2"}}}])
    assert {name: str(each) for name, each in requests_for_pods([pod(), pod()]).items()} == {
        "cpu": "2",
        "memory": "2Gi",
        "pods": "2",
    }
    assert {name: str(each) for name, each in limits_for_pods([limited, limited, pod()]).items()} == {
        "cpu": "4",
        "pods": "3",
    }
    assert {name: str(each) for name, each in requests_for_pods([]).items()} == {"pods": "0"}


@pytest.mark.parametrize("affinity", [None, {}, {"podAffinity": None}, {"podAffinity": {}}])
def test_a_pod_without_terms(affinity: Object | None) -> None:
    assert affinity_terms(pod(affinity=affinity), "podAffinity", "required") == ()
    assert affinity_terms(pod(), "podAffinity", "preferred") == ()
