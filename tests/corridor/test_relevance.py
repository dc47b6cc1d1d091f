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
