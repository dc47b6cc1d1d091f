"""What Karpenter reckons that AKS reserves, at every bound of its brackets.

Expected values: Go's result of the formula in kaz ``pkg/providers/instancetype/instancetype.go`` KubeReservedResources. It
adds binary fractions, so that 120 and 176 cores come out one millicore below what AKS reserves.
"""

import pytest

from harness.explain.labels.probes import default_objects
from harness.karpenter.cloudprovider import Overhead, allocatable_of
from harness.karpenter.instancetypes.resources import overhead
from harness.kube.api.resources import parse_list, render
from harness.world import World


@pytest.mark.parametrize(
    ("vcpus", "millicores"),
    [
        *((1, 60), (2, 100), (3, 120), (4, 140), (5, 150), (6, 160), (8, 180), (12, 220), (16, 260), (20, 300)),
        *((32, 420), (48, 580), (64, 740), (96, 1060), (104, 1140), (120, 1299), (128, 1380), (176, 1859), (832, 8420)),
    ],
)
def test_reserved_cpu(vcpus: int, millicores: int) -> None:
    found = render(overhead(vcpus, 8.0).kube_reserved)["cpu"]
    assert found == (f"{millicores}m" if millicores % 1000 else str(millicores // 1000))


@pytest.mark.parametrize(
    ("gib", "mebibytes"),
    [
        (2, 512),
        (3.5, 896),
        (4, 1024),
        (6, 1433),
        (8, 1843),
        (12, 2252),
        (16, 2662),
        (32, 3645),
        (128, 9543),
        (256, 12165),
    ],
)
def test_reserved_memory(gib: float, mebibytes: int) -> None:
    found = render(overhead(2, gib).kube_reserved)["memory"]
    assert found == (f"{mebibytes}Mi" if mebibytes % 1024 else f"{mebibytes // 1024}Gi")


def test_what_a_size_has_left_follows_its_nodeclass() -> None:
    """It is kept for NodeClasses with the same disk and as many pods."""
    nodeclass, _ = default_objects()
    types = World().instance_types
    specs = [{"osDiskSizeGB": disk, "maxPods": pods} for disk in (128, 256) for pods in (30, 110) for _ in "ab"]
    lists = [types.list({**nodeclass, "spec": spec | {"tags": {"n": str(n)}}}).types for n, spec in enumerate(specs)]
    for spec, found in zip(specs, lists, strict=True):
        for each in found[::50]:
            assert each.allocatable == allocatable_of(each.capacity, each.overhead)
            left = render(each.allocatable)
            assert (left["ephemeral-storage"], left["pods"]) == (f"{spec['osDiskSizeGB']}G", str(spec["maxPods"]))


@pytest.mark.parametrize(
    ("pages", "memory"),
    [
        ({}, "3Gi"),
        ({"hugepages-2Mi": "1Gi"}, "2Gi"),
        ({"hugepages-2Mi": "1Gi", "hugepages-1Gi": "1Gi"}, "1Gi"),
        ({"hugepages-1Gi": "3Gi"}, "0"),
        ({"hugepages-1Gi": "4Gi"}, "0"),
        ({"hugepages-1Gi": "4Gi", "hugepages-2Mi": "8Gi"}, "0"),
    ],
)
def test_huge_pages_take_memory_and_leave_none_of_less_than_nothing(pages: dict[str, str], memory: str) -> None:
    """Core pkg/cloudprovider/types.go."""
    capacity = parse_list({"cpu": "2", "memory": "4Gi", **pages})
    reserved = Overhead(kube_reserved=parse_list({"memory": "1Gi"}))
    assert render(allocatable_of(capacity, reserved)) == {"cpu": "2", "memory": memory, **pages}


def test_a_size_of_huge_pages_without_memory_has_no_memory() -> None:
    """Core pkg/cloudprovider/types.go, computeAllocatable: what is missing is nothing, whatever is taken from it."""
    for pages in ("0", "1Gi"):
        left = allocatable_of(parse_list({"hugepages-2Mi": pages}), Overhead())
        assert render(left) == {"hugepages-2Mi": pages, "memory": "0"}
        assert left["memory"].nano == 0
