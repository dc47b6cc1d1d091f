"""What kube-scheduler decides where volumes or priorities are in play, the same on every cluster."""

from __future__ import annotations

from typing import Any

import pytest

from harness.engine.ports import Identity
from harness.kube.api.objects import condition, is_terminating
from tests.clusters.subject import Subject
from tests.clusters.test_pods import ready_node, schedulable

ZONE = "topology.kubernetes.io/zone"
CLAIMS = "no new claims to deallocate, preemption:"


def message(cluster: Subject, name: str) -> str:
    """What kube-scheduler wrote about a pod that has no node."""
    found = condition(cluster.view.get("Pod", name, cluster.namespace) or {}, "PodScheduled") or {}
    return cluster.without_control_plane(str(found.get("message") or ""))


def node_of(cluster: Subject, name: str) -> str | None:
    pod: Any = cluster.view.get("Pod", name, cluster.namespace) or {"spec": {}}
    found: str | None = pod["spec"].get("nodeName")
    return found


def alone(cluster: Subject) -> None:
    """The sentences count all nodes of a cluster: those of other tests have to be gone."""
    ours = {name for kind, name in cluster.made if kind == "Node"}
    cluster.eventually(
        lambda: all(each["metadata"]["name"] in ours for each in cluster.view.list("Node")),
        "the nodes of other tests to be gone",
    )


def priority_class(cluster: Subject, name: str, value: int, **fields: Any) -> str:
    meta = {"name": cluster.named(name)}
    made = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value, **fields}
    return str(cluster.create(made)["metadata"]["name"])


def volume(cluster: Subject, zone: str, **labels: str) -> None:
    """A claim `data`, and the volume of a zone that is meant for it."""
    name = cluster.named("pv")
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "disks",
        "csi": {"driver": "disk.csi.azure.com", "volumeHandle": name},
        "claimRef": {"namespace": cluster.namespace, "name": "data"},
        "persistentVolumeReclaimPolicy": "Retain",
    }
    if not labels:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [term]}}
    meta = {"name": name, "labels": labels}
    cluster.create({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": spec})
    claim(cluster, volumeName=name)

    def bound() -> bool:
        found = cluster.view.get("PersistentVolumeClaim", "data", cluster.namespace) or {}
        return bool((found.get("status") or {}).get("phase") == "Bound")

    cluster.eventually(bound, "the claim to be bound")


def claim(cluster: Subject, **fields: Any) -> None:
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if fields.get("volumeName") == "gone" else {}
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "storageClassName": "disks",
        **fields,
    }
    meta = {"name": "data", "namespace": cluster.namespace, "annotations": bound}
    cluster.admin.create({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec})


def node_in(cluster: Subject, zone: str) -> str:
    name = cluster.named(f"n-{zone}")
    node = cluster.node(f"n-{zone}")
    node["metadata"]["labels"][ZONE] = zone
    cluster.create(node)
    cluster.eventually(
        lambda: not ((cluster.view.get("Node", name) or {}).get("spec") or {}).get("taints"), f"{name} to be free"
    )
    return name


USES_DATA = {"volumes": [{"name": "d", "persistentVolumeClaim": {"claimName": "data"}}]}


def test_a_pod_goes_where_its_volume_is(cluster: Subject) -> None:
    node_in(cluster, "one")
    volume(cluster, "two")
    alone(cluster)
    cluster.admin.create(schedulable(cluster, "p", "1", **USES_DATA))
    why = (
        "0/1 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity. "
        f"{CLAIMS} 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    cluster.eventually(lambda: message(cluster, "p") == why, why)
    there = node_in(cluster, "two")
    cluster.eventually(lambda: node_of(cluster, "p") == there, "the pod to be bound in the volume's zone")


def test_a_volume_says_by_labels_where_it_is(cluster: Subject) -> None:
    node_in(cluster, "one")
    volume(cluster, "", **{ZONE: "two__three"})
    alone(cluster)
    cluster.admin.create(schedulable(cluster, "p", "1", **USES_DATA))
    why = (
        "0/1 nodes are available: 1 node(s) had no available volume zone. "
        f"{CLAIMS} 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    )
    cluster.eventually(lambda: message(cluster, "p") == why, why)
    there = node_in(cluster, "three")
    cluster.eventually(lambda: node_of(cluster, "p") == there, "the pod to be bound in a zone of the volume")


@pytest.mark.parametrize(("policy", "bound"), [("Honor", True), ("Ignore", False), (None, False)])
def test_a_tainted_zone_counts_unless_spreading_honours_taints(
    cluster: Subject, policy: str | None, bound: bool
) -> None:
    here = node_in(cluster, "one")
    closed = cluster.node("closed", taints=[{"key": "closed", "effect": "NoSchedule"}])
    closed["metadata"]["labels"][ZONE] = "two"
    cluster.create(closed)
    alone(cluster)
    rule: dict[str, Any] = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule"}
    rule |= {"labelSelector": {"matchLabels": {"set": "web"}}, **({"nodeTaintsPolicy": policy} if policy else {})}
    for name in ("p", "q"):
        made = schedulable(cluster, name, "1", topologySpreadConstraints=[rule])
        made["metadata"]["labels"]["set"] = "web"
        cluster.admin.create(made)
        if name == "p":
            cluster.eventually(lambda: node_of(cluster, "p") == here, "the first pod to be bound")
    cluster.eventually(
        lambda: bool(node_of(cluster, "q")) == bound and bool(bound or message(cluster, "q")), "the second"
    )


CLAIM_PROBLEMS = [
    (None, 'persistentvolumeclaim "data" not found'),
    ({}, "pod has unbound immediate PersistentVolumeClaims"),
    ({"volumeName": "gone"}, 'persistentvolumeclaim "data" bound to non-existent persistentvolume "gone"'),
]


@pytest.mark.parametrize(("fields", "why"), CLAIM_PROBLEMS, ids=["absent", "unbound", "lost"])
def test_a_claim_that_no_node_can_help(cluster: Subject, fields: dict[str, Any] | None, why: str) -> None:
    node_in(cluster, "one")
    if fields is not None:
        claim(cluster, **fields)
    if fields:
        cluster.eventually(
            lambda: (
                ((cluster.view.get("PersistentVolumeClaim", "data", cluster.namespace) or {}).get("status") or {}).get(
                    "phase"
                )
                == "Lost"
            ),
            "the claim to be lost",
        )
    alone(cluster)
    cluster.admin.create(schedulable(cluster, "p", "1", **USES_DATA))
    text = f"0/1 nodes are available: {why}. not found"
    cluster.eventually(lambda: message(cluster, "p") == text, text)


def test_a_pod_of_higher_priority_makes_others_leave(cluster: Subject) -> None:
    node = ready_node(cluster, "n")
    alone(cluster)
    high = priority_class(cluster, "high", 1000)
    for name in ("a", "b"):
        cluster.admin.create(schedulable(cluster, name, "2"))
    cluster.eventually(lambda: node_of(cluster, "a") and node_of(cluster, "b"), "both pods to be bound")
    cluster.admin.create(schedulable(cluster, "big", "3", priorityClassName=high))

    def victims() -> list[str]:
        pods = cluster.view.list("Pod", namespace=cluster.namespace)
        return sorted(pod["metadata"]["name"] for pod in pods if is_terminating(pod))

    cluster.eventually(lambda: victims() == ["a", "b"], "both pods to be told to go")
    for name in ("a", "b"):
        pod = cluster.view.get("Pod", name, cluster.namespace) or {}
        found = condition(pod, "DisruptionTarget")
        assert found is not None
        assert (found["status"], found["reason"], found["message"]) == (
            "True",
            "PreemptionByScheduler",
            "default-scheduler: preempting to accommodate a higher priority pod",
        )

    def nominated() -> bool:
        pod: Any = cluster.view.get("Pod", "big", cluster.namespace) or {"status": {}}
        return bool(pod["status"].get("nominatedNodeName") == node)

    cluster.eventually(nominated, "the node to be promised")
    for name in ("a", "b"):
        end(cluster, name, node)
    cluster.eventually(lambda: node_of(cluster, "big") == node, "the pod to be bound")


def end(cluster: Subject, name: str, node: str) -> None:
    """The kubelet ends a pod."""
    kubelet = cluster.writer(Identity.node(node))
    kubelet.delete("Pod", name, namespace=cluster.namespace, grace_period_seconds=0)


def test_only_as_many_leave_as_have_to_and_the_least_important(cluster: Subject) -> None:
    ready_node(cluster, "n")
    alone(cluster)
    middle, high = priority_class(cluster, "middle", 10), priority_class(cluster, "high", 1000)
    cluster.admin.create(schedulable(cluster, "kept", "2", priorityClassName=middle))
    cluster.admin.create(schedulable(cluster, "low", "1"))
    cluster.eventually(lambda: node_of(cluster, "kept") and node_of(cluster, "low"), "both pods to be bound")
    cluster.admin.create(schedulable(cluster, "big", "2", priorityClassName=high))

    def going() -> list[str]:
        pods = cluster.view.list("Pod", namespace=cluster.namespace)
        return [pod["metadata"]["name"] for pod in pods if is_terminating(pod)]

    cluster.eventually(going, "a pod to be told to go")
    cluster.step()
    assert going() == ["low"]


def test_a_priority_that_never_preempts(cluster: Subject) -> None:
    ready_node(cluster, "n")
    alone(cluster)
    polite = priority_class(cluster, "polite", 1000, preemptionPolicy="Never")
    cluster.admin.create(schedulable(cluster, "low", "3"))
    cluster.eventually(lambda: node_of(cluster, "low"), "the pod to be bound")
    cluster.admin.create(schedulable(cluster, "p", "3", priorityClassName=polite))
    why = f"0/1 nodes are available: 1 Insufficient cpu. {CLAIMS} not eligible due to preemptionPolicy=Never."
    cluster.eventually(lambda: message(cluster, "p") == why, why)
    assert not is_terminating(cluster.view.get("Pod", "low", cluster.namespace) or {})


def test_pods_that_would_have_to_leave_in_vain(cluster: Subject) -> None:
    ready_node(cluster, "n")
    alone(cluster)
    middle, high = priority_class(cluster, "middle", 10), priority_class(cluster, "high", 1000)
    cluster.admin.create(schedulable(cluster, "low", "1"))
    cluster.admin.create(schedulable(cluster, "equal", "3", priorityClassName=high))
    cluster.eventually(lambda: node_of(cluster, "low") and node_of(cluster, "equal"), "both pods to be bound")
    cluster.admin.create(schedulable(cluster, "big", "2", priorityClassName=high))
    why = f"0/1 nodes are available: 1 Insufficient cpu. {CLAIMS} 0/1 nodes are available: 1 Insufficient cpu."
    cluster.eventually(lambda: message(cluster, "big") == why, why)
    cluster.admin.create(schedulable(cluster, "other", "1", priorityClassName=middle))
    cluster.eventually(lambda: is_terminating(cluster.view.get("Pod", "low", cluster.namespace) or {}), "low to go")
