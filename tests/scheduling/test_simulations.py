"""What simulations over one snapshot say before they are made, and what they keep for each other and for the next look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

import pytest

from harness.karpenter.labels.core import MIN_VALUES_RELAXED
from harness.karpenter.releases import ProviderRelease, provider
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingOptions, SchedulingResults, solve
from harness.karpenter.scheduling.nodeclaims.model import alike
from harness.karpenter.scheduling.nodes.memory import ClusterMemory
from harness.karpenter.scheduling.pods.older_pods import with_limits_as_requests
from harness.karpenter.scheduling.simulation import Simulations
from tests.scheduling.test_since_core_1_15 import DISK, storage, with_disks
from tests.scheduling.workload import HOST, RELEASE, SIZES, ZONE, affinity, daemonset, need, node, nodepool, pod, spread

Objects = Sequence[Mapping[str, Any]]
SLOW = SchedulingOptions(attempt_seconds=1.0)


def simulations(
    pods: Objects = (),
    nodes: Sequence[Objects] = (),
    *,
    pools: Objects | None = None,
    release: ProviderRelease = RELEASE,
    options: SchedulingOptions | None = None,
) -> Simulations:
    pools = [nodepool()] if pools is None else pools
    snapshot = ClusterSnapshot(pools, pods, [each[0] for each in nodes], [each[1] for each in nodes])
    return Simulations(snapshot, {"default": SIZES}, release=release, options=options)


def amounts(machine: Objects, **room: str) -> Objects:
    """The machine with this room according to its Node; its NodeClaim knows more."""
    made, claim = machine
    status = {"capacity": room, "allocatable": room}
    return [{**made, "status": status}, claim]


@pytest.mark.parametrize("limit", [inf, 0.5])
def test_new_nodes_are_foretold_by_an_equal_simulation_that_came_to_its_end(limit: float) -> None:
    moving = (pod("a", on="n0"), pod("b", on="n0"))
    made = simulations(moving, [node("n0", "0")], options=SLOW)
    told = made.foretold(["n0"], [moving], settled=False)
    assert told is not None
    assert made.nodeclaims_of(told) is None
    results = made.without(["n0"], moving, settled=False, time_limit=limit)
    assert results.timed_out is (limit != inf)
    made.learn(told, results)
    assert made.nodeclaims_of(told) == (None if results.timed_out else results.nodeclaims)


@pytest.mark.parametrize(
    ("made", "tells"),
    [
        (simulations(), True),
        (simulations(pools=[]), False),
        (simulations(release=provider("1.4.0")), False),
        (simulations(release=provider("next")), True),
        (simulations(release=provider("next"), options=SchedulingOptions(default_spread=({"maxSkew": 1},))), False),
    ],
    ids=["plain", "no NodePool", "volumes in affinity", "next", "default spread"],
)
def test_counting_tells_nothing_where_pods_are_rewritten_or_there_is_no_nodepool(
    made: Simulations, tells: bool
) -> None:
    assert (made.counting(settled=False) is not None) is tells


def test_nothing_is_told_of_a_node_with_room_for_its_pods() -> None:
    moving = [(pod("a", on="n0"),), (pod("b", on="n1"),)]
    made = simulations([*moving[0], *moving[1]], [node("n0", "0"), node("n1")])
    assert made.likeness("n0", moving[0], settled=False) is not None
    assert made.likeness("n1", moving[1], settled=False) is None


@pytest.mark.parametrize(
    ("more", "tells"),
    [
        (pod("plain"), True),
        (pod("choosing", labels={"app": "x"}, topologySpreadConstraints=[spread(HOST, "x")]), False),
        (pod("repelling", on="n0", **affinity("podAntiAffinity", HOST, "x")), False),
    ],
    ids=["plain", "choosing", "repelling"],
)
def test_nothing_is_told_where_a_pod_looks_at_where_others_are(more: dict[str, Any], tells: bool) -> None:
    moving = (pod("a", on="n0"),)
    made = simulations([*moving, more], [node("n0", "0")])
    assert (made.likeness("n0", moving, settled=False) is not None) is tells
    assert (made.foretold(["n0"], [moving], settled=False) is not None) is tells


@pytest.mark.parametrize(("selector", "tells"), [({}, True), ({ZONE: "z1"}, False)])
def test_what_becomes_of_pods_is_foretold_where_they_ask_for_amounts_alone(
    selector: dict[str, str], tells: bool
) -> None:
    moving = (pod("a", on="n0", nodeSelector=selector),)
    made = simulations(moving, [node("n0", "0")])
    assert (made.foretold(["n0"], [moving], settled=False) is not None) is tells
    assert made.likeness("n0", moving, settled=False) is not None


def test_pods_of_other_sizes_are_other_pods_to_foretell() -> None:
    moving = [(pod(f"a{at}", "1", on=f"n{at}"), pod(f"b{at}", f"{at + 2}", on=f"n{at}")) for at in range(2)]
    made = simulations([*moving[0], *moving[1]], [node("n0", "0"), node("n1", "0")])
    told = [made.foretold([f"n{at}"], [moving[at]], settled=False) for at in range(2)]
    assert told[0] is not None
    assert told[1] is not None
    assert told[0].key != told[1].key


def test_pods_are_foretold_where_no_node_is_left() -> None:
    told = simulations().foretold(["gone"], [(pod("a", on="gone"),)], settled=False)
    assert told is not None
    assert (told.overflow, told.early) == (True, {})


def settling(machine: Objects) -> Objects:
    """The machine, whose last pod has come just now."""
    made, claim = machine
    since = "2026-01-01T00:00:00Z"
    initialized = {"type": "Initialized", "status": "True", "lastTransitionTime": since}
    return [made, {**claim, "status": {**claim["status"], "conditions": [initialized], "lastPodEventTime": since}}]


def test_a_pod_that_needs_a_place_anyway_takes_what_settles_only_when_another_was_there_first() -> None:
    """Core ``scheduling/scheduler.go`` addToExistingNode: nodes under consolidateAfter take pending pods."""
    moving = {name: (pod(name, "1", on=node),) for name, node in (("a", "n0"), ("z", "n1"))}
    nodes = [node("n0", "0"), node("n1", "0"), node("ready", "1"), settling(node("settles", "1"))]
    pools = [nodepool(disruption={"consolidateAfter": "1h"})]
    pods = [pod("m", "1"), *(each for some in moving.values() for each in some)]
    made = simulations(pods, nodes, pools=pools)
    for name, leaving, overflow in (("a", "n0", False), ("z", "n1", True), ("a", "n0", False)):
        told = made.foretold([leaving], [moving[name]], settled=True)
        assert told is not None
        assert told.overflow is overflow
        simulated = made.without([leaving], moving[name], settled=True)
        assert bool(simulated.nodeclaims) is overflow


@pytest.mark.parametrize("limited", [False, True])
def test_nodes_are_alike_where_they_give_as_much_of_the_limits_back(limited: bool) -> None:
    pools = [nodepool(limits={"cpu": "100"} if limited else {})]
    machines = [amounts(node(name, "0"), cpu=cpu, pods="0") for name, cpu in (("n0", "2"), ("n1", "2"), ("n2", "4"))]
    moving = [(pod(name, on=node),) for name, node in (("a", "n0"), ("b", "n1"), ("c", "n2"))]
    made = simulations([each for some in moving for each in some], machines, pools=pools)
    alike = [made.likeness(f"n{at}", some, settled=False) for at, some in enumerate(moving)]
    first, second, third = (each and each.key for each in alike)
    assert first is not None
    assert first == second
    assert (first == third) is not limited


def test_several_nodes_that_leave_bring_all_their_pods() -> None:
    moving = [(pod("a", on="n0"),), (pod("b", "2", on="n1"), pod("c", on="n1"))]
    nodes = [node(name, "0") for name in ("n0", "n1")]
    made = simulations([each for some in moving for each in some], nodes)
    told = made.foretold(["n0", "n1"], moving, settled=False)
    assert told is not None
    assert told.tried == 3
    made.learn(told, results := made.without(["n0", "n1"], [*moving[0], *moving[1]], settled=False))
    assert sorted(len(each.pods) for each in results.nodeclaims) == [3]
    alone = made.foretold(["n1"], [moving[1]], settled=False)
    assert alone is not None
    assert (alone.tried, alone.key != told.key) == (2, True)


@pytest.mark.parametrize(("cpu", "counts"), [("100m", True), ("1", False)])
def test_counting_is_of_pods_that_are_as_those_that_need_a_place_anyway(cpu: str, counts: bool) -> None:
    moving = (pod("a", on="n0"),)
    outlooks = simulations([pod("anyway", cpu), *moving], [node("n0", "0")]).counting(settled=False)
    assert outlooks is not None
    assert (outlooks.of(outlooks.asked(moving)) is not None) is counts


def existing(
    memory: ClusterMemory, machine: Objects, *daemons: Mapping[str, Any], pods: Objects = (), **objects: Any
) -> SchedulingResults:
    pods = pods or [pod("a", "3500m")]
    snapshot = ClusterSnapshot([nodepool()], pods, [machine[0]], [machine[1]], daemonsets=daemons, **objects)
    return solve(snapshot, {"default": SIZES}, release=RELEASE, memory=memory)


def test_a_new_daemonset_takes_room_on_nodes_that_are_known() -> None:
    memory, machine = ClusterMemory(), node("n0")
    assert list(existing(memory, machine).existing) == ["n0"]
    assert list(existing(memory, machine, daemonset("d", "1")).existing) == []
    assert list(existing(memory, machine).existing) == ["n0"]


@pytest.mark.parametrize("runs", [False, True])
def test_a_node_that_is_known_attaches_what_its_csinode_says_now_beside_what_its_pods_have(runs: bool) -> None:
    """Core ``pkg/controllers/state/statenode.go`` VolumeUsage, ``cluster.go`` populateVolumeLimits."""
    memory, machine, disks = ClusterMemory(), node("n0"), storage("x", "y")
    pods = [with_disks("new", "x"), *([with_disks("old", "y", on="n0")] if runs else [])]
    for most in (0, 1, 2, 1, 0):
        drivers = [{"name": DISK, "allocatable": {"count": most}}]
        csinode = {"metadata": {"name": "n0"}, "spec": {"drivers": drivers}}
        results = existing(memory, machine, pods=pods, csinodes=[csinode], **disks)
        assert list(results.existing) == (["n0"] if most > runs else [])


@pytest.mark.parametrize("release", ["1.4.0", "1.6.5", "1.14.0"])
def test_only_a_nodeclaim_with_pods_says_whether_its_min_values_were_relaxed(release: str) -> None:
    """Core ``scheduling/scheduler.go`` addToNewNodeClaim, since core 1.6; a static NodeClaim has no pods."""
    made = simulations([pod("a")], release=provider(release))
    relaxed = [
        planned.to_nodeclaim()["metadata"]["annotations"].get(MIN_VALUES_RELAXED)
        for planned in (*made.provision().nodeclaims, made.static_nodeclaim(nodepool(replicas=1)))
    ]
    assert relaxed == [None if release == "1.4.0" else "false", None]


@pytest.mark.parametrize(("disk", "takes"), [("x", 2), ("y", 1)])
def test_volumes_of_pods_that_were_just_placed_count_on_their_node(disk: str, takes: int) -> None:
    """Core ``scheduling/existingnode.go`` Add. Two pods share a disk, or a node that attaches one takes one of them."""
    csinode = {"metadata": {"name": "n0"}, "spec": {"drivers": [{"name": DISK, "allocatable": {"count": 1}}]}}
    pods = [with_disks("a", "x"), with_disks("b", disk)]
    results = existing(ClusterMemory(), node("n0"), pods=pods, csinodes=[csinode], **storage("x", "y"))
    assert [len(each) for each in results.existing.values()] == [takes]


def test_a_pod_whose_disk_is_attached_goes_where_another_pod_of_that_size_was_refused() -> None:
    csinode = {"metadata": {"name": "n0"}, "spec": {"drivers": [{"name": DISK, "allocatable": {"count": 1}}]}}
    pods = [with_disks("runs", "x", on="n0"), with_disks("a", "y"), with_disks("b", "x")]
    results = existing(ClusterMemory(), node("n0"), pods=pods, csinodes=[csinode], **storage("x", "y"))
    assert [[each["metadata"]["name"] for each in placed] for placed in results.existing.values()] == [["b"]]


@pytest.mark.parametrize(("most", "takes"), [("1", 0), ("2", 1), ("3", 2)])
def test_a_node_takes_as_many_pods_as_its_kubelet_beside_those_that_run(most: str, takes: int) -> None:
    machine = amounts(node("n0"), cpu="4", memory="16Gi", pods=most)
    pods = [pod("runs", on="n0"), pod("a"), pod("b")]
    results = existing(ClusterMemory(), machine, pods=pods)
    assert [len(each) for each in results.existing.values()] == [takes] * bool(takes)


@pytest.mark.parametrize("initialized", [False, True])
def test_the_nodeclaim_completes_what_its_node_has_until_it_is_initialized(initialized: bool) -> None:
    """Core ``pkg/controllers/state/statenode.go`` Allocatable: device plugins that start late."""
    made, claim = amounts(node("n0"), cpu="0", memory="16Gi", pods="30")
    if not initialized:
        del made["metadata"]["labels"]["karpenter.sh/initialized"]
    results = existing(ClusterMemory(), [made, claim], pods=[pod("a", "1")])
    assert list(results.existing) == ([] if initialized else ["n0"])


@pytest.mark.parametrize(("asked", "room"), [("0", True), ("1n", False)])
def test_a_node_that_lacks_what_a_daemonset_asks_for_has_no_room_in_core_1_4(asked: str, room: bool) -> None:
    daemons = [daemonset("d", "0", requests={"ephemeral-storage": asked})]
    made, claim = node("n0")
    snapshot = ClusterSnapshot([nodepool()], [pod("a")], [made], [claim], daemonsets=daemons)
    results = solve(snapshot, {"default": SIZES}, release=provider("1.4.0"))
    assert list(results.existing) == (["n0"] if room else [])


@pytest.mark.parametrize(("release", "fits"), [("1.13.1", True), ("1.14.0", False)])
def test_what_a_container_has_counts_while_it_is_resized_since_core_1_14(release: str, fits: bool) -> None:
    """Core ``pkg/utils/resources/resources.go`` Ceiling."""
    running = pod("runs", "1", on="n0")
    running["status"]["containerStatuses"] = [{"name": "c", "resources": {"requests": {"cpu": "3"}}}]
    made, claim = node("n0")
    snapshot = ClusterSnapshot([nodepool()], [running, pod("a", "2")], [made], [claim])
    results = solve(snapshot, {"default": SIZES}, release=provider(release))
    assert list(results.existing) == (["n0"] if fits else [])


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"status": {"conditions": []}}, True),
        ({"metadata": {"name": "default", "uid": "uid-default", "resourceVersion": "2", "managedFields": []}}, True),
        ({"metadata": {"name": "default", "uid": "uid-default", "annotations": {"a": "b"}}}, False),
        ({"spec": {"weight": 1}}, False),
    ],
    ids=["status", "another write", "annotations", "spec"],
)
def test_a_nodepool_is_the_one_of_the_look_before_while_it_asks_for_the_same(
    change: dict[str, Any], same: bool
) -> None:
    memory, before = ClusterMemory(), nodepool()
    now = {**before, **change}
    assert alike(before, now) is alike(now, before) is same
    assert memory.nodepool(before) is before
    assert memory.nodepool(now) is (before if same else now)


@pytest.mark.parametrize(("cpu", "fits"), [("3", True), ("3.000000001", False)])
def test_exactly_what_a_daemonset_asks_for_is_kept_for_it(cpu: str, fits: bool) -> None:
    results = existing(ClusterMemory(), node("n0"), daemonset("d", "1"), pods=[pod("a", cpu)])
    assert list(results.existing) == (["n0"] if fits else [])


@pytest.mark.parametrize("labels", [{HOST: "other"}, {HOST: "n0"}, {}])
def test_the_hostname_of_a_node_is_its_label_or_else_its_name(labels: dict[str, str]) -> None:
    """Core ``pkg/controllers/state/statenode.go`` HostName."""
    made, claim = node("n0")
    made["metadata"]["labels"] = {key: value for key, value in made["metadata"]["labels"].items() if key != HOST}
    made["metadata"]["labels"].update(labels)
    pods = [pod("a", **affinity("podAntiAffinity", HOST, "nobody"))]
    assert list(existing(ClusterMemory(), [made, claim], pods=pods).existing) == ["n0"]


def test_a_volume_that_is_another_one_now_decides_anew() -> None:
    memory, machine, pods = ClusterMemory(), node("n0", zone="z1"), [with_disks("a", "x")]
    for zone in ("z1", "z2", "z1"):
        objects = storage("x")
        terms = [{"matchExpressions": [need(ZONE, "In", zone)]}]
        objects["pvs"][0]["spec"]["nodeAffinity"] = {"required": {"nodeSelectorTerms": terms}}
        results = existing(memory, machine, pods=pods, **objects)
        assert list(results.existing) == (["n0"] if zone == "z1" else [])


@pytest.mark.parametrize(("most", "takes"), [(1, 1), (2, 2)])
def test_equal_pods_have_ephemeral_volumes_of_their_own(most: int, takes: int) -> None:
    csinode = {"metadata": {"name": "n0"}, "spec": {"drivers": [{"name": DISK, "allocatable": {"count": most}}]}}
    volumes = [{"name": "v", "ephemeral": {"volumeClaimTemplate": {}}}]
    pods = [pod(name, volumes=volumes) for name in "ab"]
    results = existing(ClusterMemory(), node("n0"), pods=pods, csinodes=[csinode], **storage("a-v", "b-v"))
    assert [len(each) for each in results.existing.values()] == [takes]


def test_a_memory_keeps_its_algebra_for_the_vocabulary_that_it_is_of() -> None:
    memory, new, old = ClusterMemory(), provider("1.14.0").vocabulary, provider("1.4.0").vocabulary
    kept = memory.algebra(new)
    assert memory.algebra(new) is kept
    assert memory.algebra(old).vocabulary is old


def test_resources_of_the_whole_pod_do_not_count_before_core_knew_them() -> None:
    """Core pkg/utils/resources/resources.go until it adds up pod-level resources: requests of containers, else their limits."""
    plain = pod("a", "1")
    assert with_limits_as_requests(plain) is plain
    whole = {**plain, "spec": {**plain["spec"], "resources": {"requests": {"cpu": "3"}}}}
    assert not with_limits_as_requests(whole)["spec"]["resources"]
