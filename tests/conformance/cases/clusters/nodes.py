"""Nodes and their NodeClaims in all states, and the pods that run on them; some are going away, and some pods may not be moved."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.conformance.cases.clusters.scene import (
    ARCH,
    CAPACITY,
    DEFAULT,
    FAMILY,
    HOST,
    NODEPOOL,
    REGION,
    SIZE,
    STARTED,
    TAINTS,
    ZONE,
    Json,
    Scene,
    uid,
)
from tests.conformance.cases.clusters.volumes import volume_drawer
from tests.conformance.cases.clusters.workloads import pod_shape, resized
from tests.conformance.cases.draw import Draw

__all__ = ["Fleet", "fleet"]

FINALIZER = "karpenter.sh/termination"
READY = {
    "type": "Ready",
    "status": "True",
    "reason": "r",
    "message": "",
    "lastHeartbeatTime": None,
    "lastTransitionTime": None,
}


@dataclass(slots=True)
class Fleet:
    """Nodes, NodeClaims, the pods on them, disruption budgets, and names that Karpenter has marked for deletion."""

    nodes: list[Json] = field(default_factory=list)
    claims: list[Json] = field(default_factory=list)
    pods: list[Json] = field(default_factory=list)
    budgets: list[Json] = field(default_factory=list)
    deleting: list[str] = field(default_factory=list)


def fleet(draw: Draw, scene: Scene) -> Fleet:
    """The machines that are there already, mostly none."""
    found = Fleet()
    for number in range(draw.choice([0, 0, 0, 1, 2, 4])):
        _machine(draw, scene, number, found)
    if found.nodes and draw.chance(0.15):
        _take_away(draw, found)
        _budgets(draw, scene, found)
    return found


def _machine(draw: Draw, scene: Scene, number: int, found: Fleet) -> None:
    size = draw.choice([item for item in scene.types if float(item["capacity"]["cpu"]) <= 16])
    name, managed = f"node{number}", draw.chance(0.75)
    provider_id = f"azure:///vm/{name}"
    state = draw.choice(["init", "init", "init", "registered", "nodeless"])
    labels, taints = _labels(draw, scene, size), []
    if managed:
        pool = draw.choice(scene.nodepools)
        template = pool["spec"]["template"]
        labels[NODEPOOL] = pool["metadata"]["name"]
        labels.update(template.get("metadata", {}).get("labels", {}))
        taints = list(template["spec"].get("taints", []))
        claim = _claim(draw, scene, size, template["spec"], f"nc{number}", labels)
        claim["status"].update(providerID=provider_id, nodeName=name if state != "nodeless" else "")
        found.claims.append(claim)
        if state == "nodeless":
            return
    own = dict(labels)
    if draw.chance(0.95):
        own[HOST] = name if draw.chance(0.95) else f"host-{name}"
    if managed:
        own["karpenter.sh/registered"] = "true"
    if state == "init":
        own["karpenter.sh/initialized"] = "true"
    if draw.chance(0.15):
        taints.append({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"})
    if draw.chance(0.1):
        taints.append(draw.choice(TAINTS))
    if draw.chance(0.04):
        key, effect = draw.choice([("karpenter.sh/unregistered", "NoExecute"), ("startup", "NoSchedule")])
        taints.append({"key": key, "effect": effect})
    node: Json = {
        "metadata": {"name": name, "uid": uid(draw, scene), "labels": own, "creationTimestamp": STARTED},
        "spec": {"providerID": provider_id, "taints": taints},
        "status": {
            "capacity": dict(size["capacity"]),
            "allocatable": dict(size["allocatable"]),
            "conditions": [dict(READY)],
        },
    }
    if draw.chance(0.05):
        _incomplete(draw, node, managed=managed)
    found.nodes.append(node)
    for place in range(draw.choice([0, 0, 1, 2])):
        found.pods.append(_running(draw, scene, name, place))


def _labels(draw: Draw, scene: Scene, size: Json) -> Json:
    def one_of(key: str) -> str:
        return str(draw.choice([v for item in size["requirements"] if item["key"] == key for v in item["values"]]))

    found = {
        SIZE: size["name"],
        ZONE: one_of(ZONE),
        CAPACITY: draw.choice(["on-demand", "spot"]),
        ARCH: one_of(ARCH),
        "kubernetes.io/os": "linux",
        REGION: scene.region,
        FAMILY: one_of(FAMILY),
    }
    if draw.chance(0.05):
        found["topology.disk.csi.azure.com/zone"] = found[ZONE]
    if draw.chance(0.05):
        found["tier"] = draw.choice(["web", "db"])
    if draw.chance(0.03):
        del found[draw.choice([ZONE, CAPACITY, ARCH, REGION])]
    return found


def _claim(draw: Draw, scene: Scene, size: Json, template: Json, name: str, labels: Json) -> Json:
    condition = {
        "type": "Launched",
        "status": "True",
        "reason": "Launched",
        "lastTransitionTime": STARTED,
        "message": "",
    }
    return {
        "metadata": {"name": name, "uid": uid(draw, scene), "labels": dict(labels), "creationTimestamp": STARTED},
        "spec": {
            "requirements": [{"key": SIZE, "operator": "In", "values": [size["name"]]}],
            "resources": {"requests": {"cpu": "1"}},
            "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
            "taints": list(template.get("taints", [])),
            "startupTaints": template.get("startupTaints", []),
        },
        "status": {
            "capacity": size["capacity"],
            "allocatable": size["allocatable"],
            "conditions": [condition],
        },
    }


def _incomplete(draw: Draw, node: Json, *, managed: bool) -> None:
    """A node that has not said everything about itself yet."""
    c = draw.randrange(4)
    if c == 0 and not managed:
        del node["spec"]["providerID"]
    elif c == 1:
        node["metadata"]["labels"].pop(SIZE, None)
    elif c == 2:
        for amounts in (node["status"]["capacity"], node["status"]["allocatable"]):
            amounts["cpu"] = draw.choice(["0", "1"])
    else:
        del node["status"]["allocatable"]


def _running(draw: Draw, scene: Scene, node: str, place: int) -> Json:
    app = draw.choice(scene.apps)
    labels, spec = pod_shape(draw, scene, f"app{90 + place}")
    labels["app"] = app
    spec["nodeName"] = node
    if draw.chance(0.8):
        spec.pop("tolerations", None)
    namespace = "other" if draw.chance(0.05) else DEFAULT
    name = f"run-{node}-{place}"
    metadata: Json = {
        "name": name,
        "namespace": namespace,
        "uid": uid(draw, scene),
        "labels": labels,
        "creationTimestamp": draw.choice([STARTED, "2025-12-31T01:00:00Z"]),
    }
    pod: Json = {"metadata": metadata, "spec": spec, "status": {"phase": "Running"}}
    c = draw.random()
    if c < 0.3:
        owner: Json = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "ds0", "uid": "ds0"}
        if draw.chance(0.5):
            owner["controller"] = True
        metadata["ownerReferences"] = [owner]
    elif c < 0.35:
        metadata["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "s", "uid": "s"}]
    elif c < 0.37:
        metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "Node", "name": node, "uid": "n"}]
    if draw.chance(0.06):
        metadata.update(deletionTimestamp="2026-01-01T00:00:30Z", finalizers=["example.com/kept"])
    if draw.chance(0.05):
        pod["status"]["phase"] = draw.choice(["Succeeded", "Failed", "Pending"])
    if draw.chance(0.08):
        resized(draw, pod)
    if draw.chance(0.1):
        spec["volumes"] = volume_drawer(draw, scene, namespace, run=True)(name)
    return pod


def _take_away(draw: Draw, found: Fleet) -> None:
    """Deletes machines, in one of the ways by which Karpenter knows of it."""
    gone = {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": [FINALIZER]}
    for node in draw.some(found.nodes, 1, 2):
        claims = [each for each in found.claims if each["status"]["providerID"] == node["spec"].get("providerID")]
        c = draw.randrange(4)
        if c == 0 or (c > 1 and not claims):
            node["metadata"].update(gone)
        elif c == 1:
            found.deleting.append(draw.choice([node, *claims])["metadata"]["name"])
        elif c == 2:
            claims[0]["metadata"].update(gone)
        else:
            condition = {"type": "InstanceTerminating", "status": "True", "reason": "r", "message": ""}
            claims[0]["status"]["conditions"].append({**condition, "lastTransitionTime": STARTED})
    for pod in found.pods:
        if draw.chance(0.3):
            value = draw.choice(["true", "true", "false", "1h", "720h", "-5m", "5x", "", "0s"])
            pod["metadata"]["annotations"] = {"karpenter.sh/do-not-disrupt": value}
        if draw.chance(0.5):
            pod["status"]["startTime"] = "2025-12-31T22:00:00Z"
        if draw.chance(0.3):
            ready = {"type": "Ready", "status": draw.choice(["True", "False"]), "reason": "r"}
            pod["status"]["conditions"] = [*pod["status"].get("conditions", []), ready]


def _budgets(draw: Draw, scene: Scene, found: Fleet) -> None:
    for number in range(draw.choice([0, 1, 1, 2])):
        app = draw.choice(scene.apps)
        spec: Json = draw.choice(
            [
                {"maxUnavailable": 0},
                {"maxUnavailable": "0%"},
                {"minAvailable": "100%"},
                {"maxUnavailable": 1},
                {"minAvailable": 1},
            ]
        )
        selector = draw.choice([{"matchLabels": {"app": app}}, {"matchLabels": {"app": app}}, {}, None])
        made = {**spec, "selector": selector}
        if draw.chance(0.3):
            made["unhealthyPodEvictionPolicy"] = draw.choice(["AlwaysAllow", "IfHealthyBudget"])
        found.budgets.append({"metadata": {"name": f"pdb{number}", "namespace": DEFAULT}, "spec": made})
