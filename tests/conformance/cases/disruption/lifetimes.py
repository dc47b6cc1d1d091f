"""Clusters for the op `lifetimes`: NodeClaims and Nodes of all ages and states of health."""

from __future__ import annotations

import datetime

from tests.conformance.cases.disruption.nodepools import nodepool
from tests.conformance.cases.disruption.nodes import Machine, machine
from tests.conformance.cases.disruption.scene import AZURE, HASH, HASH_VERSION, NOW, Json, Scene, ago, stamp
from tests.conformance.cases.disruption.sizes import disruption_catalogs
from tests.conformance.cases.draw import Draw

__all__ = ["lifetimes_case"]

_BLOCKED = {"deleting": 0.05, "type": 0.08, "label": 0.05, "pool": 0.05, "nodeless": 0.03}
_BAD = (
    ("Ready", "False"),
    ("Ready", "Unknown"),
    ("kubernetes.azure.com/NodeHealthy", "False"),
    ("kubernetes.azure.com/NodeHealthy", "Unknown"),
    ("PreemptionScheduled", "True"),
    ("MemoryPressure", "True"),
)


def lifetimes_case(draw: Draw) -> Json:
    """One cluster at half past ten on a Wednesday."""
    scene = Scene(draw, disruption_catalogs(), "random")
    scene.computes = True
    pools = [nodepool(scene, f"pool-{chr(97 + number)}") for number in range(draw.choice([1, 1, 2]))]
    for pool in pools:
        pool["spec"]["disruption"]["consolidateAfter"] = draw.choice(["0s", "30s", "5m", "15m", "Never"])
        if scene.chance(0.1):
            pool["spec"]["replicas"] = 2
        if scene.chance(0.1):
            del pool["metadata"]["annotations"][draw.choice([HASH, HASH_VERSION])]
    for _ in range(draw.choice([1, 2, 4, 6, 9, 11])):
        pool = draw.choice(pools)
        state = draw.choice(["ready"] * 5 + ["registered", "launched"])
        _age(scene, machine(scene, pool, state=state, blocked=_BLOCKED, drifted=scene.chance(0.25)))
    made = scene.request()
    made["options"].pop("conditions", None)
    for name in ("queued", "nominated"):
        made.pop(name, None)
    return made


def _age(scene: Scene, at: Machine) -> None:
    draw, claim, node = scene.draw, at.claim, at.node
    assert claim is not None
    meta, status = claim["metadata"], claim["status"]
    claim["spec"]["expireAfter"] = draw.choice(["1h", "24h", "720h", "Never", "20m", "3m"])
    if scene.chance(0.05):
        meta["labels"][AZURE + "sku-cpu"] = "3"
    if scene.chance(0.1):
        scene.drift[meta["name"]] = draw.choice(["error: no such machine", "ImageDrift", "ClusterConfigDrift"])
    if scene.chance(0.15):
        status["conditions"] = [
            each for each in status["conditions"] if each["type"] != draw.choice(["Launched", "Initialized"])
        ]
    if scene.chance(0.3):  # what was true before
        for kind in draw.sample(["Consolidatable", "Drifted"], draw.randint(1, 2)):
            before = {"reason": "Before", "message": "before", "lastTransitionTime": ago(hours=5)}
            status["conditions"].append({"type": kind, "status": "True", **before})
    if scene.chance(0.1):
        times = [ago(minutes=5), stamp(NOW + datetime.timedelta(minutes=5)), "soon"]
        meta["annotations"]["karpenter.sh/nodeclaim-termination-timestamp"] = draw.choice(times)
    if node is not None and scene.chance(0.3):
        since = ago(seconds=draw.choice([1, 200, 599, 600, 601, 5000]))
        kind, value = draw.choice(_BAD)
        others = [each for each in node["status"]["conditions"] if each["type"] != kind]
        node["status"]["conditions"] = [*others, {"type": kind, "status": value, "lastTransitionTime": since}]
