"""What `harness attach` writes to: objects that carry the marks of its run, what descends from them, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from harness import testing
from harness.clusters.client.connection import ClusterLost, Connection, Endpoint
from harness.clusters.remote.foreign import ForeignCluster
from harness.clusters.remote.own_writer import OwnWriter
from harness.clusters.remote.ownership import MADE_AS, RUN, NotOurs, Ownership
from harness.engine.ports import ADMIN, Identity
from harness.kube.api.objects import Object, labels_of, name_of, uid_of
from harness.kube.api.status import ApiError
from tests.clusters.attached import Karpenter, Place, claim_of, class_of_ours, pool_of, same

CONFIG: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "namespace": "default"},
    "data": {"a": "1"},
}
CHANGED = {"data": {"a": "2"}}


@pytest.fixture
def cluster(place: Place) -> Iterator[ForeignCluster]:
    """The place as a run sees it."""
    found = ForeignCluster(place.reached, run="this-run")
    yield found
    found.belongings.remove(lambda: None, seconds=10)
    found.stop()


def test_what_is_made_carries_the_run_and_itself(place: Place, cluster: ForeignCluster) -> None:
    made = cluster.writer(ADMIN).create(CONFIG)
    assert made["metadata"]["labels"] == {RUN: "this-run"}
    assert made["metadata"]["annotations"] == {MADE_AS: "ConfigMap/default/c"}
    cluster.token("robot", "default")
    account = place.get("ServiceAccount", "robot", "default")
    assert account is not None
    assert labels_of(account)[RUN] == "this-run"


def test_its_own_objects_are_changed_and_deleted(place: Place, cluster: ForeignCluster) -> None:
    admin = cluster.writer(ADMIN)
    made = admin.create(CONFIG)
    assert admin.patch("ConfigMap", "c", CHANGED, namespace="default")["data"] == {"a": "2"}
    assert admin.update({**made, "metadata": {"name": "c", "namespace": "default"}})["data"] == {"a": "1"}
    found = place.get("ConfigMap", "c", "default")
    assert found is not None
    assert labels_of(found)[RUN] == "this-run"  # also where the new object said nothing of it
    admin.delete("ConfigMap", "c", namespace="default")
    assert place.get("ConfigMap", "c", "default") is None


WRITES: dict[str, Callable[[OwnWriter, Object], object]] = {
    "patch": lambda admin, obj: admin.patch("Deployment", "web", {"spec": {"replicas": 9}}, namespace="default"),
    "json patch": lambda admin, obj: admin.patch(
        "Deployment", "web", [{"op": "replace", "path": "/spec/replicas", "value": 9}], namespace="default", type="json"
    ),
    "update": lambda admin, obj: admin.update({**obj, "spec": {**obj["spec"], "replicas": 9}}),
    "scale": lambda admin, obj: admin.scale("Deployment", "web", "default", 9),
    "delete": lambda admin, obj: admin.delete("Deployment", "web", namespace="default"),
}


@pytest.mark.smoke
@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("marks", ["none", "of another run", "of another object"])
def test_what_is_not_its_own_is_not_written_to(place: Place, cluster: ForeignCluster, write: str, marks: str) -> None:
    carried = {
        "none": {},
        "of another run": {"labels": {RUN: "other"}, "annotations": {MADE_AS: "Deployment/default/web"}},
        "of another object": {"labels": {RUN: "this-run"}, "annotations": {MADE_AS: "Deployment/default/its-model"}},
    }[marks]
    deployment = testing.deployment("web", 0, "1")
    place.create({**deployment, "metadata": {**deployment["metadata"], "namespace": "default", **carried}})
    theirs = settled(place, "Deployment", "web", "default")
    with pytest.raises(
        NotOurs, match=r"Deployment/default/web was not made by this run of harness attach \(this-run\)"
    ):
        WRITES[write](cluster.writer(ADMIN), theirs)
    assert same(theirs, place.get("Deployment", "web", "default"))


def settled(place: Place, kind: str, name: str, namespace: str) -> Object:
    """The object once the cluster's own controllers have written what they write."""
    before: Object | None = None
    pause = threading.Event()
    while True:
        found = place.get(kind, name, namespace)
        assert found is not None
        if before is not None and same(before, found):
            return {"apiVersion": "apps/v1", "kind": kind, **found}
        before = found
        pause.wait(0.5)


def test_a_pod_of_theirs_is_not_evicted(place: Place, cluster: ForeignCluster) -> None:
    theirs = place.create(testing.pod("theirs"))
    with pytest.raises(NotOurs):
        cluster.writer(ADMIN).evict("theirs", "default")
    found = place.get("Pod", "theirs", "default")
    assert found is not None
    assert uid_of(found) == uid_of(theirs)
    assert "deletionTimestamp" not in found["metadata"]


@pytest.mark.smoke
@pytest.mark.parametrize("change", [True, False])
def test_one_that_took_its_place_in_the_same_moment_is_not_hit(
    place: Place, cluster: ForeignCluster, change: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    admin = cluster.writer(ADMIN)
    ours = admin.create(CONFIG)
    place.admin.delete("ConfigMap", "c", namespace="default")
    theirs = place.create(CONFIG)
    monkeypatch.setattr(admin, "_read", lambda kind, name, namespace: ours)  # read before it was replaced
    write = partial(admin.patch, patch=CHANGED) if change else admin.delete
    with pytest.raises(ApiError) as refused:
        write("ConfigMap", "c", namespace="default")
    assert refused.value.code in (409, 422)
    assert same(theirs, place.get("ConfigMap", "c", "default"))


def test_a_change_is_of_what_was_read(place: Place, cluster: ForeignCluster) -> None:
    admin = cluster.writer(ADMIN)
    admin.create(CONFIG)
    reads: list[str] = []
    read = admin._read

    def read_and_write(kind: str, name: str, namespace: str) -> Object | None:
        found = read(kind, name, namespace)
        if not reads:  # somebody writes between our look and our patch
            place.admin.patch("ConfigMap", "c", {"data": {"b": "theirs"}}, namespace="default")
        reads.append(kind)
        return found

    admin._read = read_and_write
    assert admin.patch("ConfigMap", "c", CHANGED, namespace="default")["data"] == {"a": "2", "b": "theirs"}
    assert len(reads) == 2  # it looked again, and would have seen that it is not ours any more


def test_what_descends_from_its_own_is_its_own(place: Place, cluster: ForeignCluster) -> None:
    admin = cluster.writer(ADMIN)
    pool = admin.create(pool_of())
    theirs = place.create(pool_of("theirs"))
    place.create(claim_of(pool))
    place.create(claim_of(theirs))
    node = Identity.node("aks-1")
    cluster.writer(node).create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "aks-1"}, "spec": {}})
    place.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "aks-2"}, "spec": {}})
    admin.patch("NodeClaim", "mine-0", {"metadata": {"labels": {"a": "b"}}})
    cluster.writer(node).patch("Node", "aks-1", {"metadata": {"labels": {"a": "b"}}})
    for kind, name in (("NodeClaim", "theirs-0"), ("Node", "aks-2")):
        with pytest.raises(NotOurs):
            admin.patch(kind, name, {"metadata": {"labels": {"a": "b"}}})
    assert {f"{each['kind']}/{name_of(each)}" for each in cluster.belongings.present()} == {
        *("NodePool/mine", "NodeClaim/mine-0", "Node/aks-1"),
    }


def test_claims_that_a_statefulset_makes_are_its_own() -> None:
    """Nobody else marks them, and they have no owner."""
    template = {"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"]}}
    made = Ownership("this-run").stamped(
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": {"name": "db"},
            "spec": {"volumeClaimTemplates": [template]},
        }
    )
    (stamped,) = made["spec"]["volumeClaimTemplates"]
    claim = {
        "kind": "PersistentVolumeClaim",
        "metadata": {**stamped["metadata"], "namespace": "default", "name": "data-db-0"},
    }
    assert Ownership("this-run").marks(claim)
    for name, namespace in (("data-db2-0", "default"), ("data-db", "default"), ("data-db-0", "other")):
        other = {**claim, "metadata": {**claim["metadata"], "name": name, "namespace": namespace}}
        assert not Ownership("this-run").marks(other)


def test_a_kubelet_of_the_run_runs_no_pod_of_theirs_and_lets_it_end(place: Place, cluster: ForeignCluster) -> None:
    admin, kubelet = cluster.writer(ADMIN), cluster.writer(Identity.node("aks-1"))
    kubelet.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "aks-1"}, "spec": {}})
    place.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "aks-2"}, "spec": {}})
    for name, node in (("here", "aks-1"), ("elsewhere", "aks-2")):
        place.create(testing.pod(name, nodeName=node))
    ours = admin.create(testing.pod("ours", nodeName="aks-1"))
    assert cluster.owns(ours)
    running = {"status": {"phase": "Running"}}
    kubelet.patch("Pod", "ours", running, namespace="default", subresource="status")
    with pytest.raises(NotOurs):
        kubelet.patch("Pod", "here", running, namespace="default", subresource="status")
    with pytest.raises(NotOurs):
        kubelet.delete("Pod", "here", namespace="default", grace_period_seconds=0)
    place.admin.delete("Pod", "here", namespace="default")  # somebody else ends it, and waits for its kubelet
    place.admin.delete("Pod", "elsewhere", namespace="default")
    kubelet.delete("Pod", "here", namespace="default", grace_period_seconds=0)
    assert place.get("Pod", "here", "default") is None
    with pytest.raises(NotOurs):
        kubelet.delete("Pod", "elsewhere", namespace="default", grace_period_seconds=0)


@pytest.mark.smoke
def test_what_others_have_and_bring_meanwhile_stays_as_it_is(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    """A Node of the user's autoscaler with a finalizer, their released disk, their pod that was driven out, their service account."""
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "old-disk", "annotations": {"pv.kubernetes.io/provisioned-by": "disk.csi.azure.com"}},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "1Gi"},
            "claimRef": {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "old", "uid": "gone"},
            "csi": {"driver": "disk.csi.azure.com", "volumeHandle": "old-disk"},
            "persistentVolumeReclaimPolicy": "Delete",
        },
    }
    place.create(volume)
    place.create(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "karpenter", "namespace": "kube-system"}}
    )
    place.create(testing.deployment("web", 0, "1"))
    place.scenario(class_of_ours(), pool_of(), header="then:\n- nodeclaims: {count: 1}")
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "theirs", "finalizers": ["x.example.com/keep"]},
        "spec": {},
    }
    account = place.get("ServiceAccount", "karpenter", "kube-system")
    with Karpenter(place, claims=1) as karpenter:

        def join() -> None:
            karpenter.worked.wait(60)
            place.create(node)

        autoscaler = threading.Thread(target=join)
        autoscaler.start()
        assert place.attach("--yes") == 0
        autoscaler.join()
    said = capsys.readouterr()
    assert "left on context" not in said.err
    theirs = place.get("Node", "theirs")
    assert theirs is not None
    assert theirs["metadata"]["finalizers"] == ["x.example.com/keep"]
    assert "deletionTimestamp" not in theirs["metadata"]
    assert place.get("PersistentVolume", "old-disk") is not None
    assert same(account, place.get("ServiceAccount", "karpenter", "kube-system"))
    assert [name_of(each) for kind in ("NodePool", "NodeClaim", "AKSNodeClass") for each in place.list(kind)] == []


def test_a_server_with_another_name_is_not_spoken_to(place: Place) -> None:
    endpoint = place.connection.endpoint
    if endpoint.tls is None:
        pytest.skip("the http cluster has no certificate; tests/transports has one that has")
    tls = endpoint.tls
    tls.check_hostname = True
    Connection(Endpoint(endpoint.host, endpoint.port, tls)).request("GET", "/version")
    other = Connection(Endpoint(endpoint.host, endpoint.port, tls, server_name="production.example.com"))
    with pytest.raises(ClusterLost, match="certificate"):
        other.request("GET", "/version")
