"""NodePools: requirements, minValues, taints, limits, weights, lifetimes; some that Karpenter must not use."""

from __future__ import annotations

from tests.conformance.cases.clusters.scene import CAPACITY, STARTED, TAINTS, Json, Scene, node_requirement
from tests.conformance.cases.draw import Draw

__all__ = ["nodepool", "nodepools"]

LIMITS: tuple[Json, ...] = (
    {"cpu": "16"},
    {"cpu": "40", "memory": "128Gi"},
    {"memory": "64Gi"},
    {"nodes": "2"},
    {"cpu": "4"},
    {"cpu": "100"},
    {"nodes": "0"},
    {"nodes": "1", "cpu": "64"},
    {"nvidia.com/gpu": "0"},
    {"example.com/device": "1"},
    {"pods": "300"},
)


def nodepools(draw: Draw, scene: Scene) -> list[Json]:
    """One to three NodePools, of which often one takes nearly everything, so that not everything fails."""
    pools = [nodepool(draw, scene, number) for number in range(draw.choice([1, 1, 2, 2, 3]))]
    if draw.chance(0.6):
        spec = pools[0]["spec"]
        inner = spec["template"]["spec"]
        inner["requirements"] = inner["requirements"][:1] if draw.chance(0.4) else []
        inner.pop("taints", None)
        if draw.chance(0.8):
            spec.pop("limits", None)
    if draw.chance(0.12):
        _out_of_use(draw, draw.choice(pools))
    return pools


def nodepool(draw: Draw, scene: Scene, number: int) -> Json:
    """One NodePool, called ``np`` and its number."""
    requirements = [node_requirement(draw, scene) for _ in range(draw.choice([0, 1, 1, 2, 3]))]
    minded = draw.choice([0.15, 0.15, 0.15, 0.6])
    for each in requirements:
        if each["operator"] != "DoesNotExist" and draw.chance(minded):
            each["minValues"] = draw.randint(1, 4)
    inner: Json = {"requirements": requirements}
    if draw.chance(0.25):
        inner["taints"] = draw.some(TAINTS, 1, 2)
    if draw.chance(0.1):
        inner["startupTaints"] = [
            {"key": "startup", "effect": "NoSchedule", **draw.choice(({}, {}, {"value": ""}, {"value": "x"}))}
        ]
    inner["nodeClassRef"] = {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}
    if draw.chance(0.15):
        inner["expireAfter"] = draw.choice(["Never", "720h", "90m", "1h30m10s", "0s", "36h0m"])
    if draw.chance(0.15):
        inner["terminationGracePeriod"] = draw.choice(["30s", "1h", "90m", "48h", "0s"])
    template: Json = {"spec": inner}
    labels, annotations = {}, {}
    if draw.chance(0.4):
        labels["team"] = draw.choice(["red", "blue"])
    if draw.chance(0.06):
        labels.update(draw.choice([{"tier": "web"}, {"kubernetes.azure.com/mode": "user"}, {CAPACITY: "spot"}]))
    if draw.chance(0.06):
        annotations["example.com/owner"] = draw.choice(["a", "b"])
    metadata = {name: value for name, value in (("labels", labels), ("annotations", annotations)) if value}
    if metadata:
        template["metadata"] = metadata
    made: Json = {"metadata": {"name": f"np{number}"}, "spec": {"template": template}}
    if draw.chance(0.4):
        made["spec"]["weight"] = draw.choice([1, 10, 10, 50])
    if draw.chance(0.25):
        made["spec"]["limits"] = dict(draw.choice(LIMITS))
    return made


def _out_of_use(draw: Draw, pool: Json) -> None:
    """A NodePool that is not ready, static, being deleted, or of another provider's node class."""
    c = draw.randrange(4)
    if c == 0:
        pool["status"] = {
            "conditions": [
                {"type": kind, "status": "False", "reason": kind, "message": "", "lastTransitionTime": STARTED}
                for kind in ("NodeClassReady", "Ready")
            ]
        }
    elif c == 1:
        pool["spec"]["replicas"] = draw.choice([0, 2])
    elif c == 2:
        pool["metadata"].update(deletionTimestamp=STARTED, finalizers=["example.com/kept"])
    else:
        field = draw.choice(["group", "kind"])
        pool["spec"]["template"]["spec"]["nodeClassRef"][field] = "Other"
