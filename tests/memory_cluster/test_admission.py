"""What a cluster refuses: metadata, Karpenter's CRDs, and what kubelets may write."""

from typing import Any

import pytest

from harness.engine.ports import Identity
from harness.kube.admission.node_restriction import node_write_error
from harness.kube.api.status import ApiError
from harness.testing import pod
from tests.memory_cluster.conftest import memory_cluster

POOL: dict[str, Any] = {
    "apiVersion": "karpenter.sh/v1",
    "kind": "NodePool",
    "metadata": {"name": "neg"},
    "spec": {
        "template": {
            "spec": {
                "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
                "requirements": [],
            }
        }
    },
}


def pool_with_label(key: str) -> dict[str, Any]:
    template = {**POOL["spec"]["template"], "metadata": {"labels": {key: "x"}}}
    return {**POOL, "spec": {"template": template}}


# As a real API server of Kubernetes 1.36 answered, provider 1.14.0's CRDs installed.
RECORDED = [
    ("kubernetes.azure.com/foo", 'label domain "kubernetes.azure.com" is restricted'),
    ("karpenter.azure.com/foo", 'label domain "karpenter.azure.com" is restricted'),
    ("kubernetes.io/hostname", 'label "kubernetes.io/hostname" is restricted'),
    ("karpenter.sh/foo", 'label domain "karpenter.sh" is restricted'),
    ("agentpool", 'label "agentpool" is restricted'),
    ("kubernetes.azure.com/mode", None),
    ("kubernetes.io/foo", None),
    ("node.kubernetes.io/foo", None),
]


@pytest.mark.parametrize(("key", "text"), RECORDED)
def test_nodepool_labels(cluster, key, text):
    if text is None:
        cluster.admin.create(pool_with_label(key), dry_run=True)
        return
    with pytest.raises(ApiError) as caught:
        cluster.admin.create(pool_with_label(key))
    assert caught.value.code == 422
    assert caught.value.reason == "Invalid"
    assert caught.value.message.startswith('NodePool.karpenter.sh "neg" is invalid: spec.template.metadata.labels: ')
    assert caught.value.message.endswith(text)
    assert caught.value.cause[0].key == key
    assert cluster.view.get("NodePool", "neg") is None


def test_the_whole_reason_is_told_whatever_it_speaks_of(cluster):
    pool = {**POOL, "spec": {**POOL["spec"], "limits": {"cpu": "a is invalid: b"}}}
    with pytest.raises(ApiError) as caught:
        cluster.admin.create(pool)
    assert caught.value.message.startswith('NodePool.karpenter.sh "neg" is invalid: spec.limits.cpu: ')
    assert '"a is invalid: b"' in caught.value.message


def test_custom_resources_are_defaulted(cluster):
    stored = cluster.admin.create(POOL)
    assert stored["spec"]["disruption"]["consolidationPolicy"] == "WhenEmptyOrUnderutilized"
    assert stored["spec"]["template"]["spec"]["expireAfter"] == "720h"


def test_status_of_a_custom_resource_is_not_judged_by_the_rules_of_its_spec(cluster):
    cluster.admin.create(POOL)
    cluster.admin.patch("NodePool", "neg", {"status": {"resources": {"cpu": "1"}}}, subresource="status")
    assert cluster.view.get("NodePool", "neg")["status"]["resources"] == {"cpu": "1"}


def test_label_syntax_of_core_objects(cluster):
    with pytest.raises(ApiError) as caught:
        cluster.admin.create(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "labels": {"a": "not a value!"}}}
        )
    assert caught.value.code == 422
    assert "metadata.labels: Invalid value" in caught.value.message


@pytest.mark.parametrize(
    ("kubernetes", "key", "owner"),
    [
        ("1.33.0", "a qualified name must consist of", "kind must not be empty"),
        ("1.34.0", "a qualified name must consist of", "must not be empty"),
        ("1.35.0", "a valid label key must consist of", "must not be empty"),
    ],
)
def test_metadata_is_refused_in_the_words_of_the_kubernetes_version(kubernetes, key, owner):
    made = memory_cluster(kubernetes)
    with pytest.raises(ApiError) as caught:
        made.admin.create(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {
                    "name": "c",
                    "labels": {"a/b/c": "x"},
                    "ownerReferences": [{"apiVersion": "v1", "name": "n", "uid": "u"}],
                },
            }
        )
    assert key in caught.value.message
    assert f'metadata.ownerReferences.kind: Invalid value: "": {owner}' in caught.value.message


def node(name: str = "w1", **labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def test_a_kubelet_creates_its_node_with_ordinary_labels(cluster):
    labels = {"agentpool": "x", "kubernetes.azure.com/cluster": "y", "kubernetes.io/arch": "amd64", "team": "a"}
    stored = cluster.writer(Identity.node("w1")).create(node(**labels))
    assert stored["metadata"]["labels"] == labels
    assert [taint["key"] for taint in stored["spec"]["taints"]] == ["node.kubernetes.io/not-ready"]


FORBIDDEN_AT_CREATE = [
    ("node-role.kubernetes.io/foo",),
    ("node-restriction.kubernetes.io/x",),
    ("example.node-restriction.kubernetes.io/x",),
    ("kubernetes.io/foo", "k8s.io/bar"),
]


@pytest.mark.parametrize("keys", FORBIDDEN_AT_CREATE)
def test_node_restriction_at_create(cluster, keys):
    with pytest.raises(ApiError) as caught:
        cluster.writer(Identity.node("w1")).create(node(**dict.fromkeys(keys, "q")))
    assert caught.value.code == 403
    assert caught.value.message == (
        f'nodes "w1" is forbidden: node "w1" is not allowed to set the following labels: {", ".join(sorted(keys))}'
    )


ALLOWED_UPDATES = [
    "kubernetes.azure.com/anything",
    "karpenter.sh/capacity-type",
    "agentpool",
    "kubernetes.io/arch",
    "node.kubernetes.io/foo",
    "kubelet.kubernetes.io/foo",
    "topology.kubernetes.io/zone",
    "node.kubernetes.io/instance-type",
]


@pytest.mark.parametrize("key", ALLOWED_UPDATES)
def test_a_kubelet_may_change_these(cluster, key):
    kubelet = cluster.writer(Identity.node("w1"))
    kubelet.create(node())
    stored = kubelet.patch("Node", "w1", {"metadata": {"labels": {key: "v"}}})
    assert stored["metadata"]["labels"] == {key: "v"}


@pytest.mark.parametrize("registered", [True, False])
def test_a_kubelet_may_create_mirrors_of_its_static_pods(cluster, registered):
    kubelet = cluster.writer(Identity.node("w1"))
    uid = kubelet.create(node())["metadata"]["uid"] if registered else "early"

    def mirror(name, uid):
        owner = {"apiVersion": "v1", "kind": "Node", "name": "w1", "uid": uid, "controller": True}
        meta = {
            "name": name,
            "namespace": "default",
            "annotations": {"kubernetes.io/config.mirror": "hash"},
            "ownerReferences": [owner],
        }
        spec = {"nodeName": "w1", "containers": [{"name": "c", "image": "c"}]}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}

    assert kubelet.create(mirror("static-w1", uid))["spec"]["nodeName"] == "w1"
    if registered:
        with pytest.raises(ApiError) as refused:
            kubelet.create(mirror("again-w1", "another"))
        assert refused.value.message == (
            f'pods "again-w1" is forbidden: node w1 UID mismatch: expected another got {uid}'
        )


OWNER = {"apiVersion": "v1", "kind": "Node", "name": "w1", "uid": "early", "controller": True}


@pytest.mark.parametrize(
    ("annotations", "node_name", "owners", "why"),
    [
        (
            {},
            "w1",
            [OWNER],
            'pod does not have "kubernetes.io/config.mirror" annotation, node "w1" can only create mirror pods',
        ),
        (None, "w2", [OWNER], 'node "w1" can only create pods with spec.nodeName set to itself'),
        (
            None,
            "w1",
            [OWNER, {**OWNER, "uid": "b", "controller": False}],
            'node "w1" can only create pods with a single owner reference set to itself',
        ),
        (None, "w1", [], 'node "w1" can only create pods with an owner reference set to itself'),
        (None, "w1", [{**OWNER, "name": "w2"}], 'node "w1" can only create pods with an owner reference set to itself'),
        (
            None,
            "w1",
            [{**OWNER, "controller": False}],
            'node "w1" can only create pods with a controller owner reference set to itself',
        ),
        (
            None,
            "w1",
            [{**OWNER, "blockOwnerDeletion": True}],
            'node "w1" must not set blockOwnerDeletion on an owner reference',
        ),
    ],
)
def test_a_mirror_belongs_to_the_node_of_its_kubelet_alone(cluster, annotations, node_name, owners, why):
    """Source: kubernetes plugin/pkg/admission/noderestriction/admission.go (admitPodCreate)."""
    made = pod("p", "", "", nodeName=node_name)
    mirror = {"kubernetes.io/config.mirror": "hash"} if annotations is None else annotations
    made["metadata"] |= {"annotations": mirror, "ownerReferences": owners}
    with pytest.raises(ApiError) as refused:
        cluster.writer(Identity.node("w1")).create(made)
    assert refused.value.message == f'pods "p" is forbidden: {why}'


def test_node_restriction_at_update(cluster):
    kubelet = cluster.writer(Identity.node("w1"))
    kubelet.create(node())
    cluster.admin.create(node("other"))
    refused = {
        'nodes "w1" is forbidden: is not allowed to modify labels: node-role.kubernetes.io/foo': (
            "w1",
            {"metadata": {"labels": {"node-role.kubernetes.io/foo": "x"}}},
        ),
        'nodes "w1" is forbidden: node "w1" is not allowed to modify taints': ("w1", {"spec": {"taints": None}}),
        'nodes "other" is forbidden: node "w1" is not allowed to modify node "other"': (
            "other",
            {"metadata": {"labels": {"a": "b"}}},
        ),
    }
    for message, (name, patch) in refused.items():
        with pytest.raises(ApiError) as caught:
            kubelet.patch("Node", name, patch)
        assert caught.value.message == message


@pytest.mark.parametrize("verb", ["create", "update", "delete"])
def test_the_plugin_judges_what_a_node_becomes(verb: str) -> None:
    """plugin/pkg/admission/noderestriction admitNode: of what is deleted only whose it is, of what was not there only its labels."""
    old = {**node(), "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]}}
    taken = {"verb": verb, "subresource": "", "new": node(), "old": old if verb == "delete" else None}
    assert node_write_error("w1", **taken) is None
    assert node_write_error("w2", **taken) == 'node "w2" is not allowed to modify node "w1"'


def test_others_are_not_restricted(cluster):
    cluster.admin.create(node(**{"node-restriction.kubernetes.io/x": "q"}))
    stored = cluster.view.get("Node", "w1")
    assert stored["metadata"]["labels"] == {"node-restriction.kubernetes.io/x": "q"}
