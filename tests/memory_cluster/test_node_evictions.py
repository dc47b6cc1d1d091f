"""Nodes that are not ready are tainted one after the other, and not at all while too few are ready.

Source: kubernetes pkg/controller/nodelifecycle/node_lifecycle_controller.go (ComputeZoneState, handleDisruption,
doNoExecuteTaintingPass); the table of states is that of its tests (TestMonitorNodeHealthEvictPodsWithDisruption).
"""

from __future__ import annotations

from collections.abc import Mapping
from struct import pack, unpack
from typing import Any, cast

import pytest

from harness.clusters.memory.cluster import MemoryCluster
from harness.clusters.memory.controllers.node_evictions import NodeEvictions
from harness.engine.clock import Clock
from harness.engine.engine import Engine, ReconcileError
from harness.engine.ids import Ids
from harness.engine.ports import Writer
from harness.engine.rng import Rng
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.objects import name_of
from harness.kube.zone_states import ZoneState, eviction_rate, zone_key, zone_state
from harness.testing import node
from harness.world.recorder import Recorder
from tests.memory_cluster.conftest import Cluster, memory_cluster

ZONE = "topology.kubernetes.io/zone"
UNREACHABLE, NOT_READY = "unreachable", "not-ready"


def grow(cluster: Cluster, zone: str, *names: str, labels: Mapping[str, str] | None = None) -> None:
    for name in names:
        made = node(name)
        made["metadata"]["labels"] = {**made["metadata"].get("labels", {}), ZONE: zone, **(labels or {})}
        made["status"] = {**made.get("status", {}), "conditions": [{"type": "Ready", "status": "True"}]}
        cluster.admin.create(made)
    cluster.settle()


@pytest.fixture(params=range(4))
def cluster(request: pytest.FixtureRequest) -> Cluster:
    """Return a cluster of one of several seeds: they draw which Node goes first."""
    return memory_cluster(seed=request.param)


def become(cluster: Cluster, ready: str, *names: str) -> None:
    """Report this of Nodes at one moment, without letting time pass."""
    for name in names:
        conditions = [{"type": "Ready", "status": ready}]
        cluster.admin.patch(
            "Node", name, {"status": {"conditions": conditions}}, type="strategic", subresource="status"
        )
    cluster.advance(0)


def driven(cluster: Cluster) -> dict[str, str]:
    """Return the key of the taint that drives pods out, by Node."""
    taints = [
        (name_of(present), taint["key"].rpartition("/")[2])
        for present in cluster.view.list("Node")
        for taint in present["spec"].get("taints") or ()
        if taint["effect"] == "NoExecute"
    ]
    assert len(taints) == len(dict(taints))
    return dict(taints)


@pytest.mark.parametrize(
    ("ready", "not_ready", "state"),
    [
        (1, 0, ZoneState.NORMAL),
        (0, 1, ZoneState.FULL_DISRUPTION),
        (0, 6, ZoneState.FULL_DISRUPTION),
        (1, 2, ZoneState.NORMAL),
        (2, 3, ZoneState.PARTIAL_DISRUPTION),
        (3, 3, ZoneState.NORMAL),
        (9, 11, ZoneState.PARTIAL_DISRUPTION),
        (10, 10, ZoneState.NORMAL),
        (45, 55, ZoneState.PARTIAL_DISRUPTION),
        (46, 54, ZoneState.NORMAL),
        (81, 99, ZoneState.PARTIAL_DISRUPTION),
        (90, 110, ZoneState.PARTIAL_DISRUPTION),
        (91, 109, ZoneState.NORMAL),
    ],
)
def test_the_state_of_a_zone(ready: int, not_ready: int, state: ZoneState) -> None:
    assert zone_state(ready, not_ready) is state


def test_the_share_of_a_zone_is_that_of_upstreams_float32() -> None:
    """ComputeZoneState divides numbers of float32; the quotient of two of them is rounded alike by way of float64."""

    def single(number: float) -> float:
        return float(unpack("f", pack("f", number))[0])

    for nodes in range(4, 2001):
        near = int(nodes * 0.55)
        for not_ready in range(max(3, near - 2), min(nodes, near + 3)):
            partial = single(single(not_ready) / single(nodes)) >= single(0.55)
            assert (zone_state(nodes - not_ready, not_ready) is ZoneState.PARTIAL_DISRUPTION) == partial


@pytest.mark.parametrize(
    ("state", "nodes", "rate"),
    [
        (ZoneState.NORMAL, 3, 0.1),
        (ZoneState.FULL_DISRUPTION, 300, 0.1),
        (ZoneState.PARTIAL_DISRUPTION, 50, 0.0),
        (ZoneState.PARTIAL_DISRUPTION, 51, 0.01),
    ],
)
def test_the_rate_of_a_zone(state: ZoneState, nodes: int, rate: float) -> None:
    assert eviction_rate(state, nodes) == rate


def test_the_beta_labels_of_a_zone_go_first() -> None:
    labels = {ZONE: "eastus-1", "topology.kubernetes.io/region": "eastus"}
    assert zone_key({}) == ("", "")
    assert zone_key(labels) == ("eastus", "eastus-1")
    assert zone_key({**labels, "failure-domain.beta.kubernetes.io/zone": "2"}) == ("eastus", "2")


def test_one_node_of_a_zone_is_tainted_in_ten_seconds(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b", "c", "d", "e")
    become(cluster, "Unknown", "a", "b")
    (first,) = driven(cluster)
    cluster.advance(9)
    assert driven(cluster) == {first: UNREACHABLE}
    cluster.advance(1)
    assert driven(cluster) == {"a": UNREACHABLE, "b": UNREACHABLE}


def test_the_seed_draws_which_node_goes_first() -> None:
    firsts = set()
    for seed in range(20):
        clusters = [memory_cluster(seed=seed) for _ in range(2)]
        for cluster in clusters:
            grow(cluster, "1", "a", "b", "c", "d", "e", "f", "g")
            become(cluster, "Unknown", "a", "b", "c")
            cluster.advance(10)
        assert list(driven(clusters[0])) == list(driven(clusters[1]))
        firsts |= driven(clusters[0]).keys()
    assert firsts == {"a", "b", "c"}


def test_each_zone_has_its_own_pace(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b")
    grow(cluster, "2", "c", "d")
    become(cluster, "Unknown", "a", "c")
    assert driven(cluster) == {"a": UNREACHABLE, "c": UNREACHABLE}


def test_a_turn_that_was_not_used_is_not_saved(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b", "c", "d", "e")
    cluster.advance(3600)
    become(cluster, "Unknown", "a", "b")
    assert len(driven(cluster)) == 1


def test_a_node_that_comes_back_loses_its_taint_at_once_and_its_turn(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b", "c", "d", "e")
    become(cluster, "Unknown", "a", "b")
    become(cluster, "True", "a", "b")
    assert driven(cluster) == {}
    cluster.advance(60)
    assert driven(cluster) == {}


def test_a_taint_becomes_another_at_once(cluster: Cluster) -> None:
    """SwapNodeControllerTaint, without waiting for a turn."""
    grow(cluster, "1", "a", "b", "c", "d", "e")
    become(cluster, "False", "a", "b")
    become(cluster, "Unknown", "a", "b")
    (first,) = driven(cluster)
    assert driven(cluster) == {first: UNREACHABLE}
    become(cluster, "False", first)
    assert driven(cluster) == {first: NOT_READY}


def test_a_taint_that_somebody_takes_off_comes_back_in_its_turn(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b", "c")
    become(cluster, "Unknown", "a")
    cluster.admin.patch("Node", "a", {"spec": {"taints": None}})
    cluster.advance(9)
    assert driven(cluster) == {}
    cluster.advance(1)
    assert driven(cluster) == {"a": UNREACHABLE}


def test_most_nodes_of_a_small_zone_are_left_alone(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b", "c", "d")
    grow(cluster, "2", "e")
    become(cluster, "Unknown", "a", "b", "c")
    cluster.advance(3600)
    assert driven(cluster) == {}
    become(cluster, "True", "a")
    assert driven(cluster) == {}
    cluster.advance(10)  # as long as after a turn: the zone had none
    assert list(driven(cluster).items()) in ([("b", UNREACHABLE)], [("c", UNREACHABLE)])


def test_most_nodes_of_a_large_zone_are_tainted_at_a_tenth_of_the_pace(cluster: Cluster) -> None:
    grow(cluster, "1", *(f"n{number}" for number in range(51)))
    become(cluster, "Unknown", *(f"n{number}" for number in range(40)))
    assert len(driven(cluster)) == 1
    cluster.advance(99)
    assert len(driven(cluster)) == 1
    cluster.advance(1)
    assert len(driven(cluster)) == 2


def test_a_zone_without_any_ready_node_is_emptied_while_another_has_one(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b", "c", "d")
    grow(cluster, "2", "e")
    become(cluster, "Unknown", "a", "b", "c", "d")
    cluster.settle()
    assert len(driven(cluster)) == 4


def test_while_no_node_is_ready_none_is_tainted(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b")
    grow(cluster, "2", "c")
    become(cluster, "Unknown", "a")
    assert driven(cluster) == {"a": UNREACHABLE}
    become(cluster, "Unknown", "b", "c")
    assert driven(cluster) == {}
    cluster.advance(3600)
    assert driven(cluster) == {}


def test_pods_are_driven_out_again_once_a_node_is_ready(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b", "c")
    become(cluster, "Unknown", "a", "b", "c")
    become(cluster, "True", "c")
    cluster.advance(9)
    assert driven(cluster) == {}
    cluster.advance(1)
    assert len(driven(cluster)) == 1
    cluster.advance(10)
    assert driven(cluster) == {"a": UNREACHABLE, "b": UNREACHABLE}


def test_an_excluded_node_counts_for_no_zone_and_is_tainted(cluster: Cluster) -> None:
    grow(cluster, "1", "a")
    grow(cluster, "1", "out", labels={"node.kubernetes.io/exclude-disruption": ""})
    become(cluster, "Unknown", "out")
    assert driven(cluster) == {"out": UNREACHABLE}
    become(cluster, "Unknown", "a")
    assert driven(cluster) == {}
    become(cluster, "True", "out")
    become(cluster, "Unknown", "out")
    cluster.advance(60)
    assert driven(cluster) == {}


def test_a_node_that_goes_while_it_waits_uses_up_its_turn(cluster: Cluster) -> None:
    grow(cluster, "1", "a", "b", "c", "d", "e", "f")
    become(cluster, "Unknown", "a", "b", "c")
    (first,) = driven(cluster)
    gone, last = sorted({"a", "b", "c"} - {first})
    cluster.admin.delete("Node", gone)
    cluster.advance(10)
    assert driven(cluster) == {first: UNREACHABLE}
    cluster.advance(10)
    assert driven(cluster) == {first: UNREACHABLE, last: UNREACHABLE}


def test_a_node_that_gets_its_zone_while_it_waits_has_a_turn_there(cluster: Cluster) -> None:
    """As cloud-node-manager lets every Node have one; its place in the old queue is used up without effect."""
    grow(cluster, "", "a", "b", "c", "d", "e", "f")
    grow(cluster, "1", "g")
    become(cluster, "Unknown", "a", "b", "c")
    (first,) = driven(cluster)
    moved, last = sorted({"a", "b", "c"} - {first})
    cluster.admin.patch("Node", moved, {"metadata": {"labels": {ZONE: "1"}}})
    cluster.advance(0)
    assert driven(cluster) == {first: UNREACHABLE, moved: UNREACHABLE}
    cluster.advance(10)
    assert driven(cluster) == {first: UNREACHABLE, moved: UNREACHABLE}
    cluster.advance(10)
    assert driven(cluster) == {first: UNREACHABLE, moved: UNREACHABLE, last: UNREACHABLE}


def test_a_turn_in_a_zone_that_all_have_left_is_used(cluster: Cluster) -> None:
    """The queue of a zone outlives its Nodes: in the new zone most Nodes are not ready, so that none of it has a turn."""
    grow(cluster, "", "a", "b")
    grow(cluster, "1", "m", "n", "o", "p")
    grow(cluster, "2", "ready")
    become(cluster, "Unknown", "m", "n", "o")
    become(cluster, "Unknown", "a", "b")
    (waiting,) = {"a", "b"} - driven(cluster).keys()
    for name in ("a", "b"):
        cluster.admin.patch("Node", name, {"metadata": {"labels": {ZONE: "1"}}})
    cluster.advance(9)
    assert waiting not in driven(cluster)
    cluster.advance(1)
    assert waiting in driven(cluster)


def test_a_node_whose_write_fails_is_looked_at_again() -> None:
    cluster = memory_cluster()
    grow(cluster, "1", "a", "b", "c", "d", "e")

    class Failing:
        """A writer whose first patch fails."""

        failed = False

        def patch(self, *args: Any, **options: Any) -> object:
            if not self.failed:
                self.failed = True
                raise ReconcileError("busy")
            return cluster.admin.patch(*args, **options)

    become(cluster, "Unknown", "a")
    evictions = NodeEvictions(cluster.view, cast("Writer", Failing()), cluster.engine.clock, Rng(0))
    for name in "abcde":
        cluster.admin.patch(
            "Node", name, {"spec": {"taints": [{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}}
        )
    with pytest.raises(ReconcileError):
        evictions.reconcile("pass")
    evictions.reconcile("pass")
    assert driven(cluster) == {"a": UNREACHABLE}


def test_nodes_that_were_there_before_count() -> None:
    """A cluster that is taken over has Nodes of which no watch has told."""
    rng, engine = Rng(0), Engine(Clock())
    memory = MemoryCluster(engine, rng, Ids(rng), Recorder(engine.clock), crds=crd_set("1.14.0"), kubernetes="1.35.0")
    before = memory_cluster()
    grow(before, "1", "a", "b", "c")
    memory.provide(before.view.list("Node"))
    cluster = Cluster(memory.view, memory.writer, engine.settle, engine.advance, True, engine, Recorder(engine.clock))
    become(cluster, "Unknown", "a")
    assert driven(cluster) == {"a": UNREACHABLE}
