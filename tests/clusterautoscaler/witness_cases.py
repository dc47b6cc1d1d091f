"""Situations that the real autoscaler was asked about: drawn clusters, groups and pods."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from tests.clusterautoscaler.builders import ZONE, a_budget, a_node, a_pod

__all__ = ["drawn_cases"]

_GIB = 1024**3
_SIZES = ((2000, 8), (4000, 16), (8000, 16), (4000, 32))
_NOW = "2026-01-02T17:00:00Z"
_SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"
_RUNS = 12


def drawn_cases(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Yield so many cases of either kind."""
    for number in range(count):
        rng = Random(f"{seed}/{number}")
        yield _scale_up(rng, f"up-{number}")
        yield _scale_down(rng, f"down-{number}")


def _case(name: str, kind: str, **parts: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"nodes": [], "pods": [], "pending": [], "budgets": [], "replicaSets": [], "groupOf": {}}
    return {"name": name, "kind": kind, "now": _NOW, "runs": _RUNS, **empty, **parts}


def _pool(rng: Random, number: int) -> dict[str, Any]:
    cpu, gib = rng.choice(_SIZES)
    labels = {"pool": rng.choice("ab")} if rng.random() < 0.4 else {}
    taints = [{"key": "dedicated", "value": "x", "effect": "NoSchedule"}] if rng.random() < 0.2 else []
    return {"cpu": cpu, "memory": gib * _GIB, "labels": labels, "taints": taints, "zone": f"eastus-{number % 3 + 1}"}


def _workload(rng: Random, name: str, count: int) -> list[dict[str, Any]]:
    """Pods of one ReplicaSet."""
    labels = {"app": name}
    spec: dict[str, Any] = {}
    kind = rng.random()
    if kind < 0.15:
        spec["nodeSelector"] = {"pool": rng.choice("ab")}
    elif kind < 0.3:
        constraint = {"topologyKey": rng.choice(["kubernetes.io/hostname", ZONE]), "maxSkew": rng.choice([1, 2])}
        selector = {"labelSelector": {"matchLabels": labels}, "whenUnsatisfiable": "DoNotSchedule"}
        spec["topologySpreadConstraints"] = [{**constraint, **selector}]
    elif kind < 0.4:
        term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
        spec["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    elif kind < 0.5:
        spec["tolerations"] = [{"key": "dedicated", "operator": "Exists"}]
    cpu, memory = rng.choice([100, 250, 700, 1500, 3500]), rng.choice([1, 2, 6]) * _GIB // 2
    owner = ("ReplicaSet", name, "apps/v1")
    return [
        a_pod(f"{name}-{number}", cpu, memory, owner=owner, labels=labels, created="2026-01-02T16:00:00Z", **spec)
        for number in range(count)
    ]


def _scale_up(rng: Random, name: str) -> dict[str, Any]:
    groups, nodes, group_of = [], [], {}
    common = _pool(rng, 0) if rng.random() < 0.4 else None
    for number in range(rng.randint(1, 4)):
        shape, id_ = {**(common or _pool(rng, number)), "zone": f"eastus-{number % 3 + 1}"}, f"group-{number}"
        target = rng.randint(0, 3)
        template = a_node(f"{id_}-template", **shape)
        groups.append(
            {"id": id_, "min": 0, "max": rng.randint(target, target + 6), "target": target, "template": template}
        )
        for index in range(target):
            node = a_node(f"{id_}-{index}", **shape)
            nodes.append(node)
            group_of[node["metadata"]["name"]] = id_
    pods = [
        {**pod, "spec": {**pod["spec"], "nodeName": node["metadata"]["name"]}}
        for index, node in enumerate(nodes)
        for pod in [_filler(rng, f"filler-{index}", node)]
    ]
    pending = [pod for number in range(rng.randint(1, 4)) for pod in _workload(rng, f"web{number}", rng.randint(1, 9))]
    options = {"expander": rng.choice(["random", "least-waste", "most-pods"]), "balance": rng.random() < 0.5}
    return _case(
        name, "scale-up", groups=groups, groupOf=group_of, nodes=nodes, pods=pods, pending=pending, options=options
    )


def _filler(rng: Random, name: str, node: dict[str, Any]) -> dict[str, Any]:
    """A pod that leaves little of its node."""
    cpu = int(node["status"]["allocatable"]["cpu"].removesuffix("m"))
    return a_pod(name, cpu - rng.choice([0, 50, 300]), _GIB // 4, tolerations=[{"operator": "Exists"}])


def _scale_down(rng: Random, name: str) -> dict[str, Any]:
    groups, nodes, group_of, pods = [], [], {}, []
    for number in range(rng.randint(1, 2)):
        shape, id_, target = _pool(rng, number), f"group-{number}", rng.randint(1, 4)
        groups.append({"id": id_, "min": rng.randint(0, target), "max": 10, "target": target})
        for index in range(target):
            node_name = f"{id_}-{index}"
            disabled = {"cluster-autoscaler.kubernetes.io/scale-down-disabled": "true"} if rng.random() < 0.05 else {}
            nodes.append(a_node(node_name, annotations=disabled, ready=rng.random() > 0.05, **shape))
            group_of[node_name] = id_
    sets = []
    for number in range(rng.randint(1, 6)):
        owner = f"rs-{number}"
        sets.append({"metadata": {"name": owner, "namespace": "default"}, "spec": {"replicas": 3}})
        pods += [_placed(rng, pod, rng.choice(nodes)) for pod in _workload(rng, owner, rng.randint(1, 2))]
    pods += [_odd(rng, rng.choice(nodes), number) for number in range(rng.randint(0, 2))]
    budgets = [a_budget(rng.randint(0, 2), app=f"rs-{number}") for number in range(2) if rng.random() < 0.5]
    options = {
        "threshold": rng.choice([0.3, 0.5, 0.7]),
        "localStorage": rng.random() < 0.5,
        "systemPods": rng.random() < 0.7,
        "ignoreDaemons": rng.random() < 0.3,
        "unneeded": 600,
        "parallel": 10,
    }
    return _case(
        name,
        "scale-down",
        groups=groups,
        groupOf=group_of,
        nodes=nodes,
        pods=pods,
        budgets=budgets,
        replicaSets=sets,
        options=options,
    )


def _placed(rng: Random, pod: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    annotations = {_SAFE: rng.choice(["true", "false"])} if rng.random() < 0.1 else {}
    volumes = [{"name": "scratch", "emptyDir": {}}] if rng.random() < 0.1 else []
    spec = {**pod["spec"], "nodeName": node["metadata"]["name"], **({"volumes": volumes} if volumes else {})}
    return {**pod, "metadata": {**pod["metadata"], "annotations": annotations}, "spec": spec}


def _odd(rng: Random, node: dict[str, Any], number: int) -> dict[str, Any]:
    """A pod that may keep its node: alone, of the system, static, or of a DaemonSet that exists for no one."""
    place = node["metadata"]["name"]
    kind = rng.choice(["alone", "system", "static", "completion"])
    fields: dict[str, Any] = {"nodeName": place, "created": "2026-01-02T16:30:00Z"}
    if kind == "alone":
        return a_pod(f"odd-{number}", 100, _GIB // 8, owner=None, **fields)
    if kind == "system":
        return a_pod(f"odd-{number}", 100, _GIB // 8, namespace="kube-system", owner=("Custom", "c", "x/v1"), **fields)
    if kind == "static":
        return a_pod(
            f"odd-{number}", 100, _GIB // 8, owner=None, annotations={"kubernetes.io/config.mirror": "x"}, **fields
        )
    return a_pod(f"odd-{number}", 100, _GIB // 8, owner=None, annotations={_SAFE: "on-completion"}, **fields)
