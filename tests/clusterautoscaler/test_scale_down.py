"""Which nodes are unneeded, and when they go: cases of the autoscaler's own tests (core/scaledown/*), and the planner over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.clusterautoscaler.budgets import Budgets
from harness.clusterautoscaler.cooldown import Cooldown
from harness.clusterautoscaler.drainability.outcomes import Context
from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.scaledown.eligibility import eligibility
from harness.clusterautoscaler.scaledown.parallelism import cropped
from harness.clusterautoscaler.scaledown.planner import Planner, candidates
from harness.clusterautoscaler.scaledown.unremovable import UnremovableReason
from harness.clusterautoscaler.scaledown.utilization import utilization_of
from harness.clusterautoscaler.snapshot import Snapshot, Surroundings
from harness.engine.clock import EPOCH, SECOND, parse
from harness.kube.api.objects import Object, name_of
from harness.kube.scheduling.placement import NodeInfo
from tests.clusterautoscaler.builders import a_budget, a_node, a_pod

NOW = parse("2026-01-02T17:00:00Z")
UNIX = int(EPOCH.timestamp()) + NOW // SECOND
GIB = 1024**3
BIG, SMALL = a_pod("big", 600, 0), a_pod("small", 100, 0)
DAEMON = a_pod("daemon", 500, 0, owner=("DaemonSet", "ds", "apps/v1"))
QUICK = Profile(scale_down_unneeded_time=60)


def to_be_deleted(seconds_ago: int) -> list[dict[str, str]]:
    return [{"key": "ToBeDeletedByClusterAutoscaler", "value": str(UNIX - seconds_ago)}]


@pytest.mark.parametrize(
    ("node", "pods", "profile", "reason"),
    [
        pytest.param(a_node("n"), [], Profile(), None, id="empty"),
        pytest.param(a_node("n", taints=to_be_deleted(30)), [], Profile(), "CurrentlyBeingDeleted", id="deleted now"),
        pytest.param(a_node("n", taints=to_be_deleted(301)), [], Profile(), None, id="deleted long ago"),
        pytest.param(
            a_node("n", annotations={"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"}),
            [],
            Profile(),
            "ScaleDownDisabledAnnotation",
            id="annotated",
        ),
        pytest.param(a_node("n"), [BIG], Profile(), "NotUnderutilized", id="much is requested"),
        pytest.param(a_node("n"), [SMALL], Profile(), None, id="little is requested"),
        pytest.param(a_node("n", 0, 0), [SMALL], Profile(), "UnexpectedError", id="without cpu"),
        pytest.param(a_node("n", ready=False), [], Profile(), None, id="unready"),
        pytest.param(a_node("n"), [SMALL, DAEMON], Profile(), "NotUnderutilized", id="daemons count"),
        pytest.param(
            a_node("n"), [SMALL, DAEMON], Profile(ignore_daemonsets_utilization=True), None, id="daemons are ignored"
        ),
        pytest.param(
            a_node("n"),
            [DAEMON],
            Profile(ignore_daemonsets_utilization=True, scale_down_utilization_threshold=0),
            None,
            id="only daemons",
        ),
        pytest.param(a_node("n"), [a_pod("half", 500, 0)], Profile(), None, id="exactly the threshold"),
    ],
)
def test_eligible_nodes(node: Object, pods: list[Object], profile: Profile, reason: str | None) -> None:
    assert eligibility(NodeInfo(node, pods), profile, NOW)[0] == reason


P1, P2 = a_pod("p1", 100, 200_000), a_pod("p2")
ENDED = a_pod("ended", 100, 200_000, deleted="2026-01-02T16:50:00Z")
DS = a_pod("ds", 100, 200_000, owner=("DaemonSet", "ds", "apps/v1"))
IGNORE = Profile(ignore_daemonsets_utilization=True)


@pytest.mark.parametrize(
    ("pods", "profile", "value"),
    [
        ([P1, P1, P2], Profile(), 2 / 10),
        ([P1, P2, DS], Profile(), 2 / 10),
        ([P1, P1, P2, DS], IGNORE, 2 / 9),
        ([P1, P1, P2, ENDED], Profile(), 2 / 10),
    ],
)
def test_utilization(pods: list[Object], profile: Profile, value: float) -> None:
    utilization = utilization_of(NodeInfo(a_node("n", 2000, 2_000_000), pods), profile, NOW)

    assert utilization is not None
    assert utilization.value == pytest.approx(value)
    assert utilization.resource == "memory"


def test_utilization_of_gpus_is_all_that_counts() -> None:
    node = a_node("n", 2000, 2_000_000, **{"nvidia.com/gpu": "4"})
    pod = a_pod("p", containers=[{"name": "c", "resources": {"requests": {"cpu": "2", "nvidia.com/gpu": "1"}}}])

    utilization = utilization_of(NodeInfo(node, [pod]), Profile(), NOW)

    assert utilization is not None
    assert (utilization.resource, utilization.value) == ("nvidia.com/gpu", 0.25)


def test_a_node_whose_gpus_are_not_there_yet_is_not_used() -> None:
    node = a_node("n", labels={"kubernetes.azure.com/accelerator": "nvidia"})

    utilization = utilization_of(NodeInfo(node, [BIG]), Profile(), NOW)

    assert utilization is not None
    assert utilization.value == 0


class Cluster:
    """Nodes of one group, a planner, and time."""

    def __init__(self, sizes: tuple[int, int, int], profile: Profile = QUICK, budgets: Sequence[Object] = ()) -> None:
        minimum, maximum, target = sizes
        self.group = NodeGroup("group", minimum, maximum, target)
        self.profile, self.budgets, self.planner = profile, budgets, Planner(profile)
        self.infos: dict[str, NodeInfo] = {}

    def add(self, name: str, *pods: Object, **node: Any) -> None:
        self.infos[name] = NodeInfo(a_node(name, 2000, 4 * GIB, **node), pods)

    def look(self, seconds: float) -> list[list[str]]:
        now = NOW + round(seconds * SECOND)
        nodes = [info.node for info in self.infos.values()]
        groups, group_of = {"group": self.group}, dict.fromkeys(self.infos, "group")
        context = Context(now, Budgets(self.budgets), None)
        snapshot = Snapshot(self.infos.values(), Surroundings())
        self.planner.look(snapshot, nodes, candidates(nodes, groups, group_of), context)
        return [
            [name_of(removable.node) for removable in kind]
            for kind in self.planner.to_delete(now, groups, group_of, {})
        ]

    def reason(self, node: str) -> str:
        return self.planner.unremovable.reasons[node].reason


def test_an_empty_node_goes_after_it_was_unneeded_for_long_enough() -> None:
    cluster = Cluster((1, 5, 2))
    cluster.add("busy", a_pod("busy", 1500, GIB))
    cluster.add("empty")

    assert cluster.look(0) == [[], []]
    assert cluster.reason("empty") == UnremovableReason.NOT_UNNEEDED_LONG_ENOUGH
    assert cluster.look(60) == [[], []]
    assert cluster.look(70) == [["empty"], []]


def test_a_node_that_was_needed_meanwhile_waits_again() -> None:
    cluster = Cluster((1, 5, 2))
    cluster.add("busy", a_pod("busy", 1500, GIB))
    cluster.add("other")
    cluster.look(0)
    cluster.add("other", a_pod("more", 1500, GIB))
    cluster.look(30)
    cluster.add("other")

    assert cluster.look(61) == [[], []]
    assert cluster.look(122) == [["other"], []]


def test_a_node_goes_whose_pods_find_another_place() -> None:
    cluster = Cluster((1, 5, 2))
    cluster.add("one", a_pod("a", 900, GIB))
    cluster.add("two", a_pod("b", 1000, GIB))
    cluster.look(0)
    assert cluster.reason("two") == UnremovableReason.NO_PLACE

    assert cluster.look(61) == [[], ["one"]]


def test_a_node_stays_whose_pods_find_none_and_is_not_asked_again_for_a_while() -> None:
    cluster = Cluster((1, 5, 2))
    cluster.add("one", a_pod("a", 900, GIB))
    cluster.add("two", a_pod("b", 1500, GIB))

    cluster.look(0)
    assert cluster.reason("one") == UnremovableReason.NO_PLACE
    cluster.look(10)
    assert cluster.reason("one") == UnremovableReason.RECENTLY_UNREMOVABLE
    cluster.look(300)
    assert cluster.reason("one") == UnremovableReason.NO_PLACE


def test_a_pod_that_keeps_its_node_is_named() -> None:
    cluster = Cluster((0, 5, 2))
    cluster.add("one", a_pod("alone", 100, GIB, owner=None))
    cluster.add("two")

    cluster.look(0)

    verdict = cluster.planner.unremovable.reasons["one"]
    assert verdict.reason == UnremovableReason.BLOCKED_BY_POD
    assert verdict.blocked is not None
    assert verdict.blocked.text == "default/alone is not replicated"


def test_a_node_that_goes_is_a_host_to_spread_over_until_it_is_gone() -> None:
    labels = {"app": "web"}
    spread = [
        {
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": {"matchLabels": labels},
        }
    ]
    cluster = Cluster((0, 5, 2))
    for name in ("one", "two"):
        cluster.add(name, a_pod(name, 100, GIB, labels=labels, topologySpreadConstraints=spread))

    cluster.look(0)

    assert cluster.reason("one") == cluster.reason("two") == UnremovableReason.NO_PLACE


def test_a_group_keeps_its_smallest_size() -> None:
    cluster = Cluster((2, 5, 3))
    for name in ("one", "two", "three"):
        cluster.add(name)
    cluster.look(0)

    empty, drained = cluster.look(61)

    assert (len(empty), drained) == (1, [])
    assert list(cluster.planner.unneeded.nodes) == ["one", "two", "three"]


def test_a_group_at_its_smallest_size_has_no_candidates() -> None:
    cluster = Cluster((1, 5, 1))
    cluster.add("one")

    assert cluster.look(0) == [[], []]
    assert not cluster.planner.unneeded.nodes


def test_an_unready_node_has_another_time() -> None:
    cluster = Cluster((0, 5, 1), Profile(scale_down_unneeded_time=60, scale_down_unready_time=120))
    cluster.add("one", ready=False)
    cluster.look(0)

    assert cluster.look(61) == [[], []]
    assert cluster.reason("one") == UnremovableReason.NOT_UNREADY_LONG_ENOUGH
    assert cluster.look(121) == [["one"], []]


def test_a_budget_is_not_spent_twice() -> None:
    critical = {"critical": "true"}
    cluster = Cluster((0, 5, 3), budgets=[a_budget(1, critical="true")])
    cluster.add("one", a_pod("a", 100, GIB, labels=critical))
    cluster.add("two", a_pod("b", 100, GIB, labels=critical))
    cluster.add("three", a_pod("c", 1500, GIB))
    cluster.look(0)
    assert cluster.reason("two") == UnremovableReason.BLOCKED_BY_POD

    assert cluster.look(61) == [[], ["one"]]


def test_a_node_whose_pods_may_go_one_by_one_only_comes_last() -> None:
    critical = {"critical": "true"}
    cluster = Cluster((0, 5, 3), budgets=[a_budget(1, critical="true")])
    there = {"kubernetes.io/hostname": "third"}
    cluster.add("risky", *(a_pod(name, 100, GIB // 2, labels=critical, nodeSelector=there) for name in "ab"))
    cluster.add("third", a_pod("d", 1500, GIB))
    cluster.add("plain", a_pod("c", 100, GIB // 2))
    cluster.look(0)

    assert cluster.look(61) == [[], ["plain", "risky"]]


def test_a_node_waits_for_a_pod_that_ends_by_itself() -> None:
    cluster = Cluster((0, 5, 1))
    waits = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "on-completion"}
    cluster.add("one", a_pod("job", 100, GIB, annotations=waits))
    cluster.look(0)

    assert cluster.look(61) == [[], []]
    assert cluster.reason("one") == UnremovableReason.BLOCKED_BY_COMPLETION


def test_no_more_go_at_a_time_than_the_profile_allows() -> None:
    cluster = Cluster((0, 20, 6), Profile(scale_down_unneeded_time=60, max_empty_bulk_delete=2))
    for number in range(5):
        cluster.add(f"empty-{number}")
    cluster.add("used", a_pod("a", 100, GIB))
    cluster.look(0)
    now = NOW + 61 * SECOND
    groups, group_of = {"group": cluster.group}, dict.fromkeys(cluster.infos, "group")
    cluster.look(61)
    empty, drained = cluster.planner.to_delete(now, groups, group_of, {})

    first, later = cropped(empty, drained, group_of, (0, 0), cluster.profile)
    assert (len(first), len(later)) == (2, 0)
    assert cropped(empty, drained, group_of, (2, 0), cluster.profile) == ([], [])
    assert [len(kind) for kind in cropped(empty[:1], drained, group_of, (0, 0), cluster.profile)] == [1, len(drained)]
    assert cropped([], drained, group_of, (0, 1), cluster.profile) == ([], [])


def test_cooldown_lasts_as_long_as_the_longest_delay() -> None:
    profile = Profile()
    cooldown = Cooldown()
    assert cooldown.until(profile) < NOW
    cooldown.scale_up = NOW
    assert cooldown.until(profile) == NOW + 600 * SECOND
    cooldown.failure = NOW + 500 * SECOND
    assert cooldown.until(profile) == NOW + 680 * SECOND
    cooldown.deletion = NOW + 1000 * SECOND
    assert cooldown.until(profile) == NOW + 1010 * SECOND
