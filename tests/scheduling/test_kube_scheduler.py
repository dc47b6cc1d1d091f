"""Which node kube-scheduler chooses: our filters and scores against the answers of the real plugins (kube_scheduler.go)."""

from __future__ import annotations

from collections import Counter
from math import log
from typing import Any

import pytest

from harness.kube.api.labels import HOSTNAME, ZONE
from harness.kube.api.selectors import Selector
from harness.kube.api.versions import KNOWN, Version
from harness.kube.scheduling.filters import Filters
from harness.kube.scheduling.loads import load_of_incoming
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.scheduler import Unschedulable, schedule, scores
from harness.kube.scheduling.scores import allocation
from harness.kube.scheduling.soft_spread import (
    Neighbours,
    Place,
    SoftSpread,
    _rounded,
    owner_selector,
    sibling_selector,
)
from harness.testing import deployment, node, nodeclass, nodepool, pod
from harness.world import World
from tests.scheduling.kube_scheduler_cases import answer, recorded

WEB = Selector.parse({"matchLabels": {"app": "web"}})


def test_every_node_is_refused_or_scored_as_by_the_real_plugins() -> None:
    heard, versions = Counter[str](), Counter[Version]()
    for asked, said, version in recorded():
        assert answer(asked, version) == said
        versions[version] += 1
        heard["chosen"] += len(said["scores"]) > 1
        heard.update(reason for reasons in said["refused"].values() for reason in reasons)
        for index, plugin in enumerate(("taints", "affinity", "allocation", "spread", "together")):
            heard[plugin] += len({each[index] for each in said["scores"].values()}) > 1
    assert set(versions) == {Version(1, 35, 0), Version(1, 36, 3)}
    assert heard["chosen"] > 200
    assert all(heard[each] > 30 for each in ("taints", "affinity", "allocation", "spread", "together"))
    assert len(heard) >= 20  # reasons of nearly all plugins


def info(name: str, *pods: dict[str, Any], zone: str = "1", cpu: str = "4", memory: str = "8Gi") -> NodeInfo:
    made = node(name, cpu, memory, labels={HOSTNAME: name, ZONE: zone})
    return NodeInfo(made, pods)


def running(name: str, app: str = "web", **spec: Any) -> dict[str, Any]:
    return pod(name, "100m", "128Mi", labels={"app": app}, **spec)


def totals(
    asking: dict[str, Any], infos: list[NodeInfo], siblings: Selector | None, version: Version
) -> dict[str, Any]:
    return scores(Filters.for_pod(asking, infos), infos, infos, version, siblings)


def test_a_pod_without_constraints_keeps_away_from_its_siblings() -> None:
    infos = [info("a", running("one"), running("two")), info("b", running("three")), info("c", running("x", "other"))]
    found = totals(running("asking"), infos, WEB, KNOWN[1])
    # 2, 1 and 0 siblings by hostname, weight ln(3 + 2); 3 in the one zone, weight ln(1 + 2); maxSkew - 1 is 2 and 4:
    # 12.51, 10.91 and 9.30 are 13, 11 and 9, and of 13 + 9 the rest is 69, 84 and 100 hundredths of 13, twice
    assert [each.spread for each in found.values()] == [2 * 69, 2 * 84, 2 * 100]
    assert schedule(running("asking"), infos, siblings=WEB) == "c"
    assert {each.spread for each in totals(running("asking"), infos, None, KNOWN[1]).values()} == {0}


def test_what_a_pod_makes_of_the_balance_counts_since_1_36() -> None:
    asking = pod("asking", "2", "1Gi")
    infos = [info("even"), info("uneven", pod("there", "100m", "4Gi"))]
    older, newer = (totals(asking, infos, None, Version(1, minor)) for minor in (35, 36))
    # with the pod: CPU 50 % and memory 12.5 %, or 52.5 % and 62.5 %; without: 0 and 0, or 2.5 % and 50 %
    assert [each.allocation for each in older.values()] == [68 + 81, 42 + 95]
    assert [each.allocation for each in newer.values()] == [
        68 + 50 + (50 + 81 - 100) // 2,
        42 + 50 + (50 + 95 - 76) // 2,
    ]


def test_pods_that_run_wish_for_others() -> None:
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
    wish = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "podAffinityTerm": term}]}
    hates = running("hates", "other", affinity={"podAntiAffinity": wish})
    needs = running(
        "needs", "other", affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    )
    infos = [info("a", hates), info("b", running("x", "other")), info("c", needs)]
    found = totals(running("asking"), infos, None, KNOWN[1])
    assert [each.together for each in found.values()] == [0, 2 * int(100 * 10 / 11), 200]


def test_siblings_are_those_of_services_and_of_the_controller() -> None:
    asking = running("asking")
    asking["metadata"]["labels"]["tier"] = "front"
    service = {
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"selector": {"tier": "front"}},
    }
    elsewhere = {**service, "metadata": {"name": "s", "namespace": "other"}}
    stranger = {**service, "spec": {"selector": {"tier": "back"}}}
    assert sibling_selector(asking, [elsewhere, stranger], lambda *_: None) is None
    assert str(sibling_selector(asking, [service], lambda *_: None)) == "tier=front"
    asking["metadata"]["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": "w", "controller": True}
    ]
    owner = {"kind": "StatefulSet", "spec": {"selector": {"matchLabels": {"app": "web"}}}}
    assert str(sibling_selector(asking, [service], lambda *_: owner)) == "app=web,tier=front"


@pytest.mark.parametrize(("spec", "said"), [({"selector": {"app": "web"}}, "app=web"), ({}, "None")])
def test_siblings_of_a_replication_controller(spec: dict[str, Any], said: str) -> None:
    asking = running("asking")
    asking["metadata"]["ownerReferences"] = [
        {"apiVersion": "v1", "kind": "ReplicationController", "name": "web", "uid": "w", "controller": True}
    ]
    assert str(sibling_selector(asking, [], lambda *_: {"kind": "ReplicationController", "spec": spec})) == said


@pytest.mark.parametrize(
    ("kind", "version", "selector", "said"),
    [
        ("ReplicationController", "v1", {"tier": "back"}, "tier=back"),
        ("ReplicaSet", "apps/v1", {"matchLabels": {"tier": "back"}}, "tier=back,tier=front"),
    ],
)
def test_whose_selector_overwrites_a_services(kind: str, version: str, selector: dict[str, Any], said: str) -> None:
    """plugins/helper/spread.go: a ReplicationController's is merged (labels.Merge), a ReplicaSet's is added (selector.Add)."""
    asking = running("asking")
    asking["metadata"]["labels"]["tier"] = "front"
    owner = {"apiVersion": version, "kind": kind, "name": "web", "uid": "w", "controller": True}
    asking["metadata"]["ownerReferences"] = [owner]
    front = {"kind": "Service", "metadata": {"namespace": "default"}, "spec": {"selector": {"tier": "front"}}}
    found = {"kind": kind, "spec": {"selector": selector}}
    assert str(sibling_selector(asking, [front], lambda *_: found)) == said


def test_a_zone_without_a_name_is_a_zone() -> None:
    nameless = info("a", running("one"), zone="")
    counted = Neighbours(running("asking"), WEB)
    # one sibling by hostname and by zone, weight ln(1 + 2) each; maxSkew - 1 is 2 and 4: 8.20
    assert counted.counts([counted.count("a", nameless)], 1) == [8]
    spread = SoftSpread.for_pod(running("asking"), [nameless], [nameless], WEB)
    assert spread is not None
    assert spread.count(nameless) == 8


def test_siblings_where_a_pod_may_not_run_do_not_count_in_its_zone() -> None:
    """podtopologyspread/scoring.go: nodes are counted that the pod's own affinity takes (nodeAffinityPolicy Honor)."""
    asking = running("asking", nodeSelector={HOSTNAME: "a"})
    infos = [info("a"), info("b", *(running(f"p{number}") for number in range(5)))]
    counted = Neighbours(asking, WEB)
    places = [counted.count(each.name, each) for each in infos]
    spread = SoftSpread.for_pod(asking, infos, infos[:1], WEB)
    assert spread is not None
    assert spread.count(infos[0]) == counted.counts(places[:1], 1)[0] == (3 - 1) + (5 - 1)  # nobody, and maxSkew - 1


def test_siblings_are_counted_anew_when_a_node_changes_or_goes() -> None:
    asking, counted = running("asking"), Neighbours(running("asking"), WEB)
    assert counted.count("a", info("a", running("one"), running("two"))) == Place(2, "1")
    assert counted.count("b", info("b", running("three"), zone="2")) == Place(1, "2")
    without = {**node("c"), "metadata": {"name": "c", "labels": {}}}
    assert counted.count("c", NodeInfo(without, [running("four")])) == Place(None, None)
    places = [Place(2, "1"), Place(1, "2"), Place(None, None)]
    # three hosts and zones, weight ln(3 + 2) each: 2 and 2, 1 and 1; maxSkew - 1 is 2 and 4; where there is no label nothing counts
    assert counted.counts(places, 3) == [round(4 * log(5)) + 6, round(2 * log(5)) + 6, 0]
    assert counted.count("a", info("a", running("one"), zone="2")) == Place(1, "2")
    assert counted.counts([Place(1, "1"), Place(1, "2")], 2) == [round(log(4)) + 6, round(log(4) + 2 * log(4)) + 6]
    assert counted.count("b", None) == Place()
    assert counted.count("b", None) == Place()
    assert counted.counts([Place(1, "2")], 1) == [round(log(3) + log(3)) + 6]
    assert SoftSpread.for_pod(asking, [], [], None) is None


@pytest.mark.parametrize(("here", "said"), [(0, 6), (1, 9), (2, 11)])
def test_a_half_is_rounded_up(here: int, said: int) -> None:
    """math.Round, not to the even one."""
    assert _rounded(here * 2.5 + 6) == said


CONSTRAINT = {"topologyKey": ZONE, "maxSkew": 1, "labelSelector": {"matchLabels": {"app": "web"}}}


@pytest.mark.parametrize(
    ("constraints", "counts"),
    [
        # zones: 2 in zone 1, 1 in zone 2, weight ln(2 + 2)
        ([{**CONSTRAINT, "whenUnsatisfiable": "ScheduleAnyway"}], [round(2 * log(4)), round(log(4))]),
        (
            [{**CONSTRAINT, "maxSkew": 3, "whenUnsatisfiable": "ScheduleAnyway"}],
            [round(2 * log(4) + 2), round(log(4) + 2)],
        ),
        ([{**CONSTRAINT, "whenUnsatisfiable": "DoNotSchedule"}], None),
        (
            [{**CONSTRAINT, "topologyKey": HOSTNAME, "whenUnsatisfiable": "ScheduleAnyway"}],
            [round(2 * log(4)), round(log(4))],
        ),
        (
            [{**CONSTRAINT, "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway"} for key in (ZONE, "rack")],
            [None, None],
        ),
    ],
)
def test_constraints_that_a_pod_can_do_without(
    constraints: list[dict[str, Any]], counts: list[int | None] | None
) -> None:
    """podtopologyspread/scoring.go Score, scoreForCount: count * log(size + 2) + maxSkew - 1."""
    infos = [info("a", running("one"), running("two")), info("b", running("three"), zone="2")]
    asking = running("asking", topologySpreadConstraints=constraints)
    spread = SoftSpread.for_pod(asking, infos, infos, WEB)
    assert (spread and [spread.count(each) for each in infos]) == counts


@pytest.mark.parametrize(
    ("reference", "found", "said"),
    [
        (("apps/v1", "ReplicaSet"), {"spec": {"selector": {"matchLabels": {"a": "b"}}}}, {"matchLabels": {"a": "b"}}),
        (("apps/v1", "ReplicaSet"), {"spec": {}}, None),
        (("apps/v1", "ReplicaSet"), None, None),
        (
            ("v1", "ReplicationController"),
            {"kind": "ReplicationController", "spec": {"selector": {"a": "b"}}},
            {"matchLabels": {"a": "b"}},
        ),
        (("v1", "ReplicationController"), None, None),
        (("example.com/v1", "ReplicaSet"), {"spec": {"selector": {"matchLabels": {"a": "b"}}}}, None),
        (("batch/v1", "Job"), {"spec": {"selector": {"matchLabels": {"a": "b"}}}}, None),
        (None, {"spec": {"selector": {"matchLabels": {"a": "b"}}}}, None),
    ],
)
def test_the_selector_of_a_controller(
    reference: tuple[str, str] | None, found: dict[str, Any] | None, said: dict[str, Any] | None
) -> None:
    """plugins/helper/spread.go DefaultSelector knows these three."""
    asking = running("asking")
    if reference is not None:
        version, kind = reference
        owner = {"apiVersion": version, "kind": kind, "name": "o", "uid": "o", "controller": True}
        asking["metadata"]["ownerReferences"] = [owner]
    assert owner_selector(asking, lambda *_: found) == said


@pytest.mark.parametrize(
    ("allocatable", "score"),
    [({}, 0), ({"memory": "400Mi"}, 50), ({"cpu": "400m"}, 75), ({"cpu": "400m", "memory": "400Mi"}, 62)],
)
def test_what_a_node_does_not_have_is_not_judged(allocatable: dict[str, str], score: int) -> None:
    """Of a container that requests nothing 100m and 200Mi are assumed (noderesources/least_allocated.go)."""
    bare = NodeInfo({"metadata": {"name": "a"}, "status": {"allocatable": allocatable}})
    assert allocation(load_of_incoming(pod("asking", "", "")), bare, KNOWN[1]) == score


@pytest.mark.parametrize(
    ("version", "balanced"),
    [(Version(1, 32, 9), 100 - 20), (Version(1, 33), 0), (Version(1, 35), 0), (Version(1, 36), 0)],
)
def test_a_pod_that_requests_nothing_is_not_judged_by_balance_since_1_33(version: Version, balanced: int) -> None:
    """noderesources/balanced_allocation.go PreScore (kubernetes #129138)."""
    there = NodeInfo(node("a", "1", "1000Mi"), [pod("there", "700m", "300Mi")])
    least = (20 + 50) // 2  # 800m and 500Mi are taken with what is assumed of the pod
    assert allocation(load_of_incoming(pod("asking", "", "")), there, version) == least + balanced


@pytest.mark.parametrize(
    ("there", "asking", "least", "balanced"),
    [
        (("500m", "3Gi"), ("100m", ""), (40 + 0) // 2, 80),  # 60 % of the CPU, all of the memory
        (("2", "512Mi"), ("", "128Mi"), (0 + 37) // 2, 81),  # all of the CPU, 62.5 % of the memory
    ],
)
def test_more_than_all_is_all(there: tuple[str, str], asking: tuple[str, str], least: int, balanced: int) -> None:
    """noderesources/balanced_allocation.go: fractions above 1 are capped."""
    full = NodeInfo(node("a", "1", "1Gi"), [pod("there", *there)])
    assert allocation(load_of_incoming(pod("asking", *asking)), full, Version(1, 35)) == least + balanced


@pytest.mark.parametrize("version", [Version(1, 35), KNOWN[-1]])
def test_one_resource_is_balanced_by_itself(version: Version) -> None:
    """noderesources/balanced_allocation.go: a single fraction has no deviation."""
    bare = NodeInfo({"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "400m"}}})
    balanced = 100 if version < Version(1, 36) else 50 + (50 + 100 - 100) // 2
    assert allocation(load_of_incoming(pod("asking", "100m", "")), bare, version) == 75 + balanced


@pytest.mark.parametrize(("weight", "together"), [({"weight": 10}, [200, 0]), ({"weight": 0}, [0, 0]), ({}, [0, 0])])
def test_a_wish_without_weight_is_none(weight: dict[str, int], together: list[int]) -> None:
    term = {"topologyKey": HOSTNAME, "labelSelector": {"matchLabels": {"app": "web"}}}
    wish = {"preferredDuringSchedulingIgnoredDuringExecution": [{**weight, "podAffinityTerm": term}]}
    infos = [info("a", running("there")), info("b")]
    found = totals(running("asking", affinity={"podAffinity": wish}), infos, None, KNOWN[1])
    assert [each.together for each in found.values()] == together


def test_a_claim_for_one_pod_alone() -> None:
    world = World()
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default"},
        "spec": {
            "accessModes": ["ReadWriteOncePod"],
            "storageClassName": "managed",
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    storage = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "managed"},
        "provisioner": "disk.csi.azure.com",
        "volumeBindingMode": "WaitForFirstConsumer",
    }
    volumes = [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]
    world.apply(nodeclass(), nodepool(), storage, claim, pod("first", "100m", "64Mi", volumes=volumes))
    world.settle()
    world.apply(pod("second", "100m", "64Mi", volumes=volumes))
    world.advance(600)
    waits = {each["metadata"]["name"]: each for each in world.list("Pod")}["second"]
    assert "nodeName" not in waits["spec"]
    (told,) = (each["message"] for each in waits["status"]["conditions"] if each["type"] == "PodScheduled")
    assert "ReadWriteOncePod access mode already in-use by another pod" in told


@pytest.mark.parametrize(
    ("kind", "mine", "theirs", "fits"),
    [
        ("iscsi", {"iqn": "a"}, {"iqn": "a"}, False),
        ("iscsi", {"iqn": "a"}, {"iqn": "b"}, True),
        ("iscsi", {"iqn": "a", "readOnly": True}, {"iqn": "a", "readOnly": True}, True),
        ("iscsi", {"iqn": "a", "readOnly": True}, {"iqn": "a"}, False),
        ("awsElasticBlockStore", {"volumeID": "a", "readOnly": True}, {"volumeID": "a", "readOnly": True}, False),
        ("gcePersistentDisk", {"pdName": "a"}, {"pdName": "a"}, False),
        ("rbd", {"monitors": ["x", "y"], "image": "i"}, {"monitors": ["y"], "pool": "rbd", "image": "i"}, False),
        ("rbd", {"monitors": ["x"], "image": "i"}, {"monitors": ["y"], "image": "i"}, True),
        ("rbd", {"monitors": ["x"], "image": "i"}, {"monitors": ["x"], "image": "j"}, True),
    ],
)
def test_disks_that_pods_name(kind: str, mine: dict[str, Any], theirs: dict[str, Any], fits: bool) -> None:
    there = running("there", volumes=[{"name": "v", kind: theirs}])
    asking = running("asking", volumes=[{"name": "v", kind: mine}])
    found = schedule(asking, [info("a", there)])
    assert isinstance(found, str) is fits
    if isinstance(found, Unschedulable):
        assert found.failures[0].reasons == ("node(s) had no available disk",)


def test_replicas_are_spread_over_nodes_with_room() -> None:
    world = World()
    world.apply(*(node(name) for name in "abcd"), deployment(name="web", replicas=4, cpu="50m", memory="64Mi"))
    world.settle()
    used = Counter(each["spec"]["nodeName"] for each in world.list("Pod") if each["metadata"]["name"].startswith("web"))
    assert sorted(used.values()) == [1, 1, 1, 1]
