"""Worlds on clusters that live outside of them: what they hear, and that Karpenter may be somebody else."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any

import pytest

from fakeazure.journal import Call
from fakeazure.transports.server import HttpServer
from fakeazure.transports.wire import Front
from harness.clusters.http.cluster import HttpCluster
from harness.clusters.memory.cluster import MemoryCluster
from harness.clusters.remote.attaching import attach
from harness.clusters.remote.cluster import Attachable, Detached
from harness.engine.clock import Clock
from harness.engine.ports import KARPENTER
from harness.karpenter.validation.crds import crd_set
from harness.testing import pod
from harness.world import World
from harness.world.recorder import Recorder
from tests.clusters.conftest import RealClusters

NODECLASS = {
    "apiVersion": "karpenter.azure.com/v1beta1",
    "kind": "AKSNodeClass",
    "metadata": {"name": "default"},
    "spec": {},
}
REFERENCE = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
NODEPOOL = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "default"},
    "spec": {"template": {"spec": {"nodeClassRef": REFERENCE, "requirements": []}}},
}


@pytest.fixture(params=["memory", "http", pytest.param("apiserver", marks=pytest.mark.real_cluster)])
def factory(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Makes the cluster of a world."""
    if request.param == "memory":
        yield MemoryCluster
    elif request.param == "http":
        with HttpCluster(Recorder(Clock()), crds=crd_set("1.14.0"), kubernetes="1.36.3") as cluster:
            yield attach(cluster)
    else:
        if not request.config.getoption("--run-clusters", default=False):
            pytest.skip("a real cluster, asked for with --run-clusters")
        clusters: RealClusters = request.getfixturevalue("real_clusters")
        remote: Attachable = clusters.for_worlds(request.param)
        yield attach(remote)


def test_a_world_finds_no_maintenance_window_of_the_world_before(factory: Any) -> None:
    window = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "upcoming-maintenance-window", "namespace": "kube-system"},
        "data": {"aksManagedNodeOSUpgradeSchedule-end": "2026-01-09T00:00:00Z"},
    }
    first = World(kubernetes="1.36.3", cluster=factory)
    own = {each["metadata"]["name"] for each in first.list("ConfigMap")}
    assert "upcoming-maintenance-window" not in own
    first.apply(window)
    assert first.get("ConfigMap", "upcoming-maintenance-window", "kube-system") is not None
    second = World(kubernetes="1.36.3", cluster=factory)
    assert {each["metadata"]["name"] for each in second.list("ConfigMap")} == own


@pytest.mark.smoke
def test_a_world_hears_what_the_scheduler_tells(factory: Any) -> None:
    world = World(kubernetes="1.36.3", cluster=factory)
    assert world.apply(NODECLASS, NODEPOOL, pod()) == []
    assert world.settle().quiescent
    told = [each for each in world.events if each.source == "default-scheduler"]
    assert (told[0].reason, str(told[0].object)) == ("FailedScheduling", "Pod/default/web")
    assert (told[-1].reason, str(told[-1].object)) == ("Scheduled", "Pod/default/web")
    node = world.list("Node")[0]["metadata"]["name"]
    assert told[-1].message == f"Successfully assigned default/web to {node}"


def test_a_namespace_is_made_when_it_is_used(factory: Any) -> None:
    world = World(kubernetes="1.36.3", cluster=factory)
    assert world.dry_run(pod(namespace="shop")) == []
    assert world.get("Namespace", "shop") is None
    assert world.apply(NODECLASS, NODEPOOL, pod(namespace="shop")) == []
    assert world.settle().quiescent
    bound = world.get("Pod", "web", "shop")
    assert bound is not None
    assert bound["spec"]["nodeName"]
    after = World(kubernetes="1.36.3", cluster=factory)
    assert "shop" not in {each["metadata"]["name"] for each in after.list("Namespace")}


@pytest.mark.smoke
def test_every_write_of_every_world_is_in_the_evidence(factory: Any) -> None:
    """An audit log lags behind the answers: no world may take the end of the one before for its own beginning, or lose its first writes."""
    for _ in range(5):
        world = World(kubernetes="1.36.3", cluster=factory)
        world.apply(NODECLASS, NODEPOOL, pod())
        world.settle()
        (node,) = world.list("Node")
        writes = world.writes(node["metadata"]["name"])
        assert {key for key, found in writes.items() if not found} == set()
        assert set(writes) >= set(node["metadata"]["labels"])
        assert [str(each.kind) for each in writes["kubernetes.io/arch"] if each.by == "kubelet"] == ["set"]


def recorded(kubernetes: str) -> tuple[dict[str, Any], list[Call]]:
    """What the simulated loop makes of one pod: its NodeClaim, and what it wrote to Azure for it."""
    world = World(kubernetes=kubernetes)
    world.apply(NODECLASS, NODEPOOL, pod())
    world.settle()
    (claim,) = world.list("NodeClaim")
    return claim, [call for call in world.calls() if call.method == "PUT"]


@pytest.mark.smoke
def test_somebody_else_is_karpenter(factory: Any) -> None:
    """Cluster and cloud do not depend on who asks: a claim and a machine from outside end in a Node with the pod on it."""
    claim, calls = recorded("1.36.3")
    world = World(kubernetes="1.36.3", cluster=factory, simulated=False)
    assert world.apply(NODECLASS, NODEPOOL, pod()) == []
    assert world.settle().quiescent
    assert (world.list("NodeClaim"), world.list("Node")) == ([], [])

    other = world.cluster.writer(KARPENTER)
    meta = {key: claim["metadata"][key] for key in ("name", "labels", "annotations")}
    other.create({**claim, "metadata": meta, "status": {}})
    with HttpServer(Front(world.cloud, authenticate=False)) as server:
        connection = HTTPConnection("127.0.0.1", server.port)
        for call in calls:
            path = f"{call.path}?api-version={call.api_version}"
            connection.request("PUT", path, body=json.dumps(call.body), headers={"Content-Type": "application/json"})
            answer = connection.getresponse()
            assert answer.status in (200, 201, 202), answer.read()
            answer.read()
        connection.close()
    assert world.settle().quiescent
    (node,) = world.list("Node")
    taints = [each["key"] for each in node["spec"]["taints"]]
    assert taints == ["karpenter.sh/unregistered"]
    assert node["metadata"]["labels"]["karpenter.sh/nodepool"] == "default"
    assert {each.by for each in world.writes(node["metadata"]["name"])["kubernetes.io/arch"]} == {"kubelet"}

    # registration is the other controller's, too
    other.patch("Node", node["metadata"]["name"], {"spec": {"taints": None}})
    assert world.settle().quiescent
    bound = world.get("Pod", "web")
    assert bound is not None
    assert bound["spec"]["nodeName"] == node["metadata"]["name"]


def test_a_cluster_has_one_world_at_a_time(factory: Any) -> None:
    """Two worlds on one cluster would wipe out each other's objects and evidence, and nobody would know why."""
    if factory is MemoryCluster:
        pytest.skip("in memory every world has a cluster of its own")
    first = World(kubernetes="1.36.3", cluster=factory)
    first.apply(NODECLASS)
    World(kubernetes="1.36.3", cluster=factory)
    for use in (lambda: first.apply(NODEPOOL), first.settle, lambda: first.writes("n")):
        with pytest.raises(Detached, match="was given to another world"):
            use()


def test_a_manifest_is_applied_again(factory: Any) -> None:
    """As kubectl does it: what others added stays, an item that the manifest has not any more goes, fixed parts are refused."""
    world = World(kubernetes="1.36.3", cluster=factory)
    manifest = pod()
    (container,) = manifest["spec"]["containers"]
    container |= {"resources": {"requests": {"cpu": 0.5}, "limits": {"memory": "1024Mi"}}}
    assert world.apply(manifest) == []
    assert world.apply(manifest) == []
    assert world.apply(changed(manifest, image="other")) == []
    found = world.get("Pod", "web")
    assert found is not None
    assert found["metadata"]["generation"] == 2
    assert found["spec"]["containers"][0]["image"] == "other"
    refused = world.apply({**manifest, "spec": {**manifest["spec"], "nodeSelector": {"a": "b"}}})
    assert [(each.path, each.message.partition(" than ")[0]) for each in refused] == [
        ("spec", "pod updates may not change fields other")
    ]


def changed(manifest: dict[str, Any], **fields: Any) -> dict[str, Any]:
    containers = [{**each, **fields} for each in manifest["spec"]["containers"]]
    return {**manifest, "spec": {**manifest["spec"], "containers": containers}}


def test_an_item_that_the_manifest_has_not_any_more_goes(factory: Any) -> None:
    world = World(kubernetes="1.36.3", cluster=factory)
    labels = {"app": "web"}
    container = {"name": "c", "image": "i", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container, {"name": "d", "image": "i"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    meta = {"name": "web", "namespace": "default"}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec}
    assert world.apply(manifest) == []
    fewer = {**container, "env": [{"name": "B", "value": "3"}]}
    assert world.apply({**manifest, "spec": {**spec, "template": {**template, "spec": {"containers": [fewer]}}}}) == []
    found = world.get("Deployment", "web")
    assert found is not None
    containers = found["spec"]["template"]["spec"]["containers"]
    assert [(each["name"], each.get("env")) for each in containers] == [("c", [{"name": "B", "value": "3"}])]


def test_a_scenario_may_use_the_namespace_of_the_system(factory: Any) -> None:
    """Its objects there are seen, run and removed like others; the cluster's own parts are not."""
    labels = {"app": "agent"}
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "100m"}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    meta = {"name": "agent", "namespace": "kube-system"}
    spec = {"selector": {"matchLabels": labels}, "template": template}
    daemons = {"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta, "spec": spec}
    world = World(kubernetes="1.36.3", cluster=factory)
    assert world.apply(NODECLASS, NODEPOOL, daemons, pod()) == []
    assert world.settle().quiescent
    (agent,) = world.list("Pod", namespace="kube-system")
    assert agent["spec"]["nodeName"] == (world.get("Pod", "web") or {})["spec"]["nodeName"]
    after = World(kubernetes="1.36.3", cluster=factory)
    assert [after.list(kind, namespace="kube-system") for kind in ("DaemonSet", "Pod")] == [[], []]
