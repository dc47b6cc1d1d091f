"""What controllers of NodeClaims and Nodes do when the API server refuses a write."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock, patch

import pytest

from harness.engine.clock import SECOND, Clock, parse
from harness.engine.engine import DONE, ReconcileError, Result
from harness.karpenter.lifecycle.nodeclaims.expiration import Expiration, expires_in
from harness.karpenter.lifecycle.nodes.repair import NodeRepair
from harness.karpenter.lifecycle.refusals import after_refusal
from harness.karpenter.releases import provider
from harness.kube.api.status import ApiError

GONE = ApiError(404, "NotFound", "not there")
CONFLICT = ApiError(409, "Conflict", "the object has been modified")
BROKEN = ApiError(500, "InternalError", "etcd is away")


def expiring(**metadata: Any) -> dict[str, Any]:
    """A NodeClaim that expires after a minute."""
    ref = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "a", "uid": "u", **metadata},
        "spec": {"nodeClassRef": ref, "expireAfter": "1m"},
    }


@pytest.mark.parametrize(("error", "follows"), [(GONE, DONE), (CONFLICT, Result(0.0))])
def test_a_refused_write_is_over_when_the_object_is_gone_and_tried_again_at_once_after_a_conflict(
    error: ApiError, follows: Result
) -> None:
    assert after_refusal(error) == follows


def test_any_other_refused_write_is_an_error() -> None:
    with pytest.raises(ReconcileError, match="etcd is away"):
        after_refusal(BROKEN)


def expire(error: ApiError) -> tuple[Result, MagicMock]:
    view, writer, sink = MagicMock(), MagicMock(), MagicMock()
    view.get.return_value = expiring()
    writer.delete.side_effect = error
    return Expiration(view, writer, sink, Clock()).reconcile("a"), sink


@pytest.mark.parametrize("error", [GONE, CONFLICT])
def test_an_expired_nodeclaim_that_another_has_deleted_is_left_alone_and_not_reported(error: ApiError) -> None:
    result, sink = expire(error)
    assert result == DONE
    assert not sink.disrupted.called


def test_an_expired_nodeclaim_that_cannot_be_deleted_is_an_error() -> None:
    with pytest.raises(ReconcileError, match="etcd is away"):
        expire(BROKEN)


def test_an_expired_nodeclaim_without_a_node_is_reported_with_no_pods() -> None:
    view, sink = MagicMock(), MagicMock()
    view.get.return_value = expiring()
    Expiration(view, MagicMock(), sink, Clock()).reconcile("a")
    (gone,) = sink.disrupted.call_args.args[0].nodes
    assert (gone.node, gone.pods) == ("", 0)


@pytest.mark.parametrize(("metadata", "left"), [({}, 0), ({"creationTimestamp": "2026-01-01T00:00:00Z"}, 60 * SECOND)])
def test_a_nodeclaim_expires_so_long_after_its_creation(metadata: dict[str, Any], left: int) -> None:
    created = metadata.get("creationTimestamp")
    assert expires_in(expiring(**metadata), parse(created) if created else 0) == left


def repair(error: ApiError) -> Result:
    """The repair of a Node whose NodeClaim cannot be deleted."""
    module = "harness.karpenter.lifecycle.nodes.repair"
    view, writer = MagicMock(), MagicMock()
    view.get.return_value = {"metadata": {"name": "n"}}
    for each in (writer.delete, writer.patch, writer.update):
        each.side_effect = error
    with (
        patch(f"{module}.claim_of", return_value=expiring()),
        patch(f"{module}.repair_of", return_value=MagicMock(held="", again=None)),
    ):
        return NodeRepair(view, writer, MagicMock(), Clock(), provider("1.14.0")).reconcile("n")


@pytest.mark.parametrize("error", [GONE, CONFLICT])
def test_an_unhealthy_node_whose_nodeclaim_another_has_changed_is_left_alone(error: ApiError) -> None:
    assert repair(error) == DONE


def test_an_unhealthy_node_whose_nodeclaim_cannot_be_deleted_is_an_error() -> None:
    with pytest.raises(ReconcileError, match="etcd is away"):
        repair(BROKEN)
