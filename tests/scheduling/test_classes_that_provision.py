"""For which nodes a StorageClass can make a volume (pkg/scheduler/framework/plugins/volumebinding/binder.go, checkVolumeProvisions)."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.scheduling.volume_binding import PodVolumes

NODE = {"metadata": {"name": "a", "labels": {"zone": "1", "disk": "fast"}}}


def zones(*names: str, **more: list[str]) -> dict[str, Any]:
    wanted = {"zone": list(names), **more}
    return {"matchLabelExpressions": [{"key": key, "values": values} for key, values in wanted.items()]}


@pytest.mark.parametrize(
    ("storage", "provides"),
    [
        ({"provisioner": "disk.csi.azure.com"}, True),
        ({"provisioner": "kubernetes.io/no-provisioner"}, False),
        ({"provisioner": ""}, False),
        ({}, False),
        ({"provisioner": "disk.csi.azure.com", "allowedTopologies": [zones("1", "2")]}, True),
        ({"provisioner": "disk.csi.azure.com", "allowedTopologies": [zones("2")]}, False),
        ({"provisioner": "disk.csi.azure.com", "allowedTopologies": [zones("2"), zones("1")]}, True),
        ({"provisioner": "disk.csi.azure.com", "allowedTopologies": [zones("1", disk=["slow"])]}, False),
        ({"provisioner": "disk.csi.azure.com", "allowedTopologies": [zones("1", team=["a"])]}, False),
        ({"provisioner": "kubernetes.io/no-provisioner", "allowedTopologies": [zones("1")]}, False),
    ],
)
def test_a_class_makes_volumes_where_it_has_a_provisioner_and_may(storage: dict[str, Any], provides: bool) -> None:
    refusal = () if provides else ("node(s) didn't find available persistent volumes to bind",)
    assert PodVolumes(None, classes=(storage,)).reasons(NODE) == refusal
