"""Topology spread, pod affinity and anti-affinity, volumes' zones, and giving preferences up one by one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from harness.karpenter.scheduling import ClusterSnapshot, SchedulingOptions, SchedulingResults
from harness.karpenter.scheduling.pods.volumes import VolumeLookup
from harness.kube.api.selectors import format_selector
from tests.scheduling.workload import (
    CAPACITY,
    HOST,
    ZONE,
    affinity,
    error,
    groups,
    need,
    node,
    nodepool,
    pod,
    run,
    spread,
)

IGNORE = SchedulingOptions(preference_policy="Ignore")


def zones(results: SchedulingResults) -> Counter[str]:
    """Pods per zone of the new NodeClaims; ``*`` where it is open."""
    found: Counter[str] = Counter()
    for claim in results.nodeclaims:
        requirement = claim.requirements.get(ZONE)
        found["*" if requirement.complement else " ".join(sorted(requirement.values))] += len(claim.pods)
    return found


def web(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [pod(f"web-{number}", labels={"app": "web"}, **fields) for number in range(count)]


def test_spread_over_zones() -> None:
    results = run(web(5, topologySpreadConstraints=[spread(ZONE, "web")]))
    assert zones(results) == {"z1": 2, "z2": 2, "z3": 1}


def test_spread_counts_pods_that_run() -> None:
    running = [pod(f"old-{n}", labels={"app": "web"}, on="n1") for n in range(2)]
    results = run([*running, *web(4, topologySpreadConstraints=[spread(ZONE, "web")])], nodes=[node("n1", "0")])
    assert zones(results) == {"z2": 2, "z3": 2}


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (spread(ZONE, "web", skew=2), [2, 2]),
        (spread(ZONE, "web", matchLabelKeys=["app"]), [1, 1, 2]),
        (spread(ZONE, "web", minDomains=4), [1, 1, 1]),
        (spread(ZONE, "nobody"), [4]),
    ],
)
def test_spread_options(constraint: dict[str, Any], expected: list[int]) -> None:
    assert sorted(zones(run(web(4, topologySpreadConstraints=[constraint]))).values()) == expected


def test_spread_over_hosts_and_capacity_types() -> None:
    hosts = run(web(3, topologySpreadConstraints=[spread(HOST, "web")]))
    assert groups(hosts) == [["web-0"], ["web-1"], ["web-2"]]
    both = run(web(4, topologySpreadConstraints=[spread(CAPACITY, "web")]))
    assert Counter(next(iter(c.requirements.get(CAPACITY).values)) for c in both.nodeclaims) == {
        "on-demand": 1,
        "spot": 1,
    }


def test_a_node_selector_narrows_the_domains_of_a_spread() -> None:
    selected = run(web(3, topologySpreadConstraints=[spread(ZONE, "web")], nodeSelector={ZONE: "z2"}))
    assert zones(selected) == {"z2": 3}


@pytest.mark.parametrize(("policy", "scheduled"), [("Honor", {"z1": 2, "z2": 2}), ("Ignore", {"z1": 1, "z2": 1})])
def test_taints_of_nodepools_and_domains(policy: str, scheduled: dict[str, int]) -> None:
    """A zone that only a tainted NodePool has is a domain only when taints are ignored."""
    tainted = nodepool("t", requirements=[need(ZONE, "In", "z3")], taints=[{"key": "t", "effect": "NoSchedule"}])
    open_pool = nodepool("o", requirements=[need(ZONE, "In", "z1", "z2")])
    constraint = spread(ZONE, "web", nodeTaintsPolicy=policy)
    results = run(web(4, topologySpreadConstraints=[constraint]), [tainted, open_pool])
    assert zones(results) == scheduled
    assert len(results.errors) == 4 - sum(scheduled.values())


def test_anti_affinity_between_hosts_and_zones() -> None:
    hosts = run(web(3, **affinity("podAntiAffinity", HOST, "web")))
    assert groups(hosts) == [["web-0"], ["web-1"], ["web-2"]]
    by_zone = run(web(4, nodeSelector={ZONE: "z1"}, **affinity("podAntiAffinity", ZONE, "web")))
    assert len(by_zone.nodeclaims) == 1
    text = error(by_zone, "web-1") or ""
    assert text.startswith(f"unsatisfiable topology constraint for pod anti-affinity, key={ZONE} (counts = z1: ")


def test_anti_affinity_without_a_fixed_zone_blocks_all_zones() -> None:
    results = run(web(2, **affinity("podAntiAffinity", ZONE, "web")))
    assert len(results.nodeclaims) == 1
    assert len(results.errors) == 1


def test_running_pods_repel_others() -> None:
    guard = pod("guard", labels={"app": "db"}, on="n1", **affinity("podAntiAffinity", HOST, "web"))
    results = run([guard, *web(1)], nodes=[node("n1")])
    assert results.existing == {}
    assert groups(results) == [["web-0"]]


def test_affinity_brings_pods_together() -> None:
    results = run(web(3, cpu="3", **affinity("podAffinity", HOST, "web")))
    assert groups(results) == [["web-0", "web-1"]]
    assert list(results.errors) == ["default/web-2"]
    zonal = run(web(6, cpu="3", **affinity("podAffinity", ZONE, "web")))
    assert (zones(zonal), zonal.errors) == ({"z1": 6}, {})


def test_affinity_to_pods_that_come_later_in_the_queue() -> None:
    follower = pod("follower", "2", **affinity("podAffinity", ZONE, "leader"))
    leader = pod("leader", "1", labels={"app": "leader"}, nodeSelector={ZONE: "z3"})
    results = run([follower, leader])
    assert results.errors == {}
    assert zones(results) == {"z3": 2}


def test_affinity_to_nobody() -> None:
    results = run([pod("a", **affinity("podAffinity", ZONE, "nobody"))])
    assert (error(results, "a") or "").startswith("unsatisfiable topology constraint for pod affinity")


def test_other_namespaces() -> None:
    term = {"topologyKey": HOST, "labelSelector": {"matchLabels": {"app": "web"}}, "namespaceSelector": {}}
    wants = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    spaces = [{"metadata": {"name": name}} for name in ("default", "other")]
    stranger = pod("web", labels={"app": "web"})
    stranger["metadata"]["namespace"] = "other"
    assert len(run([stranger, pod("a", affinity=wants)], namespaces=spaces).nodeclaims) == 2
    near = {**term, "namespaceSelector": None}
    alone = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [near]}}
    assert len(run([stranger, pod("a", affinity=alone)], namespaces=spaces).nodeclaims) == 1


def test_preferences_are_kept_while_they_can_be() -> None:
    preferred = affinity("podAntiAffinity", HOST, "web", preferred=True)
    assert groups(run(web(2, **preferred))) == [["web-0"], ["web-1"]]
    assert groups(run(web(2, **preferred), options=IGNORE)) == [["web-0", "web-1"]]
    limited = nodepool(limits={"cpu": "8"})
    assert groups(run(web(2, **preferred), [limited])) == [["web-0", "web-1"]]


def test_preferences_go_one_by_one() -> None:
    """First the alternatives of the required terms, then pod affinities, node affinities by weight, spread."""
    nodes = {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [
                {"matchExpressions": [need(ZONE, "In", "nowhere")]},
                {"matchExpressions": [need(ZONE, "In", "z2", "z3")]},
            ]
        },
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 5, "preference": {"matchExpressions": [need(ZONE, "In", "z3")]}},
            {"weight": 50, "preference": {"matchExpressions": [need("foo", "Exists")]}},
        ],
    }
    assert zones(run([pod("a", affinity={"nodeAffinity": nodes})])) == {"z3": 1}
    anyway = spread(ZONE, "web", when="ScheduleAnyway")
    assert zones(run(web(2, topologySpreadConstraints=[anyway], nodeSelector={ZONE: "z1"}))) == {"z1": 2}


def volume_objects(**spec: Any) -> dict[str, Any]:
    claim = {
        "metadata": {"name": "data", "namespace": "default", "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": spec,
    }

    def term(zone: str) -> dict[str, Any]:
        return {"matchExpressions": [need("topology.disk.csi.azure.com/zone", "In", zone)]}

    volume = {
        "metadata": {"name": "pv"},
        "spec": {
            "csi": {"driver": "disk.csi.azure.com"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term("nowhere"), term("z2")]}},
        },
    }
    allowed = [{"matchLabelExpressions": [{"key": ZONE, "values": ["z3"]}]}]
    storage_class = {
        "metadata": {"name": "sc"},
        "provisioner": "disk.csi.azure.com",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": allowed,
    }
    return {"pvcs": [claim], "pvs": [volume], "storageclasses": [storage_class]}


MOUNTED = [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]


@pytest.mark.parametrize(("spec", "zone"), [({"volumeName": "pv"}, "z2"), ({"storageClassName": "sc"}, "z3")])
def test_volumes_decide_the_zone(spec: dict[str, str], zone: str) -> None:
    assert zones(run([pod("a", volumes=MOUNTED)], **volume_objects(**spec))) == {zone: 1}


@pytest.mark.parametrize(
    ("source", "driver"),
    [
        ({"csi": {"driver": "d"}}, "d"),
        ({"awsElasticBlockStore": {"volumeID": "v"}}, "ebs.csi.aws.com"),
        ({"nfs": {}}, ""),
    ],
)
def test_the_driver_of_a_volume(source: dict[str, Any], driver: str) -> None:
    """Core ``pkg/scheduling/volumeusage.go`` driverFromVolume."""
    claim = {"metadata": {"name": "c"}, "spec": {"volumeName": "pv"}}
    lookup = VolumeLookup(ClusterSnapshot(pvcs=[claim], pvs=[{"metadata": {"name": "pv"}, "spec": source}]))
    assert lookup.driver(claim) == driver


def test_attach_limits_of_nodes() -> None:
    made, claim = node("n1", zone="z3")
    csi = {
        "metadata": {"name": "n1"},
        "spec": {"drivers": [{"name": "disk.csi.azure.com", "allocatable": {"count": 0}}]},
    }
    objects = volume_objects(storageClassName="sc")
    assert list(run([pod("a", volumes=MOUNTED)], nodes=[[made, claim]], **objects).existing) == ["n1"]
    full = run([pod("a", volumes=MOUNTED)], nodes=[[made, claim]], csinodes=[csi], **objects)
    assert (full.existing, zones(full)) == ({}, {"z3": 1})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"storageClassName": "none"}, "failed to validate pvc, failed to get storage class, "),
        ({}, "unbound pvc must define a storage class (PersistentVolumeClaim=default/data, StorageClass=)"),
        ({"volumeName": "lost"}, 'failed to validate pvc, PersistentVolume "lost" not found (PersistentVolume=lost, '),
    ],
)
def test_claims_that_cannot_be_used(change: dict[str, str], sentence: str) -> None:
    results = run([pod("a", volumes=MOUNTED)], **volume_objects(**change))
    assert results.ignored["default/a"].startswith(sentence)


@pytest.mark.parametrize(
    ("selector", "text"),
    [
        ({"matchLabels": {"b": "2", "a": "1"}}, "a=1,b=2"),
        ({"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["y", "x"]}]}, "a notin (x,y)"),
        ({}, "<none>"),
        ({"matchExpressions": [{"key": "a", "operator": "Near"}]}, "<error>"),
    ],
)
def test_selectors_read_as_kubectl_prints_them(selector: dict[str, Any], text: str) -> None:
    assert format_selector(selector) == text
