"""Nodes with their NodeClaims, in every state that keeps Karpenter from disrupting one, or does not."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.conformance.cases.disruption.nodepools import Offer, offers
from tests.conformance.cases.disruption.scene import (
    ARCH,
    CAPACITY,
    DO_NOT_DISRUPT,
    HASH,
    HASH_VERSION,
    HOST,
    NOW,
    OS,
    POOL,
    SIZE,
    ZONE,
    ZONES,
    Json,
    Scene,
    ago,
    cpu,
    memory,
    stamp,
)

__all__ = ["BLOCKED", "Machine", "machine", "unmanaged"]

#: what keeps a node from being disrupted, and how often it does
BLOCKED: Mapping[str, float] = {
    "annotation": 0.03,
    "nominated": 0.04,
    "deleting": 0.03,
    "queued": 0.02,
    "type": 0.02,
    "label": 0.015,
    "pool": 0.01,
    "terminating": 0.01,
    "nodeless": 0.015,
    "tainted": 0.02,
}
_PROVIDER = "azure:///subscriptions/s/resourceGroups/r/providers/Microsoft.Compute/virtualMachines/"
_DRIFTED = (
    "NodePoolDrifted",
    "RequirementsDrifted",
    "NodeClassDrift",
    "ImageDrift",
    "K8sVersionDrift",
    "KubeletIdentityDrift",
)


@dataclass(slots=True)
class Machine:
    """A node and what is left of it. ``node`` is None where only the NodeClaim exists; ``free`` in m of CPU and MiB."""

    name: str
    node: Json | None
    claim: Json | None
    free: dict[str, int]
    zone: str
    kind: str
    size: Json | None
    pool: Json | None = None


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a machine is to be: where its price lies among what the NodePool may have, its state, what may block it."""

    like: tuple[Json, str, str] | None = None
    least: float = 0.0
    most: float = 1.0
    state: str = "ready"
    drifted: bool = False
    blocked: Mapping[str, float] = field(default_factory=dict)
    kinds: tuple[str, ...] | None = None
    consolidatable: float = 0.93


def machine(scene: Scene, pool: Json, **how: Any) -> Machine:
    """A node of the NodePool with its NodeClaim; ``how`` are fields of :class:`Wanted`."""
    draw, wanted = scene.draw, Wanted(**how)
    size, zone, kind = wanted.like or _chosen(scene, pool, wanted)
    name = f"node-{scene.count}"
    scene.count += 1
    # the provider's ids do not sort as the names do
    provider = f"{_PROVIDER}{draw.randrange(16**6):06x}-{name}"
    labels = {each["key"]: each["values"][0] for each in size["requirements"]} | {ZONE: zone, CAPACITY: kind}
    labels |= {POOL: pool["metadata"]["name"], "karpenter.azure.com/aksnodeclass": "default"}
    labels |= pool["spec"]["template"].get("metadata", {}).get("labels", {})
    cores, gib = int(size["capacity"]["cpu"]), int(size["capacity"]["memory"][:-2])
    free = {"cpu": cores * 1000 - 100, "memory": gib * 1024 - 1024 - 100}
    capacity = size["capacity"]
    allocatable = {**capacity, "cpu": cpu(free["cpu"]), "memory": memory(free["memory"])}
    created = NOW - datetime.timedelta(minutes=draw.choice([3, 20, 55, 90, 600, 1500, 3000, 10000, 40000]))
    annotations = {HASH: "4711", HASH_VERSION: "v3"}
    if scene.chance(0.04):
        annotations[HASH] = "1"
    if scene.chance(0.03):
        annotations[HASH_VERSION] = "v2"
    status = {"providerID": provider, "nodeName": name, "capacity": capacity, "allocatable": allocatable}
    claim = _claim(scene, pool, wanted, name, labels, annotations, created)
    claim["status"] = {**status, **claim["status"]}
    node = _node(scene, pool, wanted, name, labels, annotations, created)
    node["spec"] = {"providerID": provider, **node["spec"]}
    node["status"] = {"capacity": capacity, "allocatable": allocatable, **node["status"]}
    kept: Json | None = _blocked(scene, wanted, node, claim)
    if kept is not None:
        scene.nodes.append(kept)
    scene.claims.append(claim)
    return Machine(name, kept, claim, free, zone, kind, size, pool)


def _chosen(scene: Scene, pool: Json, wanted: Wanted) -> tuple[Json, str, str]:
    found = offers(scene, pool["spec"]["template"]["spec"]["requirements"], wanted.kinds) or offers(scene, ())
    found.sort(key=_by_price)
    size, zone, kind, _ = found[min(len(found) - 1, int(len(found) * scene.draw.uniform(wanted.least, wanted.most)))]
    return size, zone, kind


def _by_price(offer: Offer) -> tuple[float, str, str, str]:
    return offer[3], offer[0]["name"], offer[1], offer[2]


def _claim(
    scene: Scene,
    pool: Json,
    wanted: Wanted,
    name: str,
    labels: Json,
    annotations: Json,
    created: datetime.datetime,
) -> Json:
    draw, spec = scene.draw, pool["spec"]["template"]["spec"]
    initialized = created + datetime.timedelta(minutes=2)
    conditions = [_condition("Launched", stamp(created))]
    if wanted.state != "launched":
        conditions.append(_condition("Registered", stamp(created)))
    if wanted.state == "ready":
        conditions.append(_condition("Initialized", stamp(initialized)))
    claim: Json = {
        "metadata": {
            "name": f"claim-{name[5:]}",
            "uid": f"uid-claim-{name[5:]}",
            "labels": dict(labels),
            "annotations": annotations,
            "creationTimestamp": stamp(created),
            "finalizers": ["karpenter.sh/termination"],
        },
        "spec": {
            "nodeClassRef": spec["nodeClassRef"],
            "requirements": [{"key": key, "operator": "In", "values": [labels[key]]} for key in (SIZE, ZONE, CAPACITY)],
            "expireAfter": draw.choice([spec["expireAfter"], spec["expireAfter"], "24h", "Never"]),
            "resources": {},
            "taints": spec.get("taints", []),
        },
        "status": {"conditions": conditions},
    }
    if scene.chance(0.2):
        claim["spec"]["terminationGracePeriod"] = draw.choice(["30s", "10m", "1h"])
    if scene.chance(0.7):
        since = datetime.timedelta(seconds=draw.choice([10, 29, 30, 31, 120, 300, 900, 901, 5000]))
        claim["status"]["lastPodEventTime"] = stamp(max(initialized, NOW - since))
    if wanted.state == "ready" and not scene.computes and scene.chance(wanted.consolidatable):
        conditions.append(_condition("Consolidatable", stamp(initialized)))
    if wanted.drifted or scene.chance(0.04):
        reason = draw.choice(_DRIFTED)
        if scene.computes:
            scene.drift[claim["metadata"]["name"]] = reason
        else:
            when = ago(minutes=draw.choice([1, 1, 5, 5, 17, 100]))
            conditions.append(_condition("Drifted", when, reason, reason))
    return claim


def _condition(kind: str, since: str, reason: str = "", message: str = "") -> Json:
    return {
        "type": kind,
        "status": "True",
        "reason": reason or kind,
        "message": message,
        "lastTransitionTime": since,
    }


def _node(
    scene: Scene,
    pool: Json,
    wanted: Wanted,
    name: str,
    labels: Json,
    annotations: Json,
    created: datetime.datetime,
) -> Json:
    ready = "True" if scene.chance(0.97) else scene.draw.choice(["False", "Unknown"])
    known = {HOST: name, "karpenter.sh/registered": "true", "karpenter.sh/initialized": "true"}
    if wanted.state != "ready":
        del known["karpenter.sh/initialized"]
    if wanted.state == "launched":
        del known["karpenter.sh/registered"]
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{name}",
            "labels": {**labels, **known},
            "annotations": dict(annotations),
            "creationTimestamp": stamp(created),
            "finalizers": ["karpenter.sh/termination"],
        },
        "spec": {"taints": list(pool["spec"]["template"]["spec"].get("taints", []))},
        "status": {"conditions": [{"type": "Ready", "status": ready, "lastTransitionTime": stamp(created)}]},
    }


def _blocked(scene: Scene, wanted: Wanted, node: Json, claim: Json) -> Json | None:
    """The node with what keeps it from being disrupted; None where the NodeClaim has lost it."""
    draw, name = scene.draw, node["metadata"]["name"]
    for kind, probability in wanted.blocked.items():
        if not scene.chance(probability):
            continue
        if kind == "annotation":
            node["metadata"]["annotations"][DO_NOT_DISRUPT] = draw.choice(["true", "true", "false"])
        elif kind == "nominated":
            scene.nominated[name] = ago(seconds=draw.choice([0, 5, 10, 19, 20, 25]))
        elif kind == "deleting":
            if draw.random() < 0.5:
                scene.deleting.append(name)
            else:
                claim["metadata"]["deletionTimestamp"] = ago(seconds=40)
        elif kind == "queued":
            scene.queued.append(name)
            scene.deleting.append(name)
        elif kind == "type":
            draw.choice([claim, node])["metadata"]["labels"][SIZE] = "Standard_Gone_v1"
        elif kind == "label":
            node["metadata"]["labels"].pop(draw.choice([ZONE, CAPACITY]), None)
        elif kind == "pool":
            for each in (node, claim):
                each["metadata"]["labels"][POOL] = "gone"
        elif kind == "terminating":
            claim["status"]["conditions"].append(_condition("InstanceTerminating", ago(minutes=1)))
        elif kind == "nodeless":
            return None
        elif kind == "tainted":
            node["spec"]["taints"].append({"key": "karpenter.sh/disrupted", "effect": "NoSchedule"})
    return node


def unmanaged(scene: Scene) -> Machine:
    """A node that is not Karpenter's."""
    name = f"system-{scene.count}"
    scene.count += 1
    zone = scene.draw.choice(ZONES)
    labels = {HOST: name, ZONE: zone, ARCH: "amd64", OS: "linux", "kubernetes.azure.com/mode": "system"}
    node: Json = {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels, "creationTimestamp": ago(days=30)},
        "spec": {"providerID": f"azure:///{name}"},
        "status": {
            "capacity": {"cpu": "4", "memory": "16Gi", "pods": "110"},
            "allocatable": {"cpu": "3900m", "memory": "12Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": ago(days=30)}],
        },
    }
    scene.nodes.append(node)
    return Machine(name, node, None, {"cpu": 3900, "memory": 12 * 1024}, zone, "", None)
