"""Objects that take no part: NodePools that Karpenter leaves out, and objects that change nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.api.objects import condition, controller_of, is_terminating, name_of, spec_of, status_of, uid_of
from harness.world import World
from harness.world.refused import class_hint

__all__ = ["inert_lines", "refused_lines", "unused_lines", "unused_nodepools"]


def unused_nodepools(world: World) -> dict[str, str]:
    """Name of each NodePool that Karpenter makes no NodeClaims of for pods (harness.karpenter.scheduling.pods.pending) → why."""
    unused = {name_of(pool): _why_unused(world, pool) for pool in world.list("NodePool")}
    return {name: why for name, why in unused.items() if why}


def unused_lines(world: World) -> Iterator[str]:
    """`NodePool x is not used: …` for each of them."""
    return (f"NodePool {name} is not used: {why}" for name, why in unused_nodepools(world).items())


def inert_lines(world: World) -> Iterator[str]:
    """A line for objects of each kind that changes nothing."""
    if world.options.gate("NodeOverlay"):
        for overlay in world.list("NodeOverlay"):
            failure = condition(overlay, "ValidationSucceeded")
            if failure is not None and failure["status"] == "False":
                yield f"NodeOverlay {name_of(overlay)} changes nothing: {failure['message']}"
        return
    if overlays := [name_of(overlay) for overlay in world.list("NodeOverlay")]:
        # core pkg/operator/options: the gate is off unless FEATURE_GATES says otherwise
        noun, verb = ("NodeOverlays", "change") if len(overlays) > 1 else ("NodeOverlay", "changes")
        yield f"{noun} {', '.join(overlays)} {verb} nothing: the feature gate NodeOverlay is off, as by default"


def refused_lines(world: World) -> Iterator[str]:
    """`Deployment/x gets no pods: …` for each workload whose pods the API server refuses; with some, `gets no more pods`."""
    for name, message in {
        event.object: event.message for event in world.events if event.reason == "FailedCreate"
    }.items():
        owner = world.view.get(name.kind, name.name, name.namespace)
        if owner is None:
            continue
        pods = sum(member["kind"] == "Pod" for member in world.view.indexed("owned-by", uid_of(owner)))
        if pods >= _wanted(owner):
            continue
        made_by = controller_of(owner)
        shown = f"{made_by['kind']}/{made_by['name']}" if made_by is not None else f"{name.kind}/{name.name}"
        cause = "; ".join(filter(None, (message.removeprefix("Error creating: "), class_hint(message, world.view))))
        yield f"{shown} gets no {'more ' if pods else ''}pods: {cause}"


def _wanted(owner: Mapping[str, Any]) -> float:
    """Return how many pods it wants at least; a DaemonSet as many as there are Nodes for it."""
    spec = spec_of(owner)
    match owner["kind"]:
        case "DaemonSet":
            return float(status_of(owner).get("desiredNumberScheduled") or 1)
        case "Job":
            return float(spec.get("parallelism", 1))
        case _:
            return float(spec.get("replicas", 1))


def _why_unused(world: World, pool: Mapping[str, Any]) -> str:
    spec = spec_of(pool)
    reference = spec_of(spec.get("template") or {}).get("nodeClassRef") or {}
    group, kind = world.karpenter.scheduling.node_class
    if (reference.get("group"), reference.get("kind")) != (group, kind):
        return (
            f"its nodeClassRef names {reference.get('kind')} of group {reference.get('group')}, not {kind} of {group}"
        )
    if is_terminating(pool):
        return "it is being deleted"
    if spec.get("replicas") is not None:
        return "it is static (spec.replicas), so no pod makes it grow"
    ready = condition(pool, "Ready")
    if ready is not None and ready.get("status") == "True":
        return ""  # others, such as NodeRegistrationHealthy, keep no NodePool from use (core pkg/apis/v1/nodepool_status.go)
    broken = [failed for failed in status_of(pool).get("conditions") or () if failed.get("status") == "False"]
    problems = [
        f"{failed['type']}: {failed.get('message') or failed.get('reason')}"
        for failed in broken
        if failed["type"] != "Ready"
    ]
    if problems:
        nodeclass = world.get("AKSNodeClass", str(reference.get("name") or "")) or {}
        causes = [failed for failed in status_of(nodeclass).get("conditions") or () if failed.get("status") == "False"]
        why = [f"{failed['message']}" for failed in causes if failed["type"] != "Ready" and failed.get("message")]
        return "; ".join(problems) + (f" (AKSNodeClass {name_of(nodeclass)}: {'; '.join(why)})" if why else "")
    return "it is not Ready yet"
