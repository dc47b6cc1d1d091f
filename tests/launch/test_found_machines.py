"""A launch that finds a machine of its name: the NodeClaim is what that machine is, whatever it would have chosen by itself."""

from __future__ import annotations

from typing import Any

import pytest

from harness.karpenter.lifecycle.instance_provider import Instance
from harness.testing import nodeclass, requirement
from harness.world import World

SIZE, ZONE, KIND = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "karpenter.sh/capacity-type"


def claim(**wanted: list[str]) -> dict[str, Any]:
    """A NodeClaim that is always called the same."""
    keys = {"sizes": SIZE, "zones": ZONE, "kinds": KIND, "modes": "kubernetes.azure.com/mode"}
    requirements = [requirement(keys[name], *values) for name, values in wanted.items()]
    ref = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    labels = {"karpenter.sh/nodepool": "default"}
    return {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodeClaim",
        "metadata": {"name": "x", "uid": "u", "labels": labels},
        "spec": {"nodeClassRef": ref, "requirements": requirements},
    }


def launched(world: World, asked: dict[str, Any]) -> Instance:
    going = world.karpenter.provider.create(asked)
    while True:
        try:
            next(going)
        except StopIteration as end:
            found: Instance = end.value
            return found


def place(instance: Instance) -> tuple[str | None, ...]:
    return tuple(instance.labels.get(key) for key in (SIZE, ZONE, KIND))


def nothing_yet(**inputs: Any) -> World:
    made = World(**inputs)
    made.apply(nodeclass())
    made.settle()
    return made


SIZES = ["Standard_D2s_v5", "Standard_D4s_v5"]


@pytest.mark.parametrize(
    ("release", "region", "first", "again"),
    [
        (
            "1.14.0",
            "eastus",
            ("Standard_D4s_v5", "eastus-2", "on-demand"),
            {"sizes": SIZES, "zones": ["eastus-1", "eastus-2"], "kinds": ["spot", "on-demand"]},
        ),
        (
            "1.14.0",
            "eastus",
            ("Standard_D4s_v5", "eastus-3", "spot"),
            {"sizes": SIZES, "kinds": ["on-demand", "spot"]},
        ),
        ("1.14.0", "westus", ("Standard_D4s_v5", "0", "on-demand"), {"sizes": SIZES}),
        ("1.10.2", "westus", ("Standard_D4s_v5", "", "on-demand"), {"sizes": SIZES}),
        ("1.14.0", "eastus", ("Standard_D4s_v5", "eastus-2", "on-demand"), {}),
    ],
)
def test_the_machine_that_is_there_counts(
    release: str, region: str, first: tuple[str, str, str], again: dict[str, list[str]]
) -> None:
    """As after a restart before the launch was written down (kaz pkg/providers/instance)."""
    world = nothing_yet(karpenter=release, region=region)
    made = launched(world, claim(sizes=[first[0]], zones=[first[1]], kinds=[first[2]]))
    assert place(made) == first
    assert place(launched(world, claim(**again))) == first
    assert len(world.cloud.vms()) == 1
    assert place(launched(nothing_yet(karpenter=release, region=region), claim(**again))) != first


def test_so_does_the_aks_machine_that_is_there() -> None:
    world = nothing_yet(karpenter="1.14.0", provision_mode="aksmachineapi")
    first = ("Standard_D4s_v5", "eastus-2", "on-demand")
    launched(world, claim(sizes=[first[0]], zones=[first[1]], kinds=[first[2]]))
    assert place(launched(world, claim(sizes=SIZES, kinds=["spot", "on-demand"]))) == first


def test_what_else_the_nodeclaim_asks_for_is_kept() -> None:
    world = nothing_yet(karpenter="1.14.0")
    asked = claim(sizes=[SIZES[0]], modes=["system"])
    for _ in range(2):
        assert launched(world, asked).labels["kubernetes.azure.com/mode"] == "system"
