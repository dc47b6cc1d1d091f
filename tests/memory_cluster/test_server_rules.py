"""What the API server does not know, what kubelets may create, how deletions are counted, and how far back a watch reaches.

Sources: kubernetes plugin/pkg/admission/noderestriction/admission.go (admitLease, admitCSINode),
apiserver pkg/registry/rest/delete.go (BeforeDelete), pkg/controller/garbagecollector/garbagecollector.go (attemptToDeleteItem).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.clusters.memory.store import Store
from harness.engine.clock import SECOND, Clock, parse
from harness.engine.ids import Ids
from harness.engine.ports import ADMIN, Identity, Writer
from harness.engine.rng import Rng
from harness.kube.api.objects import Key
from harness.kube.api.status import ApiError
from harness.testing import daemonset, deployment
from tests.memory_cluster.test_pods import apply, node, pod

NOTHING = {"apiVersion": "example.com/v1", "kind": "Nothing", "metadata": {"name": "n"}}
CONFIG = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}


@pytest.mark.parametrize(
    "call",
    [
        lambda writer: writer.update(NOTHING),
        lambda writer: writer.patch("Nothing", "n", {}),
        lambda writer: writer.delete("Nothing", "n"),
        lambda writer: writer.patch("ConfigMap", "c", {"data": {}}, namespace="default", subresource="status"),
        lambda writer: writer.scale("Pod", "p", "default", 2),
    ],
    ids=["update", "patch", "delete", "status of a kind without one", "scale of a kind without one"],
)
def test_a_resource_that_is_not_served_is_not_found(cluster: Any, call: Callable[[Writer], Any]) -> None:
    cluster.admin.create(CONFIG)
    with pytest.raises(ApiError) as caught:
        call(cluster.admin)
    found = caught.value
    assert (found.code, found.reason, found.message) == (
        404,
        "NotFound",
        "the server could not find the requested resource",
    )


LEASE = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
CSI = {"apiVersion": "storage.k8s.io/v1", "kind": "CSINode"}


@pytest.mark.parametrize(
    ("kind", "meta", "why"),
    [
        (
            LEASE,
            {"namespace": "kube-node-lease"},
            "can only access node lease with the same name as the requesting node",
        ),
        (CSI, {}, "can only access CSINode with the same name as the requesting node"),
    ],
    ids=["Lease", "CSINode"],
)
def test_a_kubelet_creates_only_what_has_its_own_name(cluster: Any, kind: Any, meta: Any, why: str) -> None:
    kubelet = cluster.writer(Identity.node("w1"))
    made = {**kind, "spec": {"drivers": []} if kind is CSI else {}}
    with pytest.raises(ApiError, match=why) as caught:
        kubelet.create({**made, "metadata": {"name": "w2", **meta}})
    assert caught.value.code == 403
    assert kubelet.create({**made, "metadata": {"name": "w1", **meta}})["metadata"]["uid"]


def test_a_kubelet_renews_its_lease(cluster: Any) -> None:
    kubelet = cluster.writer(Identity.node("w1"))
    stored = kubelet.create({**LEASE, "metadata": {"name": "w1", "namespace": "kube-node-lease"}, "spec": {}})
    renewed = kubelet.update({**stored, "spec": {"leaseDurationSeconds": 40}})
    assert renewed["spec"] == {"leaseDurationSeconds": 40}


def test_a_second_deletion_shortens_the_grace_period_from_its_beginning_on(cluster: Any) -> None:
    apply(cluster, node(), pod())

    def again(seconds: int | None) -> tuple[int, int]:
        """The grace period after another deletion, and when it is over, in seconds of the world."""
        meta = cluster.admin.delete("Pod", "p", namespace="default", grace_period_seconds=seconds)["metadata"]
        return meta["deletionGracePeriodSeconds"], (parse(meta["deletionTimestamp"]) - began) // SECOND

    began = 0
    grace, began = again(60)
    began = (began - 60) * SECOND
    assert grace == 60
    cluster.advance(10)
    assert again(None) == again(60) == again(70) == (60, 60)
    assert again(40) == again(40) == again(50) == again(None) == (40, 40)
    cluster.advance(20)
    assert again(31) == (31, 31)
    assert again(30) == (30, 30)
    assert again(29) == (1, 30)
    version = cluster.view.revision
    assert (again(-1), again(1), cluster.view.revision) == ((1, 30), (1, 30), version)
    assert again(0) == (0, 30)
    assert cluster.view.get("Pod", "p", "default") is None


@pytest.mark.parametrize(("asked", "own", "grace"), [(-5, 30, 1), (None, -5, 1), (None, 7, 7), (2, 7, 2)])
def test_a_grace_period_of_less_than_nothing_is_a_second(cluster: Any, asked: int | None, own: int, grace: int) -> None:
    """Source: kubernetes pkg/registry/core/pod/strategy.go (CheckGracefulDelete)."""
    apply(cluster, node(), pod(terminationGracePeriodSeconds=own))
    gone = cluster.admin.delete("Pod", "p", namespace="default", grace_period_seconds=asked)
    assert gone["metadata"]["deletionGracePeriodSeconds"] == grace


def test_a_deletion_that_is_held_counts_once_as_a_change(cluster: Any) -> None:
    made = deployment("d", 0)
    cluster.admin.create({**made, "metadata": {**made["metadata"], "finalizers": ["example.com/hold"]}})
    assert cluster.admin.delete("Deployment", "d", namespace="default")["metadata"]["generation"] == 2
    assert cluster.admin.delete("Deployment", "d", namespace="default")["metadata"]["generation"] == 2


def test_an_object_goes_with_the_last_of_its_owners(cluster: Any) -> None:
    owners = [
        cluster.admin.create({**deployment(name, 0), "metadata": {"name": name, "namespace": "default"}})
        for name in ("one", "two")
    ]
    references = [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": each["metadata"]["name"],
            "uid": each["metadata"]["uid"],
        }
        for each in owners
    ]
    meta = {**CONFIG["metadata"], "ownerReferences": references}  # type: ignore[dict-item]
    cluster.admin.create({**CONFIG, "metadata": meta})
    cluster.admin.delete("Deployment", "one", namespace="default")
    cluster.settle()
    assert cluster.view.get("ConfigMap", "c", "default") is not None
    cluster.admin.delete("Deployment", "two", namespace="default")
    cluster.settle()
    assert cluster.view.get("ConfigMap", "c", "default") is None


def short_memory(changes: int) -> Store:
    store = Store(Clock(), Ids(Rng(0)), log_limit=2)
    for number in range(changes):
        store.create({**CONFIG, "metadata": {"name": f"c{number}", "namespace": "default"}}, ADMIN)
    return store


@pytest.mark.parametrize(
    ("since", "told"),
    [(6, []), (5, ["c5"]), (4, ["c4", "c5"]), (3, None), (0, None)],
)
def test_a_watch_begins_among_the_changes_that_are_kept(since: int, told: list[str] | None) -> None:
    store = short_memory(6)
    assert store.revision == 6
    if told is None:
        with pytest.raises(ApiError) as caught:
            list(store.changes(since))
        assert (caught.value.code, caught.value.message) == (410, f"too old resource version: {since} (5)")
    else:
        assert [each.object["metadata"]["name"] for each in store.changes(since)] == told


def test_nothing_is_forgotten_while_there_is_room() -> None:
    assert [each.object["metadata"]["name"] for each in short_memory(2).changes(0)] == ["c0", "c1"]


def test_what_had_no_generation_counts_from_nought() -> None:
    store = short_memory(0)
    old = deployment("d", 0)
    store.adopt({**old, "metadata": {"name": "d", "namespace": "default", "uid": "u", "resourceVersion": "0"}})
    key = Key("Deployment", "default", "d")
    changed = store.modify("patch", key, lambda one: {**one, "spec": {**one["spec"], "replicas": 1}}, ADMIN)
    assert changed["metadata"]["generation"] == 1


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"taints": [{"key": "a", "effect": "Never"}]}, "metadata.taints[0].effect"),
        ({"providerID": "azure:///other"}, "spec.providerID"),
    ],
)
def test_a_node_is_judged_when_its_spec_changes(cluster: Any, changed: dict[str, Any], field: str) -> None:
    """Source: kubernetes pkg/apis/core/validation/validation.go (ValidateNodeUpdate)."""
    cluster.admin.create(node(providerID="azure:///one"))
    with pytest.raises(ApiError) as caught:
        cluster.admin.patch("Node", "n", {"spec": changed})
    assert caught.value.details["causes"][0]["field"] == field


@pytest.mark.parametrize("make", [deployment, daemonset])
def test_a_workload_is_judged_when_its_spec_changes(cluster: Any, make: Callable[[], dict[str, Any]]) -> None:
    """Source: kubernetes pkg/apis/apps/validation/validation.go (ValidateDeploymentUpdate, ValidateDaemonSetUpdate)."""
    made = cluster.admin.create(make())
    other = {"spec": {"template": {"metadata": {"labels": {"app": "other"}}}}}
    with pytest.raises(ApiError) as caught:
        cluster.admin.patch(made["kind"], made["metadata"]["name"], other, namespace="default")
    assert caught.value.details["causes"][0]["field"] == "spec.template.metadata.labels"


def test_a_limit_that_a_pod_gets_while_it_runs_is_a_request_too(cluster: Any) -> None:
    """Source: kubernetes pkg/apis/core/v1/defaults.go (SetDefaults_Pod), whichever way a pod is written."""
    apply(cluster, node(), pod())
    container = {"name": "c", "image": "i", "resources": {"limits": {"memory": "1Gi"}, "requests": {"cpu": "1"}}}
    resized = cluster.admin.patch(
        "Pod", "p", {"spec": {"containers": [container]}}, namespace="default", subresource="resize"
    )
    assert resized["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("status", "where"),
    [
        ({"containerStatuses": "x"}, "status.containerStatuses: a list is expected, not 'x'"),
        ({"containerStatuses": [None]}, "status.containerStatuses.0: a value is missing"),
        (
            {"containerStatuses": [{"name": "c", "resources": {"requests": {"cpu": "abc"}}}]},
            "status.containerStatuses.0.resources.requests.cpu: 'abc' is not a quantity",
        ),
    ],
)
def test_a_change_after_which_nothing_can_read_a_pod_is_refused(cluster: Any, status: Any, where: str) -> None:
    apply(cluster, node(), pod())
    before = cluster.view.get("Pod", "p", "default")
    with pytest.raises(ApiError) as caught:
        cluster.admin.patch("Pod", "p", {"status": status}, namespace="default", subresource="status")
    said = f'Pod in version "v1" cannot be handled as a Pod: {where}'
    assert (caught.value.code, caught.value.reason, caught.value.message) == (400, "BadRequest", said)
    assert cluster.view.get("Pod", "p", "default") == before


def test_a_grace_period_of_null_is_the_usual_one(cluster: Any) -> None:
    apply(cluster, node(), pod(terminationGracePeriodSeconds=None))
    gone = cluster.admin.delete("Pod", "p", namespace="default")
    assert gone["metadata"]["deletionGracePeriodSeconds"] == 30
