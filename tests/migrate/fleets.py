"""Generated clusters: agent pools under pressure, and workloads that select, spread, guard and store in all the ways that people do.

`generated_cluster(seed)` is a cluster as `az aks show` prints it and what runs in it, in most of them with Nodes and pods as they were
placed there.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from harness import World
from tests.migrate.placement import GENERATION, TEAMS, placed
from tests.migrate.pools import cluster, pool, read

Object = dict[str, Any]

KUBERNETES = "1.34.2"
_SIZES = ("Standard_D4s_v5", "Standard_D8s_v5", "Standard_E4s_v5", "Standard_D4ds_v5")
_PLACED = 0.7
"""The share of clusters whose dump has Nodes and pods."""


def agent_pools(seed: int) -> Object:
    """Return a cluster as `az aks show` prints it; the same for the same seed."""
    return _described(random.Random(f"fleet {seed}"))


def generated_cluster(seed: int) -> tuple[Object, list[Object]]:
    """Return a cluster as `az aks show` prints it, and the objects that run in it; the same for the same seed."""
    chance = random.Random(f"fleet {seed}")
    described = _described(chance)
    pools = described["agentPoolProfiles"][1:]
    objects: list[Object] = [_daemonset()] if chance.random() < 0.5 else []
    names = [f"app{number}" for number in range(chance.randint(2, 5))]
    for name in names:
        objects += _workload(chance, name, pools, [other for other in names if other != name])
    return described, _running(described, objects) if chance.random() < _PLACED else objects


def _described(chance: random.Random) -> Object:
    system = pool(
        "sys", mode="System", vmSize="Standard_D4s_v5", count=2, nodeTaints=["CriticalAddonsOnly=true:NoSchedule"]
    )
    pools = [_pool(chance, f"pool{number}") for number in range(chance.randint(1, 3))]
    profile = {"scaleDownUnneededTime": "5m"}
    return cluster(system, *pools, currentKubernetesVersion=KUBERNETES, autoScalerProfile=profile)


def _running(described: Object, objects: Sequence[Object]) -> list[Object]:
    """Return what `kubectl get` prints once the workloads have been placed on the agent pools: their controllers, pods and Nodes, too."""
    world = World(region="westeurope", kubernetes=KUBERNETES)
    for agent_pool in read(described).pools:
        count = agent_pool.number("count")
        world.add_agent_pool(agent_pool.name, {**agent_pool.simulated, "count": count})
    world.apply(*objects)
    world.settle()
    kinds = dict.fromkeys(("Node", "Pod", "ReplicaSet", *(str(obj["kind"]) for obj in objects)))
    return [dict(obj) for kind in kinds for obj in world.list(kind)]


def _pool(chance: random.Random, name: str) -> Object:
    drawn = pool(name, vmSize=chance.choice(_SIZES), count=chance.randint(1, 3), maxPods=chance.choice((30, 110)))
    drawn["availabilityZones"] = chance.choice((["1", "2", "3"], ["1", "2", "3"], ["1"], []))
    if chance.random() < 0.6:
        drawn |= {"enableAutoScaling": True, "minCount": 0, "maxCount": drawn["count"] + chance.randint(0, 3)}
    labels = {}
    if chance.random() < 0.6:
        labels["team"] = chance.choice(TEAMS)
    if chance.random() < 0.4:
        labels[GENERATION] = str(chance.randint(2, 5))
    if labels:
        drawn["nodeLabels"] = labels
    if chance.random() < 0.3:
        drawn["nodeTaints"] = ["dedicated=yes:NoSchedule"]
    if chance.random() < 0.2:
        drawn |= {"scaleSetPriority": "Spot"}
    return drawn


def _daemonset() -> Object:
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "logs", "namespace": "kube-system"},
        "spec": _template("logs", {"tolerations": [{"operator": "Exists"}]}, "100m", "100Mi"),
    }


def _workload(chance: random.Random, name: str, pools: Sequence[Object], others: Sequence[str]) -> Iterator[Object]:
    replicas = chance.randint(1, 6)
    spec = placed(chance, name, chance.choice(pools), pools, others)
    cpu, memory = chance.choice(("100m", "500m", "1", "2", "3")), chance.choice(("128Mi", "1Gi", "4Gi"))
    kind = "StatefulSet" if chance.random() < 0.25 else "Deployment"
    body = {"replicas": replicas, **_template(name, spec, cpu, memory)}
    if kind == "StatefulSet":
        body["serviceName"] = name
        yield from _volume(chance, name, spec)
    yield {"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": body}
    if chance.random() < 0.5:
        guards = (
            {"minAvailable": max(1, replicas - 1)},
            {"maxUnavailable": 1},
            {"maxUnavailable": "30%"},
            {"maxUnavailable": 0},
        )
        yield {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": "default"},
            "spec": {**chance.choice(guards), "selector": {"matchLabels": {"app": name}}},
        }


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
