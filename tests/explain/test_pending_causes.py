"""Why a pod has no Node is told in the words of who stood in the way, and never made up."""

from typing import Any

import pytest

from harness import World
from harness.explain.pods.causes import pending_cause
from harness.testing import nodeclass, nodepool, pod, requirement

FOREIGN = "/subscriptions/s/resourceGroups/net/providers/Microsoft.Network/virtualNetworks/own/subnets/nodes"
NEWER = requirement("karpenter.azure.com/sku-version", "3", operator="Gt")

CAUSES: list[tuple[str, dict[str, Any], list[dict[str, Any]], str]] = [
    (
        "Karpenter",
        {},
        [nodeclass(), nodepool(requirement("team", "red")), pod(nodeSelector={"team": "blue"})],
        "incompatible",
    ),
    (
        "the API server",
        {"karpenter": "1.10.0", "crds": "1.7.2"},
        [nodeclass(), nodepool(NEWER), pod()],
        'Unsupported value: "Gte"',
    ),
    ("the AKSNodeClass", {}, [nodeclass(vnetSubnetID=FOREIGN), nodepool(), pod()], "vnetSubnetID does not match"),
    ("the AKSNodeClass that is not there", {}, [nodepool(), pod()], "NodeClass not found on cluster"),
    ("kube-scheduler", {}, [pod()], "no nodes available to schedule pods"),
]


@pytest.mark.parametrize(("inputs", "objects", "cause"), [one[1:] for one in CAUSES], ids=[one[0] for one in CAUSES])
def test_the_cause_is_that_of_who_refuses(inputs: dict[str, Any], objects: list[dict[str, Any]], cause: str) -> None:
    world = World(**inputs)
    world.apply(*objects)
    world.settle(allow_rejections=True)
    assert cause in pending_cause(world, "web")


def test_that_nobody_says_why_is_said() -> None:
    assert pending_cause(World(), "web") == "nobody says why: no event, no refusal and no line of a log"
