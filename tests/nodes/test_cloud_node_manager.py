"""The cloud-node-manager between a Node's first sight and its initialisation."""

from __future__ import annotations

from typing import Any

import pytest

from harness.engine.engine import DONE, ReconcileError
from harness.engine.ports import ADMIN
from harness.kube.api.objects import name_of
from harness.kube.api.status import ApiError
from harness.nodes.cloud_node_manager import UNINITIALIZED, CloudNodeManager
from harness.testing import nodeclass, nodepool, pod
from harness.world import World
from tests.corridor.conftest import SMALL


class Refusing:
    """A writer to whom everything is refused."""

    def __init__(self, code: int) -> None:
        self._code = code

    def update(self, obj: Any) -> None:
        raise ApiError(self._code, "", "no")


@pytest.mark.parametrize("code", [404, 409])
def test_a_node_that_is_gone_meanwhile_is_no_failure(code: int) -> None:
    world = World()
    world.apply(nodeclass(), nodepool(SMALL), pod("p1"))
    world.settle()
    (node,) = world.list("Node")
    taint = {"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"}
    world.cluster.writer(ADMIN).patch("Node", name_of(node), {"spec": {"taints": [taint]}})
    manager = CloudNodeManager(
        world.cluster.view, Refusing(code), world.recorder, world.machines, world.clock, lambda: 0.0
    )  # type: ignore[arg-type]
    if code == 404:
        assert manager.reconcile(name_of(node)) is DONE
    else:
        with pytest.raises(ReconcileError, match="no"):
            manager.reconcile(name_of(node))
