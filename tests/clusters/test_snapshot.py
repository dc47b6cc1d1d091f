"""What two worlds came to, compared: names that are drawn do not count, everything else does."""

from __future__ import annotations

import json
from typing import Any

from harness.engine.ports import Identity
from harness.world import World
from harness.world.snapshot import differences, snapshot
from tests.clusters.test_worlds import NODECLASS, NODEPOOL, pod


def pool(name: str, **labels: str) -> dict[str, Any]:
    template = {**NODEPOOL["spec"]["template"], "metadata": {"labels": labels}}
    return {**NODEPOOL, "metadata": {"name": name}, "spec": {**NODEPOOL["spec"], "template": template}}


def walked(*objects: dict[str, Any], seed: int = 0) -> dict[str, Any]:
    world = World(seed=seed, azure={"prices": "static"})  # what the price list leaves to chance counts
    wanting = {"one": "a", "two": "b", "three": "b"}
    pods = [pod(name) for name in wanting]
    for each, wanted in zip(pods, wanting.values(), strict=True):
        each["spec"]["nodeSelector"] = {"karpenter.sh/nodepool": wanted}
        each["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "3"
    assert world.apply(NODECLASS, *objects, *pods) == []
    assert world.settle(allow_rejections=True).quiescent
    assert len(world.list("Node")) >= 2
    return snapshot(world)


def test_drawn_names_do_not_count() -> None:
    one, other = walked(pool("a"), pool("b")), walked(pool("a"), pool("b"), seed=7)
    assert list(differences(one, other)) == []
    assert {*one["Node"]} >= {"Node 1 of a", "Node 1 of b"}


def test_what_is_different_is_told_with_its_place() -> None:
    one, other = walked(pool("a", team="x"), pool("b")), walked(pool("a", team="y"), pool("b"))
    assert ("Node[Node 1 of a][labels][team]", "x", "y") in list(differences(one, other))


def test_the_order_of_fields_does_not_count() -> None:
    """An API server hands fields out in another order than they came."""
    bound = {"key": "karpenter.azure.com/sku-family", "operator": "Exists", "minValues": 1}
    world = World()
    template = {"spec": {**NODEPOOL["spec"]["template"]["spec"], "requirements": [bound]}}
    world.apply(NODECLASS, {**NODEPOOL, "spec": {"template": template}}, pod())
    world.settle(allow_rejections=True)
    (claim,) = world.list("NodeClaim")
    wanted = snapshot(world)["NodeClaim"]["NodeClaim 1 of default"]["requirements"]
    turned = [dict(reversed(each.items())) for each in claim["spec"]["requirements"]]
    assert wanted == sorted(json.dumps(each, sort_keys=True) for each in turned)
    assert any('"minValues"' in each for each in wanted)


def test_which_of_several_nodes_has_a_zone_does_not_count_but_the_zones_do() -> None:
    one = walked(pool("a"), pool("b"))
    zones = one["zones"][1]
    assert len(zones) == len(one["Node"])
    assert all(zone.startswith("eastus-") for zone in zones)
    assert one["Node"]["Node 1 of a"]["labels"]["topology.kubernetes.io/zone"] == "its zone"


def test_which_zone_is_left_where_others_are_gone_does_not_count() -> None:
    """Which of equal replicas go first is chance on a real server: `held` shrinks from three machines in three zones to one."""

    def shrunk(seed: int) -> dict[str, Any]:
        world = World(seed=seed, options={"feature_gates": {"StaticCapacity": "true"}})
        held = {**NODEPOOL, "spec": {**NODEPOOL["spec"], "replicas": 3}}
        assert world.apply(NODECLASS, held) == []
        world.settle()
        zones = {node["metadata"]["labels"]["topology.kubernetes.io/zone"] for node in world.list("Node")}
        assert len(zones) > 1
        world.apply({**held, "spec": {**held["spec"], "replicas": 1}})
        world.settle()
        (node,) = world.list("Node")
        left.add(node["metadata"]["labels"]["topology.kubernetes.io/zone"])
        return snapshot(world)

    left: set[str] = set()
    found = [shrunk(seed) for seed in range(4)]
    assert len(left) > 1
    assert all(list(differences(found[0], other)) == [] for other in found[1:])


def test_names_of_claims_that_are_gone_do_not_count() -> None:
    def short(seed: int) -> dict[str, Any]:
        world = World(seed=seed, azure={"capacity": [{"vms": 0, "error": "SkuNotAvailable", "at": "start"}]})
        template = {"spec": {**NODEPOOL["spec"]["template"]["spec"], "requirements": [size]}}
        world.apply(NODECLASS, {**NODEPOOL, "spec": {"template": template}}, pod())
        world.settle(allow_rejections=True)
        assert world.list("NodeClaim") == []
        return snapshot(world)

    size = {"key": "node.kubernetes.io/instance-type", "operator": "In", "values": ["Standard_D2s_v5"]}
    one = short(0)
    assert any(text.startswith("NodeClaim/NodeClaim 1 of those that are gone: launch: ") for text in one["rejections"])
    other = short(7)
    first, second = ([text.partition(": ")[0] for text in each["rejections"]] for each in (one, other))
    assert {*first} == {*second}


def test_of_the_processor_a_kubelet_on_another_host_is_believed_its_first_word_alone() -> None:
    """A real kubelet writes the host's architecture over the machine's (kubernetes pkg/kubelet/kubelet_node_status.go)."""
    arch = "kubernetes.io/arch"
    world = World()
    world.apply(NODECLASS, NODEPOOL, pod())
    world.settle(allow_rejections=True)
    before = {kept: snapshot(world, capacity=kept) for kept in (True, False)}
    (node,) = world.list("Node")
    other = "arm64" if node["metadata"]["labels"][arch] == "amd64" else "amd64"
    kubelet = world.cluster.writer(Identity.node(node["metadata"]["name"]))
    kubelet.patch("Node", node["metadata"]["name"], {"metadata": {"labels": {arch: other}}})
    assert list(differences(before[False], snapshot(world, capacity=False))) == []
    assert {place for place, *_ in differences(before[True], snapshot(world))} == {
        f"Node[Node 1 of default][labels][{arch}]",
        f"Node[Node 1 of default][writes][{arch}]",
    }
    assert arch in snapshot(world, capacity=False)["Node"]["Node 1 of default"]["writes"]
