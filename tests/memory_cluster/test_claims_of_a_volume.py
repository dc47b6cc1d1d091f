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
