"""Generated clusters: agent pools under pressure, and workloads that select, spread, guard and store in all the ways that people do."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from tests.migrate.pools import cluster, pool

Object = dict[str, Any]

_SIZES = ("Standard_D4s_v5", "Standard_D8s_v5", "Standard_E4s_v5", "Standard_D4ds_v5")
_TEAMS = ("red", "blue")


def generated_cluster(seed: int) -> tuple[Object, list[Object]]:
    """Return a cluster as `az aks show` prints it, and the objects that run in it; the same for the same seed."""
    chance = random.Random(f"fleet {seed}")
    pools = [
        pool("sys", mode="System", vmSize="Standard_D4s_v5", count=2, nodeTaints=["CriticalAddonsOnly=true:NoSchedule"])
    ]
    for number in range(chance.randint(1, 3)):
        pools.append(_pool(chance, f"pool{number}"))
    objects: list[Object] = [_daemonset()] if chance.random() < 0.5 else []
    for number in range(chance.randint(2, 6)):
        objects += _workload(chance, f"app{number}", pools[1:])
    described = cluster(*pools, currentKubernetesVersion="1.34.2", autoScalerProfile={"scaleDownUnneededTime": "5m"})
    return described, objects


def _pool(chance: random.Random, name: str) -> Object:
    found = pool(name, vmSize=chance.choice(_SIZES), count=chance.randint(1, 4), maxPods=chance.choice((30, 110)))
    found["availabilityZones"] = chance.choice((["1", "2", "3"], ["1"], []))
    if chance.random() < 0.6:
        found |= {"enableAutoScaling": True, "minCount": 0, "maxCount": found["count"] + chance.randint(0, 3)}
    if chance.random() < 0.6:
        found["nodeLabels"] = {"team": chance.choice(_TEAMS)}
    if chance.random() < 0.3:
        found["nodeTaints"] = ["dedicated=yes:NoSchedule"]
    if chance.random() < 0.2:
        found |= {"scaleSetPriority": "Spot"}
    return found


def _daemonset() -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "logs", "namespace": "kube-system"},
        "spec": _template("logs", {"tolerations": [{"operator": "Exists"}]}, "100m", "100Mi"),
    }


def _workload(chance: random.Random, name: str, pools: list[Object]) -> Iterator[Object]:
    home = chance.choice(pools)
    replicas = chance.randint(1, 6)
    spec = _pod_spec(chance, name, home)
    cpu, memory = chance.choice(("100m", "500m", "1", "2")), chance.choice(("128Mi", "1Gi", "4Gi"))
    kind = "StatefulSet" if chance.random() < 0.2 else "Deployment"
    body = {"replicas": replicas, **_template(name, spec, cpu, memory)}
    if kind == "StatefulSet":
        body["serviceName"] = name
        yield from _volume(chance, name, spec)
    yield {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": body}
    if chance.random() < 0.5:
        guard: Object = chance.choice(
            ({"minAvailable": max(1, replicas - 1)}, {"maxUnavailable": 1}, {"maxUnavailable": 0})
        )
        yield {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {**guard, "selector": {"matchLabels": {"app": name}}},
        }


def _pod_spec(chance: random.Random, name: str, home: Object) -> Object:
    spec: Object = {"tolerations": [{"key": "dedicated", "operator": "Exists"}]}
    if chance.random() < 0.3:
        spec["tolerations"].append({"key": "kubernetes.azure.com/scalesetpriority", "operator": "Exists"})
    selects = chance.random()
    if selects < 0.25:
        spec["nodeSelector"] = {"agentpool": home["name"]}
    elif selects < 0.4:
        spec["nodeSelector"] = {"team": chance.choice(_TEAMS)}
    elif selects < 0.5:
        spec["nodeSelector"] = {"storageprofile": "managed"}
    elif selects < 0.6:
        key = chance.choice(
            ("kubernetes.azure.com/agentpool", "kubernetes.azure.com/os-sku", "kubernetes.azure.com/mode")
        )
        value = {"kubernetes.azure.com/agentpool": home["name"], "kubernetes.azure.com/os-sku": "Ubuntu"}.get(
            key, "user"
        )
        term = {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}
        rule = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}
        spec["affinity"] = {"nodeAffinity": rule}
    apart = {"labelSelector": {"matchLabels": {"app": name}}}
    if chance.random() < 0.25:
        terms = [{**apart, "topologyKey": "kubernetes.io/hostname"}]
        spec.setdefault("affinity", {})["podAntiAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    if chance.random() < 0.25:
        spread = {
            **apart,
            "maxSkew": 1,
            "topologyKey": "topology.kubernetes.io/zone",
            "whenUnsatisfiable": "DoNotSchedule",
        }
        spec["topologySpreadConstraints"] = [spread]
    return spec


def _volume(chance: random.Random, name: str, spec: Object) -> Iterator[Object]:
    """A claim that is bound to a disk in one zone, which the pods of the workload share."""
    zone = f"westeurope-{chance.choice('123')}"
    spec["volumes"] = [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]
    term = {"matchExpressions": [{"key": "topology.disk.csi.azure.com/zone", "operator": "In", "values": [zone]}]}
    common: Object = {"accessModes": ["ReadWriteOnce"], "storageClassName": "managed-csi"}
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": f"pv-{name}"},
        "spec": {
            **common,
            "capacity": {"storage": "8Gi"},
            "csi": {"driver": "disk.csi.azure.com", "volumeHandle": f"disk-{name}"},
            "claimRef": {"namespace": "default", "name": name},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [term]}},
        },
    }
    yield {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {**common, "resources": {"requests": {"storage": "8Gi"}}, "volumeName": f"pv-{name}"},
        "status": {"phase": "Bound"},
    }


def _template(name: str, spec: Object, cpu: str, memory: str) -> Object:
    labels = {"app": name}
    container = {"name": name, "image": name, "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {**spec, "containers": [container]}},
    }
