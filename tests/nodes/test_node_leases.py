"""Heartbeats for clusters that listen to them."""

from __future__ import annotations

from itertools import pairwise

from harness.engine.clock import SECOND
from harness.engine.ports import ADMIN
from harness.kube.api.objects import Key
from harness.nodes.node_leases import NodeLeases
from harness.testing import nodeclass, nodepool, pod
from harness.world import World
from tests.corridor.conftest import SMALL


def test_each_node_of_a_machine_renews_its_lease_as_long_as_the_machine_runs() -> None:
    world = World()
    world.engine.add_controllers(NodeLeases(world.engine, world.cluster.view, world.cluster.writer, world.machines))
    world.apply(nodeclass(), nodepool(SMALL), pod("p1"))
    world.apply({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "of-somebody-else"}})
    world.settle()
    (node,) = (
        each["metadata"]["name"] for each in world.list("Node") if each["metadata"]["name"] != "of-somebody-else"
    )
    first = world.get("Lease", node, "kube-node-lease")
    assert first is not None
    assert first["spec"]["holderIdentity"] == node
    assert first["metadata"]["ownerReferences"][0]["name"] == node
    world.advance(30)
    later = world.get("Lease", node, "kube-node-lease")
    assert later is not None
    assert later["spec"]["renewTime"] > first["spec"]["renewTime"]
    assert [each["metadata"]["name"] for each in world.list("Lease", namespace="kube-node-lease")] == [node]
    written = [
        entry.at for entry in world.journal.entries_about(Key("Lease", "kube-node-lease", node)) if entry.error is None
    ]
    assert {after - before for before, after in pairwise(written)} == {10 * SECOND}
    world.cluster.writer(ADMIN).delete("NodeClaim", world.list("NodeClaim")[0]["metadata"]["name"])
    world.delete("Pod", "p1")
    world.advance(120)
    last = world.get("Lease", node, "kube-node-lease")
    world.advance(60)
    assert world.get("Lease", node, "kube-node-lease") == last
