"""Whole clusters for the op `disrupt`, each with a theme: what Karpenter is likely to do in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.conformance.cases.disruption.nodepools import nodepool
from tests.conformance.cases.disruption.nodes import BLOCKED, Machine, machine, unmanaged
from tests.conformance.cases.disruption.pods import daemonset, disruption_budget, fill, pod, stuff
from tests.conformance.cases.disruption.scene import DELETION_COST, Json, Scene
from tests.conformance.cases.disruption.sizes import disruption_catalogs
from tests.conformance.cases.disruption.waits import wait
from tests.conformance.cases.draw import Draw

__all__ = ["disrupt_case"]

#: theme → how often
_THEMES = {
    "empty": 3,
    "fits": 4,
    "replace": 5,
    "spot2spot": 9,
    "mixed": 2,
    "multi": 4,
    "drift": 4,
    "static": 3,
    "balanced": 3,
    "minvalues": 2,
    "blocked": 3,
    "wait": 6,
    "random": 3,
    "many": 6,
}
_TURNS = [theme for theme, count in _THEMES.items() for _ in range(count)]

#: how much of a node its pods take
_TAKEN: Mapping[str, list[float]] = {
    "empty": [0, 0, 0.5, 0.9],
    "fits": [0.1, 0.2, 0.3, 0.5, 0.6],
    "replace": [0.15, 0.2, 0.3, 0.97],
    "spot2spot": [0.15, 0.3, 0.6, 0.97],
    "many": [0, 0.1, 0.3, 0.3, 0.3, 0.6],
    "multi": [0.1, 0.15, 0.2, 0.3],
    "mixed": [0.2, 0.4, 0.95],
    "drift": [0, 0.2, 0.5, 0.95],
    "wait": [0, 0.1, 0.2, 0.3],
}
_ANY_TAKEN = [0, 0.1, 0.3, 0.6, 0.95]

#: where the prices of its nodes lie among what there is
_DEAR = {"replace": (0.4, 1.0), "spot2spot": (0.55, 1.0), "multi": (0.1, 0.7)}


def disrupt_case(draw: Draw) -> Json:
    """One cluster at half past ten on a Wednesday."""
    theme = draw.choice(_TURNS)
    scene = Scene(draw, disruption_catalogs(), theme)
    blocked = {kind: share * (5 if theme == "blocked" else 1) for kind, share in BLOCKED.items()}
    pools = [nodepool(scene, f"pool-{chr(97 + number)}") for number in range(draw.choice([1, 1, 1, 2, 2, 3]))]
    if theme == "static" or scene.chance(0.03):
        _static(scene, blocked)
    if (theme == "spot2spot" and scene.chance(0.8)) or (theme != "spot2spot" and scene.chance(0.2)):
        scene.options["spotToSpotConsolidation"] = True
    if theme == "static" and scene.chance(0.3):
        scene.options["gates"] = ["TerminateFirstDrift"]
    _fleet(scene, pools, blocked)
    _surroundings(scene, pools)
    if theme == "wait" or scene.chance(0.05):
        scene.input["wait"] = wait(scene)
    made = scene.request()
    if theme == "wait" and scene.chance(0.5):
        for pool in made["nodepools"]:  # so that something waits
            pool["spec"]["disruption"].pop("budgets", None)
    if scene.chance(0.12):  # the last draws, so that a seed has the case of before
        _with_deletion_costs(scene, made)
    return made


def _with_deletion_costs(scene: Scene, made: Json) -> None:
    """The gate PodDeletionCostManagement, and pods that say what their eviction costs by the annotation that counts then."""
    options = made.setdefault("options", {})
    options["gates"] = [*options.get("gates", ()), "PodDeletionCostManagement"]
    for each in scene.pods:
        annotations = each["metadata"].get("annotations") or {}
        if DELETION_COST in annotations and scene.chance(0.5):
            annotations["karpenter.sh/disruption-cost"] = annotations.pop(DELETION_COST)


def _static(scene: Scene, blocked: Mapping[str, float]) -> None:
    draw = scene.draw
    replicas = draw.choice([1, 2, 3, 4])
    static = nodepool(scene, "static", replicas=replicas)
    if scene.chance(0.5):
        static["spec"]["limits"] = {"nodes": str(draw.choice([replicas, replicas + 1, replicas + 3]))}
    for _ in range(max(0, replicas + draw.choice([-1, 0, 0, 0, 1]))):
        at = machine(scene, static, drifted=scene.chance(0.7), blocked=blocked)
        fill(scene, at, draw.choice([0, 0.3]))


def _fleet(scene: Scene, pools: list[Json], blocked: Mapping[str, float]) -> None:
    draw, theme = scene.draw, scene.theme
    sizes = {"static": (0, 3), "multi": (3, 10), "many": (14, 32)}
    count = draw.randint(*sizes.get(theme, (2, 9)))
    alone = theme in ("replace", "spot2spot", "multi") and scene.chance(0.75)  # no room but on a few dear nodes
    few = draw.choice([1, 1, 2, 3]) if theme != "multi" else draw.choice([2, 3, 4])
    if theme == "spot2spot":
        few = draw.choice([1, 1, 1, 2])
    count = max(count, few) if not alone else few + draw.choice([0, 1, 2, 4])
    if theme == "many":
        blocked = {kind: share / 4 for kind, share in blocked.items()}
    if alone:
        blocked = {kind: share / 4 for kind, share in blocked.items()}
    least, most = _DEAR.get(theme, (0.0, 1.0))
    like = None
    for number in range(count):
        how: dict[str, Any] = {"least": least, "most": most, "blocked": blocked, "like": like}
        how["state"] = "ready" if not scene.chance(0.04) else draw.choice(["registered", "launched"])
        pool = draw.choice(pools)
        how["drifted"] = theme == "drift" and scene.chance(0.5)
        at = machine(scene, pool, **how)
        # some of the same kind, whose order is a tie
        tie = scene.chance(0.8 if theme == "many" else 0.3) and len(pools) == 1
        like = (at.size, at.zone, at.kind) if tie else None
        _load(scene, at, alone, stuffed=alone and number >= few)


def _load(scene: Scene, at: Machine, alone: bool, stuffed: bool) -> None:
    draw, theme = scene.draw, scene.theme
    if at.node is None:
        return
    if stuffed:
        stuff(scene, at)
        return
    part = draw.choice([0.03, 0.1, 0.2, 0.3]) if alone else draw.choice(_TAKEN.get(theme, _ANY_TAKEN))
    blocking, spread = 0.12 if theme == "blocked" else 0.02, 0.25 if theme == "random" else 0.06
    fill(scene, at, part, blocking=blocking, spread=spread)


def _surroundings(scene: Scene, pools: list[Json]) -> None:
    draw = scene.draw
    if scene.chance(0.15):
        fill(scene, unmanaged(scene), draw.choice([0, 0.5, 0.9]))
    if scene.chance(0.35):
        daemonset(scene)
    if scene.chance(0.15):
        for _ in range(draw.choice([1, 2, 4])):
            pod(scene, None, draw.choice([100, 500, 1000, 3000, 100000]), draw.choice([128, 1024, 4096]))
    if scene.chance(0.5 if scene.theme == "blocked" else 0.15):
        for number in range(draw.choice([1, 1, 2])):
            disruption_budget(scene, number)
    if scene.chance(0.06):
        scene.options["preferencePolicy"] = "Ignore"
    if scene.chance(0.06):
        scene.options["minValuesPolicy"] = "BestEffort"
    if scene.chance(0.04):
        scene.options["batchMaxDuration"] = draw.choice(["1s", "30s"])
    if scene.chance(0.05) and len(pools) > 1:
        scene.input["unseen"] = [draw.choice(pools)["metadata"]["name"]]
