"""Reasons why a pod waits although Karpenter has nothing against it: its Node is not ready for it, its launch failed,
or no NodePool is usable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.explain.pods.daemons import uncounted_daemons
from harness.explain.pods.kubelets import kubelet_failure
from harness.explain.pods.remedies import gate_remedy, scheduler_remedy
from harness.explain.pods.unused import unused_lines
from harness.explain.sizes.shortages import quota_text
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.lifecycle.nominations import NOMINATED, nominated_node
from harness.karpenter.validation.rejections import RejectionLayer
from harness.kube.api.objects import condition, controller_of, labels_of, name_of, namespace_of, spec_of, status_of
from harness.kube.scheduling.pods import is_provisionable
from harness.kube.scheduling.taints import PREFER_NO_SCHEDULE, taint_identity, taint_text, untolerated
from harness.world import World

__all__ = ["launch_failed", "nominations", "waiting_reasons"]

Object = Mapping[str, Any]
_STAGES = ("Launched", "Registered", "Initialized")


Pod = tuple[str, str]
"""The namespace and the name of a pod."""


def nominations(world: World) -> dict[Pod, str]:
    """Return where Karpenter last wanted each pod: `nodeclaim/NAME` or `node/NAME`.

    Pods of one controller may have been exchanged since: kube-scheduler binds the first that fits.
    """
    targets: dict[Pod, str] = {}
    nominated: dict[Pod, int] = {}
    bound: dict[Pod, int] = {}
    for number, event in enumerate(world.events):
        pod = (event.object.namespace, event.object.name)
        if event.object.kind != "Pod":
            continue
        if event.reason == NOMINATED:
            targets[pod], nominated[pod] = "/".join(nominated_node(event.message)), number
        elif event.reason == "FailedScheduling" and event.source == "karpenter":
            targets.pop(pod, None)
        elif event.reason == "Scheduled":
            bound[pod] = number
    return _exchanged(world, targets, nominated, bound)


def _exchanged(
    world: World, targets: dict[Pod, str], nominated: Mapping[Pod, int], bound: Mapping[Pod, int]
) -> dict[Pod, str]:
    """Return the targets where a pod whose Node another pod of its controller took has that pod's target instead.

    `nominated` and `bound`: the numbers of the Events, for a Node is only taken after it was promised.
    """
    takers: dict[tuple[str, str], list[Pod]] = {}  # by controller and Node: pods that Karpenter wanted elsewhere
    waiting: dict[Pod, str] = {}
    for pod in world.view.list("Pod"):  # no copies of all of them
        key, node, controller = (namespace_of(pod), name_of(pod)), spec_of(pod).get("nodeName"), controller_of(pod)
        if controller is None or key not in targets:
            continue
        if not node:
            waiting[key] = controller["uid"]
        elif key in bound and _node_of(world, targets[key]) != node:
            takers.setdefault((controller["uid"], node), []).append(key)
    for key, controller_uid in waiting.items() if takers else ():
        promised = nominated[key]
        while candidates := takers.get((controller_uid, _node_of(world, targets[key]))):
            taker = next((pod for pod in candidates if bound[pod] > promised), None)
            if taker is None:
                break
            candidates.remove(taker)
            targets[key], promised = targets[taker], nominated[taker]
    return targets


def _node_of(world: World, target: str) -> str:
    """Return the name of a target's Node, empty while there is none."""
    kind, _, name = target.partition("/")
    if kind == "node":
        return name
    claim = world.get("NodeClaim", name)
    return "" if claim is None else str(status_of(claim).get("nodeName") or "")


def waiting_reasons(world: World, pod: Object, target: str) -> Iterator[str]:
    """Sentences, the nearest cause last; `target` is where Karpenter wanted the pod, empty when nowhere."""
    marked = condition(pod, "PodScheduled") or {}
    if marked.get("status") == "False" and marked.get("message"):
        yield f"kube-scheduler says: {marked['message']}"
    if target:
        if launch_failed(world, pod, target):
            yield from _refusal(world)
        yield from _on_its_way(world, pod, target)
    elif not is_provisionable(pod):
        yield f"Karpenter does not look at it: {_not_provisionable(pod)}"
        if spec_of(pod).get("schedulingGates"):
            yield gate_remedy(pod)
        elif (spec_of(pod).get("schedulerName") or "default-scheduler") != "default-scheduler":
            yield scheduler_remedy(pod)
    else:
        if not world.list("NodePool"):
            yield "there is no NodePool"
        yield from unused_lines(world)


def launch_failed(world: World, pod: Object, target: str) -> bool:
    """Return whether the machine that Karpenter wanted for a pod was not to be had; `target` as for `waiting_reasons`."""
    kind, _, name = target.partition("/")
    if not name:
        return False
    node = world.get("Node", name) if kind == "node" else None
    claim = world.get("NodeClaim", name) if kind == "nodeclaim" else _claim_of(world, name)
    if claim is None:
        return node is None
    launched = condition(claim, "Launched")
    return launched is None or launched.get("status") != "True"


def _refusal(world: World) -> Iterator[str]:
    """Yield Azure's last refusal of a machine, with the quota that it is about."""
    refused = [call for call in world.calls() if call.method == "PUT" and call.code and "size" in call.summary]
    if not refused:
        return
    call = refused[-1]
    size, spot = str(call.summary["size"]), call.summary.get("priority") == "Spot"
    quota = quota_text(world, size, spot=spot) if call.code == "OperationNotAllowed" else ""
    others = len({str(call.summary["size"]) for call in refused}) - 1
    more = f" ({others} more sizes were refused before)" if others else ""
    yield f"Azure refused {size}{' on spot' if spot else ''} with {call.code}{': ' + quota if quota else ''}{more}"


def _on_its_way(world: World, pod: Object, target: str) -> Iterator[str]:
    kind, _, name = target.partition("/")
    node = world.get("Node", name) if kind == "node" else None
    claim = world.get("NodeClaim", name) if kind == "nodeclaim" else _claim_of(world, name)
    if claim is None and node is None:
        reason = world.karpenter.failure_of(name)
        yield f"Karpenter made NodeClaim {name} for it, which is gone: {reason or 'deleted'}"
        return
    if claim is not None:
        node = node or world.get("Node", str(status_of(claim).get("nodeName") or ""))
        yield f"Karpenter made NodeClaim {name_of(claim)} for it" + (f", Node {name_of(node)}" if node else "")
        for stage in _STAGES:
            state = condition(claim, stage)
            if state is None and stage == "Launched" and (failed := _launch_failure(world, name_of(claim))):
                yield f"NodeClaim {name_of(claim)} is not {stage}: {failed}"
                break
            if state is not None and state.get("status") != "True":
                reason = state.get("message") or state.get("reason") or "not yet"
                yield f"NodeClaim {name_of(claim)} is not {stage}: {reason}"
                if failure := kubelet_failure(world, claim):
                    yield failure
                break
    if node is not None:
        yield from _taints(world, pod, node, claim)
        yield from uncounted_daemons(world, node)


def _taints(world: World, pod: Object, node: Object, claim: Object | None) -> Iterator[str]:
    startup = {taint_identity(taint) for taint in spec_of(claim or {}).get("startupTaints") or ()}
    taints = [taint for taint in spec_of(node).get("taints") or () if taint.get("effect") != PREFER_NO_SCHEDULE]
    for taint in untolerated(taints, spec_of(pod).get("tolerations") or ()):
        if taint_identity(taint) in startup:
            pool = labels_of(claim or {}).get(NODEPOOL, "")
            why = f"a startup taint of NodePool {pool}: the pod waits until whoever it is for removes it"
            yield f"Node {name_of(node)} has the taint {taint_text(taint)}, {why}; or let the pod tolerate it"
        else:
            yield f"Node {name_of(node)} has the taint {taint_text(taint)}, which the pod does not tolerate"


def _launch_failure(world: World, claim: str) -> str:
    """The last failed launch of a NodeClaim that got no condition for it."""
    texts = [
        rejection.text
        for rejection in world.rejections
        if rejection.layer is RejectionLayer.LAUNCH and rejection.object == f"NodeClaim/{claim}"
    ]
    return texts[-1] if texts else ""


def _claim_of(world: World, node: str) -> Object | None:
    return next((claim for claim in world.list("NodeClaim") if status_of(claim).get("nodeName") == node), None)


def _not_provisionable(pod: Object) -> str:
    spec, status = spec_of(pod), status_of(pod)
    owners = {owner.get("kind") for owner in (pod.get("metadata") or {}).get("ownerReferences") or ()}
    if spec.get("schedulingGates"):
        return f"scheduling gates hold it back: {', '.join(gate['name'] for gate in spec['schedulingGates'])}"
    if owners & {"DaemonSet", "Node"}:
        return f"it belongs to a {'DaemonSet' if 'DaemonSet' in owners else 'Node'}"
    if (spec.get("schedulerName") or "default-scheduler") != "default-scheduler":
        return f"scheduler {spec['schedulerName']} has not marked it Unschedulable"
    if status.get("phase") in ("Succeeded", "Failed"):
        return f"it has ended ({status['phase']})"
    if (pod.get("metadata") or {}).get("deletionTimestamp"):
        return "it is being deleted"
    return "kube-scheduler has not marked it Unschedulable"
