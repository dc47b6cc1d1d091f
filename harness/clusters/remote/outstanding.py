"""Outstanding work on a cluster, by its objects: decisions and writes that its own controllers still owe."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from harness.engine.ports import View
from harness.kube.api.labels import NOT_READY, UNREACHABLE
from harness.kube.api.objects import (
    Key,
    Object,
    annotations_of,
    condition,
    condition_is,
    is_terminating,
    labels_of,
    metadata_of,
    name_of,
    namespace_of,
    owners_of,
    short_name,
    spec_of,
    status_of,
)
from harness.kube.api.selectors import Selector
from harness.kube.api.versions import Version
from harness.kube.disruption_budgets import budget_status
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.pods import is_terminal
from harness.kube.scheduling.preemption import Preemption
from harness.kube.scheduling.scheduler import Unschedulable, schedule
from harness.kube.scheduling.taints import NO_EXECUTE, TAINT_OF_READY
from harness.kube.scheduling.volume_binding import BIND_COMPLETED, PodVolumes, is_reserved_for
from harness.kube.zone_states import EXCLUDED, eviction_rate, zone_key, zone_state

__all__ = ["PodEvent", "missing_events", "outstanding_work"]

PodEvent = tuple[str, str, str]
"""An Event of kube-scheduler: namespace and name of the pod, and the message."""

_LONGEST = 1024  # an Event cuts longer messages
_WORKLOADS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job")


def outstanding_work(
    view: View,
    version: Version,
    *,
    machines: Collection[str] = (),
    events: Collection[PodEvent] | None = None,
    beside: Callable[[str], Sequence[Object]] = lambda node: (),
) -> Iterator[str]:
    """Yield, in words, the outstanding work: pods to be decided, taints, workloads, budgets, dependents of gone
    objects.

    `machines`: Nodes whose kubelets are real and run: they make themselves Ready, and take and end their pods, in their
    own time. `said`: the Events of kube-scheduler so far, where they come apart from its decisions. `beside`: the pods
    on a Node that the view leaves out, and kube-scheduler counts.
    """
    yield from _nodes(view, machines)
    yield from _kept_pods(view, machines)
    yield from _workloads(view)
    yield from _budgets(view)
    yield from _orphans(view)
    yield from _claims(view)
    yield from _pods(view, version, beside)
    if events is not None:
        yield from (
            f"{Key('Pod', namespace, name).reference}: no Event of its scheduling"
            for namespace, name, _ in missing_events(view, events)
        )


def _nodes(view: View, machines: Collection[str]) -> Iterator[str]:
    for node in view.list("Node"):
        if is_terminating(node):
            continue
        if name_of(node) in machines and not condition_is(node, "Ready"):
            yield f"Node/{name_of(node)}: not Ready"
        ready = condition(node, "Ready")
        wanted = "" if condition_is(node, "Ready") else TAINT_OF_READY.get(str((ready or {}).get("status")), NOT_READY)
        taints = {(str(taint.get("key")), taint.get("effect")) for taint in spec_of(node).get("taints") or ()}
        if {key for key, _ in taints} & {NOT_READY, UNREACHABLE} != {wanted} - {""}:
            yield f"Node/{name_of(node)}: its taints do not fit its Ready condition"
        elif wanted == UNREACHABLE and _drives_out(view, node) == ((UNREACHABLE, NO_EXECUTE) not in taints):
            yield f"Node/{name_of(node)}: its pods are still to be driven out, or no longer"


def _drives_out(view: View, node: Object) -> bool | None:
    """Return whether pods leave a silent Node, which kube-controller-manager finds out within seconds, and does in the Node's turn.

    False while no Node at all is Ready, since it may be cut off itself; None where too many Nodes of the zone are not:
    then the present taints stay.

    Source: kubernetes 1.36 pkg/controller/nodelifecycle/node_lifecycle_controller.go (handleDisruption).
    """
    nodes = [neighbour for neighbour in view.list("Node") if EXCLUDED not in labels_of(neighbour)]
    if not any(condition_is(neighbour, "Ready") for neighbour in nodes):
        return False
    zone = zone_key(labels_of(node))
    near = [neighbour for neighbour in nodes if zone_key(labels_of(neighbour)) == zone]
    ready = sum(condition_is(neighbour, "Ready") for neighbour in near)
    return bool(eviction_rate(zone_state(ready, len(near) - ready), len(near))) or None


def _kept_pods(view: View, machines: Collection[str]) -> Iterator[str]:
    for name in machines:
        if view.get("Node", name) is None:
            continue
        for pod in view.indexed("pods-by-node", name):
            subject = f"Pod/{short_name(pod)}"
            if is_terminating(pod):
                yield f"{subject}: is being ended by the kubelet of {name}"
            elif not status_of(pod).get("startTime") and not is_terminal(pod):
                yield f"{subject}: not taken by the kubelet of {name}"


def _workloads(view: View) -> Iterator[str]:
    for kind in _WORKLOADS:
        for workload in view.list(kind):
            status = status_of(workload)
            subject = f"{kind}/{short_name(workload)}"
            if is_terminating(workload):
                yield f"{subject}: is being deleted"
            elif kind == "Job":
                if not status.get("startTime") and not spec_of(workload).get("suspend"):
                    yield f"{subject}: has not started"
            elif status.get("observedGeneration", 0) < metadata_of(workload).get("generation", 0):
                yield f"{subject}: not seen by its controller"
            elif kind == "DaemonSet":
                if status.get("currentNumberScheduled", 0) != status.get("desiredNumberScheduled", 0):
                    yield f"{subject}: has not all its pods"
            elif status.get("replicas", 0) != spec_of(workload).get("replicas", 1):
                yield f"{subject}: {status.get('replicas', 0)} of {spec_of(workload).get('replicas', 1)} pods"


def _budgets(view: View) -> Iterator[str]:
    """Yield PodDisruptionBudgets whose status is behind their pods.

    Of a pod of several budgets the controller tells one alone, which it chooses arbitrarily, so that nobody can wait
    for the others. Source: kubernetes pkg/controller/disruption/disruption.go (getPdbForPod).
    """
    chosen = {
        short_name(budget): [
            pod
            for selector in [Selector.parse(spec_of(budget).get("selector"))]
            for pod in view.list("Pod", namespace=namespace_of(budget))
            if selector.matches(labels_of(pod))
        ]
        for budget in view.list("PodDisruptionBudget")
    }
    budgets_of = Counter(short_name(pod) for pods in chosen.values() for pod in pods)
    for budget in view.list("PodDisruptionBudget"):
        pods, status = chosen[short_name(budget)], status_of(budget)
        if any(budgets_of[short_name(pod)] > 1 for pod in pods):
            continue
        wanted = budget_status(budget, pods, view.get)
        behind = (
            any(status.get(field) != value for field, value in wanted.items())
            if wanted is not None
            else not status.get("conditions")
        )
        if behind:
            yield f"PodDisruptionBudget/{short_name(budget)}: not counted"


def _orphans(view: View) -> Iterator[str]:
    """Yield pods of Nodes that are gone, which the pod garbage collector takes within a minute, and dependents of owners that are gone."""
    there = {name_of(node) for node in view.list("Node")}
    for pod in view.list("Pod"):
        if spec_of(pod).get("nodeName") and spec_of(pod)["nodeName"] not in there:
            yield f"Pod/{short_name(pod)}: its Node is gone"
    living = {
        metadata_of(owner_object)["uid"]
        for kind in (*_WORKLOADS, "Node", "NodeClaim", "NodePool")
        for owner_object in view.list(kind)
    }
    for kind in ("ReplicaSet", "Pod", "NodeClaim"):
        for dependent in view.list(kind):
            owners = [
                owner for owner in owners_of(dependent) if owner["kind"] in (*_WORKLOADS, "NodeClaim", "NodePool")
            ]
            if owners and not any(owner["uid"] in living for owner in owners) and not is_terminating(dependent):
                yield f"{kind}/{name_of(dependent)}: its owner is gone"


def _claims(view: View) -> Iterator[str]:
    """Yield claims and volumes that name each other, and are not bound yet: kube-controller-manager binds them in its own time."""
    for claim in view.list("PersistentVolumeClaim"):
        named = spec_of(claim).get("volumeName")
        if not named or is_terminating(claim) or BIND_COMPLETED in annotations_of(claim):
            continue
        volume = view.get("PersistentVolume", named)
        if volume is not None and not is_terminating(volume) and is_reserved_for(volume, claim):
            yield f"PersistentVolumeClaim/{short_name(claim)}: not bound to its volume"


def _pods(view: View, version: Version, beside: Callable[[str], Sequence[Object]]) -> Iterator[str]:
    waiting = [pod for pod in view.indexed("pods-by-node", "") if _is_waiting(pod)]
    if not waiting:
        return
    infos = [
        NodeInfo(node, [*view.indexed("pods-by-node", name_of(node)), *beside(name_of(node))])
        for node in view.list("Node")
    ]
    nominated: dict[str, list[Object]] = {}
    for pod in waiting:
        nominated.setdefault(status_of(pod).get("nominatedNodeName") or "", []).append(pod)
    for pod in waiting:
        subject = f"Pod/{short_name(pod)}"
        if is_terminating(pod):
            yield f"{subject}: is being deleted"
        elif condition(pod, "PodScheduled") is None:
            yield f"{subject}: not decided by kube-scheduler"
        else:
            verdict = schedule(
                pod,
                infos,
                choose=lambda names: names[0],
                version=version,
                volumes=PodVolumes.for_pod(pod, view.get),
                nominated=nominated,
                budgets=view.list("PodDisruptionBudget"),
                namespaces=view.list("Namespace"),
            )
            if not isinstance(verdict, Unschedulable):
                yield f"{subject}: fits {verdict} and is not bound"
            elif isinstance(verdict.preemption, Preemption):
                yield f"{subject}: others have to leave {verdict.preemption.node} for it"


def missing_events(view: View, events: Collection[PodEvent]) -> Iterator[PodEvent]:
    """Yield decisions of kube-scheduler without their Event. A pod that was made on its Node was not decided about."""
    for pod in view.list("Pod"):
        scheduled = condition(pod, "PodScheduled")
        namespace, name, node = namespace_of(pod), name_of(pod), spec_of(pod).get("nodeName")
        if scheduled is None or not _is_ours(pod) or is_terminating(pod):
            continue
        if not node and scheduled.get("reason") != "Unschedulable":
            continue
        message = f"Successfully assigned {namespace}/{name} to {node}" if node else scheduled.get("message") or ""
        if (namespace, name, message) not in events and len(message) <= _LONGEST:
            yield namespace, name, message


def _is_ours(pod: Object) -> bool:
    return (spec_of(pod).get("schedulerName") or "default-scheduler") == "default-scheduler"


def _is_waiting(pod: Object) -> bool:
    return not is_terminal(pod) and _is_ours(pod) and not spec_of(pod).get("schedulingGates")
