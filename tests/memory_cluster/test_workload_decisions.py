"""What workload controllers make, object by object, asked without a cluster.

Sources: kubernetes pkg/controller/controller_utils.go (GetPodFromTemplate), pkg/controller/statefulset/{stateful_set_control,
stateful_set_utils}.go, pkg/controller/volume/ephemeral/controller.go, pkg/controller/daemon/util, pkg/controller/deployment/sync.go.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from harness.kube.api.objects import name_of
from harness.kube.workloads.claims import ephemeral_claims
from harness.kube.workloads.daemon_sets import daemon_set
from harness.kube.workloads.deployments import Strategy, new_replica_set
from harness.kube.workloads.job_failures import Backoff
from harness.kube.workloads.jobs import plan_job
from harness.kube.workloads.plans import Plan
from harness.kube.workloads.replica_sets import missing_pods, replica_set
from harness.kube.workloads.stateful_sets import stateful_set
from harness.kube.workloads.templates import pod_from_template
from harness.testing import node, pod, requirement

Object = dict[str, Any]
NOW = datetime(2026, 1, 1, tzinfo=UTC)
JOB = {"parallelism": 1, "completions": 1, "backoffLimit": 6}
LABELS = {"app": "web"}


def owner(kind: str, namespace: str | None = None, **spec: Any) -> Object:
    metadata = {"name": "web", "uid": "web", **({} if namespace is None else {"namespace": namespace})}
    return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


def first_replica_set(deployment: Object) -> Object:
    strategy = Strategy.from_spec(deployment)
    return new_replica_set(deployment, strategy, strategy.replicas, 1)


TEMPLATE = {"metadata": {"labels": LABELS, "annotations": {"a": "b"}}, "spec": {"priorityClassName": "high"}}


def test_a_pod_is_what_its_template_says_and_belongs_to_its_owner() -> None:
    reference = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "name": "web",
        "uid": "web",
        "controller": True,
        "blockOwnerDeletion": True,
    }
    made = pod_from_template(owner("ReplicaSet"), TEMPLATE)
    assert made["metadata"] == {
        "namespace": "default",
        "generateName": "web-",
        "labels": LABELS,
        "annotations": {"a": "b"},
        "ownerReferences": [reference],
    }
    assert made["spec"] == TEMPLATE["spec"]
    named = pod_from_template(owner("StatefulSet"), {"spec": {}}, name="web-0")["metadata"]
    assert named.keys() == {"namespace", "name", "labels", "ownerReferences"}


@pytest.mark.parametrize(("namespace", "there"), [(None, "default"), ("shop", "shop")])
def test_all_that_is_made_is_in_the_namespace_of_its_owner(namespace: str | None, there: str) -> None:
    template = {"template": TEMPLATE, "selector": {"matchLabels": LABELS}}
    claim = {"metadata": {"name": "data"}, "spec": {}}
    stateful = stateful_set(owner("StatefulSet", namespace, volumeClaimTemplates=[claim], **template), [])
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]
    bare = pod("p", volumes=volumes)
    bare["metadata"] = {"name": "p", "uid": "p", **({} if namespace is None else {"namespace": namespace})}
    made = [
        *replica_set(owner("ReplicaSet", namespace, **template), [], (), NOW).create,
        *plan_job(owner("Job", namespace, **JOB, **template), [], Backoff(), NOW).create,
        *daemon_set(owner("DaemonSet", namespace, **template), [], [node("a")]).create,
        *stateful.create,
        *ephemeral_claims(bare),
        first_replica_set(owner("Deployment", namespace, **template)),
    ]
    assert [each["kind"] for each in made] == [
        *("Pod", "Pod", "Pod", "PersistentVolumeClaim", "Pod", "PersistentVolumeClaim", "ReplicaSet"),
    ]
    assert {each["metadata"]["namespace"] for each in made} == {there}


@pytest.mark.parametrize(
    ("spec", "living", "count"),
    [({}, 0, 1), ({}, 1, 0), ({"replicas": 3}, 1, 2), ({"replicas": 3}, 3, 0), ({"replicas": 3}, 4, 0), ({"replicas": 0}, 0, 0)],
)  # fmt: skip
def test_as_many_pods_as_are_missing(spec: Object, living: int, count: int) -> None:
    plan = missing_pods(owner("ReplicaSet", template=TEMPLATE, **spec), living)
    assert [each["metadata"]["labels"] for each in plan.create] == [LABELS] * count
    assert all(each["spec"] == TEMPLATE["spec"] for each in plan.create)
    assert plan.delete == ()


def test_what_a_job_makes() -> None:
    (made,) = plan_job(owner("Job", template=TEMPLATE, **JOB), [], Backoff(), NOW).create
    assert made["metadata"]["labels"] == LABELS
    assert made["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]


READY = [{"type": "Ready", "status": "True"}]


def phases(*given: str | None) -> list[Object]:
    """Pods of a StatefulSet by their phases, `None` where there is none; `""` for one of which nothing is known."""
    return [
        {
            **pod(f"web-{number}"),
            **({"status": {"phase": phase, "conditions": READY if phase == "Running" else []}} if phase else {}),
        }
        for number, phase in enumerate(given)
        if phase is not None
    ]


@pytest.mark.parametrize(
    ("spec", "pods", "created", "deleted"),
    [
        ({}, [], [0], []),
        ({}, ["Running"], [], []),
        ({"replicas": 0}, [], [], []),
        ({"replicas": 3}, [], [0], []),
        ({"replicas": 3}, ["Pending"], [], []),
        ({"replicas": 3}, [""], [], []),
        ({"replicas": 3}, ["Running"], [1], []),
        ({"replicas": 3}, ["Running", "Running"], [2], []),
        ({"replicas": 3}, [None, "Running", "Running"], [0], []),
        ({"replicas": 3}, ["Running", None, "Running"], [1], []),
        ({"replicas": 3, "podManagementPolicy": "OrderedReady"}, [], [0], []),
        ({"replicas": 3, "podManagementPolicy": "Parallel"}, [], [0, 1, 2], []),
        ({"replicas": 3, "podManagementPolicy": "Parallel"}, ["Pending", None, "Running"], [1], []),
        ({"replicas": 1}, ["Running", "Running", "Pending"], [], [2]),
        ({"replicas": 1}, ["Running", "Running", "Running"], [], [2]),
        ({"replicas": 1, "podManagementPolicy": "Parallel"}, ["Running", "Running", "Pending"], [], [2, 1]),
    ],
)
def test_pods_of_a_stateful_set(spec: Object, pods: list[str | None], created: list[int], deleted: list[int]) -> None:
    plan = stateful_set(owner("StatefulSet", template=TEMPLATE, **spec), phases(*pods))
    assert [name_of(each) for each in plan.create] == [f"web-{number}" for number in created]
    assert [name_of(each) for each in plan.delete] == [f"web-{number}" for number in deleted]
    for number, each in zip(created, plan.create, strict=True):
        assert each["metadata"]["labels"] == {
            **LABELS,
            "statefulset.kubernetes.io/pod-name": f"web-{number}",
            "apps.kubernetes.io/pod-index": str(number),
        }
        assert each["spec"] == TEMPLATE["spec"]


def test_claims_of_a_stateful_set_come_before_their_pod() -> None:
    templates = [
        {
            "metadata": {"name": "data", "labels": {"tier": "gold", "app": "x"}, "annotations": {"a": "b"}},
            "spec": {"x": 1},
        },
        {"metadata": {"name": "log"}, "spec": {}},
    ]
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "cache", "emptyDir": {}}]
    spec = {"volumeClaimTemplates": templates, "template": {"spec": {"volumes": volumes}}}
    data, log, made = stateful_set(owner("StatefulSet", selector={"matchLabels": LABELS}, **spec), []).create
    assert [data["metadata"]["name"], log["metadata"]["name"]] == ["data-web-0", "log-web-0"]
    assert (data["metadata"]["labels"], log["metadata"]["labels"]) == ({"tier": "gold", "app": "web"}, LABELS)
    assert (data["metadata"]["annotations"], data["spec"]) == ({"a": "b"}, {"x": 1})
    assert "annotations" not in log["metadata"]
    assert [each["name"] for each in made["spec"]["volumes"]] == ["data", "log", "cache"]
    assert [each.get("persistentVolumeClaim") for each in made["spec"]["volumes"]] == [
        {"claimName": "data-web-0"},
        {"claimName": "log-web-0"},
        None,
    ]
    (claim, _, _) = stateful_set(owner("StatefulSet", **spec), []).create
    assert claim["metadata"]["labels"] == {"tier": "gold", "app": "x"}
    (only,) = stateful_set(owner("StatefulSet", template={"spec": {"volumes": volumes}}), []).create
    assert only["spec"]["volumes"] == volumes


def test_claims_of_ephemeral_volumes() -> None:
    template = {"metadata": {"labels": {"tier": "gold"}, "annotations": {"a": "b"}}, "spec": {"x": 1}}
    volumes = [
        {"name": "cache", "emptyDir": {}},
        {"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}},
        {"name": "none", "ephemeral": {}},
    ]
    made = pod("p", volumes=volumes)
    made["metadata"]["uid"] = "p"
    (claim,) = ephemeral_claims(made)
    assert claim["metadata"]["name"] == "p-scratch"
    assert (claim["metadata"]["labels"], claim["metadata"]["annotations"]) == ({"tier": "gold"}, {"a": "b"})
    assert claim["spec"] == {"x": 1}
    assert ephemeral_claims(pod("p")) == ()


def terms(*wanted: Object) -> Object:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(wanted)}}}


def test_a_daemon_is_pinned_to_its_node_and_keeps_what_it_prefers() -> None:
    """ReplaceDaemonSetPodNodeNameNodeAffinity: the required terms are replaced, as they have been judged."""
    wishes = [{"weight": 1, "preference": {"matchExpressions": [requirement("b", "c")]}}]
    affinity = {
        "nodeAffinity": {
            **terms({"matchExpressions": [requirement("kubernetes.io/hostname", "a", "b")]})["nodeAffinity"],
            "preferredDuringSchedulingIgnoredDuringExecution": wishes,
        },
        "podAffinity": {},
    }
    daemons = owner("DaemonSet", template={"spec": {"affinity": affinity}})
    (first, second) = daemon_set(daemons, [], [node("a"), node("b"), node("c")]).create
    for name, made in (("a", first), ("b", second)):
        pinned = {"matchFields": [requirement("metadata.name", name)]}
        assert made["spec"]["affinity"] == {
            "nodeAffinity": {
                **terms(pinned)["nodeAffinity"],
                "preferredDuringSchedulingIgnoredDuringExecution": wishes,
            },
            "podAffinity": {},
        }
    (plain,) = daemon_set(owner("DaemonSet", template={"spec": {}}), [], [node("a")]).create
    assert plain["spec"]["affinity"] == terms({"matchFields": [requirement("metadata.name", "a")]})
    # the one that is pinned to a node is known before it is bound
    assert daemon_set(daemons, [first, second], [node("a"), node("b"), node("c")]) == Plan()
    assert daemon_set(daemons, [first], [node("a"), node("b")]).create == (second,)
    strays = [pod("s", affinity=each) for each in ({}, {"nodeAffinity": {}}, terms(), terms({}))]
    assert daemon_set(daemons, [first, second, *strays], [node("a"), node("b")]).delete == tuple(strays)


@pytest.mark.parametrize("replicas", [None, 0, 3])
def test_the_replica_set_of_a_deployment(replicas: int | None) -> None:
    made = first_replica_set(
        owner("Deployment", template=TEMPLATE, **({} if replicas is None else {"replicas": replicas}))
    )
    assert made["spec"]["replicas"] == (1 if replicas is None else replicas)
    suffix = made["metadata"]["labels"]["pod-template-hash"]
    labels = {**LABELS, "pod-template-hash": suffix}
    assert made["metadata"]["name"] == f"web-{suffix}"
    assert made["spec"]["selector"] == {"matchLabels": {"pod-template-hash": suffix}}
    assert made["spec"]["template"] == {**TEMPLATE, "metadata": {**TEMPLATE["metadata"], "labels": labels}}
    bare = first_replica_set(owner("Deployment"))
    assert bare["spec"]["template"] == {"metadata": {"labels": bare["metadata"]["labels"]}}
