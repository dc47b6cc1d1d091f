"""The decisions of the workload controllers: which pods to create and which to delete, as pure functions of objects.

Small on purpose: rolling updates replace at once, Jobs never finish by themselves.
Sources: kubernetes pkg/controller/{deployment,replicaset,daemon,statefulset,job,volume/ephemeral}.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import datetime
from typing import Any

from harness.kube.api.objects import (
    Frozen,
    Object,
    annotations_of,
    condition_is,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    owner_reference,
    spec_of,
)
from harness.kube.deletion_order import in_deletion_order
from harness.kube.scheduling.node_affinity import required_matches
from harness.kube.scheduling.pods import is_terminal
from harness.kube.scheduling.taints import NO_EXECUTE, NO_SCHEDULE, same_toleration, tolerates
from lazyrecords import dataclass

_SAFE = "bcdfghjklmnpqrstvwxz2456789"

_DAEMON_TOLERATIONS = tuple(
    {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
    for name, effect in (
        ("not-ready", "NoExecute"),
        ("unreachable", "NoExecute"),
        ("disk-pressure", "NoSchedule"),
        ("memory-pressure", "NoSchedule"),
        ("pid-pressure", "NoSchedule"),
        ("unschedulable", "NoSchedule"),
    )
)
_HOST_NETWORK_TOLERATIONS = (
    {"key": "node.kubernetes.io/network-unavailable", "operator": "Exists", "effect": "NoSchedule"},
)


_OF_NODES = ("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady")


@dataclass(frozen=True, slots=True)
class Plan:
    """Objects to create and pods to delete, in order; `counts` is what a DaemonSet's status says of its nodes."""

    create: tuple[Object, ...] = ()
    delete: tuple[Object, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict, compare=False)


_NOTHING_TO_DO = Plan()


def pod_from_template(owner: Object, template: Object, *, name: str | None = None) -> dict[str, Any]:
    """A pod of a workload, owned by it."""
    meta: dict[str, Any] = {
        "namespace": metadata_of(owner).get("namespace") or "default",
        "labels": dict(labels_of(template)),
        "ownerReferences": [owner_reference(owner)],
    }
    if metadata_of(template).get("annotations"):
        meta["annotations"] = dict(metadata_of(template)["annotations"])
    if name is None:
        meta["generateName"] = f"{name_of(owner)}-"
    else:
        meta["name"] = name
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": dict(spec_of(template))}


def _living(pods: Sequence[Object]) -> list[Object]:
    return [pod for pod in pods if not is_terminating(pod) and not is_terminal(pod)]


def replica_set(owner: Object, pods: Sequence[Object], related: Sequence[Object], now: datetime) -> Plan:
    """Keeps `spec.replicas` pods that are neither terminating nor ended; of too many it deletes those that kube-controller-manager
    would. `related` are the pods of all ReplicaSets of its Deployment, none where it has none."""
    living = _living(pods)
    missing = int(spec_of(owner).get("replicas", 1)) - len(living)
    if missing >= 0:
        return missing_pods(owner, len(living))
    return Plan(delete=tuple(in_deletion_order(living, _living(related), now)[:-missing]))


def missing_pods(owner: Object, living: int) -> Plan:
    """The pods that a ReplicaSet creates when `living` are not more than `spec.replicas`: each is the same, until it has a name."""
    missing = int(spec_of(owner).get("replicas", 1)) - living
    if missing <= 0:
        return _NOTHING_TO_DO
    pod = Frozen(pod_from_template(owner, spec_of(owner).get("template") or {}))
    return Plan(create=(pod,) * missing)


def job(owner: Object, pods: Sequence[Object]) -> Plan:
    """Keeps up to `parallelism` pods while completions are missing; where none are asked for, until the first pod succeeds.

    Source: kubernetes pkg/controller/job/job_controller.go manageJob.
    """
    spec = spec_of(owner)
    done = sum(1 for pod in pods if (pod.get("status") or {}).get("phase") == "Succeeded")
    parallelism, completions = int(spec.get("parallelism", 1)), spec.get("completions")
    wanted = min(parallelism, int(completions) - done) if completions is not None else 0 if done else parallelism
    missing = wanted - len(_living(pods))
    template = spec.get("template") or {}
    return Plan(create=tuple(pod_from_template(owner, template) for _ in range(max(0, missing))))


def stateful_set(owner: Object, pods: Sequence[Object]) -> Plan:
    """Keeps pods `<name>-0 … n-1`; ordered start waits for the one before to run. A pod's claims come before it, and outlive it."""
    spec = spec_of(owner)
    wanted = [f"{name_of(owner)}-{ordinal}" for ordinal in range(int(spec.get("replicas", 1)))]
    present = {name_of(pod): pod for pod in pods}
    surplus = tuple(pod for name, pod in present.items() if name not in wanted and not is_terminating(pod))
    create: list[Object] = []
    for name in wanted:
        pod = present.get(name)
        if pod is None:
            claims = _claims(owner, name)
            create.extend(claims.values())
            create.append(_stateful_pod(owner, name, claims))
        if spec.get("podManagementPolicy") != "Parallel":
            running = pod is not None and (pod.get("status") or {}).get("phase") == "Running"
            if not running:
                break
    return Plan(tuple(create), surplus)


def _claims(owner: Object, pod: str) -> dict[str, dict[str, Any]]:
    """The claims of one pod of a StatefulSet, by the name of their template."""
    selected = (spec_of(owner).get("selector") or {}).get("matchLabels") or {}
    found: dict[str, dict[str, Any]] = {}
    for template in spec_of(owner).get("volumeClaimTemplates") or ():
        meta: dict[str, Any] = {
            "name": f"{name_of(template)}-{pod}",
            "namespace": metadata_of(owner).get("namespace") or "default",
            "labels": {**labels_of(template), **selected},
        }
        if annotations_of(template):
            meta["annotations"] = dict(annotations_of(template))
        spec = dict(spec_of(template))
        found[name_of(template)] = {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": meta,
            "spec": spec,
        }
    return found


def _stateful_pod(owner: Object, name: str, claims: Mapping[str, Object]) -> dict[str, Any]:
    """A pod with its claims as volumes, in the place of volumes of the same name."""
    pod = pod_from_template(owner, spec_of(owner).get("template") or {}, name=name)
    pod["metadata"]["labels"] |= {
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": name.rpartition("-")[2],
    }
    if claims:
        others = [each for each in pod["spec"].get("volumes") or () if each.get("name") not in claims]
        own = [
            {"name": volume, "persistentVolumeClaim": {"claimName": name_of(claim)}} for volume, claim in claims.items()
        ]
        pod["spec"]["volumes"] = [*own, *others]
    return pod


def ephemeral_claims(pod: Object) -> tuple[dict[str, Any], ...]:
    """The claims of a pod's ephemeral volumes, which the pod owns."""
    found: list[dict[str, Any]] = []
    for volume in spec_of(pod).get("volumes") or ():
        template = (volume.get("ephemeral") or {}).get("volumeClaimTemplate")
        if template is not None:
            meta = {
                "name": f"{name_of(pod)}-{volume.get('name')}",
                "namespace": metadata_of(pod).get("namespace") or "default",
                "labels": dict(labels_of(template)),
                "annotations": dict(annotations_of(template)),
                "ownerReferences": [owner_reference(pod)],
            }
            spec = dict(spec_of(template))
            found.append({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec})
    return tuple(found)


def daemon_set(owner: Object, pods: Sequence[Object], nodes: Sequence[Object]) -> Plan:
    """One pod for each node that the template's affinity and tolerations take, pinned to it by node affinity.

    A node that is not ready has a taint with effect NoSchedule, which is not tolerated by itself: its pods are made when it is ready. A
    pod that is there stays when its node gets such a taint, as that of a disruption, or is being deleted, and none is made beside one
    that ends. Pods that have ended are deleted at once (upstream waits between two of one node). Bound pods of nodes that are gone are
    left to the garbage collector.
    Source: kubernetes pkg/controller/daemon/daemon_controller.go (podsShouldBeOnNode, NodeShouldRunDaemonPod,
    updateDaemonSetStatus).
    """
    template = spec_of(owner).get("template") or {}
    tolerations = _daemon_tolerations(template)
    by_node: dict[str, list[Object]] = {}
    for pod in pods:
        if not (is_terminal(pod) and is_terminating(pod)):
            by_node.setdefault(_pinned_to(pod), []).append(pod)
    create: list[Object] = []
    delete: list[Object] = []
    counts = Counter(dict.fromkeys(_OF_NODES, 0))
    for node in nodes:
        name = name_of(node)
        present = sorted(by_node.pop(name, []), key=_daemon_rank)
        effects = _untolerated(tolerations, node) if _daemons_belong(template, node) else {NO_EXECUTE}
        if effects:
            counts["numberMisscheduled"] += bool(present)
        else:
            counts["desiredNumberScheduled"] += 1
            counts["currentNumberScheduled"] += bool(present)
            counts["numberReady"] += bool(present) and condition_is(present[0], "Ready")
        if not effects and not present:
            create.append(_daemon_pod(owner, template, name))
        elif NO_EXECUTE in effects:
            delete.extend(present)
        else:
            running = [pod for pod in present if not is_terminal(pod) and not is_terminating(pod)]
            delete.extend(pod for pod in present if pod not in running[:1])
    delete.extend(pod for rest in by_node.values() for pod in rest if not spec_of(pod).get("nodeName"))
    return Plan(tuple(create), tuple(pod for pod in delete if not is_terminating(pod)), dict(counts))


def _daemon_rank(pod: Object) -> tuple[bool, str, str]:
    """Of several of one node the first counts and stays: the bound one, then the oldest, then by name (podByCreationTimestampAndPhase)."""
    return not spec_of(pod).get("nodeName"), str(metadata_of(pod).get("creationTimestamp") or ""), name_of(pod)


def _daemons_belong(template: Object, node: Object) -> bool:
    """Whether a node is the one that the template names, if any, and of those that its selector and required affinity take."""
    return spec_of(template).get("nodeName") in (None, "", name_of(node)) and required_matches(template, node)


def _daemon_tolerations(template: Object) -> list[Mapping[str, Any]]:
    """The template's tolerations and those that every pod of a DaemonSet has, which are not repeated.

    Source: kubernetes pkg/controller/daemon/util/daemonset_util.go (AddOrUpdateDaemonPodTolerations).
    """
    spec = spec_of(template)
    found: list[Mapping[str, Any]] = list(spec.get("tolerations") or ())
    for own in (*_DAEMON_TOLERATIONS, *(_HOST_NETWORK_TOLERATIONS if spec.get("hostNetwork") else ())):
        same = [index for index, each in enumerate(found) if same_toleration(each, own)]
        for index in same:
            found[index] = own
        if not same:
            found.append(own)
    return found


def _untolerated(tolerations: Sequence[Mapping[str, Any]], node: Object) -> set[str]:
    """The effects of a node's taints that keep pods away and are not tolerated."""
    return {
        taint["effect"]
        for taint in spec_of(node).get("taints") or ()
        if taint.get("effect") in (NO_SCHEDULE, NO_EXECUTE) and not any(tolerates(each, taint) for each in tolerations)
    }


def _daemon_pod(owner: Object, template: Object, node: str) -> dict[str, Any]:
    pod = pod_from_template(owner, template)
    spec = pod["spec"]
    spec["tolerations"] = [dict(each) for each in _daemon_tolerations(template)]
    term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    affinity = dict(spec.get("affinity") or {})
    affinity["nodeAffinity"] = {
        **(affinity.get("nodeAffinity") or {}),
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
    }
    spec["affinity"] = affinity
    return pod


def _pinned_to(pod: Object) -> str:
    spec = spec_of(pod)
    if spec.get("nodeName"):
        return str(spec["nodeName"])
    required = ((spec.get("affinity") or {}).get("nodeAffinity") or {}).get(
        "requiredDuringSchedulingIgnoredDuringExecution"
    )
    for term in (required or {}).get("nodeSelectorTerms") or ():
        for fields in term.get("matchFields") or ():
            return str(fields["values"][0])
    return ""


def template_hash(template: Mapping[str, Any]) -> str:
    """A name for a pod template, in the alphabet of `pod-template-hash`."""
    number = zlib.crc32(json.dumps(template, sort_keys=True, separators=(",", ":")).encode())
    digits = ""
    while number:
        number, rest = divmod(number, len(_SAFE))
        digits += _SAFE[rest]
    return digits or _SAFE[0]


def deployment_replica_set(owner: Object) -> dict[str, Any]:
    """The ReplicaSet of a Deployment's current template."""
    spec = spec_of(owner)
    template = spec.get("template") or {}
    suffix = template_hash(template)
    labels = {**labels_of(template), "pod-template-hash": suffix}
    selector = spec.get("selector") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {
            "name": f"{name_of(owner)}-{suffix}",
            "namespace": metadata_of(owner).get("namespace") or "default",
            "labels": labels,
            "ownerReferences": [owner_reference(owner)],
        },
        "spec": {
            "replicas": int(spec.get("replicas", 1)),
            "selector": {
                **selector,
                "matchLabels": {**(selector.get("matchLabels") or {}), "pod-template-hash": suffix},
            },
            "template": {**template, "metadata": {**(template.get("metadata") or {}), "labels": labels}},
        },
    }
