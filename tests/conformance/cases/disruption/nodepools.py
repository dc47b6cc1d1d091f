"""NodePools with their policies, budgets and requirements, and what they may have of a catalog."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests.conformance.cases.disruption.scene import (
    ARCH,
    AZURE,
    CAPACITY,
    HASH,
    HASH_VERSION,
    SIZE,
    ZONE,
    ZONES,
    Json,
    Scene,
)

__all__ = ["Offer", "nodepool", "offers"]

Offer = tuple[Json, str, str, float]

#: 10:30 on a Wednesday lies within, before, after, on another day, over midnight
WINDOWS: Sequence[Json] = (
    {"schedule": "0 10 * * *", "duration": "1h"},
    {"schedule": "0 9 * * *", "duration": "1h"},
    {"schedule": "0 11 * * *", "duration": "8h"},
    {"schedule": "0 22 * * *", "duration": "13h"},
    {"schedule": "30 10 * * *", "duration": "5m"},
    {"schedule": "*/15 10 * * 3", "duration": "1m"},
    {"schedule": "0 0 * * 6,0", "duration": "48h"},
    {"schedule": "@daily", "duration": "10h30m"},
    {"schedule": "@daily", "duration": "10h29m"},
    {"schedule": "0 9 * * mon-fri", "duration": "8h"},
)
_REASONS = (["Empty"], ["Drifted"], ["Underutilized"], ["Underutilized", "Empty"])
_KINDS = {
    "spot2spot": [["spot"], ["spot"], ["spot", "on-demand"]],
    "replace": [["on-demand"], ["spot", "on-demand"]],
}
_ANY_KINDS = [["on-demand"], ["on-demand"], ["spot", "on-demand"], ["spot", "on-demand"], ["spot"]]


def nodepool(scene: Scene, name: str, **forced: Any) -> Json:
    """A NodePool; ``forced`` are fields of its spec."""
    draw = scene.draw
    disruption = _disruption(scene)
    spec: Json = {
        "requirements": _requirements(scene),
        "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"},
        "expireAfter": draw.choice(["720h", "720h", "Never", "48h"]),
    }
    if scene.chance(0.12):
        spec["taints"] = [{"key": "dedicated", "value": "a", "effect": "NoSchedule"}]
    template: Json = {"spec": spec}
    if scene.chance(0.2):
        template["metadata"] = {"labels": {"team": draw.choice(["red", "blue"])}}
    pool: Json = {
        "metadata": {"name": name, "uid": f"pool-{name}", "annotations": {HASH: "4711", HASH_VERSION: "v3"}},
        "spec": {"template": template, "disruption": disruption, **forced},
    }
    if scene.chance(0.15) and "replicas" not in forced:
        pool["spec"]["weight"] = draw.choice([1, 10, 50])
    if scene.chance(0.08) and "replicas" not in forced:
        pool["spec"]["limits"] = {"cpu": draw.choice(["4", "16", "64", "200"])}
    scene.pools.append(pool)
    return pool


def _disruption(scene: Scene) -> Json:
    draw = scene.draw
    calm = scene.theme in ("replace", "spot2spot", "multi", "wait") and scene.chance(0.8)
    balanced = ["Balanced"] * (8 if scene.theme == "balanced" else 2)
    policy = draw.choice(["WhenEmptyOrUnderutilized"] * 6 + ["WhenEmpty", *balanced])
    never = ["Never"] if scene.chance(0.3) else []
    found = {
        "consolidationPolicy": policy,
        "consolidateAfter": draw.choice(["0s", "0s", "30s", "30s", "5m", "15m", *never]),
    }
    if calm:
        found["consolidationPolicy"] = draw.choice(["WhenEmptyOrUnderutilized"] * 5 + ["Balanced"])
    budgets = None if calm and scene.chance(0.8) else _budgets(scene)
    return found if budgets is None else {**found, "budgets": budgets}


def _budgets(scene: Scene) -> list[Json] | None:
    draw = scene.draw
    kind = draw.random()
    if kind < 0.45:
        return None
    if kind < 0.5:
        return [{"nodes": "100%"}]
    some = (
        lambda: {"nodes": draw.choice(["1", "2", "3"])},
        lambda: {"nodes": "0"},
        lambda: {"nodes": draw.choice(["10%", "20%", "34%", "50%", "100%"])},
        lambda: {"nodes": draw.choice(["0", "1", "50%"]), "reasons": draw.choice(_REASONS)},
        lambda: {"nodes": draw.choice(["0", "1"]), **draw.choice(WINDOWS)},
        lambda: {"nodes": draw.choice(["0", "1"]), "reasons": draw.choice(_REASONS), **draw.choice(WINDOWS)},
    )
    return [draw.choice(some)() for _ in range(draw.choice([1, 1, 1, 2, 3]))]


def _requirements(scene: Scene) -> list[Json]:
    draw, theme = scene.draw, scene.theme
    found: list[Json] = [{"key": CAPACITY, "operator": "In", "values": draw.choice(_KINDS.get(theme, _ANY_KINDS))}]
    plain = theme == "spot2spot" and scene.chance(0.75)
    if not plain and scene.chance(0.25):
        families = [*draw.sample(["D", "E", "F", "B"], 2), "D"]
        found.append({"key": AZURE + "sku-family", "operator": "In", "values": families})
    if scene.chance(0.1):
        found.append({"key": ZONE, "operator": "In", "values": draw.sample(ZONES, 2)})
    if scene.chance(0.15):
        found.append({"key": ARCH, "operator": "In", "values": ["amd64"]})
    if not plain and scene.chance(0.1):
        bound = {"operator": draw.choice(["Lt", "Gt"]), "values": [draw.choice(["2", "4", "8", "16"])]}
        found.append({"key": AZURE + "sku-cpu", **bound})
    if theme == "minvalues" or scene.chance(0.3 if theme == "spot2spot" else 0.05):
        key = draw.choice([SIZE, SIZE, AZURE + "sku-family"])
        # from spot to spot the 15 cheapest sizes are kept, and more where these are too few
        some = [5, 15, 16, 18, 20, 25] if theme == "spot2spot" else [2, 3, 5, 10, 20]
        least = draw.choice(some) if key == SIZE else draw.choice([2, 3, 4])
        found.append({"key": key, "operator": "Exists", "minValues": least})
    return found


def offers(scene: Scene, requirements: Sequence[Json], kinds: Sequence[str] | None = None) -> list[Offer]:
    """(type, zone, capacity type, price) that the requirements allow."""
    found = []
    for size in scene.types.values():
        for offering in size["offerings"]:
            kind, zone = (each["values"][0] for each in offering["requirements"])
            if kinds is not None and kind not in kinds:
                continue
            if all(_allows(each, size, zone, kind) for each in requirements):
                found.append((size, zone, kind, offering["price"]))
    return found


def _allows(requirement: Json, size: Json, zone: str, kind: str) -> bool:
    labels = {each["key"]: each["values"][0] for each in size["requirements"]} | {ZONE: zone, CAPACITY: kind}
    value, values = labels.get(requirement["key"]), requirement.get("values", [])
    operator = requirement["operator"]
    if operator == "In":
        return value in values
    if operator == "Exists":
        return value is not None
    return int(value) > int(values[0]) if operator == "Gt" else int(value) < int(values[0])
