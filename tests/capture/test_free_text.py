"""No free text leaves a cluster: not under public labels, in versions, in names of resources, in schedules or in Azure's ids."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from harness.capture.objects import kept
from harness.capture.pseudonyms import Pseudonyms
from tests.capture.cluster import nodepool

ZONE, SIZE = "topology.kubernetes.io/zone", "node.kubernetes.io/instance-type"


def left(manifest: str | dict[str, Any], *, anonymise: bool = True) -> dict[str, Any]:
    obj = yaml.safe_load(manifest) if isinstance(manifest, str) else manifest
    found = kept(obj, Pseudonyms(anonymise=anonymise))
    assert found is not None
    return found


def labels(**values: str) -> dict[str, Any]:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": values}}
    found: dict[str, Any] = left(node)["metadata"]["labels"]
    return found


FREE = [
    ("karpenter.azure.com/sku-name", "Standard_Zorg42_v9"),
    ("karpenter.azure.com/sku-name", "zorg43"),
    ("karpenter.azure.com/sku-family", "zorg"),
    ("karpenter.azure.com/sku-series", "Zorgs_v5"),
    ("karpenter.azure.com/sku-version", "zorg5"),
    ("karpenter.azure.com/sku-gpu-name", "zorg41"),
    ("karpenter.azure.com/sku-gpu-manufacturer", "zorg"),
    ("karpenter.azure.com/sku-cpu", "4-zorg"),
    (SIZE, "Standard_Zorg42_v9"),
    ("beta.kubernetes.io/instance-type", "Standard_Zorg42_v9"),
    (ZONE, "zorg45-1"),
    ("failure-domain.beta.kubernetes.io/zone", "zorg45-1"),
    ("topology.disk.csi.azure.com/zone", "zorg45-1"),
    ("topology.kubernetes.io/region", "zorg45"),
    ("kubernetes.azure.com/podnetwork-type", "zorg59"),
    ("kubernetes.azure.com/os-sku", "zorg"),
    ("kubernetes.azure.com/role", "zorg"),
    ("karpenter.sh/capacity-type", "zorg"),
    ("kubernetes.io/os", "zorg"),
    ("kubernetes.io/arch", "zorg"),
    ("node.kubernetes.io/windows-build", "10.0.zorg"),
]


@pytest.mark.parametrize(("key", "value"), FREE)
def test_a_value_that_nobody_knows_under_a_public_label(key: str, value: str) -> None:
    assert labels(**{key: value}) == {key: "value-1"}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("karpenter.azure.com/sku-name", "Standard_D8s_v5"),
        ("karpenter.azure.com/sku-name", "Basic_A0"),
        ("karpenter.azure.com/sku-family", "D"),
        ("karpenter.azure.com/sku-series", "Ds_v5"),
        ("karpenter.azure.com/sku-version", "5"),
        ("karpenter.azure.com/sku-gpu-name", "A100"),
        ("karpenter.azure.com/sku-gpu-manufacturer", "nvidia"),
        ("karpenter.azure.com/sku-memory", "131072"),
        (SIZE, "Standard_NC24ads_A100_v4"),
        (ZONE, "westeurope-1"),
        (ZONE, "1"),
        ("topology.disk.csi.azure.com/zone", "eastus2-3"),
        ("topology.kubernetes.io/region", "japaneast"),
        ("kubernetes.azure.com/podnetwork-type", "overlay"),
        ("kubernetes.azure.com/os-sku-effective", "Ubuntu2204"),
        ("kubernetes.azure.com/mode", "system"),
        ("kubernetes.azure.com/scalesetpriority", "spot"),
        ("kubernetes.azure.com/localdns-state", "disabled"),
        ("karpenter.sh/capacity-type", "on-demand"),
        ("karpenter.azure.com/sku-storage-ultra-ssd", "true"),
        ("node.kubernetes.io/windows-build", "10.0.20348"),
    ],
)
def test_a_value_that_everybody_may_have_stays(key: str, value: str) -> None:
    assert labels(**{key: value}) == {key: value}


def test_the_same_unknown_size_has_one_name_wherever_it_stands() -> None:
    names = Pseudonyms(anonymise=True)
    size = "Standard_Zorg42_v9"
    pool = nodepool()
    pool["spec"]["template"]["spec"]["requirements"] = [
        {"key": SIZE, "operator": "In", "values": [size, "Standard_D8s_v5"]},
        {"key": ZONE, "operator": "NotIn", "values": ["zorg45-1", "eastus-1"]},
    ]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeSelector": {SIZE: size}}}
    of_pool, of_pod = kept(pool, names), kept(pod, names)
    assert of_pool is not None
    assert of_pod is not None
    sizes, zones = (one["values"] for one in of_pool["spec"]["template"]["spec"]["requirements"])
    assert sizes[1] == "Standard_D8s_v5"
    assert zones[1] == "eastus-1"
    assert of_pod["spec"]["nodeSelector"] == {SIZE: sizes[0]}
    assert not re.search("(?i)zorg", f"{of_pool}{of_pod}")


@pytest.mark.parametrize("anonymise", [True, False])
def test_a_disk_is_not_told_in_either_form(anonymise: bool) -> None:
    volume = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: pv}
spec: {csi: {driver: disk.csi.azure.com, volumeHandle: /subscriptions/zorg/resourceGroups/zorg/providers/Microsoft.Compute/disks/d}}
"""
    handle = left(volume, anonymise=anonymise)["spec"]["csi"]["volumeHandle"]
    assert "zorg" not in handle
    assert handle.endswith("/providers/Microsoft.Compute/disks/disk-1")


@pytest.mark.parametrize("version", ["v1.33.2", "v1.33.2-zorg67", "v1.33.2+zorg"])
def test_of_a_kubelet_only_its_version(version: str) -> None:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"nodeInfo": {"kubeletVersion": version}}}  # fmt: skip
    assert left(node)["status"]["nodeInfo"] == {"kubeletVersion": "v1.33.2"}


def test_resources_have_names_that_kubernetes_makes() -> None:
    own = ["hugepages-2Mi", "hugepages-1Gi", "attachable-volumes-azure-disk", "nvidia.com/gpu"]
    free = ["hugepages-zorg", "attachable-volumes-azure-disk-zorg", "zorg.example/fpga"]
    status = {"capacity": dict.fromkeys([*own, *free], "1")}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": status}
    assert list(left(node)["status"]["capacity"]) == [*own, *(f"example.com/resource-{n}" for n in (1, 2, 3))]


@pytest.mark.parametrize(
    ("schedule", "stays"), [("@daily", True), ("0 9 * * mon-fri", True), ("@zorg", False), ("0 9 * * zorg", False)]
)
def test_schedules(schedule: str, stays: bool) -> None:
    pool = nodepool()
    pool["spec"]["disruption"]["budgets"] = [{"nodes": "1", "schedule": schedule, "duration": "1h"}]
    (budget,) = left(pool)["spec"]["disruption"]["budgets"]
    assert ("schedule" in budget) is stays
