"""What nobody wrote down: claims of StatefulSets and of ephemeral volumes, and the class of claims; the same on every cluster."""

from __future__ import annotations

from typing import Any

from tests.clusters.subject import Subject
from tests.clusters.test_pods import schedulable

CLAIM = {"accessModes": ["ReadWriteOnce"], "storageClassName": "disks", "resources": {"requests": {"storage": "1Gi"}}}


def claim_of(cluster: Subject, name: str) -> Any:
    return cluster.view.get("PersistentVolumeClaim", name, cluster.namespace)


def stateful_set(cluster: Subject) -> dict[str, Any]:
    volumes = [{"name": "data", "emptyDir": {}}, {"name": "cache", "emptyDir": {}}]
    container = {"name": "c", "image": "registry.k8s.io/pause", "resources": {"requests": {"cpu": "100"}}}
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [container], "volumes": volumes}}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": cluster.namespace},
        "spec": {
            "serviceName": "db",
            "replicas": 1,
            "selector": {"matchLabels": {"app": "db"}},
            "template": template,
            "volumeClaimTemplates": [
                {"metadata": {"name": "data", "labels": {"tier": "gold"}, "annotations": {"a": "b"}}, "spec": CLAIM}
            ],
        },
    }


def test_each_pod_of_a_stateful_set_has_claims_of_its_own(cluster: Subject) -> None:
    cluster.admin.create(stateful_set(cluster))
    pod: Any = cluster.eventually(lambda: cluster.view.get("Pod", "db-0", cluster.namespace), "the first pod")
    volumes = {each["name"]: each for each in pod["spec"]["volumes"]}
    assert volumes["data"] == {"name": "data", "persistentVolumeClaim": {"claimName": "data-db-0"}}
    assert "emptyDir" in volumes["cache"]
    labels = pod["metadata"]["labels"]
    own = (labels["statefulset.kubernetes.io/pod-name"], labels["apps.kubernetes.io/pod-index"])
    assert own == ("db-0", "0")
    claim: Any = cluster.eventually(lambda: claim_of(cluster, "data-db-0"), "the watch of claims to tell of it")
    assert claim["metadata"]["labels"] == {"app": "db", "tier": "gold"}
    assert claim["metadata"]["annotations"]["a"] == "b"
    assert claim["spec"]["storageClassName"] == "disks"


def test_a_claim_outlives_its_pod_and_is_used_again(cluster: Subject) -> None:
    cluster.admin.create(stateful_set(cluster))
    first: Any = cluster.eventually(lambda: cluster.view.get("Pod", "db-0", cluster.namespace), "the first pod")
    made: Any = cluster.eventually(lambda: claim_of(cluster, "data-db-0"), "the watch of claims to tell of it")
    claim = made["metadata"]["uid"]
    cluster.admin.delete("Pod", "db-0", namespace=cluster.namespace)

    def again() -> bool:
        pod: Any = cluster.view.get("Pod", "db-0", cluster.namespace)
        return pod is not None and pod["metadata"]["uid"] != first["metadata"]["uid"]

    cluster.eventually(again, "another pod of that name")
    assert claim_of(cluster, "data-db-0")["metadata"]["uid"] == claim


def test_an_ephemeral_volume_has_a_claim_that_goes_with_its_pod(cluster: Subject) -> None:
    template = {"metadata": {"labels": {"tier": "gold"}}, "spec": CLAIM}
    volumes = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": template}}]
    cluster.admin.create(schedulable(cluster, "p", "100", volumes=volumes))
    claim: Any = cluster.eventually(lambda: claim_of(cluster, "p-scratch"), "the claim of the volume")
    assert claim["metadata"]["labels"] == {"tier": "gold"}
    (owner,) = claim["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Pod", "p", True)
    cluster.admin.delete("Pod", "p", namespace=cluster.namespace)

    def gone() -> bool:
        found = claim_of(cluster, "p-scratch")
        return found is None or found["metadata"].get("deletionTimestamp") is not None

    cluster.eventually(gone, "the claim to go")


def storage_class(cluster: Subject, name: str, **annotations: str) -> str:
    meta = {"name": cluster.named(name), "annotations": annotations}
    made = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": meta,
        "provisioner": "example.com/none",
    }
    return str(cluster.create(made)["metadata"]["name"])


def plain_claim(cluster: Subject, name: str, **fields: Any) -> None:
    spec = {key: value for key, value in CLAIM.items() if key != "storageClassName"}
    meta = {"name": name, "namespace": cluster.namespace}
    made = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": {**spec, **fields}}
    cluster.admin.create(made)


DEFAULT = "storageclass.kubernetes.io/is-default-class"


def test_a_claim_without_a_class_has_the_default_one(cluster: Subject) -> None:
    own = [
        each for each in cluster.view.list("StorageClass") if (each["metadata"].get("annotations") or {}).get(DEFAULT)
    ]
    plain_claim(cluster, "before")
    storage_class(cluster, "other")
    default = storage_class(cluster, "standard", **{DEFAULT: "true"})
    older = own[0]["metadata"]["name"] if own else default  # kind brings a default class along
    cluster.eventually(
        lambda: claim_of(cluster, "before")["spec"].get("storageClassName") == older, "the class of an older claim"
    )
    plain_claim(cluster, "after")
    plain_claim(cluster, "none", storageClassName="")
    cluster.eventually(lambda: claim_of(cluster, "none") is not None, "the claims")
    assert claim_of(cluster, "after")["spec"]["storageClassName"] == default
    assert claim_of(cluster, "none")["spec"]["storageClassName"] == ""
