"""Where a DaemonSet's pods are made, and where those that are there stay.

Source: kubernetes pkg/controller/daemon/daemon_controller.go (podsShouldBeOnNode, NodeShouldRunDaemonPod).
"""

from copy import deepcopy
from typing import Any

import pytest

from harness.kube.scheduling.pods import is_daemon
from harness.kube.workloads.daemon_sets import daemon_set, is_concerned
from harness.kube.workloads.plans import Plan
from harness.testing import daemonset, deployment, node, nodeclass, nodepool
from harness.world import World

DAEMONS: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "DaemonSet",
    "metadata": {"name": "agent", "namespace": "default", "uid": "agent"},
    "spec": {
        "template": {
            "metadata": {"labels": {"app": "agent"}},
            "spec": {"nodeSelector": {"os": "linux"}, "containers": []},
        }
    },
}
POD: dict[str, Any] = {
    "kind": "Pod",
    "metadata": {"name": "agent-x", "namespace": "default"},
    "spec": {"nodeName": "n"},
    "status": {"phase": "Running"},
}
NODE: dict[str, Any] = {"kind": "Node", "metadata": {"name": "n", "labels": {"os": "linux"}}, "spec": {}}
OWN = {"key": "team", "value": "a"}
DISRUPTED = {"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("taints", "made", "stays"),
    [
        ([], True, True),
        ([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}], True, True),
        ([{**OWN, "effect": "PreferNoSchedule"}], True, True),
        ([DISRUPTED], False, True),
        ([{**OWN, "effect": "NoSchedule"}], False, True),
        ([{**OWN, "effect": "NoExecute"}], False, False),
        ([DISRUPTED, {**OWN, "effect": "NoExecute"}], False, False),
        ([{"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}], True, True),
        ([{"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"}], True, True),
        ([{"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}], False, True),
        ([{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}], False, False),
        ([{"key": "node.kubernetes.io/network-unavailable", "effect": "NoSchedule"}], False, True),
    ],
)
@pytest.mark.parametrize("going", [False, True], ids=["there", "being-deleted"])
def test_taints(taints: list[dict[str, str]], made: bool, stays: bool, going: bool) -> None:
    meta: dict[str, Any] = {"name": "n", "labels": {"os": "linux"}}
    if going:
        meta["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    node = {"kind": "Node", "metadata": meta, "spec": {"taints": taints}}
    assert bool(daemon_set(DAEMONS, [], [node]).create) is made
    assert (not daemon_set(DAEMONS, [POD], [node]).delete) is stays


READY = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}


@pytest.mark.parametrize(
    ("taints", "pods", "counts"),
    [
        ([], [], (1, 0, 0, 0)),
        ([], [POD], (1, 1, 0, 0)),
        ([], [{**POD, "status": READY}], (1, 1, 1, 0)),
        ([], [POD, {**POD, "status": READY}], (1, 1, 0, 0)),  # the oldest one counts
        ([], [{**POD, "status": {"phase": "Failed"}}], (1, 1, 0, 0)),
        ([DISRUPTED], [], (0, 0, 0, 0)),
        ([DISRUPTED], [{**POD, "status": READY}], (0, 0, 0, 1)),
        ([{**OWN, "effect": "NoExecute"}], [POD], (0, 0, 0, 1)),
    ],
)
def test_what_its_status_says_of_nodes(
    taints: list[dict[str, str]], pods: list[dict[str, Any]], counts: tuple[int, int, int, int]
) -> None:
    """Source: daemon_controller.go (updateDaemonSetStatus)."""
    told = daemon_set(DAEMONS, pods, [{**NODE, "spec": {"taints": taints}}]).counts
    names = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "numberMisscheduled")
    assert tuple(told[name] for name in names) == counts


@pytest.mark.parametrize(
    ("taints", "scheduled", "misscheduled", "concerned"),
    [
        ([], False, 0, True),
        ([], True, 0, False),
        ([], True, 1, True),
        ([DISRUPTED], False, 0, False),
        ([DISRUPTED], True, 0, False),
        ([DISRUPTED], True, 1, True),
        ([{**OWN, "effect": "NoExecute"}], True, 0, True),
        ([{**OWN, "effect": "NoExecute"}], False, 1, False),
    ],
)
def test_which_nodes_make_it_look(
    taints: list[dict[str, str]], scheduled: bool, misscheduled: int, concerned: bool
) -> None:
    """Source: daemon_controller.go (syncNodeUpdate)."""
    owner = {**DAEMONS, "status": {"numberMisscheduled": misscheduled}}
    assert is_concerned(owner, {**NODE, "spec": {"taints": taints}}, scheduled=scheduled) is concerned


def test_a_pod_that_a_taint_would_not_let_in_any_more_is_counted_as_before() -> None:
    """On 1.36.3 the status of a DaemonSet did not change while one of four nodes was not ready for eight seconds."""
    world = World()
    world.apply(node("a"), node("b"), daemonset(name="agent"))
    world.settle()
    statuses = [world.get("DaemonSet", "agent")["status"]]
    for taints in ([{**OWN, "effect": "NoSchedule"}], []):
        tainted = world.get("Node", "a")
        world.apply({**tainted, "spec": {**tainted["spec"], "taints": taints}})
        world.settle()
        statuses.append(world.get("DaemonSet", "agent")["status"])
    assert [status["desiredNumberScheduled"] for status in statuses] == [2, 2, 2]
    assert [status["numberMisscheduled"] for status in statuses] == [0, 0, 0]


def test_pods_that_are_refused_are_wanted_nevertheless() -> None:
    world = World()
    made = daemonset("agent", priorityClassName="high")
    world.apply(node("a"), node("b"), made)
    world.settle()
    stored = world.get("DaemonSet", "agent")
    assert stored is not None
    assert (stored["status"]["desiredNumberScheduled"], stored["status"]["currentNumberScheduled"]) == (2, 0)


def test_a_node_that_is_not_selected_any_more_has_its_pod_taken() -> None:
    node = {"kind": "Node", "metadata": {"name": "n", "labels": {"os": "windows"}}, "spec": {}}
    plan = daemon_set(DAEMONS, [POD], [node])
    assert (plan.create, plan.delete) == ((), (POD,))


def test_an_unbound_pod_of_a_node_that_is_gone_is_deleted() -> None:
    (pinned,) = daemon_set(DAEMONS, [], [NODE]).create
    assert daemon_set(DAEMONS, [pinned, POD], []).delete == (pinned,)  # the garbage collector takes bound ones


def test_a_pod_is_made_when_the_one_before_has_ended() -> None:
    ending = {**POD, "metadata": {**POD["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert daemon_set(DAEMONS, [ending], [NODE]) == Plan()
    assert daemon_set(DAEMONS, [{**ending, "status": {"phase": "Failed"}}], [NODE]).create


def test_a_pod_beside_one_that_ends_is_made_by_a_rolling_update_only() -> None:
    """SurgeCount is 0 for another strategy, whatever stands under rollingUpdate, which nobody validates then."""
    ending = {**POD, "metadata": {**POD["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}

    def created(strategy: dict[str, Any]) -> int:
        owner = {**DAEMONS, "spec": {**DAEMONS["spec"], "updateStrategy": strategy}}
        return len(daemon_set(owner, [ending], [NODE]).create)

    surge = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
    assert (created(surge), created({"type": "OnDelete", **surge})) == (1, 0)


def test_a_pod_that_has_failed_is_deleted_before_another_is_made() -> None:
    failed = {**POD, "status": {"phase": "Failed"}}
    assert daemon_set(DAEMONS, [failed], [NODE]) == Plan(delete=(failed,))


def test_of_two_pods_on_a_node_the_bound_and_older_one_stays() -> None:
    (waiting,) = daemon_set(DAEMONS, [], [NODE]).create
    younger = {**POD, "metadata": {**POD["metadata"], "name": "agent-y"}}
    assert daemon_set(DAEMONS, [waiting, POD, younger], [NODE]) == Plan(delete=(younger, waiting))


READY = {"conditions": [{"type": "Ready", "status": "True"}]}


@pytest.mark.parametrize(
    ("first", "second", "ready"),
    [
        ({"spec": {}}, {"status": READY}, 1),  # the bound one counts, wherever it stands
        (
            {"created": "2026-01-02T00:00:00Z"},
            {"created": "2026-01-01T00:00:00Z", "status": READY},
            1,
        ),  # then the oldest
        ({"created": "2026-01-01T00:00:00Z"}, {"created": "2026-01-02T00:00:00Z", "status": READY}, 0),
    ],
)
def test_of_two_pods_on_a_node_one_counts(first: dict[str, Any], second: dict[str, Any], ready: int) -> None:
    """Source: kubernetes pkg/controller/daemon/daemon_controller.go (updateDaemonSetStatus, podByCreationTimestampAndPhase)."""

    def made(name: str, told: dict[str, Any]) -> dict[str, Any]:
        meta = {**POD["metadata"], "name": name, "creationTimestamp": told.get("created", "2026-01-01T00:00:00Z")}
        return {**POD, "metadata": meta, "spec": told.get("spec", POD["spec"]), "status": told.get("status", {})}

    (waiting,) = daemon_set(DAEMONS, [], [NODE]).create
    one = made("a", first if "spec" not in first else {**first, "spec": waiting["spec"]})
    assert daemon_set(DAEMONS, [one, made("b", second)], [NODE]).counts["numberReady"] == ready


def test_a_template_that_names_a_node() -> None:
    named = deepcopy(DAEMONS)
    named["spec"]["template"]["spec"]["nodeName"] = "other"
    assert daemon_set(named, [POD], [NODE]) == Plan(delete=(POD,))


def test_tolerations_of_its_pods() -> None:
    own = deepcopy(DAEMONS)
    tolerated = {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"}
    own["spec"]["template"]["spec"] |= {"hostNetwork": True, "tolerations": [tolerated]}
    (pod,) = daemon_set(own, [], [NODE]).create
    assert [(each["key"].partition("/")[2], each["effect"]) for each in pod["spec"]["tolerations"]] == [
        ("unschedulable", "NoSchedule"),
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("network-unavailable", "NoSchedule"),
    ]


def test_pods_are_made_when_their_node_is_ready_and_those_that_tolerate_everything_before() -> None:
    world = World()
    early = daemonset(name="network")
    early["spec"]["template"]["spec"]["tolerations"] = [{"operator": "Exists"}]
    world.apply(nodeclass(), nodepool(), daemonset(name="agent"), early, deployment(name="web", replicas=1))
    seen: list[tuple[bool, set[str]]] = []
    for _ in range(300):
        world.advance(1)
        for host in world.list("Node"):
            waits = any(each["key"] == "node.kubernetes.io/not-ready" for each in host["spec"].get("taints") or ())
            made = {each["metadata"]["generateName"] for each in world.list("Pod") if is_daemon(each)}
            seen.append((waits, made))
    assert [made for waits, made in seen if waits][-1] == {"network-"}
    assert seen[-1] == (False, {"network-", "agent-"})


def test_while_a_node_waits_for_its_replacement_its_daemons_run_and_the_drain_evicts_them() -> None:
    world = World()
    world.apply(nodeclass(), nodepool(), daemonset(name="agent"), deployment(name="web", replicas=1))
    world.settle()
    (before,) = world.list("Node")
    pool = nodepool()
    pool["spec"]["template"].setdefault("metadata", {})["labels"] = {"team": "blue"}
    world.apply(pool)
    daemons: list[int] = []
    for _ in range(60):
        world.advance(10)
        (*old,) = (each for each in world.list("Node") if each["metadata"]["name"] == before["metadata"]["name"])
        if old and any(each["key"] == "karpenter.sh/disrupted" for each in old[0]["spec"].get("taints") or ()):
            pods = [each for each in world.list("Pod") if each["spec"].get("nodeName") == before["metadata"]["name"]]
            daemons.append(sum(each["metadata"]["name"].startswith("agent") for each in pods))
    assert daemons
    assert daemons[0] == 1
    evicted = [
        each
        for each in world.events
        if each.reason == "Evicted" and (each.object.kind, each.object.name[:5]) == ("Pod", "agent")
    ]
    assert len(evicted) == 1
