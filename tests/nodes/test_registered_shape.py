"""What a Node gets at its registration, which shapes of it are an issue, and how long a batch window is open."""

from __future__ import annotations

from typing import Any

import pytest

from harness.engine.clock import SECOND, Clock
from harness.karpenter.lifecycle.nodeclaims.consistency import shape_issues
from harness.karpenter.lifecycle.nodeclaims.registration import synced_node
from harness.karpenter.provisioning.batcher import Batcher
from harness.karpenter.releases.core_release import CoreRelease

NODE: dict[str, Any] = {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "1"}}}


def claim_on_node(initialized: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "a", "uid": "u", **metadata},
        "spec": {"resources": {"requests": {"cpu": "1"}}},
        "status": {"capacity": {"cpu": "4"}, "conditions": [{"type": "Initialized", "status": initialized}]},
    }


def test_a_registered_node_keeps_its_other_owners_and_has_its_nodeclaim_as_one_once() -> None:
    other = {"apiVersion": "v1", "kind": "Other", "name": "o", "uid": "x"}
    stale = {"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim", "name": "a", "uid": "u"}
    node = {"metadata": {"name": "n", "ownerReferences": [other, stale]}, "spec": {}}
    owners = synced_node(claim_on_node("True"), node, CoreRelease(version="1.14.0"))["metadata"]["ownerReferences"]
    assert owners == [other, {**stale, "blockOwnerDeletion": True}]


@pytest.mark.parametrize(
    ("claim", "issues"),
    [
        (claim_on_node("True"), ["expected 4 of resource cpu, but found 1 (25.0% of expected)"]),
        (claim_on_node("False"), []),
        (claim_on_node("True", deletionTimestamp="2026-01-01T00:00:00Z"), []),
    ],
)
def test_only_an_initialized_nodeclaim_that_stays_has_an_issue_with_its_shape(
    claim: dict[str, Any], issues: list[str]
) -> None:
    assert list(shape_issues(claim, NODE)) == issues


def test_nothing_is_left_of_a_batch_window_that_is_not_open() -> None:
    batcher = Batcher(Clock())
    assert batcher.left() == 0
    batcher.trigger("pod")
    assert batcher.left() == SECOND
    batcher.close()
    assert batcher.left() == 0
