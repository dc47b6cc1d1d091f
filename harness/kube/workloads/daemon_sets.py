"""The pods of a DaemonSet.

Source: kubernetes pkg/controller/daemon.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from harness.kube.api.objects import (
    Object,
    condition_is,
    is_terminating,
    metadata_of,
    name_of,
    spec_of,
)
from harness.kube.scheduling.node_affinity import required_matches
from harness.kube.scheduling.pods import is_terminal
from harness.kube.scheduling.taints import NO_EXECUTE, NO_SCHEDULE, same_toleration, tolerates
from harness.kube.workloads.plans import Plan
from harness.kube.workloads.templates import pod_from_template

__all__ = ["daemon_set"]

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
