"""What the API server asks of core objects, and of kubelets that write them: the same on every cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from harness.engine.ports import Identity, Writer
from harness.kube.api.status import ApiError
from tests.clusters.subject import Subject
from tests.clusters.test_objects import config, refusal
from tests.clusters.test_pods import ready_node

FIXED = (
    "Forbidden: pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"
)


def causes(error: ApiError) -> list[tuple[str, str, str]]:
    """Reason, field and first line of each cause, once: a real server adds a diff, and validates some objects twice."""
    found = [(each["reason"], each["field"], each["message"].partition("\n")[0]) for each in error.details["causes"]]
    return list(dict.fromkeys(found))


FIXED_FIELDS: list[tuple[str, dict[str, Any], tuple[str, str, str]]] = [
    ("nodeSelector", {"nodeSelector": {"a": "b"}}, ("FieldValueForbidden", "spec", FIXED)),
    ("node", {"nodeName": "elsewhere"}, ("FieldValueForbidden", "spec", FIXED)),
    (
        "requests",
        {"containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]},
        ("FieldValueForbidden", "spec", FIXED),
    ),
    (
        "container",
        {"containers": [{"name": "other", "image": "i"}]},
        ("FieldValueForbidden", "spec.containers", "Forbidden: pod updates may not add or remove containers"),
    ),
    (
        "no image",
        {"containers": [{"name": "main", "image": ""}]},
        ("FieldValueRequired", "spec.containers[0].image", "Required value"),
    ),
    (
        "toleration",
        {"tolerations": [{"key": "a", "operator": "Exists"}]},
        (
            "FieldValueForbidden",
            "spec.tolerations",
            "Forbidden: existing toleration can not be modified except its tolerationSeconds",
        ),
    ),
    (
        "gate",
        {"schedulingGates": [{"name": "a"}]},
        (
            "FieldValueForbidden",
            "spec.schedulingGates[0].name",
            "Forbidden: only deletion is allowed, but found new scheduling gate 'a'",
        ),
    ),
    (
        "later",
        {"activeDeadlineSeconds": 6},
        (
            "FieldValueInvalid",
            "spec.activeDeadlineSeconds",
            "Invalid value: 6: must be less than or equal to previous value",
        ),
    ),
    (
        "never",
        {"activeDeadlineSeconds": None},
        (
            "FieldValueInvalid",
            "spec.activeDeadlineSeconds",
            "Invalid value: null: must not update from a positive integer to nil value",
        ),
    ),
]


@pytest.mark.parametrize(("spec", "why"), [row[1:] for row in FIXED_FIELDS], ids=[row[0] for row in FIXED_FIELDS])
def test_what_does_not_change_of_a_pod(cluster: Subject, spec: dict[str, Any], why: tuple[str, str, str]) -> None:
    mine = {"tolerations": [{"key": "mine", "operator": "Exists"}]}
    cluster.admin.create(cluster.pod("p", activeDeadlineSeconds=5, **mine))
    error = refusal(cluster.admin.patch, "Pod", "p", {"spec": spec}, namespace=cluster.namespace, type="strategic")
    assert (error.code, error.reason) == (422, "Invalid")
    assert causes(error) == [why]
    assert error.message.startswith(f'Pod "p" is invalid: {why[1]}: {why[2]}')


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("image", {"containers": [{"name": "main", "image": "other"}]}),
    ("sooner", {"activeDeadlineSeconds": 3}),
]


@pytest.mark.parametrize("spec", [row[1] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_what_changes_of_a_pod(cluster: Subject, spec: dict[str, Any]) -> None:
    cluster.admin.create(cluster.pod("p", activeDeadlineSeconds=5))
    changed = cluster.admin.patch("Pod", "p", {"spec": spec}, namespace=cluster.namespace, type="strategic")
    assert changed["metadata"]["generation"] == 2


def test_a_pod_takes_more_tolerations(cluster: Subject) -> None:
    pod = cluster.admin.create(cluster.pod("p"))
    more = [*pod["spec"]["tolerations"], {"key": "a", "operator": "Exists"}]
    changed = cluster.admin.patch("Pod", "p", {"spec": {"tolerations": more}}, namespace=cluster.namespace)
    assert changed["spec"]["tolerations"] == more


def test_a_pod_behind_a_gate_may_still_be_told_where_to_go(cluster: Subject) -> None:
    cluster.admin.create(cluster.pod("p", schedulingGates=[{"name": "example.com/wait"}]))
    there = {"spec": {"nodeSelector": {"a": "b"}}}
    cluster.admin.patch("Pod", "p", there, namespace=cluster.namespace)
    opened = {"spec": {"schedulingGates": []}}
    free = cluster.admin.patch("Pod", "p", opened, namespace=cluster.namespace)
    assert not free["spec"].get("schedulingGates")
    error = refusal(
        cluster.admin.patch, "Pod", "p", {"spec": {"nodeSelector": {"a": "c"}}}, namespace=cluster.namespace
    )
    assert causes(error) == [("FieldValueForbidden", "spec", FIXED)]


PRIORITIES = [
    (
        {"priority": 5},
        "the integer value of priority (5) must not be provided in pod spec; "
        "priority admission controller computed 0 from the given PriorityClass name",
    ),
    (
        {"preemptionPolicy": "Never"},
        "the string value of PreemptionPolicy (Never) must not be provided in pod spec; "
        "priority admission controller computed PreemptLowerPriority from the given PriorityClass name",
    ),
]


@pytest.mark.parametrize(("spec", "why"), PRIORITIES, ids=["priority", "policy"])
def test_priorities_come_from_classes(cluster: Subject, spec: dict[str, Any], why: str) -> None:
    error = refusal(cluster.admin.create, cluster.pod("p", **spec))
    assert (error.code, error.reason, error.message) == (403, "Forbidden", f'pods "p" is forbidden: {why}')


NAME_RULE = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)
TAINTS: list[tuple[str, list[dict[str, str]], list[tuple[str, str, str]]]] = [
    (
        "unknown effect",
        [{"key": "a", "effect": "x"}],
        [
            (
                "FieldValueNotSupported",
                "metadata.taints[0].effect",
                'Unsupported value: "x": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"',
            )
        ],
    ),
    ("no effect", [{"key": "a"}], [("FieldValueRequired", "metadata.taints[0].effect", "Required value")]),
    (
        "twice",
        [{"key": "a", "effect": "NoSchedule"}, {"key": "a", "value": "v", "effect": "NoSchedule"}],
        [
            (
                "FieldValueDuplicate",
                "metadata.taints[1]",
                'Duplicate value: {"Key":"a","Value":"v","Effect":"NoSchedule","TimeAdded":null}: '
                "taints must be unique by key and effect pair",
            )
        ],
    ),
    (
        "no key",
        [{"effect": "NoSchedule"}],
        [
            ("FieldValueInvalid", "metadata.taints[0].key", 'Invalid value: "": name part must be non-empty'),
            ("FieldValueInvalid", "metadata.taints[0].key", f'Invalid value: "": name part {NAME_RULE}'),
        ],
    ),
]


@pytest.mark.parametrize(("taints", "why"), [row[1:] for row in TAINTS], ids=[row[0] for row in TAINTS])
def test_taints_of_nodes(cluster: Subject, taints: list[dict[str, str]], why: list[tuple[str, str, str]]) -> None:
    new = refusal(cluster.admin.create, cluster.node("bad", taints=taints))
    name = cluster.create(cluster.node("n"))["metadata"]["name"]
    changed = refusal(cluster.admin.patch, "Node", name, {"spec": {"taints": taints}})
    for error in (new, changed):
        assert (error.code, error.reason, causes(error)) == (422, "Invalid", why)
    assert new.message.startswith(f'Node "{cluster.named("bad")}" is invalid: ')


def test_a_node_keeps_its_provider_id(cluster: Subject) -> None:
    name = cluster.create(cluster.node("n", providerID="azure:///a"))["metadata"]["name"]
    error = refusal(cluster.admin.patch, "Node", name, {"spec": {"providerID": "azure:///b"}})
    why = 'Forbidden: node updates may not change providerID except from "" to valid'
    assert causes(error) == [("FieldValueForbidden", "spec.providerID", why)]
    assert error.message == f'Node "{name}" is invalid: spec.providerID: {why}'


def test_nothing_without_its_namespace(cluster: Subject) -> None:
    pod = cluster.pod("p")
    pod["metadata"]["namespace"] = "nowhere"
    error = refusal(cluster.admin.create, pod)
    assert (error.code, error.reason, error.message) == (404, "NotFound", 'namespaces "nowhere" not found')
    assert error.details == {"name": "nowhere", "kind": "namespaces"}


def test_namespaces_that_are_always_there(cluster: Subject) -> None:
    found = {each["metadata"]["name"]: each for each in cluster.view.list("Namespace")}
    assert {"default", "kube-node-lease", "kube-public", "kube-system"} <= {*found}
    own = found[cluster.namespace]
    assert own["metadata"]["labels"] == {"kubernetes.io/metadata.name": cluster.namespace}
    assert (own["spec"], own["status"]) == ({"finalizers": ["kubernetes"]}, {"phase": "Active"})


def test_a_namespace_goes_with_all_that_is_in_it(cluster: Subject) -> None:
    name = cluster.named("going")
    cluster.admin.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    held = config(cluster, "held")
    held["metadata"] |= {"namespace": name, "finalizers": ["example.com/hold"]}
    cluster.admin.create(held)
    marked = cluster.admin.delete("Namespace", name)
    assert marked["status"]["phase"] == "Terminating"

    def refused() -> ApiError | None:
        other = config(cluster, "other")
        other["metadata"]["namespace"] = name
        try:
            cluster.admin.create(other)
        except ApiError as error:
            return error
        return None

    error = cluster.eventually(refused, "the namespace to take nothing more")
    why = f"unable to create new content in namespace {name} because it is being terminated"
    assert (error.code, error.message) == (403, f'configmaps "other" is forbidden: {why}')
    assert error.details["causes"] == [
        {
            "reason": "NamespaceTerminating",
            "message": f"namespace {name} is being terminated",
            "field": "metadata.namespace",
        }
    ]

    def marked_too() -> bool:
        found = cluster.view.get("ConfigMap", "held", name) or {"metadata": {}}
        return "deletionTimestamp" in found["metadata"]

    cluster.eventually(marked_too, "what is in it to be deleted")
    assert cluster.view.get("Namespace", name) is not None
    cluster.admin.patch("ConfigMap", "held", {"metadata": {"finalizers": None}}, namespace=name)
    cluster.eventually(lambda: cluster.view.get("Namespace", name) is None, "the namespace to be gone")


Act = Callable[[Writer, Subject, str], Any]


def lease(name: str, namespace: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": namespace}
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta}


DENIED: list[tuple[str, Act, str]] = [
    (
        "its own node's deletion",
        lambda kubelet, cluster, node: kubelet.delete("Node", node),
        'nodes "{node}" is forbidden: {user} cannot delete resource "nodes" in API group "" at the cluster scope',
    ),
    (
        "a pod elsewhere",
        lambda kubelet, cluster, node: kubelet.delete("Pod", "p", namespace=cluster.namespace),
        'pods "p" is forbidden: node "{node}" can only delete pods with spec.nodeName set to itself',
    ),
    (
        "the status of a pod elsewhere",
        lambda kubelet, cluster, node: kubelet.patch(
            "Pod", "p", {"status": {"phase": "Running"}}, namespace=cluster.namespace, subresource="status"
        ),
        'pods "p" is forbidden: node "{node}" can only update pod status for pods with spec.nodeName set to itself',
    ),
    (
        "a pod's labels",
        lambda kubelet, cluster, node: kubelet.patch(
            "Pod", "p", {"metadata": {"labels": {"a": "b"}}}, namespace=cluster.namespace
        ),
        'pods "p" is forbidden: {user} cannot patch resource "pods" in API group "" in the namespace "{namespace}"',
    ),
    (
        "a pod of its own making",
        lambda kubelet, cluster, node: kubelet.create(cluster.pod("new", nodeName=node)),
        'pods "new" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, '
        'node "{node}" can only create mirror pods',
    ),
    (
        "an eviction elsewhere",
        lambda kubelet, cluster, node: kubelet.evict("p", cluster.namespace),
        'pods "p" is forbidden: node {node} can only evict pods with spec.nodeName set to itself',
    ),
    (
        "a binding",
        lambda kubelet, cluster, node: kubelet.bind("p", cluster.namespace, node),
        'pods "p" is forbidden: {user} cannot create resource "pods/binding" in API group "" in the namespace "{namespace}"',
    ),
    (
        "a config map",
        lambda kubelet, cluster, node: kubelet.create(config(cluster, "c")),
        'configmaps is forbidden: {user} cannot create resource "configmaps" in API group "" '
        'in the namespace "{namespace}": can only read resources of this type',
    ),
    (
        "a NodeClaim",
        lambda kubelet, cluster, node: kubelet.delete("NodeClaim", "c"),
        'nodeclaims.karpenter.sh "c" is forbidden: {user} cannot delete resource "nodeclaims" in API group "karpenter.sh" '
        "at the cluster scope",
    ),
    (
        "a lease among others",
        lambda kubelet, cluster, node: kubelet.create(lease(node, cluster.namespace)),
        'leases.coordination.k8s.io is forbidden: {user} cannot create resource "leases" in API group "coordination.k8s.io" '
        'in the namespace "{namespace}": can only access leases in the "kube-node-lease" system namespace',
    ),
    (
        "somebody else's lease",
        lambda kubelet, cluster, node: kubelet.create(lease("other", "kube-node-lease")),
        'leases.coordination.k8s.io "other" is forbidden: '
        "can only access node lease with the same name as the requesting node",
    ),
    (
        "scaling",
        lambda kubelet, cluster, node: kubelet.scale("Deployment", "d", cluster.namespace, 3),
        'deployments.apps "d" is forbidden: {user} cannot patch resource "deployments/scale" in API group "apps" '
        'in the namespace "{namespace}"',
    ),
    (
        "a volume",
        lambda kubelet, cluster, node: kubelet.patch("PersistentVolume", "v", {"metadata": {"labels": {"a": "b"}}}),
        'persistentvolumes "v" is forbidden: {user} cannot patch resource "persistentvolumes" in API group "" '
        "at the cluster scope: can only get individual resources of this type",
    ),
]


@pytest.mark.parametrize(("act", "why"), [row[1:] for row in DENIED], ids=[row[0] for row in DENIED])
def test_what_is_no_business_of_a_kubelet(cluster: Subject, act: Act, why: str) -> None:
    node = ready_node(cluster, "n")
    user = f'User "system:node:{node}"'
    cluster.admin.create(cluster.pod("p"))

    def known() -> ApiError | None:
        """NodeRestriction looks pods up in a cache that is a moment behind."""
        error = refusal(act, cluster.writer(Identity.node(node)), cluster, node)
        return None if error.code == 404 else error

    error = cluster.eventually(known, "a refusal")
    message = why.format(node=node, user=user, namespace=cluster.namespace)
    assert (error.code, error.reason, error.message) == (403, "Forbidden", message)


def test_a_kubelet_has_its_lease(cluster: Subject) -> None:
    node = ready_node(cluster, "n")
    kubelet = cluster.writer(Identity.node(node))
    kubelet.create(lease(node, "kube-node-lease"))
    kubelet.delete("Lease", node, namespace="kube-node-lease")
