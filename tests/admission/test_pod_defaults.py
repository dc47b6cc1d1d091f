"""What the API server fills in, function by function.

Sources: kubernetes pkg/apis/{core,apps,batch,storage}/v1/defaults.go, pkg/apis/core/v1/helper/qos/qos.go,
plugin/pkg/admission/{defaulttolerationseconds,nodetaint,priority}/admission.go.
"""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.admission.defaults import (
    PriorityRefused,
    default_changed_pod,
    default_node,
    default_pod,
    default_storage,
    missing_priority_class,
    priority_classes,
)
from harness.kube.admission.workload_defaults import default_workload
from harness.kube.api.labels import NOT_READY, UNREACHABLE
from harness.testing import node, pod

Object = dict[str, Any]
NEWEST = (1, 36)


def no_class(name: str) -> None:
    return None


def defaulted(kubernetes: tuple[int, int] = NEWEST, **spec: Any) -> Object:
    found: Object = default_pod(pod(**spec), no_class, kubernetes)["spec"]
    return found


def container(**fields: Any) -> Object:
    return {"name": "c", "image": "i", **fields}


def test_what_every_pod_has() -> None:
    made = default_pod({"metadata": {"name": "p"}}, no_class, NEWEST)
    assert made["status"] == {"phase": "Pending", "qosClass": "BestEffort"}
    stays = [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
        for key in (NOT_READY, UNREACHABLE)
    ]
    assert made["spec"] == {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
        "tolerations": stays,
        "priority": 0,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    own = {"restartPolicy": "Never", "terminationGracePeriodSeconds": 5, "schedulerName": "mine"}
    assert {field: defaulted(**own)[field] for field in own} == own


@pytest.mark.parametrize(
    ("own", "added"),
    [
        ({"key": "team", "operator": "Exists"}, [NOT_READY, UNREACHABLE]),
        ({"operator": "Exists"}, []),
        ({"operator": "Exists", "effect": "NoExecute"}, []),
        ({"operator": "Exists", "effect": "NoSchedule"}, [NOT_READY, UNREACHABLE]),
        ({"key": NOT_READY, "operator": "Exists"}, [UNREACHABLE]),
        ({"key": NOT_READY, "operator": "Exists", "effect": "NoExecute"}, [UNREACHABLE]),
        ({"key": NOT_READY, "operator": "Exists", "effect": "NoSchedule"}, [NOT_READY, UNREACHABLE]),
        ({"key": UNREACHABLE, "operator": "Exists"}, [NOT_READY]),
    ],
)
def test_a_pod_stays_five_minutes_unless_it_says_otherwise(own: Object, added: list[str]) -> None:
    first, *rest = defaulted(tolerations=[own])["tolerations"]
    assert first == own
    assert [each["key"] for each in rest] == added


@pytest.mark.parametrize(
    ("port", "on_host", "made"),
    [
        ({"containerPort": 80}, None, {"containerPort": 80, "protocol": "TCP"}),
        ({"containerPort": 80}, False, {"containerPort": 80, "protocol": "TCP"}),
        ({"containerPort": 80}, True, {"containerPort": 80, "protocol": "TCP", "hostPort": 80}),
        ({"containerPort": 80, "protocol": "UDP"}, True, {"containerPort": 80, "protocol": "UDP", "hostPort": 80}),
        ({"containerPort": 80, "hostPort": 81}, True, {"containerPort": 80, "protocol": "TCP", "hostPort": 81}),
        ({"containerPort": 80, "hostPort": 81}, False, {"containerPort": 80, "protocol": "TCP", "hostPort": 81}),
    ],
)
@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_ports(port: Object, on_host: bool | None, made: Object, field: str) -> None:
    complete = {"containerPort": 1, "protocol": "SCTP", "hostPort": 1}
    spec = {field: [container(ports=[complete, port])], **({} if on_host is None else {"hostNetwork": on_host})}
    assert defaulted(**spec)[field][0]["ports"] == [complete, made]


@pytest.mark.parametrize(
    ("resources", "made"),
    [
        ({}, {}),
        ({"requests": {"cpu": "0.5"}}, {"requests": {"cpu": "500m"}}),
        ({"limits": {"cpu": 1}}, {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}),
        (
            {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "0.5"}},
            {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}},
        ),
        ({"limits": {}, "requests": {}}, {"limits": {}, "requests": {}}),
        ({"claims": [{"name": "gpu"}]}, {"claims": [{"name": "gpu"}]}),
    ],
)
def test_limits_stand_in_for_requests(resources: Object, made: Object) -> None:
    spec = defaulted(containers=[container(resources=resources)], initContainers=[container(resources=resources)])
    assert [spec[field][0]["resources"] for field in ("containers", "initContainers")] == [made, made]


@pytest.mark.parametrize(
    ("kubernetes", "whole", "requests"),
    [
        ((1, 34), {"limits": {"cpu": "2.0"}}, {"cpu": "500m"}),
        ((1, 33), {"limits": {"cpu": "2.0"}}, None),
        ((1, 34), {"limits": {"memory": "1Gi"}}, {"memory": "1Gi", "cpu": "500m"}),
        ((1, 34), {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}, {"cpu": "1"}),
        ((1, 34), {"requests": {"cpu": "1.0"}}, {"cpu": "1"}),
        ((1, 33), {"requests": {"cpu": "1.0"}}, {"cpu": "1"}),
    ],
)
def test_a_pod_as_a_whole(kubernetes: tuple[int, int], whole: Object, requests: Object | None) -> None:
    """defaultPodRequests, behind PodLevelResources, which is on from 1.34."""
    asks = container(resources={"requests": {"cpu": "0.5", "example.com/a": "1"}})
    assert defaulted(kubernetes, containers=[asks], resources=whole)["resources"].get("requests") == requests


CLASSES = {
    "high": {"metadata": {"name": "high"}, "value": 10},
    "polite": {"metadata": {"name": "polite"}, "value": 20, "preemptionPolicy": "Never"},
    "": {"metadata": {"name": "usual"}, "value": 5},
}


@pytest.mark.parametrize(
    ("spec", "usual", "made"),
    [
        ({}, False, (None, 0, "PreemptLowerPriority")),
        ({}, True, ("usual", 5, "PreemptLowerPriority")),
        ({"priorityClassName": ""}, True, ("usual", 5, "PreemptLowerPriority")),
        ({"priorityClassName": "high"}, True, ("high", 10, "PreemptLowerPriority")),
        ({"priorityClassName": "high", "priority": 10}, True, ("high", 10, "PreemptLowerPriority")),
        ({"priorityClassName": "polite"}, False, ("polite", 20, "Never")),
        ({"priorityClassName": "polite", "preemptionPolicy": "Never"}, False, ("polite", 20, "Never")),
        (
            {"priorityClassName": "system-node-critical"},
            False,
            ("system-node-critical", 2_000_001_000, "PreemptLowerPriority"),
        ),
        ({"priority": 0}, False, (None, 0, "PreemptLowerPriority")),
        ({"priority": 5}, False, "the integer value of priority (5) must not be provided"),
        ({"priority": 0}, True, "the integer value of priority (0) must not be provided"),
        ({"preemptionPolicy": "Never"}, False, "the string value of PreemptionPolicy (Never) must not be provided"),
        ({"priorityClassName": "gone"}, True, "no PriorityClass with name gone was found"),
    ],
)
def test_the_priority_is_that_of_the_class(spec: Object, usual: bool, made: tuple[Any, ...] | str) -> None:
    def class_of(name: str) -> Object | None:
        return CLASSES.get(name) if name or usual else None

    if isinstance(made, str):
        with pytest.raises(PriorityRefused) as caught:
            default_pod(pod(**spec), class_of, NEWEST)
        assert str(caught.value).startswith(made)
        assert missing_priority_class(f"pods: {caught.value}") == ("gone" if "gone" in made else "")
        return
    found = default_pod(pod(**spec), class_of, NEWEST)["spec"]
    assert (found.get("priorityClassName") or None, found["priority"], found["preemptionPolicy"]) == made


def test_the_classes_of_every_cluster() -> None:
    names = priority_classes([{"metadata": {"name": "high"}}])
    assert names == ["system-cluster-critical", "system-node-critical", "high"]


FULL = {"cpu": "1", "memory": "1Gi"}


@pytest.mark.parametrize(
    ("first", "second", "quality"),
    [
        ({}, {}, "BestEffort"),
        ({"requests": {"example.com/a": "1"}, "limits": {"example.com/a": "1"}}, {}, "BestEffort"),
        ({"requests": {"cpu": "0", "memory": "0"}}, {"limits": {"cpu": "0"}}, "BestEffort"),  # nothing is nothing
        ({"limits": {**FULL, "memory": "0"}}, {"limits": FULL}, "Burstable"),
        ({"requests": {"cpu": "1"}}, {}, "Burstable"),
        ({}, {"limits": {"memory": "1Gi"}}, "Burstable"),
        ({"limits": FULL}, {}, "Burstable"),
        ({"limits": FULL}, {"limits": FULL}, "Guaranteed"),
        ({"limits": FULL}, {"limits": {"cpu": "1"}}, "Burstable"),
        ({"limits": FULL}, {"limits": FULL, "requests": {"cpu": "500m"}}, "Burstable"),
        ({"limits": FULL, "requests": {"cpu": "1.0"}}, {"limits": {**FULL, "example.com/a": "1"}}, "Guaranteed"),
    ],
)
def test_the_quality_of_service(first: Object, second: Object, quality: str) -> None:
    for containers, init in (([first, second], []), ([second], [first]), ([first], [second])):
        spec = {"containers": [container(resources=each) for each in containers]}
        made = pod(**spec, initContainers=[container(resources=each) for each in init])
        assert default_pod(made, no_class, NEWEST)["status"]["qosClass"] == quality


@pytest.mark.parametrize(
    ("kubernetes", "whole", "quality"),
    [
        ((1, 33), {"limits": FULL}, "Burstable"),
        ((1, 34), {"limits": FULL}, "Burstable"),  # its containers ask for less
        ((1, 34), {"limits": FULL, "requests": FULL}, "Guaranteed"),
        ((1, 34), {"limits": FULL, "requests": {"cpu": "500m"}}, "Burstable"),
        ((1, 34), {"limits": {"cpu": "1"}}, "Burstable"),
        ((1, 34), {"requests": {"cpu": "1"}}, "Burstable"),
        ((1, 34), {"requests": {"cpu": "0"}}, "BestEffort"),
        ((1, 34), {}, "BestEffort"),
    ],
)
def test_a_pod_that_asks_as_a_whole_is_judged_as_a_whole(
    kubernetes: tuple[int, int], whole: Object, quality: str
) -> None:
    made = pod(containers=[container(resources={"requests": {"cpu": "500m", "memory": "1Gi"}})], resources=whole)
    assert default_pod(made, no_class, kubernetes)["status"]["qosClass"] == quality


@pytest.mark.parametrize(
    ("given", "stored", "kept"),
    [
        ({}, {"priority": 3, "preemptionPolicy": "Never"}, (3, "Never")),
        ({"priority": 4, "preemptionPolicy": "Other"}, {"priority": 3, "preemptionPolicy": "Never"}, (4, "Other")),
        ({"priority": None}, {"priority": 3}, (3, None)),
        ({}, {}, (None, None)),
    ],
)
def test_what_a_change_does_not_say_stays(given: Object, stored: Object, kept: tuple[Any, ...]) -> None:
    found = default_changed_pod(pod(**given), {"spec": stored}, NEWEST)["spec"]
    assert (found.get("priority"), found.get("preemptionPolicy")) == kept
    assert found["restartPolicy"] == "Always"
    assert default_changed_pod({}, {}, NEWEST)["spec"]["terminationGracePeriodSeconds"] == 30


def test_a_node() -> None:
    made = default_node({"metadata": {"name": "a"}, "status": {"allocatable": {"cpu": "0.5"}, "capacity": {"cpu": 1}}})
    assert made["spec"] == {"taints": [{"key": NOT_READY, "effect": "NoSchedule"}]}
    assert made["status"] == {"allocatable": {"cpu": "500m"}, "capacity": {"cpu": "1"}}
    other = {"key": "team", "effect": "NoSchedule"}
    taints = default_node(node("a", taints=[other], providerID="x"))["spec"]
    assert taints == {"taints": [other, {"key": NOT_READY, "effect": "NoSchedule"}], "providerID": "x"}
    assert "status" not in default_node({"metadata": {"name": "a"}})


def workload(kind: str, **spec: Any) -> Object:
    return {"kind": kind, "spec": spec}


JOB = {
    "completionMode": "NonIndexed",
    "suspend": False,
    "podReplacementPolicy": "TerminatingOrFailed",
    "manualSelector": False,
}
POLICY: dict[str, Any] = {"rules": []}
CRON_JOB = {"suspend": False, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1}


@pytest.mark.parametrize(
    ("kind", "given", "made"),
    [
        ("Deployment", {}, {"replicas": 1}),
        ("ReplicaSet", {"replicas": 0}, {"replicas": 0}),
        ("StatefulSet", {"replicas": None}, {"replicas": 1}),
        ("DaemonSet", {}, {}),
        ("Job", {}, {"parallelism": 1, "completions": 1, "backoffLimit": 6, **JOB}),
        ("Job", {"parallelism": 3}, {"parallelism": 3, "backoffLimit": 6, **JOB}),
        ("Job", {"completions": 3}, {"parallelism": 1, "completions": 3, "backoffLimit": 6, **JOB}),
        ("Job", {"backoffLimit": 0}, {"parallelism": 1, "completions": 1, "backoffLimit": 0, **JOB}),
        (
            *("Job", {"backoffLimitPerIndex": 1, "parallelism": 2}),
            {"backoffLimitPerIndex": 1, "parallelism": 2, "backoffLimit": (1 << 31) - 1, **JOB},
        ),
        (
            *("Job", {"parallelism": 1, "podFailurePolicy": POLICY}),
            {"parallelism": 1, "backoffLimit": 6, **JOB, "podFailurePolicy": POLICY, "podReplacementPolicy": "Failed"},
        ),
        ("CronJob", {"schedule": "@daily"}, {"schedule": "@daily", "concurrencyPolicy": "Allow", **CRON_JOB}),
        ("DaemonSet", {"template": {}}, {"template": {}}),
        ("DaemonSet", {"template": {"metadata": {}}}, {"template": {"metadata": {}}}),
    ],
)
def test_workloads(kind: str, given: Object, made: Object) -> None:
    assert default_workload(workload(kind, **given)) == workload(kind, **made)
    assert default_workload({"kind": "Deployment"}) == {"kind": "Deployment", "spec": {"replicas": 1}}


@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_templates_of_workloads(field: str) -> None:
    asks = container(resources={"limits": {"cpu": "0.5"}, "requests": {"memory": "1Gi"}}, ports=[{"containerPort": 80}])
    given = {"metadata": {"labels": {}}, "spec": {field: [asks], "hostNetwork": True, "volumes": []}}
    made = default_workload(workload("DaemonSet", template=given))["spec"]["template"]
    (stored,) = made["spec"][field]
    assert stored["resources"] == {"limits": {"cpu": "500m"}, "requests": {"memory": "1Gi"}}
    assert stored["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert made == {**given, "spec": {**given["spec"], field: [stored]}}
    again = workload("DaemonSet", template=made)
    assert default_workload(again) is again


@pytest.mark.parametrize(
    ("given", "made"),
    [
        (
            {"kind": "StorageClass"},
            {"kind": "StorageClass", "reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
        ),
        (
            {"kind": "StorageClass", "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer"},
            {"kind": "StorageClass", "reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer"},
        ),
        (
            {"kind": "PersistentVolume"},
            {
                "kind": "PersistentVolume",
                "spec": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
            },
        ),
        (
            {"kind": "PersistentVolumeClaim", "spec": {"volumeName": "v"}},
            {"kind": "PersistentVolumeClaim", "spec": {"volumeName": "v", "volumeMode": "Filesystem"}},
        ),
        (
            {"kind": "PersistentVolumeClaim", "spec": {"volumeMode": "Block"}},
            {"kind": "PersistentVolumeClaim", "spec": {"volumeMode": "Block"}},
        ),
    ],
)
def test_storage(given: Object, made: Object) -> None:
    assert default_storage(given) == made
    assert default_storage(made) is made
