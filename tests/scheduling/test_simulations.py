"""What simulations over one snapshot keep for each other and for the next look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from tests.scheduling.workload import HOST, RELEASE, SIZES, ZONE, affinity, daemonset, need, node, nodepool, pod

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
