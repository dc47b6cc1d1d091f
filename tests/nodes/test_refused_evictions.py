"""What the eviction queue does when the API server refuses an eviction."""

from __future__ import annotations

from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.clock import Clock
from harness.engine.engine import DONE, ReconcileError, Result
from harness.karpenter.lifecycle.nodes.drain import Evictions
from harness.karpenter.releases.core_release import CoreRelease
from harness.kube.api.status import ApiError

POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default", "uid": "u"},
    "spec": {"nodeName": "n"},
    "status": {"phase": "Running"},
}
SEVERAL = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def evict(error: ApiError) -> tuple[Evictions, Result]:
    view, writer = MagicMock(), MagicMock()
    view.get.side_effect = lambda kind, *_: POD if kind == "Pod" else None
    writer.evict.side_effect = error
    queue = Evictions(MagicMock(clock=Clock()), view, writer, MagicMock(), CoreRelease(version="1.14.0"))
    queue.add([POD])
    return queue, queue.reconcile(("default", "p", "u"))


@pytest.mark.parametrize("error", [ApiError(404, "NotFound", "gone"), ApiError(409, "Conflict", "another uid")])
def test_a_pod_that_is_gone_leaves_the_queue_without_counting_as_evicted(error: ApiError) -> None:
    queue, result = evict(error)
    assert (result, queue.left, sum(queue.drained.values())) == (DONE, 1, 0)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ApiError(429, "TooManyRequests", "budget"), "evicting pod violates a PDB"),
        (ApiError(500, "InternalError", SEVERAL), "eviction does not support multiple PDBs"),
        (ApiError(500, "InternalError", "etcd is away"), "etcd is away"),
    ],
)
def test_a_refused_eviction_is_tried_again_and_says_why(error: ApiError, said: str) -> None:
    with pytest.raises(ReconcileError, match=said):
        evict(error)
