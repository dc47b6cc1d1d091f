"""The cloud-node-manager between a Node's first sight and its initialisation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.clock import SECOND
from harness.engine.engine import DONE, ReconcileError, Result
from harness.engine.ports import ADMIN
from harness.kube.api.objects import name_of
from harness.kube.api.status import ApiError
from harness.nodes.cloud_node_manager import UNINITIALIZED, CloudNodeManager
from harness.nodes.registry import Machines
from harness.nodes.timing import Timing
from harness.testing import node as own_node
from harness.testing import nodeclass, nodepool, pod
from harness.world import World
from tests.corridor.conftest import SMALL
from tests.nodes.test_boot import machine


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


def one_node(*taints: dict[str, str], known: bool = True, delay: float = 30.0) -> tuple[CloudNodeManager, Any]:
    """A manager of one Node, to whom every write is refused, and its clock."""
    found, clock, machines = own_node("aks-default-6vl6h"), SimpleNamespace(now=0), Machines()
    found = {**found, "spec": {"taints": list(taints)}}
    if known:
        machines.register(machine())
    view: Any = SimpleNamespace(get=lambda kind, name: found if name == name_of(found) else None)
    refusing: Any = Refusing(409)
    return CloudNodeManager(view, refusing, World().recorder, machines, clock, lambda: delay), clock  # type: ignore[arg-type]


WAITING = {"key": UNINITIALIZED, "value": "true", "effect": "NoSchedule"}


def test_a_node_is_initialised_a_while_after_its_first_sight() -> None:
    manager, clock = one_node(WAITING)
    assert manager.reconcile("aks-default-6vl6h") == Result(30.0)
    clock.now = 20 * SECOND
    assert manager.reconcile("aks-default-6vl6h") == Result(10.0)
    clock.now = 30 * SECOND
    with pytest.raises(ReconcileError):
        manager.reconcile("aks-default-6vl6h")


@pytest.mark.parametrize(
    ("name", "taints", "known"),
    [
        ("another", [WAITING], True),
        ("aks-default-6vl6h", [WAITING], False),  # a Node of the user's own
        ("aks-default-6vl6h", [], True),
    ],
)
def test_nothing_is_done_about_what_does_not_wait(name: str, taints: list[dict[str, str]], known: bool) -> None:
    manager, _ = one_node(*taints, known=known, delay=0.0)
    assert manager.reconcile(name) is DONE


def test_a_node_that_comes_again_waits_as_long_as_the_first_time() -> None:
    world = World(timing=Timing(cloud_node_manager=30.0))
    world.apply(nodeclass(), nodepool(SMALL), pod("p1"))
    world.settle()
    (node,) = world.list("Node")

    def waits() -> bool:
        (found,) = world.list("Node")
        return any(each["key"] == UNINITIALIZED for each in found["spec"].get("taints") or ())

    admin = world.cluster.writer(ADMIN)
    for _ in range(2):
        assert not waits()
        admin.patch("Node", name_of(node), {"spec": {"taints": [WAITING]}})
        world.advance(29)
        assert waits()
        world.advance(1)
    assert not waits()
