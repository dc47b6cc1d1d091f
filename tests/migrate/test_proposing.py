"""What is proposed for agent pools: accepted by the release, nothing dropped without a row, nothing that the cluster has already."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from harness import World
from harness.explain.upgrade.verdicts import refusals_by
from harness.karpenter.releases import provider
from harness.migrate.agent_pools import ManagedCluster
from harness.migrate.proposing.nodepools import Demand
from harness.migrate.proposing.proposal import Plan, Proposal, proposed
from harness.migrate.proposing.rows import Verdict
from harness.migrate.proposing.sizes import spelled
from tests.migrate.pools import SUBNET, cluster, generated_pool, pool, read

RELEASES = ("1.6.6", "1.7.2", "1.10.2", "1.14.0", "next")


def propose(*pools: dict[str, Any], release: str = "1.14.0", plan: Plan | None = None, **of_cluster: Any) -> Proposal:
    world = World(karpenter=release, region="westeurope", **of_cluster.pop("world", {}))
    return proposed(world, read(cluster(*pools, **of_cluster)), plan or Plan())


def requirements(proposal: Proposal, name: str = "apps") -> dict[str, list[str]]:
    found = proposal.of(name)
    assert found is not None
    return {one["key"]: one["values"] for one in found.nodepool["spec"]["template"]["spec"]["requirements"]}


def row(proposal: Proposal, field: str) -> tuple[Verdict, str]:
    (found,) = [one for one in proposal.rows if one.field == field]
    return found.verdict, found.text


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_accepts_whatever_is_proposed_and_no_field_is_dropped(release: str) -> None:
    chance = random.Random(f"pools {release}")
    world = World(
        karpenter=release,
        region="westeurope",
        options={"feature_gates": {"StaticCapacity": "true"}} if release != "1.6.6" else {},
    )
    for number in range(60):
        pools = [generated_pool(chance, f"pool{index}") for index in range(chance.randint(1, 3))]
        plan = Plan(frozenset({"pool0"}), widen=chance.random() < 0.3, merge=chance.random() < 0.3)
        asked = read(cluster(*pools))
        found = proposed(world, asked, plan)
        for manifest in found.manifests:
            assert refusals_by(manifest, provider(release), world.kubernetes) == (), (release, number, manifest)
        names = [manifest["metadata"]["name"] for manifest in found.manifests if manifest["kind"] == "NodePool"]
        assert len(names) == len(set(names))
        assert "pool0" not in names
        for one in asked.pools:
            staying = any(each.pool.name == one.name for each in found.staying)
            told = {each.field.partition(".")[0] for each in found.rows if each.pool == one.name}
            assert staying or told >= one.properties.keys() - {"vmSize"}, one.properties.keys() - told


def test_a_pool_becomes_a_nodepool_of_exactly_its_machines() -> None:
    found = propose(
        pool(enableAutoScaling=True, minCount=1, maxCount=5, nodeLabels={"team": "a"}, nodeTaints=["t=a:NoSchedule"])
    )
    assert requirements(found) == {
        "kubernetes.io/arch": ["amd64"],
        "kubernetes.io/os": ["linux"],
        "node.kubernetes.io/instance-type": ["Standard_D4s_v5"],
        "karpenter.sh/capacity-type": ["on-demand"],
        "topology.kubernetes.io/zone": ["westeurope-1", "westeurope-2", "westeurope-3"],
    }
    (one,) = found.pools
    spec = one.nodepool["spec"]
    assert spec["limits"] == {"cpu": "20", "memory": "80Gi", "nodes": "5"}
    assert spec["template"]["metadata"]["labels"] == {"team": "a"}
    assert spec["template"]["spec"]["taints"] == [{"key": "t", "value": "a", "effect": "NoSchedule"}]
    assert spec["template"]["spec"]["expireAfter"] == "Never"


def test_a_limit_of_nodes_counts_only_where_the_release_counts_it() -> None:
    scales = pool(enableAutoScaling=True, minCount=0, maxCount=5)
    old, new = propose(scales, release="1.6.6"), propose(scales)
    assert "nodes" not in old.pools[0].nodepool["spec"]["limits"]
    assert "1.6.6 does not count nodes as a limit of dynamic NodePools" in row(old, "maxCount")[1]
    assert new.pools[0].nodepool["spec"]["limits"]["nodes"] == "5"
    assert "for a while there may be more" in row(new, "maxCount")[1]
    assert "limits" not in propose(pool(count=5)).pools[0].nodepool["spec"]


def test_a_minimum_is_a_static_nodepool_where_release_and_gate_allow_it() -> None:
    scales = pool(enableAutoScaling=True, minCount=2, maxCount=5)
    verdict, text = row(propose(scales, release="1.6.6"), "minCount")
    assert (verdict, text) == (Verdict.NO_EQUIVALENT, "empty machines are not kept: 1.6.6 has no static NodePools")
    assert "feature gate StaticCapacity is closed" in row(propose(scales), "minCount")[1]
    found = propose(scales, world={"options": {"feature_gates": {"StaticCapacity": "true"}}})
    (one,) = found.pools
    assert one.static is not None
    assert (one.static["metadata"]["name"], one.static["spec"]["replicas"]) == ("apps-min", 2)
    assert one.nodepool["spec"]["limits"]["nodes"] == "3"


GATE: Mapping[str, Any] = {"options": {"feature_gates": {"StaticCapacity": "true"}}}


def test_a_minimum_that_is_the_maximum_is_a_static_nodepool_alone() -> None:
    scales = pool(enableAutoScaling=True, minCount=3, maxCount=3)
    found = propose(scales, world=dict(GATE))
    (proposed_pool,) = found.pools
    assert [manifest["kind"] for manifest in proposed_pool.manifests] == ["AKSNodeClass", "NodePool"]
    assert (proposed_pool.name, proposed_pool.nodepool["spec"]["replicas"]) == ("apps", 3)
    assert "limits" not in proposed_pool.nodepool["spec"]
    assert row(found, "minCount") == (Verdict.MAPPED, "the static NodePool apps of 3 machines")
    assert row(found, "maxCount")[1] == "the static NodePool has 3 machines, as many as there may be"


def test_joined_minimums_are_one_static_nodepool_and_each_row_names_it() -> None:
    pools = [
        pool(name, vmSize=size, enableAutoScaling=True, minCount=least, maxCount=5)
        for name, size, least in (("a", "Standard_D4s_v5", 1), ("b", "Standard_D8s_v5", 2))
    ]
    plan = Plan(frozenset({"a-min"}), merge=True)
    (joined,) = propose(*pools, plan=plan, world=dict(GATE)).pools
    assert joined.static is not None
    assert (joined.static["metadata"]["name"], joined.static["spec"]["replicas"]) == ("a-min-nap", 3)
    assert joined.nodepool["spec"]["limits"]["nodes"] == "7"
    texts = {one.text for one in propose(*pools, plan=plan, world=dict(GATE)).rows if one.field == "minCount"}
    assert texts == {"the static NodePool a-min-nap of 3 machines"}


def test_spot_falls_back_and_keeps_its_taint() -> None:
    spot = pool(
        scaleSetPriority="Spot",
        spotMaxPrice=0.5,
        scaleSetEvictionPolicy="Deallocate",
        nodeLabels={"kubernetes.azure.com/scalesetpriority": "spot"},
        nodeTaints=["kubernetes.azure.com/scalesetpriority=spot:NoSchedule"],
    )
    found = propose(spot)
    assert requirements(found)["karpenter.sh/capacity-type"] == ["spot", "on-demand"]
    template = found.pools[0].nodepool["spec"]["template"]
    assert template["spec"]["taints"][0]["key"] == "kubernetes.azure.com/scalesetpriority"
    assert "metadata" not in template
    assert row(found, "nodeLabels.kubernetes.azure.com/scalesetpriority")[0] is Verdict.NO_EFFECT
    assert row(found, "spotMaxPrice")[0] is Verdict.NO_EQUIVALENT
    assert row(found, "scaleSetEvictionPolicy")[0] is Verdict.NO_EQUIVALENT
    assert row(propose({**spot, "spotMaxPrice": -1.0}), "spotMaxPrice")[0] is Verdict.NO_EFFECT


def test_machines_are_what_they_were_as_far_as_the_release_knows() -> None:
    regulated = pool(
        enableFIPS=True,
        enableEncryptionAtHost=True,
        vnetSubnetID=SUBNET,
        maxPods=60,
        osDiskSizeGB=64,
        tags={"cost": "a"},
        kubeletConfig={"cpuCfsQuota": False, "containerLogMaxSizeMB": 20, "podMaxPids": 100},
        linuxOSConfig={"sysctls": {"netIpv4TcpFinTimeout": 30}},
        securityProfile={"enableVTPM": True},
    )
    assert propose(regulated).pools[0].nodeclass["spec"] == {
        "imageFamily": "Ubuntu",
        "fipsMode": "FIPS",
        "security": {"encryptionAtHost": True},
        "vnetSubnetID": SUBNET,
        "maxPods": 60,
        "osDiskSizeGB": 64,
        "tags": {"cost": "a"},
        "kubelet": {"cpuCFSQuota": False, "containerLogMaxSize": "20Mi", "podPidsLimit": 100},
        "linuxOSConfig": {"sysctls": {"netIPv4TCPFinTimeout": 30}},
    }
    verdict, text = row(propose(regulated), "securityProfile.enableVTPM")
    assert (verdict, text) == (
        Verdict.NO_EQUIVALENT,
        "1.14.0 has no spec.security.trustedLaunch.vtpm, which no release has so far, only the provider's main branch",
    )
    assert row(propose(regulated, release="next"), "securityProfile.enableVTPM")[0] is Verdict.MAPPED
    text = row(propose(regulated, release="1.7.2"), "linuxOSConfig.sysctls.netIpv4TcpFinTimeout")[1]
    assert text == "1.7.2 has no spec.linuxOSConfig.sysctls.netIPv4TCPFinTimeout, which there is since 1.10.0"


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"mode": "System"}, "a system pool"),
        ({"osType": "Windows", "osSKU": "Windows2022"}, "the provider makes Linux Nodes only"),
        ({"osSKU": "Flatcar"}, "has no images of Flatcar"),
        ({"vmSize": "Standard_DC4as_v5"}, "confidential sizes"),
        ({"vmSize": "Standard_B1s"}, "sizes that AKS does not allow"),
        ({"vmSize": "Standard_Nonsense"}, "does not sell Standard_Nonsense"),
    ],
)
def test_some_pools_stay(properties: Mapping[str, Any], why: str) -> None:
    found = propose(pool(**properties))
    assert found.pools == ()
    assert why in found.staying[0].why


def test_a_name_of_the_cluster_is_not_taken_again() -> None:
    found = propose(pool("apps"), plan=Plan(frozenset({"apps", "apps-nap"})))
    assert found.pools[0].name == "apps-nap3"
    assert found.pools[0].nodepool["spec"]["template"]["spec"]["nodeClassRef"]["name"] == "apps-nap3"


def test_widened_pools_hold_the_largest_pod() -> None:
    plan = Plan(widen=True, demands={"apps": Demand(6, 20000)})
    asked = requirements(propose(pool(), plan=plan))
    assert "node.kubernetes.io/instance-type" not in asked
    assert (asked["karpenter.azure.com/sku-family"], asked["karpenter.azure.com/sku-cpu"]) == (["D"], ["5"])
    assert asked["karpenter.azure.com/sku-memory"] == ["19999"]


def test_joined_pools_hold_the_largest_pod_of_each() -> None:
    plan = Plan(widen=True, merge=True, demands={"a": Demand(2, 30000), "b": Demand(6, 1000)})
    asked = requirements(propose(pool("a"), pool("b", vmSize="Standard_D8s_v5"), plan=plan), "b")
    assert (asked["karpenter.azure.com/sku-cpu"], asked["karpenter.azure.com/sku-memory"]) == (["5"], ["29999"])


def test_a_widened_pool_tells_how_many_sizes_at_which_prices() -> None:
    found = propose(pool(), plan=Plan(widen=True, demands={"apps": Demand(2, 4096)}))
    widening = found.pools[0].widening
    assert widening is not None
    assert widening.lowest is not None
    assert widening.highest is not None
    assert widening.count > 100
    own = dict(widening.exact)["Standard_D4s_v5"]
    assert own is not None
    assert widening.lowest[1] < own < widening.highest[1]
    assert f"{widening.count} sizes from " in row(found, "vmSize")[1]
    assert "Standard_D4s_v5 costs 0." in row(found, "vmSize")[1]
    assert propose(pool()).pools[0].widening is None


def test_sizes_in_another_letter_case_are_sold() -> None:
    world = World(region="westeurope")
    machines = {"scale": {"manual": [{"size": "STANDARD_e4S_V5", "count": 1}]}}
    asked = read(cluster(pool(vmSize="standard_d4s_V5"), pool("b", vmSize=None, virtualMachinesProfile=machines)))
    found = proposed(world, spelled(world, asked), Plan())
    assert requirements(found)["node.kubernetes.io/instance-type"] == ["Standard_D4s_v5"]
    assert requirements(found, "b")["node.kubernetes.io/instance-type"] == ["Standard_E4s_v5"]


def test_what_is_taken_out_again_is_not_said_to_be_carried_over() -> None:
    odd = {
        "nodeLabels": {"team": "a", "bad_/x": "1"},
        "nodeTaints": ["team=a:NoSchedule", "not a key=x:NoSchedule"],
        "nodeInitializationTaints": ["not/a/key:NoSchedule"],
    }
    found = propose(
        pool("a", **odd),
        pool("b", vmSize="Standard_D8s_v5", **odd),
        plan=Plan(merge=True),
        autoScalerProfile={"scaleDownUnneededTime": "ten minutes"},
    )
    (joined,) = found.pools
    template = joined.nodepool["spec"]["template"]
    assert template["metadata"]["labels"] == {"team": "a"}
    assert [taint["key"] for taint in template["spec"]["taints"]] == ["team"]
    assert not template["spec"].get("startupTaints")
    for name in ("a", "b"):
        rows = {(one.field, one.value): one.verdict for one in found.rows if one.pool == name}
        assert rows["nodeLabels.team", "a"] is rows["nodeTaints", "team=a:NoSchedule"] is Verdict.MAPPED
        for lost in (
            ("nodeLabels.bad_/x", "1"),
            ("nodeTaints", "not a key=x:NoSchedule"),
            ("nodeInitializationTaints", "not/a/key:NoSchedule"),
        ):
            assert rows[lost] is Verdict.NO_EQUIVALENT, lost
    assert row(found, "scale-down-unneeded-time")[0] is Verdict.NO_EQUIVALENT


def test_a_name_that_kubernetes_refuses_is_written_as_it_takes_it() -> None:
    odd = replace(read(cluster(pool())).pools[0], name="Apps_1.", source="Nodes")
    found = proposed(World(region="westeurope"), ManagedCluster((odd,)), Plan())
    assert found.pools[0].name == "apps-1"
    assert refusals_by(found.pools[0].nodepool, provider("1.14.0"), "1.34.0") == ()


def test_pools_that_differ_in_size_and_zone_are_joined_when_asked() -> None:
    pools = [
        pool("a", availabilityZones=["1"], enableAutoScaling=True, minCount=0, maxCount=3),
        pool("b", availabilityZones=["2"], vmSize="Standard_D8s_v5", enableAutoScaling=True, minCount=0, maxCount=2),
        pool("c", availabilityZones=["2"], nodeLabels={"team": "x"}),
    ]
    assert len(propose(*pools).pools) == 3
    found = propose(*pools, plan=Plan(merge=True))
    assert [[one.name for one in each.pools] for each in found.pools] == [["a", "b"], ["c"]]
    asked = requirements(found, "b")
    assert asked["node.kubernetes.io/instance-type"] == ["Standard_D4s_v5", "Standard_D8s_v5"]
    assert asked["topology.kubernetes.io/zone"] == ["westeurope-1", "westeurope-2"]
    assert found.pools[0].nodepool["spec"]["limits"]["nodes"] == "5"


def test_the_autoscalers_profile_becomes_disruption_settings() -> None:
    scales = pool(enableAutoScaling=True, minCount=0, maxCount=5)
    profile = {
        "scaleDownUnneededTime": "20m",
        "maxEmptyBulkDelete": "4",
        "expander": "priority",
        "scanInterval": "10s",
        "odd": "1",
    }
    found = propose(scales, autoScalerProfile=profile)
    assert found.pools[0].nodepool["spec"]["disruption"] == {
        "consolidationPolicy": "WhenEmptyOrUnderutilized",
        "consolidateAfter": "20m",
        "budgets": [{"nodes": "4", "reasons": ["Empty"]}, {"nodes": "10%", "reasons": ["Underutilized", "Drifted"]}],
    }
    assert row(found, "expander")[0] is Verdict.NO_EQUIVALENT
    assert row(found, "scan-interval")[0] is Verdict.NO_EFFECT
    assert row(found, "odd")[0] is Verdict.UNKNOWN
    never = propose(scales, autoScalerProfile={"scaleDownUtilizationThreshold": "0"})
    assert never.pools[0].nodepool["spec"]["disruption"]["consolidationPolicy"] == "WhenEmpty"


@pytest.mark.parametrize(
    ("size", "disk", "kind", "verdict"),
    [
        ("Standard_D4ds_v5", 128, "Ephemeral", Verdict.MAPPED),
        ("Standard_D4ds_v5", 128, "Managed", Verdict.NO_EQUIVALENT),
        ("Standard_D4s_v5", 128, "Managed", Verdict.MAPPED),
        ("Standard_D4ds_v5", 512, "Ephemeral", Verdict.NO_EQUIVALENT),
    ],
)
def test_the_kind_of_disk_follows_from_the_size(size: str, disk: int, kind: str, verdict: Verdict) -> None:
    found = propose(pool(vmSize=size, osDiskSizeGB=disk, osDiskType=kind))
    assert row(found, "osDiskType")[0] is verdict
