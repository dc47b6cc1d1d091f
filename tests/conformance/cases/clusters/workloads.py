"""Pods: what they request, which ports and devices they want, which taints they bear, where they want to be."""

from __future__ import annotations

import copy

from tests.conformance.cases.clusters.constraints import affinity, node_selector, spread_constraints
from tests.conformance.cases.clusters.scene import DEFAULT, TOLERATIONS, Json, Scene, uid
from tests.conformance.cases.clusters.volumes import volume_drawer
from tests.conformance.cases.draw import Draw

__all__ = ["pending_pods", "pod_shape", "resized"]

ODD_QUANTITIES = {
    "cpu": ("0.1", "1e-1", "100e-3", "1 ", "250000u", "0.0000000001", None, "1E1", "+1"),
    "memory": ("0.3Gi", "1.5Gi", "129e6", "128974848", "2Gi ", "123Mi", "1e9", "100000k", "0.1Ki", None),
    "amd.com/gpu": ("0", "100m", "1e1", None),
}
UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}


ODD_ADDRESSES = ("fe80::1%eth0", "010.0.0.1", "::ffff:10.0.0.4", "::ffff:0.0.0.0", "10.0.0", "x")


def pod_shape(draw: Draw, scene: Scene, app: str) -> tuple[Json, Json]:
    """Labels and spec of the pods of one workload."""
    requests = {
        "cpu": draw.choice(["100m", "250m", "500m", "1", "1500m", "2", "3500m", "7"]),
        "memory": draw.choice(["128Mi", "512Mi", "1Gi", "2Gi", "4Gi", "12Gi"]),
    }
    resources: Json = {"requests": requests}
    container: Json = {"name": "c", "image": "i", "resources": resources}
    spec: Json = {"containers": [container]}
    labels = {"app": app}
    if draw.chance(0.3):
        labels["tier"] = draw.choice(["web", "db"])
    if draw.chance(0.06):
        requests.update({name: draw.choice(texts) for name, texts in ODD_QUANTITIES.items() if draw.chance(0.5)})
    if draw.chance(0.08):
        _unusual_resources(draw, spec, resources)
    if draw.chance(0.07):
        spec["containers"].append(
            {"name": "d", "image": "i", "resources": {"limits": {"cpu": "300m", "memory": "64Mi"}}}
        )
    if draw.chance(0.08):
        spec["initContainers"] = [_init_container(draw, number) for number in range(draw.choice([1, 1, 2, 3]))]
    if draw.chance(0.05):
        spec["overhead"] = {"cpu": "250m", "memory": "100Mi"}
    if draw.chance(0.08):
        container["ports"] = _ports(draw)
    if draw.chance(0.02):
        _resource_claims(draw, spec)
    if draw.chance(0.2):
        spec["nodeSelector"] = node_selector(draw, scene)
    wanted = affinity(draw, scene, app)
    if wanted:
        spec["affinity"] = wanted
    if draw.chance(0.3):
        spec["tolerations"] = draw.some(TOLERATIONS, 1, 2)
    if draw.chance(0.35):
        spec["topologySpreadConstraints"] = spread_constraints(draw, scene, app)
    return labels, spec


def _unusual_resources(draw: Draw, spec: Json, resources: Json) -> None:
    c = draw.randrange(8)
    if c <= 2:
        resources["requests"]["nvidia.com/gpu"] = "1"
        resources["limits"] = {"nvidia.com/gpu": "1"}
    elif c == 3:
        resources["requests"][draw.choice(["example.com/device", "ephemeral-storage", "hugepages-2Mi"])] = "1Gi"
    elif c == 4:
        resources["requests"] = draw.choice([{}, {"cpu": "0"}, {"memory": "1Gi"}, {"cpu": "250m", "pods": "2"}])
    elif c == 5:
        resources["limits"] = {"cpu": draw.choice(["4", "8"]), "memory": "16Gi", "ephemeral-storage": "2Gi"}
        if draw.chance(0.5):
            del resources["requests"]
    else:  # of the pod as a whole
        spec["resources"] = {
            "requests": draw.choice([{"cpu": "3"}, {"cpu": "100m", "memory": "3Gi"}, {"memory": "8Gi"}]),
            **({"limits": {"cpu": "6", "memory": "20Gi"}} if draw.chance(0.3) else {}),
        }


def _init_container(draw: Draw, number: int) -> Json:
    made: Json = {
        "name": f"in{number}",
        "image": "i",
        "resources": {"requests": {"cpu": draw.choice(["4", "200m"])}},
    }
    if draw.chance(0.2):
        made["resources"] = {"limits": {"cpu": "2", "memory": "3Gi"}}
    if draw.chance(0.4):
        made["restartPolicy"] = "Always"
        if draw.chance(0.3):
            made["ports"] = [{"containerPort": 9000, "hostPort": 9090, "protocol": "TCP"}]
    return made


def _ports(draw: Draw) -> list[Json]:
    made = []
    for _ in range(draw.choice([1, 1, 1, 2])):
        port: Json = {"containerPort": 8080, "hostPort": draw.choice([8080, 9090]), "protocol": "TCP"}
        if draw.chance(0.15):
            port["protocol"] = "UDP"
        if draw.chance(0.15):
            port["hostIP"] = draw.choice(["127.0.0.1", "10.0.0.4", "0.0.0.0", "::1", "::", *ODD_ADDRESSES])
        if draw.chance(0.05):
            del port["protocol"]
        made.append(port)
    return made


def _resource_claims(draw: Draw, spec: Json) -> None:
    """Devices by dynamic resource allocation, which a release refuses or overlooks."""
    if draw.chance(0.7):
        spec["resourceClaims"] = [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]
    if draw.chance(0.6) or "resourceClaims" not in spec:
        holders = spec["containers"] + spec.get("initContainers", [])
        draw.choice(holders)["resources"]["claims"] = [{"name": "gpu"}]


def pending_pods(draw: Draw, scene: Scene) -> list[Json]:
    """The pods of all workloads, which nobody has placed yet."""
    found = []
    big = draw.chance(0.15)
    for app in scene.apps:
        labels, spec = pod_shape(draw, scene, app)
        namespace = "other" if draw.chance(0.05) else DEFAULT
        volumes_of = volume_drawer(draw, scene, namespace) if draw.chance(0.1) else None
        versions = draw.choice([(), (), (), ("1",), ("1", "2")])
        odd = draw.chance(0.05)
        for number in range(draw.choice([1, 2, 3, 4, 6, 8] + ([15, 25] if big else []))):
            name = f"{app}-{number}"
            metadata: Json = {
                "name": name,
                "namespace": namespace,
                "uid": uid(draw, scene),
                "labels": {**labels, **({"version": draw.choice(versions)} if versions else {})},
                "creationTimestamp": f"2026-01-01T00:00:{draw.choice([0, 0, 0, 5]):02d}Z",
            }
            pod: Json = {"metadata": metadata, "spec": copy.deepcopy(spec)}
            if volumes_of is not None:
                pod["spec"]["volumes"] = volumes_of(name)
            if odd and draw.chance(0.5):
                _not_to_be_provisioned_for(draw, pod)
            found.append(pod)
    return found


def _not_to_be_provisioned_for(draw: Draw, pod: Json) -> None:
    """Gated, preempting others, looked after by a DaemonSet or a node; or being deleted, which changes nothing."""
    c = draw.randrange(5)
    if c == 0:
        gated = {"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}
        pod["status"] = {"phase": "Pending", "conditions": [gated]}
    elif c == 1:
        pod["status"] = {"phase": "Pending", "conditions": [dict(UNSCHEDULABLE)], "nominatedNodeName": "node0"}
    elif c <= 3:
        version, kind = ("apps/v1", "DaemonSet") if c == 2 else ("v1", "Node")
        pod["metadata"]["ownerReferences"] = [{"apiVersion": version, "kind": kind, "name": "o", "uid": "o"}]
    else:
        pod["metadata"].update(deletionTimestamp="2026-01-01T00:00:30Z", finalizers=["example.com/kept"])


def resized(draw: Draw, pod: Json) -> None:
    """Gives a running pod the status of one that is being resized, or was."""
    requests = pod["spec"]["containers"][0]["resources"].get("requests", {})
    actual = {**requests, "cpu": draw.choice(["100m", "2", "5"])}
    made: Json = {"name": "c", "resources": {"requests": actual}}
    if draw.chance(0.5):
        made["allocatedResources"] = {**requests, "cpu": draw.choice(["100m", "3"])}
    pod["status"]["containerStatuses"] = [made]
    if draw.chance(0.3):
        reason = draw.choice(["Infeasible", "Deferred"])
        pod["status"]["conditions"] = [{"type": "PodResizePending", "status": "True", "reason": reason}]
