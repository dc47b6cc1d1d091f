"""Pods with Azure disks: a disk is made where the pod's Node is, and holds the pod there ever after."""

from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.engine.engine import DONE
from harness.kube.api.objects import condition_is
from harness.kube.api.status import ApiError
from harness.nodes.disk_driver import DiskDriver
from harness.testing import node, nodeclass, nodepool, pod, requirement
from harness.world import World
from tests.corridor.conftest import SMALL

DRIVER, ZONE = "disk.csi.azure.com", "topology.disk.csi.azure.com/zone"
REGION = "southcentralus"


def storage_class(**fields):
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "disks"},
        "provisioner": "disk.csi.azure.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        **fields,
    }


CLAIM = {"accessModes": ["ReadWriteOnce"], "storageClassName": "disks", "resources": {"requests": {"storage": "8Gi"}}}


def database(replicas=1, **claim):
    container = pod("p1")["spec"]["containers"][0]
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "serviceName": "db",
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "db"}},
            "template": template,
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {**CLAIM, **claim}}],
        },
    }


def places(volume):
    terms = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    (keys,) = {tuple(one["key"] for one in term["matchExpressions"]) for term in terms}
    assert keys == (ZONE,)
    return [value for term in terms for value in term["matchExpressions"][0]["values"]]


ZONAL = requirement("karpenter.azure.com/placement-scope", "zonal")


def test_a_disk_is_made_in_the_zone_of_the_pods_node(walk):
    way = walk(nodeclass(), nodepool(SMALL, ZONAL), storage_class(), database(), region=REGION)
    labels = way.node["metadata"]["labels"]
    zone = labels["topology.kubernetes.io/zone"]
    assert zone in (f"{REGION}-1", f"{REGION}-2")
    (volume,) = way.world.list("PersistentVolume")
    assert places(volume) == [zone]
    assert volume["status"]["phase"] == "Bound"
    claim = way.world.get("PersistentVolumeClaim", "data-db-0")
    assert (claim["status"]["phase"], claim["spec"]["volumeName"]) == ("Bound", volume["metadata"]["name"])
    assert way.world.get("Pod", "db-0")["status"]["phase"] == "Running"
    assert way.writes(ZONE) == [("set", "kubelet", "disk-driver", zone)]


@pytest.mark.parametrize("mode", ["Block", "Filesystem"])
def test_a_disk_is_of_the_mode_that_its_claim_asks_for(walk, mode):
    way = walk(nodeclass(), nodepool(SMALL, ZONAL), storage_class(), database(volumeMode=mode), region=REGION)
    (volume,) = way.world.list("PersistentVolume")
    assert volume["spec"]["volumeMode"] == mode


@pytest.mark.parametrize("seed", range(4))
def test_a_pod_comes_back_to_the_zone_of_its_disk(walk, seed):
    way = walk(nodeclass(), nodepool(SMALL, ZONAL), storage_class(), database(), region=REGION, seed=seed)
    zone = way.node["metadata"]["labels"]["topology.kubernetes.io/zone"]
    way.world.delete("NodeClaim", way.claim["metadata"]["name"])
    way.world.advance(600)
    assert way.world.get("Pod", "db-0")["status"]["phase"] == "Running"
    assert way.node["metadata"]["labels"]["topology.kubernetes.io/zone"] == zone
    assert len(way.world.list("PersistentVolume")) == 1


def test_a_zone_redundant_disk_holds_its_pod_nowhere(walk):
    redundant = storage_class(parameters={"skuName": "StandardSSD_ZRS"})
    way = walk(nodeclass(), nodepool(SMALL, ZONAL), redundant, database(), region=REGION)
    (volume,) = way.world.list("PersistentVolume")
    assert places(volume) == [*(f"{REGION}-{zone}" for zone in "1234"), ""]


def test_the_disk_of_a_regional_machine_has_no_zone(walk):
    scope = requirement("karpenter.azure.com/placement-scope", "regional")
    way = walk(nodeclass(), nodepool(SMALL, scope), storage_class(), database(), region=REGION)
    (volume,) = way.world.list("PersistentVolume")
    assert places(volume) == [""]
    assert way.node["metadata"]["labels"][ZONE] == ""
    assert way.world.get("Pod", "db-0")["status"]["phase"] == "Running"


def test_a_disk_that_was_there_before_holds_its_pod(walk):
    terms = [{"matchExpressions": [requirement(ZONE, f"{REGION}-3")]}]
    disk = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "old"},
        "spec": {
            "capacity": {"storage": "8Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "disks",
            "csi": {"driver": "disk.csi.azure.com", "volumeHandle": "old"},
            "claimRef": {"namespace": "default", "name": "data-db-0"},
            "persistentVolumeReclaimPolicy": "Retain",
            "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
        },
    }
    way = walk(nodeclass(), nodepool(SMALL), disk, storage_class(), database(), region=REGION)
    assert way.node["metadata"]["labels"]["topology.kubernetes.io/zone"] == f"{REGION}-3"
    assert way.world.get("Pod", "db-0")["status"]["phase"] == "Running"
    assert [each["metadata"]["name"] for each in way.world.list("PersistentVolume")] == ["old"]


@pytest.mark.parametrize(
    ("changed", "bound"),
    [
        ({}, True),
        ({"capacity": {"storage": "7Gi"}}, False),
        ({"storageClassName": "others"}, False),
        ({"volumeMode": "Block"}, False),
        ({"accessModes": ["ReadOnlyMany"]}, False),
        ({"accessModes": ["ReadOnlyMany", "ReadWriteOnce"]}, True),
    ],
)
def test_a_claim_takes_a_volume_that_has_all_it_asks_for(changed: dict[str, Any], bound: bool) -> None:
    spec = {
        "capacity": {"storage": "8Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "by-hand",
        "csi": {"driver": "disk.csi.azure.com", "volumeHandle": "old"},
        **changed,
    }
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "old"}, "spec": spec}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "by-hand",
            "resources": {"requests": {"storage": "8Gi"}},
        },
    }
    world = World()
    world.apply(volume, claim)
    world.settle()
    found = world.get("PersistentVolumeClaim", "c")
    assert found is not None
    assert (found["spec"].get("volumeName"), found["status"]["phase"]) == (
        ("old", "Bound") if bound else (None, "Pending")
    )
    meant = world.get("PersistentVolume", "old")
    assert meant is not None
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default", "name": "c"}
    expected = {**reference, "uid": found["metadata"]["uid"]} if bound else None
    assert meant["spec"].get("claimRef") == expected
    mark = {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert (meant["metadata"].get("annotations") or {}) == (mark if bound else {})
    if bound:
        assert meant["status"]["phase"] == "Bound"
        assert found["metadata"]["annotations"] == {**mark, "pv.kubernetes.io/bind-completed": "yes"}
        status = {"accessModes": spec["accessModes"], "capacity": spec["capacity"], "phase": "Bound"}
        assert found["status"] == status


def test_a_disk_goes_with_its_claim_unless_its_class_retains_it(walk):
    for policy, left in (("Delete", 0), ("Retain", 1)):
        way = walk(nodeclass(), nodepool(SMALL), storage_class(reclaimPolicy=policy), database(), region=REGION)
        way.world.delete("StatefulSet", "db")
        way.world.settle()
        way.world.delete("PersistentVolumeClaim", "data-db-0")
        way.world.settle()
        assert len(way.world.list("PersistentVolume")) == left


def test_a_claim_that_waits_for_no_pod_gets_no_disk(walk):
    at_once = storage_class(volumeBindingMode="Immediate")
    way = walk(nodeclass(), nodepool(SMALL), at_once, database(), region=REGION)
    assert way.world.list("PersistentVolume") == []
    assert way.world.list("NodeClaim") == []


@pytest.mark.parametrize(("region", "zoned"), [(REGION, True), ("westus", False)])
def test_every_node_of_aks_has_the_label_of_its_driver(region: str, zoned: bool) -> None:
    """Recorded lists of labels have it, whatever StorageClasses there are: empty in a region without zones."""
    world = World(region=region, storage_classes=False)
    world.apply(nodeclass(), nodepool(SMALL), pod("p1"))
    world.settle()
    labels = world.list("Node")[0]["metadata"]["labels"]
    assert labels[ZONE] == (labels["topology.kubernetes.io/zone"] if zoned else "")


def test_a_node_tells_how_many_disks_its_size_takes() -> None:
    world = World(region=REGION)
    world.apply(nodeclass(), nodepool(SMALL), pod("p1"))
    world.settle()
    [csinode], [node] = world.list("CSINode"), world.list("Node")
    disks, files = csinode["spec"]["drivers"]
    assert (disks["name"], disks["allocatable"], disks["topologyKeys"]) == (DRIVER, {"count": 4}, [ZONE])
    assert (files["name"], files.get("allocatable")) == ("file.csi.azure.com", None)
    assert csinode["metadata"]["ownerReferences"][0]["uid"] == node["metadata"]["uid"]
    world.delete("Pod", "p1")
    world.delete("NodeClaim", world.list("NodeClaim")[0]["metadata"]["name"])
    world.settle()
    assert (world.list("Node"), world.list("CSINode")) == ([], [])


def test_drivers_that_a_user_put_there_stay() -> None:
    world = World(region=REGION)
    own = {"name": DRIVER, "nodeID": "n", "allocatable": {"count": 1}}
    name = "aks-default-gs9dj"
    world.apply(
        {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": [own]}}
    )
    world.apply(nodeclass(), nodepool(SMALL), pod("p1"))
    world.settle()
    assert [node["metadata"]["name"] for node in world.list("Node")] == [name]
    [csinode] = world.list("CSINode")
    assert [(each["name"], each.get("allocatable")) for each in csinode["spec"]["drivers"]] == [
        (DRIVER, {"count": 1}),
        ("file.csi.azure.com", None),
    ]


def test_the_classes_of_aks_are_there_unless_they_are_left_out() -> None:
    def classes(world: World) -> list[str]:
        return [each["metadata"]["name"] for each in world.list("StorageClass")]

    disks = ["default", "managed", "managed-csi", "managed-csi-premium", "managed-premium"]
    assert classes(World(region=REGION)) == disks
    assert classes(World(region=REGION, storage_classes=False)) == []


def test_a_node_has_the_label_when_it_is_ready_and_not_before() -> None:
    world = World(region=REGION)
    world.apply(nodeclass(), nodepool(SMALL, ZONAL), storage_class(), pod("p1"))
    seen = set()
    for _ in range(200):
        world.advance(1)
        for each in world.list("Node"):
            seen.add((condition_is(each, "Ready"), ZONE in each["metadata"]["labels"]))
    assert seen == {(False, False), (True, True)}


VOLUME = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "metadata": {"name": "old"},
    "spec": {
        "capacity": {"storage": "8Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": DRIVER, "volumeHandle": "/disks/old"},
    },
}


def test_a_disk_that_another_has_deleted_is_left_alone() -> None:
    spec = {**VOLUME["spec"], "persistentVolumeReclaimPolicy": "Delete"}
    annotations = {"pv.kubernetes.io/provisioned-by": "disk.csi.azure.com"}
    released = {**VOLUME, "metadata": {"name": "old", "annotations": annotations}, "spec": spec}
    view, writer = MagicMock(), MagicMock()
    view.get.return_value = {**released, "status": {"phase": "Released"}}
    driver = DiskDriver(view, lambda identity: writer, MagicMock(), MagicMock(), region=REGION)
    writer.delete.side_effect = ApiError(404, "NotFound", "not there")
    assert driver.reconcile(("PersistentVolume", "", "old")) == DONE
    writer.delete.assert_called_once_with("PersistentVolume", "old")
    writer.delete.side_effect = ApiError(500, "InternalError", "etcd is away")
    with pytest.raises(ApiError, match="etcd is away"):
        driver.reconcile(("PersistentVolume", "", "old"))


@pytest.mark.parametrize(
    ("spec", "annotations", "made"),
    [({}, {}, True), ({"volumeName": "other"}, {}, False), ({}, {"pv.kubernetes.io/bind-completed": "yes"}, False)],
    ids=["unbound", "names-its-volume", "has-lost-it"],
)
def test_no_disk_is_made_for_a_claim_that_has_its_volume(
    spec: dict[str, str], annotations: dict[str, str], made: bool
) -> None:
    """Sources: external-provisioner lib controller.go (shouldProvision), kubernetes pv_controller.go (syncBoundClaim)."""
    selected = {"volume.kubernetes.io/selected-node": "n", **annotations}
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "default", "annotations": selected},
        "spec": {**CLAIM, **spec},
    }
    world = World(region=REGION)
    world.apply(storage_class(), node("n"), claim)
    world.settle()
    assert [each["spec"]["claimRef"]["name"] for each in world.list("PersistentVolume")] == (["c"] if made else [])
