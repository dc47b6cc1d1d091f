"""What AKS reserves on a Node that it boots itself, beside what Karpenter reckoned for it."""

import pytest

from harness.kube.api.quantity import Quantity
from harness.testing import nodeclass, nodepool, pod, requirement
from harness.world import World


@pytest.mark.parametrize(
    ("kubernetes", "size", "cpu", "memory_mib"),
    [
        ("1.34.0", "Standard_D48as_v5", "580m", 250 * 20 + 50 + 100),
        ("1.34.0", "Standard_D96as_v5", "1060m", 250 * 20 + 50 + 100),
        ("1.28.15", "Standard_D48as_v5", "580m", 10854 + 750),
    ],
)
def test_an_aks_machine(kubernetes: str, size: str, cpu: str, memory_mib: int) -> None:
    world = World(karpenter="1.14.0", provision_mode="aksmachineapi", kubernetes=kubernetes)
    world.apply(nodeclass(), nodepool(requirement("node.kubernetes.io/instance-type", size)), pod("p1"))
    world.settle()
    status = world.list("Node")[0]["status"]
    total, left = status["capacity"], status["allocatable"]
    assert Quantity.parse(total["cpu"]) - Quantity.parse(left["cpu"]) == Quantity.parse(cpu)
    taken = Quantity.parse(total["memory"]) - Quantity.parse(left["memory"])
    assert taken == Quantity.parse(f"{memory_mib}Mi")
