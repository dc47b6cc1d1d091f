"""Pods of a few workloads, with everything that makes them expensive, hard or impossible to move; DaemonSets; disruption budgets."""

from __future__ import annotations

import datetime
from typing import Any

from tests.conformance.cases.disruption.nodes import Machine
from tests.conformance.cases.disruption.scene import (
    ARCH,
    CAPACITY,
    DELETION_COST,
    DO_NOT_DISRUPT,
    HOST,
    NOW,
    ZONE,
    Json,
    Scene,
    ago,
    cpu,
    memory,
    stamp,
)

__all__ = ["daemonset", "disruption_budget", "fill", "pod", "stuff"]

_KINDS = {
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "DaemonSet": "apps/v1",
    "Job": "batch/v1",
    "Node": "v1",
}
_COSTS = ["-2147483648", "-134217728", "-200000000", "100", "134217728", "1000000000", "bogus"]
_PRIORITIES = [-1000, 0, 1000, 100000, 1000000000, -50000000, 2000000000]
_PROTECTIONS = ["true", "true", "true", "10m", "1h", "false", "soon", "-5m"]


def pod(
    scene: Scene,
    at: Machine | None,
    milli: int,
    mebi: int,
    *,
    app: str = "",
    owner: str = "",
    plain: bool = False,
    blocking: float = 0.03,
    spread: float = 0.08,
) -> Json:
    """A pod of some workload, bound to the node, or pending; ``plain`` ones have no constraints."""
    draw = scene.draw
    app = app or draw.choice(scene.apps)
    name = f"{app}-{len(scene.pods)}"
    owner = owner or draw.choice(["ReplicaSet"] * 8 + ["StatefulSet", "Job", ""])
    meta: Json = {
        "name": name,
        "namespace": draw.choice(["default"] * 9 + ["other"]),
        "labels": {"app": app},
        "creationTimestamp": ago(minutes=draw.choice([1, 5, 30, 300, 5000])),
    }
    meta["uid"] = f"{draw.randrange(16**8):08x}-0000-4000-8000-{len(scene.pods):012x}"
    if owner:
        reference = {"apiVersion": _KINDS[owner], "kind": owner, "name": app, "uid": f"uid-{app}", "controller": True}
        meta["ownerReferences"] = [reference]
    requests = {"cpu": cpu(milli), "memory": memory(mebi)}
    spec: Json = {"containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}]}
    pool = at.pool if at is not None else None
    if (pool and pool["spec"]["template"]["spec"].get("taints")) or scene.chance(0.05):
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    status: Json = {"phase": "Running", "startTime": meta["creationTimestamp"]}
    status["conditions"] = [{"type": "Ready", "status": "True"}]
    if at is not None:
        spec["nodeName"] = at.name
        at.free["cpu"] -= milli
        at.free["memory"] -= mebi
    else:
        unschedulable = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}
        status = {"phase": "Pending", "conditions": [unschedulable]}
    made: Json = {"metadata": meta, "spec": spec, "status": status}
    scene.pods.append(made)
    if owner not in ("DaemonSet", "Node") and not plain:
        _priced(scene, made, blocking)
        _constrained(scene, at, made, app, spread)
        _troubled(scene, at, made)
        _with_volume(scene, at, made)
    return made


def _priced(scene: Scene, made: Json, blocking: float) -> None:
    draw, meta = scene.draw, made["metadata"]
    if scene.chance(0.12):
        meta["annotations"] = {DELETION_COST: draw.choice(_COSTS)}
    if scene.chance(0.1):
        made["spec"]["priority"] = draw.choice(_PRIORITIES)
    if scene.chance(blocking):
        meta.setdefault("annotations", {})[DO_NOT_DISRUPT] = draw.choice(_PROTECTIONS)


def _constrained(scene: Scene, at: Machine | None, made: Json, app: str, spread: float) -> None:
    draw, spec = scene.draw, made["spec"]
    selector = {"matchLabels": {"app": app}}
    if scene.chance(0.06) and at is not None:
        choices = [{ZONE: at.zone}, {CAPACITY: at.kind}, {ARCH: "amd64"}, {HOST: at.name}, {"team": "red"}]
        spec["nodeSelector"] = draw.choice(choices)
    if scene.chance(spread):
        spec["topologySpreadConstraints"] = [
            {
                "maxSkew": draw.choice([1, 1, 2]),
                "topologyKey": draw.choice([ZONE, ZONE, HOST, CAPACITY]),
                "whenUnsatisfiable": draw.choice(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
                "labelSelector": selector,
            }
        ]
    if scene.chance(0.05):
        kind = draw.choice(["podAntiAffinity", "podAntiAffinity", "podAffinity"])
        term = {"topologyKey": draw.choice([HOST, HOST, ZONE]), "labelSelector": selector}
        soft = {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10, "podAffinityTerm": term}]}
        hard = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
        spec["affinity"] = {kind: soft if scene.chance(0.3) else hard}


def _troubled(scene: Scene, at: Machine | None, made: Json) -> None:
    draw, meta, spec, status = scene.draw, made["metadata"], made["spec"], made["status"]
    if scene.chance(0.03):
        status["phase"] = draw.choice(["Succeeded", "Failed"]) if at is not None else "Pending"
    if scene.chance(0.03) and at is not None:
        meta["deletionTimestamp"] = stamp(NOW + datetime.timedelta(seconds=draw.choice([-100, -10, 20])))
        meta["deletionGracePeriodSeconds"] = 30
        meta["finalizers"] = ["oracle/held"]
    if scene.chance(0.03):
        tolerated = draw.choice([{"key": "karpenter.sh/disrupted", "operator": "Exists"}, {"operator": "Exists"}])
        spec.setdefault("tolerations", []).append(tolerated)
    if scene.chance(0.03):
        kept = [each for each in status["conditions"] if each != {"type": "Ready", "status": "True"}]
        status["conditions"] = [*kept, {"type": "Ready", "status": "False"}]


def _with_volume(scene: Scene, at: Machine | None, made: Json) -> None:
    if not scene.chance(0.04) or at is None:
        return
    name, namespace = made["metadata"]["name"], made["metadata"]["namespace"]
    made["spec"]["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": f"pvc-{name}"}}]
    scene.pvcs.append(
        {
            "metadata": {"name": f"pvc-{name}", "namespace": namespace},
            "spec": {"volumeName": f"pv-{name}", "storageClassName": "disk"},
        }
    )
    term = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [at.zone]}]}
    scene.pvs.append(
        {
            "metadata": {"name": f"pv-{name}"},
            "spec": {
                "csi": {"driver": "disk.csi.azure.com", "volumeHandle": name},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
            },
        }
    )


def fill(scene: Scene, at: Machine, part: float, **how: Any) -> None:
    """Pods on a node until `part` of it is taken."""
    draw, whole, free = scene.draw, dict(at.free), at.free
    for _ in range(draw.choice([3, 4, 6, 8])):
        used = max(1 - free["cpu"] / whole["cpu"], 1 - free["memory"] / whole["memory"])
        if used >= part or part <= 0:
            return
        milli = max(50, int(whole["cpu"] * (part - used) * draw.choice([0.3, 0.5, 1.0]) / 50) * 50)
        mebi = max(64, int(min(whole["memory"] * (part - used), milli * draw.choice([1, 2, 3])) / 64) * 64)
        if milli > free["cpu"] or mebi > free["memory"]:
            return
        pod(scene, at, milli, mebi, **how)


def stuff(scene: Scene, at: Machine) -> None:
    """Pods until nothing else fits."""
    free = at.free
    while free["cpu"] >= 100 and free["memory"] >= 128:
        milli = free["cpu"] if scene.chance(0.5) else max(50, free["cpu"] // 100 * 50)
        pod(scene, at, milli, min(free["memory"], milli * 2), plain=scene.chance(0.7), blocking=0.01)


def daemonset(scene: Scene) -> None:
    """A DaemonSet whose pods run on most nodes, and mirrors of static pods on some."""
    requests = {"cpu": scene.draw.choice(["50m", "100m", "500m"]), "memory": "64Mi"}
    spec = {
        "containers": [{"name": "c", "image": "i", "resources": {"requests": requests}}],
        "tolerations": [{"operator": "Exists"}],
    }
    labels = {"ds": "agent"}
    template = {"metadata": {"labels": labels}, "spec": spec}
    scene.daemonsets.append(
        {
            "metadata": {"name": "agent", "namespace": "kube-system", "uid": "uid-agent"},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        }
    )
    for node in scene.nodes:
        if scene.chance(0.8):
            made = pod(scene, None, 100, 64, app="agent", owner="DaemonSet")
            made["metadata"] |= {"namespace": "kube-system", "labels": labels}
            made["spec"] = {**spec, "nodeName": node["metadata"]["name"]}
            made["status"] = {"phase": "Running"}
        if scene.chance(0.1):
            made = pod(scene, None, 50, 64, app="mirror", owner="Node")
            made["metadata"]["namespace"] = "kube-system"
            made["spec"]["nodeName"] = node["metadata"]["name"]
            made["status"] = {"phase": "Running"}


def disruption_budget(scene: Scene, number: int) -> None:
    """A PodDisruptionBudget with its status."""
    draw = scene.draw
    spec: Json = draw.choice(
        [
            {"maxUnavailable": 0},
            {"maxUnavailable": "0%"},
            {"minAvailable": "100%"},
            {"minAvailable": 1},
            {"maxUnavailable": 1},
            {"maxUnavailable": "50%"},
        ]
    )
    one, other = draw.choice(scene.apps), draw.choice(scene.apps)
    selectors: list[Json] = [{"matchLabels": {"app": one}}, {"matchLabels": {"app": other}}, {}]
    spec = {**spec, "selector": draw.choice(selectors)}
    if scene.chance(0.25):
        spec["unhealthyPodEvictionPolicy"] = draw.choice(["AlwaysAllow", "IfHealthyBudget"])
    never = spec.get("maxUnavailable") in (0, "0%") or spec.get("minAvailable") == "100%"
    allowed = 0 if never else draw.choice([0, 1, 2])
    metadata = {"name": f"pdb-{number}", "namespace": "default"}
    scene.budgets.append({"metadata": metadata, "spec": spec, "status": {"disruptionsAllowed": allowed}})
