"""Pods that may be moved and pods that keep their node: the cases of the autoscaler's simulator/drain_test.go and of its rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from harness.clusterautoscaler.budgets import Budgets
from harness.clusterautoscaler.drainability.outcomes import Context, Lookup, Reason
from harness.clusterautoscaler.drainability.rules import Moves, pods_to_move
from harness.clusterautoscaler.profile import Profile
from harness.engine.clock import parse
from harness.kube.api.objects import Object, name_of
from tests.clusterautoscaler.builders import a_budget, a_pod

NOW = parse("2026-01-02T17:00:00Z")
STRICT = Profile(skip_nodes_with_local_storage=True)
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
SAFE_VOLUMES = "cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes"
MIRROR = {"kubernetes.io/config.mirror": "something"}
DAEMON = {"cluster-autoscaler.kubernetes.io/daemonset-pod": "true"}
SYSTEM: dict[str, Any] = {"namespace": "kube-system", "labels": {"k8s-app": "bar"}}


def empty_dirs(*names: str, medium: str = "") -> list[dict[str, Any]]:
    return [{"name": name, "emptyDir": {"medium": medium} if medium else {}} for name in names]


def moves(
    pods: Sequence[Object],
    budgets: Sequence[Object] = (),
    *,
    profile: Profile = STRICT,
    lookup: Lookup | None = None,
) -> Moves:
    return pods_to_move(pods, Context(NOW, Budgets(budgets), lookup), profile)


MOVING = [
    pytest.param(a_pod("web"), [], id="replicated"),
    pytest.param(a_pod("web", owner=("Job", "job", "batch/v1")), [], id="of a Job"),
    pytest.param(a_pod("web", owner=("StatefulSet", "ss", "apps/v1")), [], id="of a StatefulSet"),
    pytest.param(a_pod("web", owner=("ReplicationController", "rc", "v1")), [], id="of a ReplicationController"),
    pytest.param(
        a_pod("web", namespace="kube-system", created="2026-01-02T15:59:00Z"), [], id="system pod of an hour ago"
    ),
    pytest.param(
        a_pod("web", **SYSTEM), [a_budget(1, "kube-system", **{"k8s-app": "bar"})], id="system pod with budget"
    ),
    pytest.param(a_pod("web", volumes=empty_dirs("a", medium="Memory")), [], id="emptyDir in memory"),
    pytest.param(a_pod("web", volumes=[{"name": "a", "gitRepo": {}}]), [], id="other volume"),
    pytest.param(
        a_pod("web", volumes=empty_dirs("a", "b"), annotations={SAFE_VOLUMES: "a,b"}), [], id="all volumes are safe"
    ),
    pytest.param(a_pod("web", labels={"critical": "true"}), [a_budget(1, critical="true")], id="budget allows it"),
    pytest.param(a_pod("web", labels={"critical": "true"}), [a_budget(0, "other", critical="true")], id="other budget"),
    pytest.param(a_pod("web", owner=None, restartPolicy="OnFailure", phase="Succeeded"), [], id="has succeeded"),
    pytest.param(a_pod("web", owner=None, restartPolicy="Never", phase="Failed"), [], id="has failed"),
    pytest.param(a_pod("web", owner=None, restartPolicy="Always", phase="Failed"), [], id="was evicted"),
    pytest.param(a_pod("web", owner=None, annotations={SAFE: "true"}), [], id="says that it is safe"),
    pytest.param(a_pod("web", owner=None, annotations={SAFE: "true"}, **SYSTEM), [], id="safe system pod"),
    pytest.param(
        a_pod("web", owner=None, annotations={SAFE: "true"}, volumes=empty_dirs("a")), [], id="safe with local storage"
    ),
    pytest.param(a_pod("web", deleted="2026-01-02T17:00:30Z"), [], id="terminating"),
    pytest.param(
        a_pod("web", deleted="2026-01-02T16:57:00Z", terminationGracePeriodSeconds=360), [], id="long grace period"
    ),
]


@pytest.mark.parametrize(("pod", "budgets"), MOVING)
def test_a_pod_that_moves(pod: Object, budgets: list[Object]) -> None:
    assert moves([pod], budgets) == Moves(pods=(pod,))


BLOCKING = [
    pytest.param(a_pod("web", owner=None), [], Reason.NOT_REPLICATED, id="unreplicated"),
    pytest.param(a_pod("web", owner=("Custom", "c", "x/v1")), [], Reason.NOT_REPLICATED, id="custom controller"),
    pytest.param(a_pod("web", namespace="kube-system"), [], Reason.SYSTEM_POD, id="system pod"),
    pytest.param(
        a_pod("web", namespace="kube-system", created="2026-01-02T16:01:00Z"),
        [],
        Reason.SYSTEM_POD,
        id="young system pod",
    ),
    pytest.param(
        a_pod("web", **SYSTEM),
        [a_budget(1, "kube-system", **{"k8s-app": "foo"}), a_budget(1, **{"k8s-app": "bar"})],
        Reason.SYSTEM_POD,
        id="system pod with budgets of others",
    ),
    pytest.param(a_pod("web", volumes=empty_dirs("a")), [], Reason.LOCAL_STORAGE, id="emptyDir"),
    pytest.param(a_pod("web", volumes=[{"name": "a", "hostPath": {}}]), [], Reason.LOCAL_STORAGE, id="hostPath"),
    pytest.param(
        a_pod("web", volumes=empty_dirs("a", "b"), annotations={SAFE_VOLUMES: "a"}),
        [],
        Reason.LOCAL_STORAGE,
        id="not all volumes are safe",
    ),
    pytest.param(
        a_pod("web", annotations={SAFE: "false"}), [], Reason.NOT_SAFE_TO_EVICT, id="says that it is not safe"
    ),
    pytest.param(
        a_pod("web", labels={"critical": "true"}), [a_budget(0, critical="true")], Reason.NOT_ENOUGH_PDB, id="budget"
    ),
]


@pytest.mark.parametrize(("pod", "budgets", "reason"), BLOCKING)
def test_a_pod_that_keeps_its_node(pod: Object, budgets: list[Object], reason: Reason) -> None:
    blocked = moves([pod], budgets).blocked

    assert blocked is not None
    assert (blocked.pod, blocked.reason) == (pod, reason)


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(a_pod("web", owner=None, annotations=MIRROR, **SYSTEM), id="static"),
        pytest.param(a_pod("web", deleted="2026-01-02T15:00:00Z"), id="terminating for long"),
        pytest.param(
            a_pod("web", deleted="2026-01-02T16:59:00Z", terminationGracePeriodSeconds=0),
            id="terminating without grace",
        ),
    ],
)
def test_a_pod_that_does_not_count(pod: Object) -> None:
    assert moves([pod]) == Moves()


def test_pods_of_daemon_sets_go_with_their_node() -> None:
    daemon = a_pod("agent", owner=("DaemonSet", "agent", "apps/v1"), **SYSTEM)
    custom = a_pod("custom", owner=("CustomDaemonSet", "agent", "crd/v1"), annotations=DAEMON)
    web = a_pod("web")

    assert moves([web, daemon, custom]) == Moves((web,), (daemon, custom))


def test_a_pod_is_waited_for_that_wants_to_end_by_itself() -> None:
    pod = a_pod("web", owner=None, annotations={SAFE: "on-completion"})

    assert moves([pod]) == Moves(on_completion=(pod,))


def test_aks_lets_pods_with_local_storage_go() -> None:
    pod = a_pod("web", volumes=empty_dirs("a"))

    assert moves([pod], profile=Profile()) == Moves(pods=(pod,))


def test_system_pods_can_be_let_go_at_once() -> None:
    pod = a_pod("web", **SYSTEM)

    assert moves([pod], profile=Profile(skip_nodes_with_system_pods=False)) == Moves(pods=(pod,))


def test_any_controller_is_enough_where_custom_ones_are_trusted() -> None:
    profile = Profile(skip_nodes_with_custom_controller_pods=False)
    pod = a_pod("web", owner=("Custom", "c", "x/v1"))

    assert moves([pod], profile=profile) == Moves(pods=(pod,))
    assert moves([a_pod("web", owner=None)], profile=profile).blocked is not None


def of_replicas(count: int) -> Lookup:
    def lookup(kind: str, name: str, namespace: str) -> Object | None:
        return {"spec": {"replicas": count}} if (kind, name) == ("ReplicaSet", "rs") else None

    return lookup


def test_a_controller_has_to_exist() -> None:
    there, gone = a_pod("web"), a_pod("web", owner=("StatefulSet", "db", "apps/v1"))

    assert moves([there], lookup=of_replicas(1)).pods == (there,)
    blocked = moves([gone], lookup=of_replicas(1)).blocked
    assert blocked is not None
    assert blocked.reason is Reason.CONTROLLER_NOT_FOUND
    assert blocked.text == 'statefulset for default/web is not available: err: statefulset.apps "db" not found'


def test_a_controller_may_have_to_have_more_replicas() -> None:
    profile = Profile(min_replica_count=2)

    assert moves([a_pod("web")], profile=profile, lookup=of_replicas(2)).blocked is None
    blocked = moves([a_pod("web")], profile=profile, lookup=of_replicas(1)).blocked
    assert blocked is not None
    assert blocked.reason is Reason.MIN_REPLICAS_REACHED


def test_the_first_pod_that_keeps_the_node_is_named() -> None:
    blocked = moves([a_pod("web"), a_pod("first", owner=None), a_pod("second", owner=None)]).blocked

    assert blocked is not None
    assert name_of(blocked.pod) == "first"
