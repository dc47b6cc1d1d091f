"""Repairs that wait, because too many Nodes are unhealthy: who hears of it, and when they are looked at again."""

import pytest

from harness.testing import node, nodeclaim, pod, requirement
from tests.disruption.test_world import MINUTE, messages, pool, world


@pytest.mark.parametrize("left", [True, False])
def test_who_hears_of_repairs_that_wait(left: bool):
    """Of a NodeClaim without a NodePool too, but not of one whose NodePool is gone (core pkg/controllers/node/health/controller.go)."""
    size = requirement("node.kubernetes.io/instance-type", "Standard_D2s_v5")
    made = [nodeclaim(size, requirement("karpenter.sh/capacity-type", "on-demand"), name=name) for name in ("a", "b")]
    if not left:
        for each in made:
            each["metadata"]["labels"] = {"karpenter.sh/nodepool": "gone"}
    of = world(*made, options={"feature_gates": {"NodeRepair": "true"}})
    assert len(of.list("Node")) == 2
    for each in of.list("Node"):
        machine = each["spec"]["providerID"].removeprefix("azure://")
        of.cloud.request("POST", f"{machine}/powerOff", query={"api-version": "2025-04-01"})
    of.advance(13 * MINUTE)
    assert messages(of, "NodeRepairBlocked") == (
        {"more then 20% nodes are unhealthy in the cluster"} if left else set()
    )


@pytest.mark.parametrize(("release", "repaired"), [("1.14.0", True), ("next", False)])
def test_the_older_controller_acts_on_no_policy_that_names_no_action(release: str, repaired: bool):
    """Core pkg/controllers/node/legacyrepair/controller.go NewController; kaz pkg/cloudprovider/cloudprovider.go RepairPolicies."""
    options = {"feature_gates": {"NodeRepair": "true"}, **({} if repaired else {"legacy_node_repair": True})}
    of = world(pool(), pod("a", cpu="1"), karpenter=release, options=options)
    of.apply(*(node(f"own{number}", labels={"karpenter.sh/nodepool": "default"}) for number in range(5)))
    (claim,) = of.list("NodeClaim")
    machine = claim["status"]["providerID"].removeprefix("azure://")
    of.cloud.request("POST", f"{machine}/powerOff", query={"api-version": "2025-04-01"})
    of.advance(20 * MINUTE)
    there = {each["metadata"]["name"] for each in of.list("NodeClaim")}
    assert (claim["metadata"]["name"] not in there) is repaired


@pytest.mark.parametrize(("release", "left"), [("1.14.0", 0), ("1.6.5", 2)])
def test_a_repair_that_waits_looks_again_when_there_are_more_nodes(release: str, left: int):
    of = world(
        pool(),
        pod("a", cpu="5"),
        pod("b", cpu="5"),
        karpenter=release,
        options={"feature_gates": {"NodeRepair": "true"}},
    )
    for each in of.list("Node"):
        machine = each["spec"]["providerID"].removeprefix("azure://")
        of.cloud.request("POST", f"{machine}/powerOff", query={"api-version": "2025-04-01"})
    first = {each["metadata"]["name"] for each in of.list("NodeClaim")}
    assert len(first) == 2
    of.advance(13 * MINUTE)
    of.apply(*(node(f"own{number}", labels={"karpenter.sh/nodepool": "default"}) for number in range(10)))
    of.advance(6 * MINUTE)
    there = [each for each in of.list("NodeClaim") if "deletionTimestamp" not in each["metadata"]]
    assert len(first & {each["metadata"]["name"] for each in there}) == left
