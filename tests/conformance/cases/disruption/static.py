"""Clusters for the op `static`: NodePools with a number of nodes to keep up, too few, too many, or just as many."""

from __future__ import annotations

from tests.conformance.cases.disruption.nodepools import nodepool
from tests.conformance.cases.disruption.nodes import machine
from tests.conformance.cases.disruption.pods import daemonset, fill
from tests.conformance.cases.disruption.scene import Json, Scene
from tests.conformance.cases.disruption.sizes import disruption_catalogs
from tests.conformance.cases.draw import Draw

__all__ = ["static_case"]

_BLOCKED = {"deleting": 0.06, "terminating": 0.05, "nominated": 0.03, "annotation": 0.05, "nodeless": 0.03}


def static_case(draw: Draw) -> Json:
    """One to three NodePools, nearly all with replicas, and their nodes."""
    scene = Scene(draw, disruption_catalogs(), "static")
    scene.computes = False
    for number in range(draw.choice([1, 1, 2, 3])):
        replicas = draw.choice([0, 1, 2, 3, 5, 8])
        pool = nodepool(scene, f"pool-{chr(97 + number)}", replicas=replicas if draw.chance(0.93) else None)
        if draw.chance(0.45):
            limits = {"nodes": str(max(0, replicas + draw.choice([-2, -1, 0, 1, 3])))}
            pool["spec"]["limits"] = draw.choice([limits, limits, {**limits, "cpu": "8"}, {"cpu": "16"}])
        if draw.chance(0.06):
            pool["status"] = {"conditions": [{"type": "Ready", "status": draw.choice(["False", "Unknown"])}]}
        nodes = max(0, replicas + draw.choice([-3, -2, -1, 0, 1, 1, 2, 4]))
        if draw.chance(0.04):
            nodes += 14
        for _ in range(nodes):
            state = draw.choice(["ready"] * 8 + ["registered", "launched"])
            at = machine(scene, pool, state=state, blocked=_BLOCKED)
            if at.node is not None:
                fill(scene, at, draw.choice([0, 0, 0.2, 0.6]), blocking=0.1)
            if at.claim is not None and draw.chance(0.02):
                at.claim["status"].pop("providerID", None)
    if draw.chance(0.3):
        daemonset(scene)
    made = scene.request()
    for name in ("queued", "nominated"):
        made.pop(name, None)
    claims = [each["metadata"]["name"] for each in made["nodeclaims"]]
    if claims and draw.chance(0.2):
        made["replacing"] = draw.some(claims, 1, 2)
    return made
