"""Which changes of a NodeClaim or a Node make its NodePool count its machines again (core pkg/controllers/nodepool/counter)."""

from typing import Any

import pytest

from harness.engine.ports import Change, ChangeType
from harness.karpenter.lifecycle.nodepools.status import _counts_differently

BARE = {"metadata": {"name": "n"}, "spec": {}, "status": {"capacity": {"cpu": "8"}}}


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ({}, False),
        ({"spec": {"providerID": "azure:///n"}}, True),
        ({"spec": {"unschedulable": True}}, False),
        ({"status": {"capacity": {"cpu": "9"}}}, True),
        ({"status": {"capacity": {"cpu": "8"}, "phase": "Running"}}, False),
        ({"status": {"capacity": {"cpu": "8"}, "providerID": "azure:///n"}}, True),
        ({"metadata": {"name": "n", "labels": {"karpenter.sh/nodepool": "other"}}}, True),
        ({"metadata": {"name": "n", "labels": {"team": "other"}}}, False),
        ({"metadata": {"name": "n", "deletionTimestamp": "2026-01-01T00:00:00Z"}}, True),
    ],
)
@pytest.mark.parametrize("kind", ["Node", "NodeClaim"])
def test_what_a_nodepool_counts_changes(kind: str, changed: dict[str, Any], counts: bool) -> None:
    old = {"kind": kind, **BARE}
    assert _counts_differently(Change(ChangeType.MODIFIED, {**old, **changed}, old, 2)) is counts


def test_a_machine_that_comes_or_goes_is_counted() -> None:
    obj = {"kind": "Node", **BARE}
    assert _counts_differently(Change(ChangeType.ADDED, obj, None, 1))
    assert _counts_differently(Change(ChangeType.DELETED, obj, obj, 2))
