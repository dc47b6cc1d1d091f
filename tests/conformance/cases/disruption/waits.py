"""What happens in a cluster during the 15 s before a command is validated."""

from __future__ import annotations

from tests.conformance.cases.disruption.nodes import Machine
from tests.conformance.cases.disruption.pods import pod
from tests.conformance.cases.disruption.scene import DO_NOT_DISRUPT, Json, Scene

__all__ = ["wait"]

_KINDS = ["nominate", "pod", "pod", *["budget"] * 5, "delete", "annotate", "catalog", "pdb", "gone", "pending"]


def wait(scene: Scene) -> Json:
    """The changes, as the request has them."""
    draw = scene.draw
    ready = [each for each in scene.nodes if each["metadata"]["name"].startswith("node-")]
    if not ready:
        return {}
    count = len(ready) if draw.random() < 0.4 else min(len(ready), draw.randint(1, 3))
    some = [each["metadata"]["name"] for each in draw.sample(ready, count)]
    kind = draw.choice(_KINDS)
    if kind == "nominate":
        return {"nominate": some}
    if kind in ("pod", "pending"):
        return {"pods": _pods(scene, some, bound=kind == "pod")}
    if kind == "budget":
        pools = scene.pools if scene.chance(0.7) else [draw.choice(scene.pools)]
        budgets = [{"nodes": draw.choice(["0", "0", "1", "20%"])}]
        return {"nodepools": [_with_budgets(each, budgets) for each in pools]}
    if kind == "delete":
        return {"deleting": some}
    if kind == "annotate":
        node = next(each for each in scene.nodes if each["metadata"]["name"] == some[0])
        meta = node["metadata"]
        annotations = {**meta["annotations"], DO_NOT_DISRUPT: "true"}
        return {"nodes": [{**node, "metadata": {**meta, "annotations": annotations}}]}
    if kind == "catalog":
        return {"catalog": draw.choice(["small", "ties", "regional"])}
    if kind == "pdb":
        spec = {"maxUnavailable": 0, "selector": {"matchLabels": {"app": draw.choice(scene.apps)}}}
        late = {"metadata": {"name": "late", "namespace": "default"}, "spec": spec}
        return {"pdbs": [{**late, "status": {"disruptionsAllowed": 0}}]}
    bound = [each for each in scene.pods if each["spec"].get("nodeName") and "finalizers" not in each["metadata"]]
    gone = draw.sample(bound, min(3, len(bound))) if bound else []
    names = [f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in gone]
    return {"delete": {"pods": names}} if names else {}


def _with_budgets(pool: Json, budgets: list[Json]) -> Json:
    spec = pool["spec"]
    return {**pool, "spec": {**spec, "disruption": {**spec["disruption"], "budgets": budgets}}}


def _pods(scene: Scene, nodes: list[str], bound: bool) -> list[Json]:
    draw, before = scene.draw, len(scene.pods)
    for name in nodes:
        at = Machine(name, None, None, {"cpu": 0, "memory": 0}, "", "", None) if bound else None
        made = pod(scene, at, draw.choice([50, 500, 1500]), 256, plain=True)
        made["metadata"]["namespace"] = "default"
        if scene.chance(0.3):
            made["metadata"]["annotations"] = {DO_NOT_DISRUPT: "true"}
    made_now = scene.pods[before:]
    del scene.pods[before:]
    return made_now
