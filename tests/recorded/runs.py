"""Recorded runs of Karpenter: what it chose, what it expected of the machine, and what the Node then had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from harness import World
from harness.kube.api.labels import ARCH, INSTANCE_TYPE
from harness.reality.rules import memory_bound
from harness.testing import nodeclass, nodepool, pod, requirement
from tests.recorded.rows import Row, entries

_RELEASE, _REGION, _DAY = "1.4.0", "swedencentral", "2025-04-30"
_BOUNDS = {"Node allocatable.memory": memory_bound(16), "seconds to initialization": 0.02}
_AGENTS = {"cpu": "350m", "memory": "570Mi"}


def run_rows() -> Iterator[Row]:
    """Every fact of every recorded run."""
    for entry in entries("run.yaml"):
        ours = _run(entry) if "pods" in entry else _machine(entry)
        for field, recorded in entry["facts"].items():
            bound = _BOUNDS.get(field, 0.0)
            yield Row("a log of Karpenter", entry["case"], field, str(recorded), ours[field], bound)


def _agents(name: str, resources: Mapping[str, Any]) -> dict[str, Any]:
    labels = {"app": name}
    container = {"name": "c", "image": "pause", "resources": resources}
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": "kube-system"},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"tolerations": [{"operator": "Exists"}], "containers": [container]},
            },
        },
    }


def _run(entry: Mapping[str, Any]) -> dict[str, str]:
    world = World(karpenter=_RELEASE, region=_REGION, azure={"asOf": _DAY}, recorded=True)
    wanted = (
        requirement("karpenter.azure.com/sku-family", "D"),
        requirement(ARCH, "amd64"),
        requirement("karpenter.sh/capacity-type", "on-demand"),
        requirement("karpenter.azure.com/sku-cpu", "17", operator="Lt"),
    )
    agents = [_agents("all", {"requests": _AGENTS}), *(_agents(f"agent-{number}", {}) for number in range(5))]
    pods = [pod(f"web-{number}", cpu="1") for number in range(entry["pods"])]
    machines = nodeclass(imageFamily="Ubuntu2204", osDiskSizeGB=100)
    return _facts(world, machines, nodepool(*wanted), *agents, *pods)


def _machine(entry: Mapping[str, Any]) -> dict[str, str]:
    world = World(karpenter=_RELEASE, region=_REGION, azure={"asOf": _DAY})
    wanted = requirement(INSTANCE_TYPE, entry["size"]), requirement("karpenter.sh/capacity-type", "on-demand")
    return _facts(world, nodeclass(imageFamily="Ubuntu2204", maxPods=110), nodepool(*wanted), pod("web", cpu="1"))


def _facts(world: World, *objects: dict[str, Any]) -> dict[str, str]:
    world.apply(*objects)
    world.settle()
    [claim], [node] = world.list("NodeClaim"), world.list("Node")
    sizes = next(item["values"] for item in claim["spec"]["requirements"] if item["key"] == INSTANCE_TYPE)
    return {
        "seconds to initialization": str(_seconds(claim)),
        "size": claim["metadata"]["labels"][INSTANCE_TYPE],
        "first five sizes": ", ".join(sorted(sizes)[:5]),
        **{f"NodeClaim allocatable.{name}": value for name, value in claim["status"]["allocatable"].items()},
        **{f"Node allocatable.{name}": value for name, value in node["status"]["allocatable"].items()},
    }


def _seconds(claim: dict[str, Any]) -> int:
    """From the creation of a NodeClaim to its initialization."""
    [ready] = [item for item in claim["status"]["conditions"] if item["type"] == "Initialized"]
    created, done = claim["metadata"]["creationTimestamp"], ready["lastTransitionTime"]
    return int((datetime.fromisoformat(done) - datetime.fromisoformat(created)).total_seconds())
