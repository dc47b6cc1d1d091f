"""Fields of workloads, claims and autoscalers that an API server takes at creation and refuses to change, the same on every cluster."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.status import ApiError
from tests.clusters.subject import Subject
from tests.clusters.test_core_rules import causes
from tests.clusters.test_objects import refusal
from tests.clusters.test_workload_rules import workload

OTHER = {"selector": {"matchLabels": {"app": "b"}}, "template": {"metadata": {"labels": {"app": "b"}}}}
FIXED = "field is immutable"
STATEFUL_SET = (
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', "
    "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
)
CLAIM = "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims"


DISK = {
    "metadata": {"name": "d"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def job(cluster: Subject, **spec: Any) -> dict[str, Any]:
    return workload(cluster, "Job", policy="Never", **spec)


def changed(cluster: Subject, obj: dict[str, Any], spec: dict[str, Any]) -> ApiError:
    """The refusal of a merge patch of an object that is made first."""
    cluster.admin.create(obj)
    meta = obj["metadata"]
    return refusal(
        lambda patch: cluster.admin.patch(obj["kind"], meta["name"], patch, namespace=meta["namespace"]), {"spec": spec}
    )


@pytest.mark.parametrize("kind", ["Deployment", "ReplicaSet", "DaemonSet"])
def test_a_selector_stays(cluster: Subject, kind: str) -> None:
    error = changed(cluster, workload(cluster, kind), OTHER)
    message = f'Invalid value: {{"matchLabels":{{"app":"b"}}}}: {FIXED}'
    assert (error.code, causes(error)) == (422, [("FieldValueInvalid", "spec.selector", message)])


@pytest.mark.parametrize(
    "change",
    [
        {"serviceName": "b"},
        {"podManagementPolicy": "Parallel"},
        {"volumeClaimTemplates": [DISK]},
        OTHER,
    ],
)
def test_a_stateful_set_changes_in_few_fields(cluster: Subject, change: dict[str, Any]) -> None:
    error = changed(cluster, workload(cluster, "StatefulSet"), change)
    assert (error.code, causes(error)) == (422, [("FieldValueForbidden", "spec", f"Forbidden: {STATEFUL_SET}")])


def test_what_may_change_changes(cluster: Subject) -> None:
    made = cluster.admin.create(workload(cluster, "StatefulSet"))
    spec = {
        "replicas": 2,
        "ordinals": {"start": 1},
        "revisionHistoryLimit": 3,
        "minReadySeconds": 1,
        "podManagementPolicy": "OrderedReady",
        "updateStrategy": {"type": "OnDelete", "rollingUpdate": None},
        "template": {"metadata": {"annotations": {"a": "b"}}},
    }
    after = cluster.admin.patch("StatefulSet", "w", {"spec": spec}, namespace=made["metadata"]["namespace"])
    assert after["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("given", "change", "expected"),
    [
        ({"completions": 2}, {"completions": 3}, ("spec.completions", f"Invalid value: 3: {FIXED}")),
        (
            {"completions": 2, "completionMode": "Indexed"},
            {"completions": 3},
            ("spec.completions", "Invalid value: 3: can only be modified in tandem with spec.parallelism"),
        ),
        (
            {"completions": 2, "completionMode": "Indexed"},
            {"completionMode": "NonIndexed"},
            ("spec.completionMode", f'Invalid value: "NonIndexed": {FIXED}'),
        ),
        (
            {"completions": 2, "completionMode": "Indexed", "backoffLimitPerIndex": 1},
            {"backoffLimitPerIndex": 2},
            ("spec.backoffLimitPerIndex", f"Invalid value: 2: {FIXED}"),
        ),
    ],
)
def test_a_job_keeps_its_rules(
    cluster: Subject, given: dict[str, Any], change: dict[str, Any], expected: tuple[str, str]
) -> None:
    error = changed(cluster, job(cluster, **given), change)
    assert (error.code, causes(error)) == (422, [("FieldValueInvalid", *expected)])


@pytest.mark.parametrize(
    "change",
    [
        {"metadata": {"annotations": {"a": "b"}}},
        {"spec": {"terminationGracePeriodSeconds": 31}},
        {"spec": {"enableServiceLinks": True}},  # a default of pods, which templates do not get
    ],
)
def test_a_job_keeps_its_template(cluster: Subject, change: dict[str, Any]) -> None:
    error = changed(cluster, job(cluster), {"template": change})
    ((reason, field, message),) = causes(error)
    assert (error.code, reason, field) == (422, "FieldValueInvalid", "spec.template")
    assert message.startswith("Invalid value: {")
    assert message.endswith(f"}}: {FIXED}")


def test_defaults_that_are_spelt_out_are_no_change(cluster: Subject) -> None:
    cluster.admin.create(job(cluster))
    pod = {"securityContext": {}, "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30}
    spec = {"template": {"spec": pod}, "parallelism": 2, "suspend": True, "activeDeadlineSeconds": 500}
    after = cluster.admin.patch("Job", "w", {"spec": spec}, namespace=cluster.namespace)
    assert (after["spec"]["parallelism"], after["spec"]["suspend"]) == (2, True)


def test_an_indexed_job_grows_with_its_parallelism(cluster: Subject) -> None:
    cluster.admin.create(job(cluster, completions=2, parallelism=2, completionMode="Indexed"))
    spec = {"completions": 3, "parallelism": 3}
    assert cluster.admin.patch("Job", "w", {"spec": spec}, namespace=cluster.namespace)["spec"]["completions"] == 3


def test_a_job_that_never_began_may_be_moved(cluster: Subject) -> None:
    cluster.admin.create(job(cluster, suspend=True))
    change = {"template": {"spec": {"nodeSelector": {"disk": "fast"}}}}
    after = cluster.admin.patch("Job", "w", {"spec": change}, namespace=cluster.namespace)
    assert after["spec"]["template"]["spec"]["nodeSelector"] == {"disk": "fast"}
    error = refusal(
        lambda patch: cluster.admin.patch("Job", "w", patch, namespace=cluster.namespace),
        {"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 31}}}},
    )
    assert error.code == 422


ANTI_AFFINITY = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"a": "b"}}}
        ]
    }
}
NODE_AFFINITY = {
    "nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "Exists"}]}]
        }
    }
}


def test_a_suspended_job_keeps_its_affinity_to_pods(cluster: Subject) -> None:
    error = changed(cluster, job(cluster, suspend=True), {"template": {"spec": {"affinity": ANTI_AFFINITY}}})
    ((reason, field, message),) = causes(error)
    assert (error.code, reason, field) == (422, "FieldValueInvalid", "spec.template.spec")
    assert message.endswith(f"}}: {FIXED}")


def test_a_suspended_job_changes_affinity_to_nodes_labels_and_resources(cluster: Subject) -> None:
    made = cluster.admin.create(job(cluster, suspend=True))
    containers = [
        {**container, "resources": {"requests": {"cpu": "7"}}}
        for container in made["spec"]["template"]["spec"]["containers"]
    ]
    pod = {"affinity": NODE_AFFINITY, "containers": containers}
    change = {"template": {"metadata": {"annotations": {"a": "b"}}, "spec": pod}}
    after = cluster.admin.patch("Job", "w", {"spec": change}, namespace=cluster.namespace)["spec"]["template"]["spec"]
    assert after["affinity"] == NODE_AFFINITY
    assert after["containers"][0]["resources"]["requests"] == {"cpu": "7"}


STORAGE_CLASS = {
    "apiVersion": "storage.k8s.io/v1",
    "kind": "StorageClass",
    "provisioner": "disk.csi.azure.com",
    "parameters": {"skuName": "Premium_LRS"},
}
PRIORITY_CLASS = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 10}
VOLUME = {
    "apiVersion": "v1",
    "kind": "PersistentVolume",
    "spec": {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "manual",
        "csi": {"driver": "disk.csi.azure.com", "volumeHandle": "a"},
        "nodeAffinity": {"required": NODE_AFFINITY["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]},
    },
}
CONFIG_MAP = {"apiVersion": "v1", "kind": "ConfigMap", "immutable": True, "data": {"a": "1"}}
SECRET = {"apiVersion": "v1", "kind": "Secret", "immutable": True, "data": {"a": "MQ=="}}
WHEN_SET = "Forbidden: field is immutable when `immutable` is set"
SOURCE = "Forbidden: spec.persistentvolumesource is immutable after creation"


def present(cluster: Subject, obj: dict[str, Any]) -> dict[str, Any]:
    """Return an object with the name and the place of this test."""
    place = {"namespace": cluster.namespace} if obj["kind"] in ("ConfigMap", "Secret") else {}
    return {**obj, "metadata": {"name": cluster.named("fixed"), **place}}


@pytest.mark.parametrize(
    ("obj", "change", "reason", "field", "message"),
    [
        (
            STORAGE_CLASS,
            {"parameters": {"skuName": "Standard_LRS"}},
            "FieldValueInvalid",
            "parameters",
            f'Invalid value: {{"skuName":"Standard_LRS"}}: {FIXED}',
        ),
        (
            STORAGE_CLASS,
            {"provisioner": "x.io/a"},
            "FieldValueInvalid",
            "provisioner",
            f'Invalid value: "x.io/a": {FIXED}',
        ),
        (
            STORAGE_CLASS,
            {"reclaimPolicy": "Retain"},
            "FieldValueInvalid",
            "reclaimPolicy",
            f'Invalid value: "Retain": {FIXED}',
        ),
        (
            STORAGE_CLASS,
            {"volumeBindingMode": "WaitForFirstConsumer"},
            "FieldValueInvalid",
            "volumeBindingMode",
            f'Invalid value: "WaitForFirstConsumer": {FIXED}',
        ),
        (PRIORITY_CLASS, {"value": 11}, "FieldValueForbidden", "value", "Forbidden: may not be changed in an update."),
        (
            PRIORITY_CLASS,
            {"preemptionPolicy": "Never"},
            "FieldValueInvalid",
            "preemptionPolicy",
            f'Invalid value: "Never": {FIXED}',
        ),
        (
            VOLUME,
            {"spec": {"csi": {"volumeHandle": "b"}}},
            "FieldValueForbidden",
            "spec.persistentvolumesource",
            SOURCE,
        ),
        (
            VOLUME,
            {"spec": {"volumeMode": "Block"}},
            "FieldValueInvalid",
            "volumeMode",
            f'Invalid value: "Block": {FIXED}',
        ),
        (CONFIG_MAP, {"data": {"a": "2"}}, "FieldValueForbidden", "data", WHEN_SET),
        (CONFIG_MAP, {"binaryData": {"b": "MQ=="}}, "FieldValueForbidden", "binaryData", WHEN_SET),
        (CONFIG_MAP, {"immutable": False}, "FieldValueForbidden", "immutable", WHEN_SET),
        (SECRET, {"data": {"a": "Mg=="}}, "FieldValueForbidden", "data", WHEN_SET),
        (SECRET, {"stringData": {"a": "2"}}, "FieldValueForbidden", "data", WHEN_SET),
        (SECRET, {"type": "x.io/a"}, "FieldValueInvalid", "type", f'Invalid value: "x.io/a": {FIXED}'),
    ],
)
def test_fixed_fields_stay(
    cluster: Subject, obj: dict[str, Any], change: dict[str, Any], reason: str, field: str, message: str
) -> None:
    made = cluster.create(present(cluster, obj))
    meta = made["metadata"]
    error = refusal(
        lambda patch: cluster.admin.patch(obj["kind"], meta["name"], patch, namespace=meta.get("namespace") or ""),
        change,
    )
    ((reason_given, field_given, text),) = causes(error)
    assert (error.code, reason_given, field_given, text.split("\n")[0]) == (422, reason, field, message)


@pytest.mark.parametrize(
    ("obj", "change"),
    [
        (STORAGE_CLASS, {"allowVolumeExpansion": True, "reclaimPolicy": "Delete", "mountOptions": ["ro"]}),
        (PRIORITY_CLASS, {"globalDefault": False, "preemptionPolicy": "PreemptLowerPriority", "description": "a"}),
        (
            VOLUME,
            {
                "spec": {
                    "capacity": {"storage": "2Gi"},
                    "csi": {"readOnly": False},
                    "persistentVolumeReclaimPolicy": "Delete",
                }
            },
        ),
        (CONFIG_MAP, {"metadata": {"labels": {"a": "b"}}}),
        (SECRET, {"stringData": {"a": "1"}, "type": "Opaque"}),
    ],
)
def test_all_other_fields_change(cluster: Subject, obj: dict[str, Any], change: dict[str, Any]) -> None:
    meta = cluster.create(present(cluster, obj))["metadata"]
    cluster.admin.patch(obj["kind"], meta["name"], change, namespace=meta.get("namespace") or "")


def claim(cluster: Subject) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": cluster.namespace},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "none",
            "resources": {"requests": {"storage": "2Gi"}},
        },
    }


@pytest.mark.parametrize("change", [{"storageClassName": "other"}, {"resources": {"requests": {"storage": "3Gi"}}}])
def test_a_claim_that_waits_does_not_change(cluster: Subject, change: dict[str, Any]) -> None:
    error = changed(cluster, claim(cluster), change)
    ((reason, field, message),) = causes(error)
    assert (error.code, reason, field) == (422, "FieldValueForbidden", "spec")
    assert message.split("\n")[0] == f"Forbidden: {CLAIM}"


def autoscaler(cluster: Subject, **spec: Any) -> dict[str, Any]:
    reference = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "w"}
    return {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "h", "namespace": cluster.namespace},
        "spec": {"scaleTargetRef": reference, "maxReplicas": 3, **spec},
    }


POLICY = {"type": "Percent", "value": 0, "periodSeconds": 1801}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (
            {"maxReplicas": 0},
            [
                ("FieldValueRequired", "spec.maxReplicas", "Required value: must be set and greater than 0"),
                (
                    "FieldValueInvalid",
                    "spec.maxReplicas",
                    "Invalid value: 0: must be greater than or equal to `minReplicas`",
                ),
            ],
        ),
        (
            {"minReplicas": 4},
            [
                (
                    "FieldValueInvalid",
                    "spec.maxReplicas",
                    "Invalid value: 3: must be greater than or equal to `minReplicas`",
                )
            ],
        ),
        (
            {"metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}]},
            [
                (
                    "FieldValueRequired",
                    "spec.metrics[0].resource.target.averageUtilization",
                    "Required value: must set either a target raw value or a target utilization",
                )
            ],
        ),
        (
            {"behavior": {"scaleUp": {"policies": [POLICY]}}},
            [
                (
                    "FieldValueInvalid",
                    "spec.behavior.scaleUp.policies[0].value",
                    "Invalid value: 0: must be greater than zero",
                ),
                (
                    "FieldValueInvalid",
                    "spec.behavior.scaleUp.policies[0].periodSeconds",
                    "Invalid value: 1801: must be less than or equal to 1800",
                ),
            ],
        ),
    ],
)
def test_an_autoscaler_is_judged(cluster: Subject, spec: dict[str, Any], expected: list[tuple[str, str, str]]) -> None:
    error = refusal(cluster.admin.create, autoscaler(cluster, **spec))
    assert (error.code, causes(error)) == (422, expected)


def test_an_autoscaler_gets_its_defaults(cluster: Subject) -> None:
    made = cluster.admin.create(autoscaler(cluster, behavior={"scaleUp": {"selectPolicy": "Min"}}))["spec"]
    target = {"type": "Utilization", "averageUtilization": 80}
    assert made["minReplicas"] == 1
    assert made["metrics"] == [{"type": "Resource", "resource": {"name": "cpu", "target": target}}]
    percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
    pods = {"type": "Pods", "value": 4, "periodSeconds": 15}
    assert made["behavior"] == {
        "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Min", "policies": [pods, percent]},
        "scaleDown": {"selectPolicy": "Max", "policies": [percent]},
    }
