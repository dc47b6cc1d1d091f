"""Which group grows for which pods, in the autoscaler's words; what comes before: which pods count."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.clusterautoscaler.backoff import Backoff
from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.pending import are_all_new, is_unschedulable, old_enough, to_help
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.readiness import (
    GroupReadiness,
    is_cluster_healthy,
    is_group_healthy,
    readiness_by_group,
)
from harness.clusterautoscaler.scaledown.removal import Hints
from harness.clusterautoscaler.scaleup.orchestrator import BACKED_OFF, ScaleUp, plan_scale_up
from harness.clusterautoscaler.snapshot import Snapshot, Surroundings
from harness.clusterautoscaler.templates import (
    fresh_node,
    is_good_example,
    template_from_description,
    template_from_node,
)
from harness.engine.clock import SECOND, parse
from harness.kube.api.objects import Object, labels_of, name_of, spec_of
from harness.kube.scheduling.placement import NodeInfo
from harness.testing import daemonset
from tests.clusterautoscaler.builders import a_group, a_node, a_pod, alike

GIB = 1024**3
NOW = parse("2026-01-02T17:00:00Z")


def first(count: int) -> int:
    return 0


def plan(
    pods: Sequence[Object],
    groups: dict[str, tuple[NodeGroup, Object]],
    *,
    nodes: Sequence[NodeInfo] = (),
    profile: Profile | None = None,
    unsafe: dict[str, str] | None = None,
) -> ScaleUp:
    templates = {name: NodeInfo(node) for name, (_, node) in groups.items()}
    members = [group for group, _ in groups.values()]
    snapshot = Snapshot(nodes, Surroundings())
    return plan_scale_up(pods, members, templates, snapshot, profile or Profile(), unsafe or {}, first)


def a_pool(
    name: str, target: int = 1, maximum: int = 10, cpu: int = 4000, **node: Any
) -> dict[str, tuple[NodeGroup, Object]]:
    return {name: (a_group(name, target, maximum=maximum), a_node(f"template-{name}", cpu, 16 * GIB, **node))}


def test_a_group_grows_by_what_the_pods_need() -> None:
    pods = alike(5, "web", 1500, GIB)

    scale_up = plan(pods, a_pool("pool"))

    assert [str(resize) for resize in scale_up.resizes] == ["{pool 1->4 (max: 10)}"]
    assert scale_up.message == "pod triggered scale-up: [{pool 1->4 (max: 10)}]"
    assert list(scale_up.triggered) == pods
    assert not scale_up.unhelped


def test_a_group_grows_no_further_than_its_largest_size() -> None:
    scale_up = plan(alike(5, "web", 3000, GIB), a_pool("pool", target=1, maximum=3))

    assert [resize.size for resize in scale_up.resizes] == [3]
    assert len(scale_up.triggered) == 2


def test_pods_that_nothing_helps_are_told_why() -> None:
    taint = [{"key": "dedicated", "value": "gpu", "effect": "NoSchedule"}]
    groups = a_pool("small", cpu=1000) | a_pool("full", target=10) | a_pool("tainted", taints=taint)
    groups |= a_pool("failed")

    scale_up = plan([a_pod("web", 2000, GIB)], groups, unsafe={"failed": BACKED_OFF})

    assert not scale_up.resizes
    assert [unhelped.message for unhelped in scale_up.unhelped] == [
        "pod didn't trigger scale-up: 1 Insufficient cpu, 1 in backoff after failed scale-up, "
        "1 max node group size reached, 1 node(s) had untolerated taint(s)"
    ]


def test_pods_of_another_group_wait_for_the_next_look() -> None:
    labels = {"pool": "b"}
    groups = a_pool("a") | a_pool("b", labels=labels)
    picky = a_pod("picky", 100, GIB, owner=("ReplicaSet", "picky", "apps/v1"), nodeSelector=labels)
    easy = a_pod("easy", 100, GIB)

    scale_up = plan([picky, easy], groups)

    assert [resize.group.id for resize in scale_up.resizes] == ["a"]
    assert scale_up.awaiting == (picky,)
    assert not scale_up.unhelped


def test_similar_groups_share_new_nodes() -> None:
    groups = a_pool("a", target=1, zone="eastus-1") | a_pool("b", target=2, zone="eastus-2") | a_pool("c", cpu=8000)
    profile = Profile(balance_similar_node_groups=True)

    scale_up = plan(alike(5, "web", 3000, GIB), groups, profile=profile)

    assert {resize.group.id: resize.size for resize in scale_up.resizes} == {"a": 4, "b": 4}
    assert [resize.group.id for resize in plan(alike(5, "web", 3000, GIB), groups).resizes] == ["a"]


def a_refused_pod(name: str, **fields: Any) -> dict[str, Any]:
    pod = a_pod(name, 500, GIB, phase="Pending", **fields)
    pod["status"]["conditions"] = [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]
    return pod


def test_only_pods_that_the_scheduler_refused_are_pending() -> None:
    gated = a_refused_pod("gated")
    gated["status"]["conditions"][0]["reason"] = "SchedulingGated"
    nominated = a_refused_pod("nominated")
    nominated["status"]["nominatedNodeName"] = "node"

    assert is_unschedulable(a_refused_pod("refused"))
    assert not is_unschedulable(a_pod("new", phase="Pending"))
    assert not is_unschedulable(gated)
    assert not is_unschedulable(nominated)
    assert not is_unschedulable(a_refused_pod("deleted", deleted="2026-01-02T16:00:00Z"))


def test_pods_that_fit_by_now_need_no_help() -> None:
    snapshot = Snapshot([NodeInfo(a_node("free", 1000, 16 * GIB))], Surroundings())
    web, important = alike(2, "web", 600, GIB), a_pod("important", 600, GIB, priority=100)
    expendable, daemon = (
        a_pod("expendable", 600, GIB, priority=-11),
        a_pod("daemon", 600, GIB, owner=("DaemonSet", "d", "apps/v1")),
    )

    helped = to_help([*web, important, expendable, daemon], (), snapshot, Hints(), Profile())

    assert [name_of(pod) for pod in helped] == ["web-0", "web-1"]
    assert [name_of(pod) for pod in snapshot.nodes["free"].pods] == ["important"]


def test_pods_may_have_to_reach_an_age() -> None:
    delay = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
    minute_old = {"created": "2026-01-02T16:59:00Z"}
    pods = [
        a_pod("old", **minute_old),
        a_pod("later", annotations={delay: "5m"}, **minute_old),
        a_pod("odd", annotations={delay: "soon"}, **minute_old),
    ]

    assert [name_of(pod) for pod in old_enough(pods, NOW, Profile())] == ["old", "odd"]
    assert not old_enough(pods, NOW, Profile(new_pod_scale_up_delay=60))


def test_very_new_pods_wait_for_others() -> None:
    new, older = a_pod("new", created="2026-01-02T16:59:59Z"), a_pod("older", created="2026-01-02T16:59:58Z")
    resources = {"requests": {"nvidia.com/gpu": "1"}}
    gpu = a_pod("gpu", created="2026-01-02T16:59:40Z", containers=[{"name": "c", "resources": resources}])

    assert are_all_new([new], NOW)
    assert not are_all_new([new, older], NOW)
    assert are_all_new([older, gpu], NOW)


def test_a_template_is_like_the_node_but_for_what_passes() -> None:
    taints = [
        {"key": "dedicated", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"},
        {"key": "DeletionCandidateOfClusterAutoscaler", "effect": "PreferNoSchedule"},
        {"key": "startup-taint.cluster-autoscaler.kubernetes.io/x", "effect": "NoSchedule"},
    ]
    agent = a_pod("agent", 100, GIB, owner=("DaemonSet", "agent", "apps/v1"))
    info = NodeInfo(a_node("node", taints=taints), [agent, a_pod("web", 100, GIB)])

    template = template_from_node(info, "pool", [])

    assert [taint["key"] for taint in spec_of(template.node)["taints"]] == ["dedicated"]
    assert [name_of(pod) for pod in template.pods] == ["agent-pool"]
    assert labels_of(template.node)["cluster-autoscaler.kubernetes.io/template-node"] == "true"
    fresh = fresh_node(template, "e-0")
    assert labels_of(fresh.node)["kubernetes.io/hostname"] == fresh.name == "template-node-for-pool-e-0"


def test_a_template_without_an_example_has_the_pods_of_all_daemon_sets_that_belong_there() -> None:
    here, elsewhere = daemonset("here"), daemonset("elsewhere", nodeSelector={"pool": "other"})
    owners = [{**owner, "metadata": {**owner["metadata"], "uid": name_of(owner)}} for owner in (here, elsewhere)]
    node = a_node("node", 4000, 16 * GIB)

    assert len(template_from_description(node, "pool", owners).pods) == 1
    assert not template_from_node(NodeInfo(node), "pool", owners).pods  # it would have them if they had room


@pytest.mark.parametrize(
    ("node", "good"),
    [
        (a_node("n"), True),
        (a_node("n", created="2026-01-02T16:59:30Z"), False),
        (a_node("n", ready=False), False),
        (a_node("n", taints=[{"key": "ToBeDeletedByClusterAutoscaler", "effect": "NoSchedule"}]), False),
    ],
)
def test_nodes_that_are_examples(node: Object, good: bool) -> None:
    assert is_good_example(node, NOW) is good


def test_nodes_that_are_still_to_come() -> None:
    nodes = [
        a_node("ready"),
        a_node("starting", ready=False, created="2026-01-02T16:50:00Z"),
        a_node("failed", ready=False, created="2026-01-02T16:44:00Z"),
        a_node("elsewhere"),
    ]
    groups = dict.fromkeys(("ready", "starting", "failed"), "pool")

    readiness = readiness_by_group(nodes, groups, NOW, Profile())["pool"]

    assert readiness == GroupReadiness(("ready",), ("starting",), ("failed",))
    assert readiness.upcoming(5) == 3
    assert GroupReadiness().upcoming(2) == 2


def test_too_many_unready_nodes_stop_everything() -> None:
    def unready(count: int) -> list[GroupReadiness]:
        return [GroupReadiness((), (), tuple(f"node-{number}" for number in range(count)))]

    assert is_cluster_healthy(unready(3), 3, Profile())
    assert not is_cluster_healthy(unready(5), 10, Profile())
    assert is_cluster_healthy(unready(4), 10, Profile())


def test_a_group_without_the_nodes_that_it_should_have_is_not_healthy() -> None:
    group = a_group("pool", target=8)

    assert is_group_healthy(group, GroupReadiness(("a", "b", "c", "d", "e")), 8, Profile())
    assert not is_group_healthy(group, GroupReadiness(("a", "b")), 8, Profile())
    assert is_group_healthy(group, None, 0, Profile())
    assert not is_group_healthy(group, None, 8, Profile())


def test_failures_keep_a_group_away_for_longer_each_time() -> None:
    backoff = Backoff(Profile())
    backoff.fail("pool", NOW)
    backoff.fail("pool", NOW + 10 * SECOND)
    assert backoff.is_backed_off("pool", NOW + 310 * SECOND)
    assert not backoff.is_backed_off("pool", NOW + 311 * SECOND)
    assert not backoff.is_backed_off("other", NOW)
    backoff.fail("pool", NOW + 400 * SECOND)
    assert backoff.is_backed_off("pool", NOW + 1000 * SECOND)
    backoff.forget(NOW + 20000 * SECOND)
    assert backoff.until is None
