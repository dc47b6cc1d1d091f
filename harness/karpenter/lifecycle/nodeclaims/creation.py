"""Creating a NodeClaim, for pending pods or in the place of another, within the limits of its NodePool.

Source: core pkg/controllers/provisioning/provisioner.go (Create).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.engine.ports import Sink, View, Writer
from harness.karpenter.lifecycle.nodepools.usage import exceeded_limit
from harness.karpenter.releases import CoreRelease
from harness.kube.api.objects import Object, name_of
from harness.kube.api.status import ApiError

__all__ = ["NodeClaimRefused", "create_nodeclaim"]


class NodeClaimRefused(Exception):
    """A NodeClaim could not be created; the message is core's. `rejections` are the API server's, empty where Karpenter itself refuses."""

    def __init__(self, message: str, rejections: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.rejections = rejections


def create_nodeclaim(
    view: View,
    writer: Writer,
    sink: Sink,
    nodepool: str,
    make: Callable[[], Object],
    *,
    controller: str,
    core: CoreRelease,
    deleting: frozenset[str] = frozenset(),
) -> Object:
    """Create the NodeClaim that `make` returns, and return it as it is stored. Raises NodeClaimRefused.

    `deleting` are NodeClaims that do not count as usage any more.
    """
    pool = view.get("NodePool", nodepool)
    if pool is None:
        text = f'NodePool.karpenter.sh "{nodepool}" not found'
        raise NodeClaimRefused(f"getting current resource usage, {text}")
    problem = exceeded_limit(view, pool, core, deleting)
    if problem is not None:
        raise NodeClaimRefused(problem)
    try:
        claim = writer.create(make())
    except ApiError as error:
        raise NodeClaimRefused(error.message, error.cause if isinstance(error.cause, tuple) else ()) from error
    sink.log("info", controller, "created nodeclaim", NodeClaim=name_of(claim), NodePool=nodepool)
    return claim
