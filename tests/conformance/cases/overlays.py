"""NodeOverlays over a cluster that was drawn: prices and capacity of some of its instance types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.conformance.cases.draw import Draw

__all__ = ["with_overlays"]

Json = dict[str, Any]

SHARE = 0.12

_ZONE, _CAPACITY, _SIZE = (
    "topology.kubernetes.io/zone",
    "karpenter.sh/capacity-type",
    "node.kubernetes.io/instance-type",
)
_POOL, _AZURE = "karpenter.sh/nodepool", "karpenter.azure.com/"
_CHANGES = ("+10%", "-15%", "-100%", "+300%", "-0.05", "+0.5", "-99", "+0.01", "-33.3%")
_PRICES = ("0", "0.01", "0.1", "0.192", "0.5", "4")
_RESOURCES: Sequence[Mapping[str, str]] = (
    {"example.com/device": "1"},
    {"example.com/device": "4"},
    {"smarter-devices/fuse": "20"},
    {"example.com/device": "2", "smarter-devices/fuse": "1"},
    {"hugepages-2Mi": "1Gi"},
)


def with_overlays(draw: Draw, case: Json, catalogs: Mapping[str, Sequence[Json]]) -> Json:
    """The case, one time in eight with NodeOverlays; some conflict, some are refused, some select nothing."""
    if not draw.chance(SHARE):
        return case
    types = [*case.get("instance_types", ()), *catalogs.get(case.get("catalog", ""), ())]
    if not types or not case["nodepools"]:
        return case
    overlays = [_overlay(draw, number, case["nodepools"], types) for number in range(draw.choice([1, 1, 2, 2, 3, 5]))]
    if draw.chance(0.5):
        _ask_for_devices(draw, case["pods"])
    return {**case, "nodeoverlays": draw.sample(overlays, len(overlays))}


def _overlay(draw: Draw, number: int, nodepools: Sequence[Json], types: Sequence[Json]) -> Json:
    wanted = [_requirement(draw, nodepools, types) for _ in range(draw.choice([0, 1, 1, 1, 2, 2, 3]))]
    spec: Json = {"requirements": wanted}
    what = draw.random()
    if what < 0.45:
        spec["priceAdjustment"] = draw.choice(_CHANGES)
    elif what < 0.7:
        spec["price"] = draw.choice(_PRICES)
    if what > 0.6:
        spec["capacity"] = dict(draw.choice(_RESOURCES))
    if draw.chance(0.02):
        spec["capacity"] = {"cpu": "100"}
    if draw.chance(0.6):
        spec["weight"] = draw.choice([1, 2, 2, 10, 10000])
    return {"metadata": {"name": f"overlay-{chr(97 + number)}"}, "spec": spec}


def _requirement(draw: Draw, nodepools: Sequence[Json], types: Sequence[Json]) -> Json:
    labels = {each["key"]: each["values"] for each in draw.choice(types)["requirements"] if each.get("values")}
    own = [(_POOL, [pool["metadata"]["name"]]) for pool in nodepools]
    for pool in nodepools:
        own.extend((key, [value]) for key, value in (_labels(pool) or {}).items())
    kind = draw.random()
    if kind < 0.3:
        key, values = _CAPACITY, [draw.choice(["spot", "on-demand"])]
    elif kind < 0.5:
        key, values = draw.choice(own)
    elif kind < 0.65:
        key, values = _SIZE, [each["name"] for each in draw.some(types, 1, 4)]
    elif kind < 0.95 and labels:
        key = draw.choice(sorted(labels))
        values = labels[key]
    else:
        key, values = draw.choice([("example.com/unknown", ["x"]), ("karpenter.sh/own", ["x"]), (_ZONE, ["nowhere"])])
    if key.startswith(_AZURE) and all(each.isdigit() for each in values) and draw.chance(0.4):
        return {"key": key, "operator": draw.choice(["Gt", "Lt"]), "values": values[:1]}
    operator = draw.choice(["In"] * 6 + ["NotIn", "Exists", "DoesNotExist"])
    return {"key": key, "operator": operator, **({"values": values} if operator in ("In", "NotIn") else {})}


def _labels(pool: Json) -> Mapping[str, str] | None:
    found: Mapping[str, str] | None = (pool["spec"]["template"].get("metadata") or {}).get("labels")
    return found


def _ask_for_devices(draw: Draw, pods: Sequence[Json]) -> None:
    for pod in pods:
        if draw.chance(0.3) and not (pod["spec"].get("nodeName")):
            requests = pod["spec"]["containers"][0].setdefault("resources", {}).setdefault("requests", {})
            requests["example.com/device"] = "1"
