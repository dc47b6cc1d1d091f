"""Claims that name their volume: kubernetes pkg/controller/volume/persistentvolume/pv_controller.go (syncUnboundClaim)."""

from __future__ import annotations

from typing import Any

import pytest

TAKEN = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "other", "uid": "other"}
MEANT = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "c"}


@pytest.mark.parametrize(
    ("volume", "phase"),
    [
        ({}, "Bound"),
        ({"capacity": {"storage": "4Gi"}}, "Pending"),
        ({"accessModes": ["ReadOnlyMany"]}, "Pending"),
        ({"volumeMode": "Block"}, "Pending"),
        ({"claimRef": TAKEN}, "Pending"),
        ({"claimRef": MEANT}, "Bound"),
        (None, "Pending"),
    ],
    ids=["free", "too small", "other access", "other mode", "another's", "meant for it", "none"],
)
def test_a_claim_gets_the_volume_that_it_names_when_it_may(
    cluster: Any, volume: dict[str, Any] | None, phase: str
) -> None:
    spec = {
        "capacity": {"storage": "8Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d", "volumeHandle": "h"},
    }
    if volume is not None:
        made = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {**spec, **volume}}
        cluster.admin.create(made)
    cluster.admin.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": "c", "namespace": "default"},
            "spec": {
                "volumeName": "v",
                "storageClassName": "",
                "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "8Gi"}},
            },
        }
    )
    cluster.settle()
    claim = cluster.view.get("PersistentVolumeClaim", "c", "default")
    assert claim["status"]["phase"] == phase
    marks = (
        {"pv.kubernetes.io/bind-completed": "yes"} if phase == "Bound" else None
    )  # it was not the controller that chose
    assert claim["metadata"].get("annotations") == marks


def test_a_claim_with_a_selector_takes_the_smallest_free_volume_that_it_selects(cluster: Any) -> None:
    """Source: kubernetes pkg/controller/volume/persistentvolume/index.go, pkg/volume/util (FindMatchingVolume)."""
    for name, size, labels, taken in (
        ("plain", "1Gi", {}, {}),
        ("taken", "2Gi", {"tier": "gold"}, {"claimRef": TAKEN}),
        ("large", "4Gi", {"tier": "gold"}, {}),
        ("right", "3Gi", {"tier": "gold"}, {}),
    ):
        spec = {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "csi": {"driver": "d", "volumeHandle": name},
        }
        meta = {"name": name, "labels": labels}
        cluster.admin.create(
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": {**spec, **taken}}
        )
    cluster.admin.create(claim(storageClassName="", selector={"matchLabels": {"tier": "gold"}}))
    cluster.settle()
    assert cluster.view.get("PersistentVolumeClaim", "c", "default")["spec"]["volumeName"] == "right"


def claim(name: str = "c", **spec: Any) -> dict[str, Any]:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": asked}


def storage_class(name: str, mode: str, **annotations: str) -> dict[str, Any]:
    meta = {"name": name, "annotations": annotations}
    kind = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta}
    return {**kind, "provisioner": "d", "volumeBindingMode": mode}


def test_a_claim_without_a_class_waits_for_the_default_one(cluster: Any) -> None:
    """Source: kubernetes pv_controller.go (assignDefaultStorageClass)."""
    cluster.admin.create(claim())
    cluster.settle()
    stored = cluster.view.get("PersistentVolumeClaim", "c", "default")
    assert (stored["status"]["phase"], "storageClassName" in stored["spec"]) == ("Pending", False)
    cluster.admin.create(storage_class("plain", "Immediate"))
    cluster.admin.create(storage_class("disks", "Immediate", **{"storageclass.kubernetes.io/is-default-class": "true"}))
    cluster.settle()
    stored = cluster.view.get("PersistentVolumeClaim", "c", "default")
    assert (stored["status"]["phase"], stored["spec"]["storageClassName"]) == ("Pending", "disks")


@pytest.mark.parametrize(("mode", "phase"), [("Immediate", "Bound"), ("WaitForFirstConsumer", "Pending")])
def test_a_claim_whose_class_waits_for_a_pod_takes_no_volume_before(cluster: Any, mode: str, phase: str) -> None:
    """Source: kubernetes pv_controller.go (syncUnboundClaim, shouldDelayBinding)."""
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "disks",
        "csi": {"driver": "d", "volumeHandle": "h"},
    }
    cluster.admin.create(storage_class("disks", mode))
    cluster.admin.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": spec})
    cluster.admin.create(claim(storageClassName="disks"))
    cluster.settle()
    assert cluster.view.get("PersistentVolumeClaim", "c", "default")["status"]["phase"] == phase


def test_a_new_claim_gets_the_default_class_and_a_volume_does_not(cluster: Any) -> None:
    """Source: kubernetes plugin/pkg/admission/storage/storageclass/setdefault/admission.go."""
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    cluster.admin.create(storage_class("disks", "Immediate", **default))
    other = cluster.admin.create(storage_class("other", "Immediate"))
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "d", "volumeHandle": "h"},
    }
    volume = cluster.admin.create(
        {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": spec}
    )
    assert "spec" not in other
    assert "storageClassName" not in volume["spec"]
    assert cluster.admin.create(claim())["spec"]["storageClassName"] == "disks"
    assert cluster.admin.create(claim("none", storageClassName=""))["spec"]["storageClassName"] == ""
