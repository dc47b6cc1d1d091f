"""Objects and what writes do to them: the same on every cluster, so that the memory store is measured on real API servers."""

from __future__ import annotations

from typing import Any

import pytest

from harness.kube.api.status import ApiError
from tests.clusters.subject import Subject

ANOTHER = "the object has been modified; please apply your changes to the latest version and try again"


def refusal(*arguments: Any, **keywords: Any) -> ApiError:
    """The ApiError with which a call is refused."""
    call, *rest = arguments
    with pytest.raises(ApiError) as caught:
        call(*rest, **keywords)
    return caught.value


def config(cluster: Subject, name: str, **data: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": cluster.namespace}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def test_create_fills_in_metadata(cluster: Subject) -> None:
    pod = cluster.admin.create(cluster.pod("p"))
    meta = pod["metadata"]
    assert len(meta["uid"]) == 36
    assert int(meta["resourceVersion"]) > 0
    assert meta["creationTimestamp"].endswith("Z")
    assert meta["generation"] == 1
    assert pod["status"]["phase"] == "Pending"


def test_pods_get_their_defaults(cluster: Subject) -> None:
    pod = cluster.admin.create(
        cluster.pod("p", containers=[{"name": "main", "image": "i", "resources": {"requests": {"cpu": 1}}}])
    )
    spec = pod["spec"]
    assert (spec["restartPolicy"], spec["terminationGracePeriodSeconds"], spec["priority"]) == ("Always", 30, 0)
    assert spec["containers"][0]["resources"]["requests"] == {"cpu": "1"}
    tolerated = {(each["key"], each["effect"], each["tolerationSeconds"]) for each in spec["tolerations"]}
    assert tolerated == {
        ("node.kubernetes.io/not-ready", "NoExecute", 300),
        ("node.kubernetes.io/unreachable", "NoExecute", 300),
    }
    assert pod["status"]["qosClass"] == "Burstable"


def test_a_name_is_taken_once(cluster: Subject) -> None:
    cluster.admin.create(cluster.pod("p"))
    error = refusal(cluster.admin.create, cluster.pod("p"))
    assert (error.code, error.reason, error.message) == (409, "AlreadyExists", 'pods "p" already exists')
    assert error.details == {"name": "p", "kind": "pods"}


def test_generated_names(cluster: Subject) -> None:
    obj = config(cluster, "")
    del obj["metadata"]["name"]
    obj["metadata"]["generateName"] = "c-"
    names = {cluster.admin.create(obj)["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("c-") and len(name) == 7 for name in names)


@pytest.mark.parametrize(
    ("change", "code", "reason", "message"),
    [
        (
            {"metadata": {"name": "Upper"}},
            422,
            "Invalid",
            'ConfigMap "Upper" is invalid: metadata.name: Invalid value: "Upper": a lowercase RFC 1123 subdomain must consist of '
            "lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character "
            "(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')",
        ),
        (
            {"metadata": {"name": "c", "labels": {"a b": "c"}}},
            422,
            "Invalid",
            'ConfigMap "c" is invalid: metadata.labels: Invalid value: "a b": name part must consist of alphanumeric characters, '
            "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', "
            "regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
        (
            {"metadata": {"name": "c", "resourceVersion": "1"}},
            500,
            "",
            "resourceVersion should not be set on objects to be created",
        ),
        (
            {"metadata": {}},
            422,
            "Invalid",
            'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
        ),
    ],
    ids=["name", "label", "resourceVersion", "no name"],
)
def test_refused_metadata(cluster: Subject, change: dict[str, Any], code: int, reason: str, message: str) -> None:
    obj = config(cluster, "c")
    obj["metadata"] = {**change["metadata"], "namespace": cluster.namespace}
    error = refusal(cluster.admin.create, obj)
    assert (error.code, error.reason, error.message) == (code, reason, message)


def test_dry_run_stores_nothing(cluster: Subject) -> None:
    assert cluster.admin.create(cluster.pod("p"), dry_run=True)["spec"]["restartPolicy"] == "Always"
    cluster.step()
    assert cluster.view.get("Pod", "p", cluster.namespace) is None


def test_update_needs_the_latest_version(cluster: Subject) -> None:
    first = cluster.admin.create(config(cluster, "c", a="1"))
    second = cluster.admin.update({**first, "data": {"a": "2"}})
    assert int(second["metadata"]["resourceVersion"]) > int(first["metadata"]["resourceVersion"])
    error = refusal(cluster.admin.update, {**first, "data": {"a": "3"}})
    assert (error.code, error.reason) == (409, "Conflict")
    assert error.message == f'Operation cannot be fulfilled on configmaps "c": {ANOTHER}'


def test_an_update_that_changes_nothing_writes_nothing(cluster: Subject) -> None:
    first = cluster.admin.create(config(cluster, "c", a="1"))
    again = cluster.admin.update(first)
    assert again["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_absent_objects(cluster: Subject) -> None:
    for call in (
        lambda: cluster.admin.patch("Pod", "p", {"metadata": {"labels": {"a": "b"}}}, namespace=cluster.namespace),
        lambda: cluster.admin.delete("Pod", "p", namespace=cluster.namespace),
        lambda: cluster.admin.evict("p", cluster.namespace),
        lambda: cluster.admin.bind("p", cluster.namespace, "n"),
    ):
        error = refusal(call)
        assert (error.code, error.reason, error.message) == (404, "NotFound", 'pods "p" not found')
    assert cluster.view.get("Pod", "p", cluster.namespace) is None


PATCHES = [
    ("merge", {"metadata": {"labels": {"app": None, "b": "1"}}}, {"b": "1"}),
    ("strategic", {"metadata": {"labels": {"b": "1"}}}, {"app": "p", "b": "1"}),
    (
        "json",
        [{"op": "add", "path": "/metadata/labels/b", "value": "1"}, {"op": "remove", "path": "/metadata/labels/app"}],
        {"b": "1"},
    ),
]


@pytest.mark.parametrize(("kind", "patch", "labels"), PATCHES, ids=[row[0] for row in PATCHES])
def test_patches(cluster: Subject, kind: Any, patch: Any, labels: dict[str, str]) -> None:
    cluster.admin.create(cluster.pod("p"))
    found = cluster.admin.patch("Pod", "p", patch, namespace=cluster.namespace, type=kind)
    assert found["metadata"]["labels"] == labels


def test_strategic_merge_keeps_lists_by_key(cluster: Subject) -> None:
    node = cluster.create(cluster.node("n"))
    name = node["metadata"]["name"]
    other = {"type": "MemoryPressure", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    found = cluster.admin.patch(
        "Node", name, {"status": {"conditions": [other]}}, type="strategic", subresource="status"
    )
    assert {each["type"] for each in found["status"]["conditions"]} == {"Ready", "MemoryPressure"}
    taints = [{"key": "a", "effect": "NoSchedule"}]
    for taint in (taints[0], {"key": "b", "effect": "NoSchedule"}):
        found = cluster.admin.patch("Node", name, {"spec": {"taints": [taint]}}, type="strategic")
    assert {each["key"] for each in found["spec"]["taints"]} >= {"b"}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/metadata/labels/app", "value": "x"},
        {"op": "remove", "path": "/metadata/labels/none"},
        {"op": "add", "path": "/none/x", "value": 1},
        {"op": "replace", "path": "/spec/containers/3", "value": {}},
        {"op": "unknown", "path": "/x"},
    ],
    ids=lambda operation: operation["op"],
)
def test_json_patches_that_do_not_apply(cluster: Subject, operation: dict[str, Any]) -> None:
    cluster.admin.create(cluster.pod("p"))
    error = refusal(cluster.admin.patch, "Pod", "p", [operation], namespace=cluster.namespace, type="json")
    why = "the server rejected our request due to an error in our request"
    assert (error.code, error.reason, error.message) == (422, "Invalid", why)


def test_a_json_patch_replaces_a_key_that_is_not_there(cluster: Subject) -> None:
    cluster.admin.create(cluster.pod("p"))
    patch = [{"op": "replace", "path": "/metadata/labels/none", "value": "x"}]
    found = cluster.admin.patch("Pod", "p", patch, namespace=cluster.namespace, type="json")
    assert found["metadata"]["labels"] == {"app": "p", "none": "x"}


@pytest.mark.parametrize(
    ("kind", "patch", "message"),
    [
        ("json", {"a": 1}, "cannot unmarshal object into Go value of type []handlers.jsonPatchOp"),
        ("merge", [1], "cannot unmarshal array into Go value of type map[string]interface {}"),
    ],
)
def test_patches_of_the_wrong_shape(cluster: Subject, kind: Any, patch: Any, message: str) -> None:
    cluster.admin.create(cluster.pod("p"))
    error = refusal(cluster.admin.patch, "Pod", "p", patch, namespace=cluster.namespace, type=kind)
    assert (error.code, error.reason, error.message) == (400, "BadRequest", f"error decoding patch: json: {message}")


@pytest.mark.parametrize(
    ("resources", "stored", "quality"),
    [
        ({"requests": {"cpu": 0.5}}, {"requests": {"cpu": "500m"}}, "Burstable"),
        (
            {"limits": {"cpu": "1000m", "memory": "1024Mi"}},
            {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}},
            "Guaranteed",
        ),
        ({}, {}, "BestEffort"),
    ],
    ids=["fraction", "limits", "nothing"],
)
def test_quantities_are_stored_in_canonical_form(
    cluster: Subject, resources: dict[str, Any], stored: dict[str, Any], quality: str
) -> None:
    container = {"name": "main", "image": "i", "resources": resources}
    pod = cluster.admin.create(cluster.pod("p", containers=[container]))
    assert pod["spec"]["containers"][0].get("resources") == stored
    assert pod["status"]["qosClass"] == quality


def test_a_priority_class_must_exist(cluster: Subject) -> None:
    error = refusal(cluster.admin.create, cluster.pod("p", priorityClassName="none"))
    why = 'pods "p" is forbidden: no PriorityClass with name none was found'
    assert (error.code, error.reason, error.message) == (403, "Forbidden", why)
    assert (
        cluster.admin.create(cluster.pod("p", priorityClassName="system-node-critical"))["spec"]["priority"]
        == 2000001000
    )


def test_custom_resources_are_not_replaced_unconditionally(cluster: Subject) -> None:
    pool = cluster.create(cluster.nodepool("pool"))
    name = pool["metadata"]["name"]
    error = refusal(cluster.admin.update, cluster.nodepool("pool"))
    why = f'nodepools.karpenter.sh "{name}" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update'
    assert (error.code, error.message) == (422, why)
    error = refusal(cluster.admin.delete, "NodePool", name, uid="other")
    assert error.details == {"name": name, "group": "karpenter.sh", "kind": "NodePool"}


def test_a_strategic_merge_knows_items_by_their_keys(cluster: Subject) -> None:
    cluster.admin.create(cluster.pod("p"))
    unnamed = {"tty": True, "image": "other", "ports": [{"containerPort": 80, "name": None}]}
    patch = {"spec": {"containers": [unnamed]}}
    error = refusal(cluster.admin.patch, "Pod", "p", patch, namespace=cluster.namespace, type="strategic")
    why = "map: map[image:other ports:[map[containerPort:80 name:<nil>]] tty:true] does not contain declared merge key: name"
    assert (error.code, error.reason, error.message) == (500, "", why)


def test_a_pod_that_is_updated_without_a_priority_keeps_its_own(cluster: Subject) -> None:
    pod = cluster.admin.create(cluster.pod("p", priorityClassName="system-node-critical"))
    spec = {key: value for key, value in pod["spec"].items() if key not in ("priority", "preemptionPolicy")}
    changed = {**pod, "spec": spec, "metadata": {**pod["metadata"], "labels": {"app": "q"}}}
    spec = cluster.admin.update(changed)["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (2000001000, "PreemptLowerPriority")


def test_custom_resources_take_no_strategic_merge(cluster: Subject) -> None:
    pool = cluster.create(cluster.nodepool("pool"))
    error = refusal(
        cluster.admin.patch, "NodePool", pool["metadata"]["name"], {"spec": {"weight": 1}}, type="strategic"
    )
    assert (error.code, error.reason) == (415, "UnsupportedMediaType")


def test_status_is_written_apart(cluster: Subject) -> None:
    pool = cluster.create({**cluster.nodepool("pool"), "status": {"resources": {"cpu": "1"}}})
    assert "status" not in pool
    name = pool["metadata"]["name"]
    written = cluster.admin.patch(
        "NodePool", name, {"status": {"resources": {"cpu": "2"}}, "spec": {"weight": 9}}, subresource="status"
    )
    assert written["status"]["resources"] == {"cpu": "2"}
    assert "weight" not in written["spec"]
    both = cluster.admin.patch("NodePool", name, {"status": {"resources": {"cpu": "3"}}, "spec": {"weight": 9}})
    assert (both["spec"]["weight"], both["status"]["resources"]) == (9, {"cpu": "2"})
    assert (written["metadata"]["generation"], both["metadata"]["generation"]) == (1, 2)


def test_a_new_node_keeps_the_status_it_was_created_with(cluster: Subject) -> None:
    node = cluster.create(cluster.node("n"))
    assert node["status"]["allocatable"]["cpu"] == "4"
    assert {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"} in node["spec"]["taints"]


def test_generation_counts_changes_of_the_spec(cluster: Subject) -> None:
    pool = cluster.create(cluster.nodepool("pool"))
    name = pool["metadata"]["name"]
    labelled = cluster.admin.patch("NodePool", name, {"metadata": {"labels": {"a": "b"}}})
    changed = cluster.admin.patch("NodePool", name, {"spec": {"weight": 3}})
    assert [each["metadata"]["generation"] for each in (pool, labelled, changed)] == [1, 1, 2]


def test_finalizers_hold_an_object(cluster: Subject) -> None:
    pool = cluster.nodepool("pool")
    pool["metadata"]["finalizers"] = ["example.com/hold"]
    name = cluster.create(pool)["metadata"]["name"]
    marked = cluster.admin.delete("NodePool", name)
    assert marked["metadata"]["deletionTimestamp"]
    assert marked["metadata"]["deletionGracePeriodSeconds"] == 0
    again = cluster.admin.delete("NodePool", name)
    assert again["metadata"]["uid"] == marked["metadata"]["uid"]
    cluster.admin.patch("NodePool", name, {"metadata": {"finalizers": None}})
    cluster.step()
    assert cluster.view.get("NodePool", name) is None


def test_preconditions_of_a_deletion(cluster: Subject) -> None:
    first = cluster.admin.create(config(cluster, "c"))["metadata"]
    wrong = "00000000-0000-0000-0000-000000000000"
    error = refusal(cluster.admin.delete, "ConfigMap", "c", namespace=cluster.namespace, uid=wrong)
    assert (error.code, error.reason) == (409, "Conflict")
    why = f"the UID in the precondition ({wrong}) does not match the UID in record ({first['uid']})"
    recreated = "The object might have been deleted and then recreated"
    assert error.message == f'Operation cannot be fulfilled on ConfigMap "c": {why}. {recreated}'
    cluster.admin.delete("ConfigMap", "c", namespace=cluster.namespace, uid=first["uid"])
    assert cluster.view.get("ConfigMap", "c", cluster.namespace) is None


def test_scale(cluster: Subject) -> None:
    labels = {"app": "web"}
    template = {"metadata": {"labels": labels}, "spec": cluster.pod("x")["spec"]}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    meta = {"name": "web", "namespace": cluster.namespace}
    cluster.admin.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": spec})
    assert cluster.admin.scale("Deployment", "web", cluster.namespace, 2)["spec"]["replicas"] == 2

    def two() -> bool:
        return len(cluster.view.list("Pod", namespace=cluster.namespace, labels=labels)) == 2

    cluster.eventually(two, "two pods of the Deployment")


def test_unknown_kinds(cluster: Subject) -> None:
    error = refusal(cluster.admin.create, {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}})
    assert (error.code, error.message) == (404, 'no matches for kind "Thing" in version "example.com/v1"')


def test_a_node_gets_the_labels_of_old(cluster: Subject) -> None:
    """Those of its system and architecture, by kube-controller-manager; another value than the new label's does not stay."""
    node = cluster.node("n")
    node["metadata"]["labels"] |= {"kubernetes.io/arch": "arm64", "kubernetes.io/os": "linux"}
    name = cluster.create(node)["metadata"]["name"]

    def labels() -> dict[str, str]:
        return dict((cluster.view.get("Node", name) or {})["metadata"]["labels"])

    def complete() -> bool:
        found = labels()
        return (found.get("beta.kubernetes.io/arch"), found.get("beta.kubernetes.io/os")) == ("arm64", "linux")

    cluster.eventually(complete, "the labels of old")
    cluster.admin.patch("Node", name, {"metadata": {"labels": {"beta.kubernetes.io/arch": "amd64"}}})
    cluster.eventually(complete, "the label of old to be put right")
    bare = cluster.create(cluster.node("bare"))["metadata"]["name"]
    cluster.step()
    assert not [key for key in (cluster.view.get("Node", bare) or {})["metadata"]["labels"] if key.startswith("beta.")]


def test_mistyped_metadata_of_a_custom_object(cluster: Subject) -> None:
    """kubernetes apiextensions-apiserver pkg/apiserver/schema/objectmeta/coerce.go; apiserver pkg/endpoints/handlers/{rest,patch}.go."""
    name = cluster.named("mistyped")
    nodeclass = {
        "apiVersion": "karpenter.azure.com/v1beta1",
        "kind": "AKSNodeClass",
        "metadata": {"name": name},
        "spec": {},
    }
    stored = cluster.create(nodeclass)
    unit = "json: cannot unmarshal {} into Go struct field ObjectMeta.{} of type {}"
    for metadata, sentence in (
        ({"finalizers": "x"}, unit.format("string", "finalizers", "[]string")),
        ({"finalizers": [1]}, unit.format("number", "finalizers", "string")),
        ({"labels": "x"}, unit.format("string", "labels", "map[string]string")),
        ({"labels": {"a": 1}}, unit.format("number", "labels", "string")),
        ({"ownerReferences": "x"}, unit.format("string", "ownerReferences", "[]v1.OwnerReference")),
    ):
        error = refusal(cluster.admin.patch, "AKSNodeClass", name, {"metadata": metadata})
        assert (error.code, error.reason) == (422, "Invalid")
        assert error.message.startswith(' "" is invalid: patch: Invalid value: "{')
        assert error.message.endswith(sentence)
        error = refusal(cluster.admin.update, {**stored, "metadata": {**stored["metadata"], **metadata}})
        where = 'AKSNodeClass in version "v1beta1" cannot be handled as a AKSNodeClass'
        assert (error.code, error.message) == (400, f"{where}: {sentence}")
    patched = cluster.admin.patch("AKSNodeClass", name, {"metadata": {"unknown": 1, "labels": {"a": "b"}}})
    assert patched["metadata"]["labels"] == {"a": "b"}
    assert "unknown" not in patched["metadata"]
