"""A pod that taint eviction deletes because it has not heard that the taint is gone is made again; others are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.clusters.http.cluster import HttpCluster
from harness.clusters.remote.attaching import attach
from harness.clusters.remote.evictions import make_again
from harness.engine.clock import Clock
from harness.engine.ports import ADMIN, CONTROLLER_MANAGER
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.objects import Object
from harness.world import World
from harness.world.recorder import Recorder
from tests.clusters.subject import Subject
from tests.clusters.test_worlds import NODECLASS, NODEPOOL, pod

DRIVEN_OUT = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "DeletionByTaintManager",
    "message": "Taint manager: deleting due to NoExecute taint",
}
TAINT = {"key": "maintenance", "effect": "NoExecute"}


@pytest.fixture
def remote() -> Iterator[HttpCluster]:
    with HttpCluster(Recorder(Clock()), crds=crd_set("1.14.0"), kubernetes="1.36.3") as cluster:
        yield cluster


def delete_as_the_controller_does(remote: HttpCluster, found: Object, *, told: bool = True) -> None:
    """As addConditionAndDeletePod does, behind the world's back."""
    writer = remote.writer(CONTROLLER_MANAGER)
    name = found["metadata"]["name"]
    if told:
        conditions = [*found["status"]["conditions"], DRIVEN_OUT]
        writer.patch("Pod", name, {"status": {"conditions": conditions}}, namespace="default", subresource="status")
    writer.delete("Pod", name, namespace="default")


def living(world: World) -> Object:
    found: Object | None = world.get("Pod", "web", "default")
    assert found is not None
    assert found["spec"]["nodeName"]
    return found


@pytest.fixture
def world(remote: HttpCluster) -> World:
    found = World(kubernetes="1.36.3", cluster=attach(remote))
    spread: dict[str, Any] = {
        "maxSkew": 1,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {},
        "matchLabelKeys": ["app"],
    }
    made = pod()
    made["metadata"]["labels"] = {"app": "web"}
    made["spec"]["topologySpreadConstraints"] = [spread]
    assert found.apply(NODECLASS, NODEPOOL, made) == []
    assert found.settle().quiescent
    return found


def test_it_is_made_again_at_once_and_bound_to_its_node(remote: HttpCluster, world: World) -> None:
    before = living(world)
    delete_as_the_controller_does(remote, before)
    clock = world.clock.now
    assert world.settle().quiescent
    after = living(world)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert after["spec"] == before["spec"]
    assert len(world.list("Node")) == len(world.list("NodeClaim")) == 1
    assert world.clock.now == clock


def test_it_stays_away_where_the_taint_is(remote: HttpCluster, world: World) -> None:
    before = living(world)
    patch = {"spec": {"taints": [TAINT]}}
    remote.writer(ADMIN).patch("Node", before["spec"]["nodeName"], patch)
    delete_as_the_controller_does(remote, before)
    world.advance(60)
    assert world.get("Pod", "web", "default") is None


def test_it_stays_away_when_somebody_else_deleted_it(remote: HttpCluster, world: World) -> None:
    delete_as_the_controller_does(remote, living(world), told=False)
    world.advance(60)
    assert world.get("Pod", "web", "default") is None


def test_what_a_server_printed_can_be_made_again(cluster: Subject) -> None:
    made = cluster.admin.create(cluster.pod("p", priorityClassName="system-node-critical"))
    make_again(made, cluster.admin)

    def again() -> Object | None:
        found = cluster.view.get("Pod", "p", cluster.namespace)
        return found if found is not None and found["metadata"]["uid"] != made["metadata"]["uid"] else None

    assert cluster.eventually(again, "the new pod")["spec"] == made["spec"]
