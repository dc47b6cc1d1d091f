"""Which changes make Karpenter simulate anew."""

from __future__ import annotations

from typing import Any

import pytest

from harness.engine.ports import Change, ChangeType
from harness.karpenter.provisioning.relevance import matters

NODE: dict[str, Any] = {
    "kind": "Node",
    "metadata": {"name": "n", "labels": {"a": "b"}},
    "spec": {"taints": []},
    "status": {"allocatable": {"cpu": "1"}, "conditions": [{"type": "Ready", "status": "True"}]},
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, False),
        ({"status": {**NODE["status"], "conditions": []}}, False),  # a heartbeat
        ({"status": {**NODE["status"], "allocatable": {"cpu": "2"}}}, True),
        ({"spec": {"taints": [{"key": "k"}]}}, True),
        ({"metadata": {"name": "n", "labels": {}}}, True),
        ({"metadata": {**NODE["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}, True),
        ({"metadata": {**NODE["metadata"], "resourceVersion": "9"}}, False),
    ],
)
def test_a_modified_node(changed: dict[str, Any], expected: bool) -> None:
    assert matters(Change(ChangeType.MODIFIED, {**NODE, **changed}, NODE, 1)) is expected


@pytest.mark.parametrize("type", [ChangeType.ADDED, ChangeType.DELETED])
def test_a_node_that_comes_or_goes(type: ChangeType) -> None:
    assert matters(Change(type, NODE, NODE, 1))
    assert matters(Change(type, NODE, None, 1))


UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
POD: dict[str, Any] = {
    "kind": "Pod",
    "metadata": {"name": "p", "labels": {"a": "b"}, "annotations": {"c": "d"}},
    "spec": {"containers": []},
    "status": {"phase": "Pending", "conditions": [UNSCHEDULABLE]},
}


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, False),
        ({"status": {**POD["status"], "startTime": "2026-01-01T00:00:00Z"}}, False),
        ({"status": {**POD["status"], "conditions": [{**UNSCHEDULABLE, "message": "0/3 nodes are available"}]}}, False),
        ({"status": {**POD["status"], "conditions": [{**UNSCHEDULABLE, "reason": "SchedulingGated"}]}}, True),
        ({"status": {"phase": "Pending"}}, True),
        ({"status": {**POD["status"], "phase": "Running"}}, True),
        ({"status": {**POD["status"], "nominatedNodeName": "n"}}, True),
        ({"metadata": {**POD["metadata"], "annotations": {}}}, True),
        ({"metadata": {**POD["metadata"], "labels": {}}}, True),
        ({"metadata": {**POD["metadata"], "resourceVersion": "9"}}, False),
        ({"metadata": {**POD["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}, True),
        ({"spec": {"containers": [], "nodeName": "n"}}, True),
        ({"spec": {"containers": []}}, False),
    ],
)
def test_a_modified_pod(changed: dict[str, Any], expected: bool) -> None:
    assert matters(Change(ChangeType.MODIFIED, {**POD, **changed}, POD, 1)) is expected
    assert matters(Change(ChangeType.MODIFIED, POD, {**POD, **changed}, 1)) is expected


def _of(kind: str, **status: Any) -> dict[str, Any]:
    return {"kind": kind, "metadata": {"name": "x", "annotations": {"a": "b"}}, "spec": {}, "status": status}


READY = [{"type": "Ready", "status": "True"}]
OTHER = [*READY, {"type": "ValidationSucceeded", "status": "True"}]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (_of("NodePool", resources={"cpu": "1"}), _of("NodePool", resources={"cpu": "2"}), False),
        (_of("NodePool", conditions=READY), _of("NodePool", conditions=OTHER), False),
        (_of("NodePool", conditions=[]), _of("NodePool", conditions=READY), True),
        (_of("AKSNodeClass", conditions=[]), _of("AKSNodeClass", conditions=READY), True),
        (_of("AKSNodeClass", localDNSState="Enabled"), _of("AKSNodeClass", localDNSState="Disabled"), True),
        (_of("AKSNodeClass", kubernetesVersion="1.34.0"), _of("AKSNodeClass", kubernetesVersion="1.35.0"), False),
        ({**_of("NodePool"), "metadata": {"name": "x"}}, _of("NodePool"), True),
        ({**_of("NodeClaim"), "metadata": {"name": "x"}}, _of("NodeClaim"), False),
        (_of("NodeClaim", providerID="azure:///a"), _of("NodeClaim", providerID="azure:///b"), True),
        (_of("NodeClaim", capacity={"cpu": "1"}), _of("NodeClaim", capacity={"cpu": "2"}), True),
        (_of("NodeClaim", imageID="a"), _of("NodeClaim", imageID="b"), False),
        (_of("PersistentVolumeClaim", phase="Pending"), _of("PersistentVolumeClaim", phase="Bound"), True),
        ({**_of("PersistentVolumeClaim"), "metadata": {"name": "x"}}, _of("PersistentVolumeClaim"), False),
        (_of("PodDisruptionBudget", disruptionsAllowed=1), _of("PodDisruptionBudget", disruptionsAllowed=0), True),
    ],
)
def test_what_is_read_of_the_status_of_other_kinds(old: dict[str, Any], new: dict[str, Any], expected: bool) -> None:
    assert matters(Change(ChangeType.MODIFIED, new, old, 1)) is expected
    assert matters(Change(ChangeType.MODIFIED, old, new, 1)) is expected
