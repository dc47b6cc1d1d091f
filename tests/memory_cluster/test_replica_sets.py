"""Which pods a ReplicaSet deletes when it has too many.

Source: kubernetes pkg/controller/controller_utils.go (ActivePodsWithRanks.Less), pkg/controller/replicaset/replica_set.go
(getPodsToDelete).
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import MagicMock

import pytest

from harness.clusters.memory.controllers.replica_sets import ReplicaSets
from harness.kube.api.objects import metadata_of, name_of, owner_reference, spec_of, uid_of
from harness.kube.workloads.plans import Plan
from harness.kube.workloads.replica_sets import replica_set
from harness.testing import pod
from tests.memory_cluster.conftest import Cluster

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def pod_on(
    name: str,
    node: str | None = "a",
    *,
    ready: bool = True,
    phase: str = "Running",
    cost: str = "",
    hours: float = 1,
    since: float | None = None,
    restarts: int = 0,
    sidecar: int | None = None,
) -> dict[str, Any]:
    """A pod that was made so many hours ago, and is ready for `since` hours; `sidecar` is how often its sidecar was restarted."""
    made: dict[str, Any] = {**pod(name)}
    if node:
        made["spec"] = {**made["spec"], "nodeName": node}
    made["metadata"] |= {"uid": name, "creationTimestamp": ago(hours)}
    if cost:
        made["metadata"]["annotations"] = {"controller.kubernetes.io/pod-deletion-cost": cost}
    since = hours if since is None else since
    condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": ago(since)}
    containers = [{"name": "c", "restartCount": restarts}]
    status = {"phase": phase, "conditions": [condition], "containerStatuses": containers}
    if sidecar is not None:
        beside = {"name": "s", "image": "s", "restartPolicy": "Always"}
        made["spec"] = {**made["spec"], "initContainers": [beside, {"name": "i", "image": "i"}]}
        status["initContainerStatuses"] = [{"name": "s", "restartCount": sidecar}, {"name": "i", "restartCount": 99}]
    return {**made, "status": status}


def nothing_known(node: str) -> dict[str, Any]:
    """A pod of whose containers the kubelet has said nothing."""
    made = pod_on("nothing known", node)
    del made["status"]["containerStatuses"]
    return made


def ago(hours: float) -> str:
    return (NOW - timedelta(hours=hours)).strftime("%Y-%m-%dT%H:%M:%SZ")


@pytest.mark.parametrize(
    ("pods", "first"),
    [
        ([pod_on("bound", ready=False, cost="-5"), pod_on("unbound", None, phase="Pending", cost="9")], "unbound"),
        ([pod_on("running", cost="-5"), pod_on("pending", "b", phase="Pending", ready=False)], "pending"),
        ([pod_on("ready", cost="-5"), pod_on("unready", "b", ready=False)], "unready"),
        ([pod_on("cheap", cost="-5"), pod_on("x", "b"), pod_on("y", "b")], "cheap"),
        ([pod_on("alone", "a"), pod_on("older", "b", hours=9), pod_on("younger", "b")], "younger"),
        ([pod_on("younger", "b"), pod_on("older", "b", hours=9), pod_on("alone", "a")], "younger"),
        ([pod_on("older", "a", hours=9), pod_on("younger", "b")], "younger"),
        ([pod_on("ready later", "a", hours=9, since=1), pod_on("younger", "b", hours=8)], "ready later"),
        ([pod_on("restarted", "a", restarts=1), pod_on("other", "b")], "restarted"),
        ([pod_on("restarted", "a", hours=9, restarts=1), pod_on("younger", "b")], "younger"),
        ([pod_on("restarted", "a", hours=9, since=1, restarts=1), pod_on("younger", "b")], "restarted"),
        (
            [pod_on("restarted", "a", hours=9, since=1, sidecar=1), pod_on("younger", "b", sidecar=0)],
            "restarted",
        ),
        ([pod_on("never", "a", sidecar=0), pod_on("sidecar", "b", sidecar=2)], "sidecar"),
        ([pod_on("sidecar", "a", restarts=1, sidecar=9), pod_on("own", "b", restarts=2, sidecar=0)], "own"),
        ([pod_on("restarted", "a", hours=9, since=1, restarts=1), nothing_known("b")], "restarted"),
        ([pod_on("restarted", "a", hours=9, since=1, sidecar=1), nothing_known("b")], "restarted"),
        ([pod_on("p", ready=False, cost="-5"), pod_on("q", "b", ready=False, phase="Unknown")], "q"),
        ([pod_on("p", phase="Unknown", cost="-5"), pod_on("q", "b", phase="Pending", ready=False)], "q"),
        ([pod_on("p", ready=False, phase="Unknown", cost="-5"), pod_on("q", "b", ready=False, phase="")], "q"),
        ([pod_on("p", "a", ready=False, hours=9), pod_on("q", "b", ready=False)], "q"),
        ([pod_on("p", "a", ready=False, hours=9, since=1), pod_on("q", "b", ready=False, hours=2, since=2)], "q"),
        ([pod_on("younger", cost="1"), pod_on("older", "b", hours=9)], "older"),
        ([pod_on("younger", cost="much"), pod_on("dear", "b", cost="1", hours=9)], "younger"),
        ([pod_on("wrong", cost="much"), pod_on("cheap", "b", cost="-1")], "cheap"),
    ],
    ids=[
        "unbound",
        "pending",
        "unready",
        "cost",
        "two-on-a-node",
        "two-on-a-node-older",
        "age",
        "ready",
        "restarts",
        "age-before-restarts",
        "a-restart-before-age",
        "a-restart-of-a-sidecar-before-age",
        "restarts-of-a-sidecar",
        "restarts-of-containers-first",
        "a-restart-before-none-known",
        "a-restart-of-a-sidecar-before-none-known",
        "unknown-before-running",
        "pending-before-unknown",
        "no-phase-before-unknown",
        "age-of-pods-that-are-not-ready",
        "age-of-pods-that-are-not-ready-whatever-the-condition-says",
        "no-cost-is-less-than-one",
        "cost-that-is-no-number-is-less-than-one",
        "cost-that-is-no-number",
    ],
)
def test_the_first_that_is_deleted(pods: list[dict[str, Any]], first: str) -> None:
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": len(pods) - 1}}
    assert [each["metadata"]["name"] for each in replica_set(owner, pods, pods, NOW).delete] == [first]


def test_pods_of_the_other_replica_sets_of_its_deployment_count() -> None:
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web-new"}, "spec": {"replicas": 1}}
    pods = [pod_on("older", "a", hours=9), pod_on("younger", "b")]
    beside, gone, ended = pod_on("beside", "a"), pod_on("gone", "b"), pod_on("ended", "b", phase="Succeeded")
    gone["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert names(replica_set(owner, pods, [*pods, beside], NOW)) == ["older"]
    assert names(replica_set(owner, pods, [*pods, gone, ended], NOW)) == ["younger"]  # those that have ended do not
    two, old = {**owner, "spec": {"replicas": 2}}, pod_on("as old", "a", hours=9)
    assert names(replica_set(two, [*pods, old], (), NOW)) == ["younger"]  # without a Deployment no node counts


@pytest.mark.parametrize("order", [("p", "q"), ("q", "p")])
def test_nobody_knows_since_when_it_is_ready_so_it_goes_first(order: tuple[str, str]) -> None:
    """controller_utils.go afterOrZero: an unknown time comes before every other, also before this moment."""
    unknown, now = (pod_on(name, node, since=0) for name, node in zip(order, "ab", strict=True))
    del unknown["status"]["conditions"][0]["lastTransitionTime"]
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": 1}}
    assert names(replica_set(owner, [now, unknown], (), NOW)) == [order[0]]


def test_a_replica_set_that_says_no_number_has_one_pod() -> None:
    """pkg/apis/apps/v1/defaults.go SetDefaults_ReplicaSet."""
    meta = {"name": "web", "uid": "web"}
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": meta, "spec": {"template": {}}}
    older, younger = pod_on("older", "a", hours=9), pod_on("younger", "b")
    assert len(replica_set(owner, [], (), NOW).create) == 1
    assert replica_set(owner, [older], (), NOW) == Plan()
    assert names(replica_set(owner, [older, younger], (), NOW)) == ["younger"]


def names(plan: Plan) -> list[str]:
    return [each["metadata"]["name"] for each in plan.delete]


def owned(name: str, controller: Mapping[str, Any] | None, replicas: int) -> dict[str, Any]:
    """A ReplicaSet that an object controls, as a Deployment or a Rollout does, or nobody."""
    made: dict[str, Any] = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": "c"}]},
            },
        },
    }
    if controller is not None:
        made["metadata"]["ownerReferences"] = [owner_reference(controller)]
    return made


@pytest.mark.parametrize("controlled", [True, False])
def test_a_cluster_counts_the_pods_of_all_replica_sets_with_the_same_controller(
    cluster: Cluster, controlled: bool
) -> None:
    stateful = {**owned("rollout", None, 0), "kind": "StatefulSet"}
    controller = cluster.admin.create(stateful) if controlled else None
    for crowded, alone in (("a", "b"), ("b", "a")):
        for node in ("a", "b"):
            cluster.admin.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"{node}-{crowded}"}})
        ours, beside = f"web-{crowded}", f"old-{crowded}"
        cluster.admin.create(owned(ours, controller, 2))
        cluster.admin.create(owned(beside, controller, 3))
        cluster.settle()
        pods = dict(zip(("a", "b"), cluster.view.list("Pod", labels={"app": ours}), strict=True))
        for node, pod_there in pods.items():
            cluster.admin.bind(name_of(pod_there), "default", f"{node}-{crowded}")
        for pod_beside in cluster.view.list("Pod", labels={"app": beside}):
            cluster.admin.bind(name_of(pod_beside), "default", f"{crowded}-{crowded}")
        cluster.settle()
        cluster.admin.scale("ReplicaSet", ours, "default", 1)
        cluster.settle()
        left = [
            spec_of(pod_left)["nodeName"]
            for pod_left in cluster.view.list("Pod", labels={"app": ours})
            if not metadata_of(pod_left).get("deletionTimestamp")
        ]
        # where nobody controls them, the crowd beside makes no difference, and the pod with the smaller uid goes
        stays = alone if controlled else max(pods, key=lambda node: uid_of(pods[node]))
        assert left == [f"{stays}-{crowded}"]


def test_pods_that_end_already_are_not_deleted_again() -> None:
    going = pod_on("going")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    owner = {"kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": {"replicas": 1}}
    assert replica_set(owner, [going, pod_on("stays")], (), NOW).delete == ()


@pytest.mark.parametrize(
    ("older", "younger", "gone"), [(1.6, 1.3, {"older", "younger"}), (35185 / 3600, 35184 / 3600, {"younger"})]
)
@pytest.mark.parametrize("ready", [True, False])
def test_of_pods_that_are_about_as_long_ready_or_as_old_any_may_go(
    ready: bool, older: float, younger: float, gone: set[str]
) -> None:
    """controller_utils.go logarithmicRankDiff: the whole part of the logarithm of nanoseconds, of which 2^45 are 35184.4 s."""
    found: set[str] = set()
    meta = {"name": "web", "uid": "web"}
    owner = {"kind": "ReplicaSet", "metadata": meta, "spec": {"replicas": 1}}
    for uids in ("ab", "ba"):
        first, second = (
            pod_on("older", "a", hours=older, ready=ready),
            pod_on("younger", "b", hours=younger, ready=ready),
        )
        for made, uid in zip((first, second), uids, strict=True):
            made["metadata"]["uid"] = uid
        (going,) = replica_set(owner, [first, second], (), NOW).delete
        assert replica_set(owner, [second, first], (), NOW).delete == (going,)
        found.add(going["metadata"]["name"])
    assert found == gone


def test_pods_of_its_siblings_are_those_of_sets_with_its_controller() -> None:
    """Source: kubernetes pkg/controller/replicaset/replica_set.go (getReplicaSetsWithSameController)."""

    def owned(kind: str, name: str, *, controller: bool = True) -> dict[str, Any]:
        reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d", "uid": "d", "controller": controller}
        meta = {"name": name, "namespace": "default", "uid": name, "ownerReferences": [reference]}
        return {"kind": kind, "metadata": meta, "spec": {"selector": {"matchLabels": {"app": name}}}}

    sets = [owned("ReplicaSet", "own"), owned("ReplicaSet", "other", controller=False), owned("Job", "job")]
    view = MagicMock()
    view.indexed.return_value = sets
    view.list.return_value = [pod(name, labels={"app": name}) for name in ("own", "other", "job")]
    related = ReplicaSets(MagicMock(view=view))._related(sets[0])
    assert [name_of(each) for each in related] == ["own"]
