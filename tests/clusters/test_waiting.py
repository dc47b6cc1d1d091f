"""Patience lasts longer on a busy machine, and ends on every machine; what died meanwhile is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import pytest

from harness import testing
from harness.clusters.apiserver.processes import free_ports
from harness.clusters.client.connection import ClusterLost, Connection, Endpoint
from harness.clusters.http.cluster import HttpCluster
from harness.clusters.remote import cluster as remote_cluster
from harness.clusters.remote.attaching import attach
from harness.clusters.remote.cluster import RemoteCluster
from harness.clusters.remote.outstanding import outstanding_work
from harness.clusters.waiting import Patience, TimedOut, crowding, poll
from harness.engine.clock import Clock as VirtualClock
from harness.karpenter.validation.crds import crd_set
from harness.kube.api.versions import Version
from harness.world import World
from harness.world.recorder import Recorder


class Clock:
    """A machine's time and load, moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0
        self.load = 1.0

    def patience(self, seconds: float) -> Patience:
        return Patience(seconds, now=lambda: self.now, crowding=lambda: self.load)


def test_on_an_idle_machine_a_second_is_a_second() -> None:
    clock = Clock()
    patience = clock.patience(10)
    clock.now += 9.5
    assert not patience.passed
    clock.now += 0.5
    assert patience.passed
    assert patience.waited == "10 s"


def test_while_four_tasks_share_a_processor_it_lasts_four_times_as_long() -> None:
    clock = Clock()
    patience = clock.patience(10)
    clock.load = 4.0
    clock.now += 39.0
    assert not patience.passed
    clock.load = 1.0
    clock.now += 0.2
    assert not patience.passed
    clock.now += 0.1
    assert patience.passed


def test_a_machine_is_never_faster_than_idle() -> None:
    assert crowding() >= 1.0


def test_what_never_comes_is_named() -> None:
    with pytest.raises(TimedOut, match=r"waited \d+ s for the moon"):
        poll(lambda: False, lambda: "the moon", seconds=0.0)


def test_a_cluster_that_owes_something_is_looked_at_and_what_died_ends_the_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Dying(HttpCluster):
        def deaths(self) -> str:
            return "kube-scheduler was killed by signal 9; the end of its log:\n    last words"

    monkeypatch.setattr(remote_cluster, "_LOOK_EVERY", 0.0)
    with Dying(Recorder(VirtualClock()), crds=crd_set("1.14.0"), kubernetes="1.36.3") as remote:
        world = World(cluster=attach(remote))
        monkeypatch.setattr(remote_cluster, "outstanding_work", lambda *_, **__: iter(["Pod/default/web: not decided"]))
        world.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}})
        with pytest.raises(
            ClusterLost, match=r"(?s)a part of the http cluster died.kube-scheduler was killed.*last words"
        ):
            world.settle()


def test_a_cluster_that_owes_the_same_while_something_flaps_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kubelet tells of an image that it cannot get again and again: that is no progress of what is waited for."""
    with HttpCluster(Recorder(VirtualClock()), crds=crd_set("1.14.0"), kubernetes="1.36.3") as remote:
        world = World(cluster=attach(remote))
        cluster = world.cluster
        assert isinstance(cluster, RemoteCluster)
        world.settle()
        flaps = cycle([False] * 5 + [True])
        monkeypatch.setattr(cluster, "_seconds", 1.0)
        monkeypatch.setattr(cluster, "_stirred", True)
        monkeypatch.setattr(cluster, "_rested", -1)
        monkeypatch.setattr(cluster.view, "pump", lambda *_: next(flaps))
        monkeypatch.setattr(remote_cluster, "crowding", lambda: 1.0)
        monkeypatch.setattr(remote_cluster, "outstanding_work", lambda *_, **__: iter(["Pod/default/web: not bound"]))

        def flap() -> None:
            for _ in range(100):
                world.engine.steps += 1  # what flaps gives controllers something to do
                cluster.outside()

        with pytest.raises(TimedOut, match=r"did not come to rest in .*Pod/default/web: not bound"):
            flap()


class Hand:
    """A view of objects written by hand."""

    def __init__(self, *objects: Mapping[str, Any]) -> None:
        self.objects = objects

    def list(self, kind: str, **_: object) -> Sequence[Mapping[str, Any]]:
        return [one for one in self.objects if one["kind"] == kind]

    def indexed(self, _: str, node: str) -> Sequence[Mapping[str, Any]]:
        return [one for one in self.list("Pod") if one["spec"].get("nodeName", "") == node]

    def get(self, *_: object) -> None:
        return None


def pod(name: str, cpu: str, node: str = "") -> dict[str, Any]:
    refused = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}
    made = testing.pod(name, cpu, "", **({"nodeName": node} if node else {}))
    made["metadata"]["uid"] = name
    return {**made, "status": {} if node else refused}


def test_pods_that_the_view_leaves_out_take_room_all_the_same() -> None:
    """kindnet's pod on a node of two cores leaves no room for two pods of a core each, and kube-scheduler counts it."""
    room = {"cpu": "2", "memory": "8Gi", "pods": "110"}
    status = {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "uid": "n"}, "spec": {}, "status": status}
    view: Any = Hand(node, pod("web", "1", "n"), pod("fits", "1"))
    version = Version.parse("1.36.3")
    assert list(outstanding_work(view, version)) == ["Pod/fits: fits n and is not bound"]
    assert list(outstanding_work(view, version, beside=lambda name: [pod("kindnet", "100m", name)])) == []


def test_a_death_that_is_noticed_later_than_the_silence_is_told() -> None:
    looks = iter(["", "", "kube-apiserver was killed by signal 9"])
    (port,) = free_ports(1)
    connection = Connection(Endpoint("127.0.0.1", port, diagnose=lambda: next(looks)))
    with pytest.raises(ClusterLost) as caught:
        connection.request("GET", "/version")
    first, _, second = str(caught.value).partition("\n")
    assert first.startswith(f"http://127.0.0.1:{port} does not answer: ConnectionRefusedError")
    assert second == "kube-apiserver was killed by signal 9"
