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
