"""What a world does when Azure refuses: the same calls at the same times as the real controller made them."""

import copy

import pytest

from harness.testing import nodeclass, nodepool, pod, requirement
from tests.corridor.conftest import SMALL

ON_DEMAND = requirement("karpenter.sh/capacity-type", "on-demand")
REGION = "southcentralus"


def vm_puts(way) -> list[tuple[float, int, str | None]]:
    return [(at, status, code) for at, _, path, status, code in way.calls("PUT") if path.startswith("virtualMachines/")]


def faults(what: str, times: int = 1, **where: str) -> dict:
    return {"faults": [{"what": what, "where": {"size": "Standard_D2as_v6", **where}, "times": times}]}


def test_sku_not_available_tries_zonal_then_regional_then_the_next_size(walk):
    way = walk(nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION, azure=faults("SkuNotAvailable", 2))
    assert vm_puts(way) == [(1.101, 409, "SkuNotAvailable"), (2.126, 409, "SkuNotAvailable"), (3.151, 201, None)]
    assert way.node["metadata"]["labels"]["node.kubernetes.io/instance-type"] == "Standard_D2_v3"
    assert not way.world.cloud.unfired()


def test_overconstrained_zones_are_tried_one_after_the_other(walk):
    code = "OverconstrainedZonalAllocationRequest"
    way = walk(nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION, azure=faults(code, 2))
    assert vm_puts(way) == [(1.101, 409, code), (2.126, 409, code), (3.151, 201, None)]
    labels = way.node["metadata"]["labels"]
    assert labels["topology.kubernetes.io/zone"] == "0"
    assert labels["karpenter.azure.com/placement-scope"] == "regional"


def test_each_refusal_is_a_condition_in_karpenters_words(walk):
    way = walk(nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION, azure=faults("SkuNotAvailable", 2))
    messages = [
        condition["message"]
        for entry in way.world.journal
        if entry.key.kind == "NodeClaim" and entry.after is not None
        for condition in (entry.after.get("status") or {}).get("conditions") or ()
        if condition["type"] == "Launched" and condition["reason"] == "SKUNotAvailable"
    ]
    assert messages[-1] == (
        "the requested SKU is unavailable for instance type Standard_D2as_v6 in zone 0 with capacity type on-demand, "
        "for more details please visit: https://aka.ms/azureskunotavailable"
    )


def test_a_quota_of_nothing_makes_a_claim_every_ten_seconds_and_is_reported_as_a_circle(walk):
    way = walk(nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION, azure={"quota": {"cores": 0}})
    times = [at for at, status, _ in vm_puts(way) if status == 409]
    assert times[:4] == [1.101, 11.101, 21.101, 31.101]
    runaway = way.settled.runaway
    assert runaway is not None
    assert "regional on-demand vCPU quota limit for subscription has been reached" in str(runaway)
    claim = runaway.loops[0].made[0].removeprefix("NodeClaim/")
    assert way.messages("InsufficientCapacityError")[0] == (
        f"NodeClaim {claim} event: creating nodeclaim, creating instance failed, insufficient capacity, regional on-demand "
        "vCPU quota limit for subscription has been reached. To scale beyond this limit, please review the quota increase "
        "process here: https://learn.microsoft.com/en-us/azure/quotas/regional-quota-requests"
    )


def test_a_failure_at_the_end_deletes_the_claim_and_the_pod_gets_another(walk):
    azure = {"faults": [{"what": "AllocationFailed", "at": "end"}]}
    way = walk(nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION, azure=azure)
    assert way.messages("AsyncProvisioningError") == [
        "Failed to register: creating nodeclaim, unable to allocate resources with selected VM size (Standard_D2as_v6). "
        "(will try a different VM size to fulfill your request)"
    ]
    assert way.settled.quiescent
    assert len(way.world.vms()) == 1
    assert way.world.list("Pod")[0]["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("release", "minutes"), [("1.4.0", 15), ("1.5.2", 15), ("1.6.8", 15), ("1.7.2", 5), ("1.10.2", 5), ("1.14.0", 5)]
)
def test_a_claim_that_is_not_launched_goes_with_the_registration_timeout_until_core_1_7(walk, release, minutes):
    azure = {"faults": [{"what": "Strange", "message": "no", "status": 403, "times": "always"}]}
    way = walk(nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION, karpenter=release, azure=azure)
    first, second = way.settled.runaway.loops[:2]
    assert second.at - first.at == pytest.approx(minutes * 60 + 10, abs=1)


def test_a_size_with_a_small_cache_cannot_hold_the_disk_until_1_5_2(walk):
    """Before placements were chosen, Azure put the OS disk on the cache (32 GB), smaller than the resource disk that was compared."""
    asking = pod("p1", nodeSelector={"node.kubernetes.io/instance-type": "Standard_L4s"})
    made = {
        release: walk(nodeclass(), nodepool(ON_DEMAND), copy.deepcopy(asking), karpenter=release).settled.runaway
        for release in ("1.4.0", "1.5.1", "1.5.2", "1.14.0")
    }
    assert [release for release, runaway in made.items() if runaway is not None] == ["1.4.0", "1.5.1"]
    assert "DiffDiskPlacement is CacheDisk" in str(made["1.4.0"])
    larger = pod("p1", nodeSelector={"karpenter.azure.com/sku-gpu-name": "T4"})  # whose caches have room: 154 GB
    way = walk(nodeclass(), nodepool(ON_DEMAND), larger, karpenter="1.4.0")
    assert way.node["metadata"]["labels"]["karpenter.azure.com/sku-gpu-name"] == "T4"


def test_a_refusal_that_stays_is_retried_with_back_off_until_the_launch_times_out(walk):
    azure = {"faults": [{"what": "Strange", "message": "no", "status": 403, "times": "always"}]}
    way = walk(nodeclass(), nodepool(SMALL, ON_DEMAND), pod("p1"), region=REGION, azure=azure)
    times = [at for at, status, _ in vm_puts(way) if status == 403]
    # The first retry comes a second later because the condition changed, then 1, 2, 4 … seconds of back-off.
    assert times[:7] == [1.101, 2.126, 4.151, 8.176, 16.201, 32.226, 64.251]
    claims = [entry.key.name for entry in way.world.journal if entry.key.kind == "NodeClaim" and entry.verb == "create"]
    first = [at for at in times if at < 302]
    assert max(first) > 240
    assert len(claims) > 1


def test_a_pod_too_big_is_explained(walk):
    pool = nodepool(requirement("node.kubernetes.io/instance-type", "Standard_D2s_v3"))
    way = walk(nodeclass(), pool, pod("p1", cpu="3"), region=REGION)
    assert way.messages("FailedScheduling") == [
        "Failed to schedule pod, no instance type has enough resources, requirements=karpenter.azure.com/aksnodeclass In "
        "[default], karpenter.sh/initialized In [true], karpenter.sh/nodepool In [default], karpenter.sh/registered In "
        '[true], node.kubernetes.io/instance-type In [Standard_D2s_v3], resources={"cpu":"3","memory":"1Gi","pods":"1"}'
    ]
    assert not way.world.list("NodeClaim")
    assert way.calls("PUT") == []


def test_a_pool_without_types_is_explained(walk):
    pool = nodepool(requirement("node.kubernetes.io/instance-type", "Standard_Nonsense"))
    way = walk(nodeclass(), pool, pod("p1"), allow_rejections=True, region=REGION)
    assert way.messages("NoCompatibleInstanceTypes") == [
        "NodePool requirements filtered out all compatible available instance types"
    ]
    assert way.messages("FailedScheduling") == [
        "Failed to schedule pod, nodepool requirements filtered out all available instance types"
    ]
    assert [each.layer for each in way.world.rejections] == ["nodepool-filter"]
    assert way.settled.quiescent


def test_a_nodepool_without_its_nodeclass_is_not_used(walk):
    way = walk(nodepool(SMALL), pod("p1"))
    (pool,) = way.world.list("NodePool")
    ready = next(each for each in pool["status"]["conditions"] if each["type"] == "NodeClassReady")
    assert (ready["reason"], ready["message"]) == ("NodeClassNotFound", "NodeClass not found on cluster")
    assert not way.world.list("NodeClaim")
    assert way.settled.quiescent
