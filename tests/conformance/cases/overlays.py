"""NodeOverlays over a cluster that was drawn: prices and capacity of some of its instance types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tests.conformance.cases.draw import Draw
from tests.conformance.cases.provider import labels_case

__all__ = ["launch_case", "with_overlays"]

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


def launch_case(draw: Draw, types: Mapping[str, Sequence[Json]]) -> Json:
    """A NodeClaim of several sizes in one zone, launched under NodeOverlays that change which of them is cheapest and what they have.

    `types`: instance types by location, the location with zones first.
    """
    case = labels_case(draw, types)
    listed = types[case["location"]]
    chosen = draw.some(listed, 2, 6)
    size, zone, capacity_type, *others = case["nodeclaim"]["spec"]["requirements"]
    size["values"] = [each["name"] for each in chosen]
    zones = {each for one in chosen for each in _values(one, _ZONE)}
    if not zones & set(zone["values"]):
        zone["values"] = [draw.choice(sorted(zones))]
    if draw.chance(0.4):
        capacity_type["values"] = ["on-demand", "spot"]
    case["nodeclaim"]["spec"]["requirements"] = [size, zone, capacity_type, *(others if draw.chance(0.3) else [])]
    requests = {}
    if draw.chance(0.3):
        requests["cpu"] = draw.choice(("1", "3", "7"))
    if draw.chance(0.25):
        requests["example.com/device"] = draw.choice(("1", "3"))
    if requests:
        case["nodeclaim"]["spec"]["resources"] = {"requests": requests}
    pool: Json = {"metadata": {"name": "default"}, "spec": {"template": {"spec": {}}}}
    if draw.chance(0.3):
        pool["spec"]["template"]["metadata"] = {"labels": {"team": "a"}}
    if draw.chance(0.05):
        del case["nodeclaim"]["metadata"]["labels"][_POOL]
    overlays = [_overlay(draw, number, [pool], chosen) for number in range(draw.choice([1, 1, 2, 2, 3, 5]))]
    return {**case, "nodepool": pool, "nodeoverlays": draw.sample(overlays, len(overlays))}


def _values(instance_type: Json, key: str) -> Sequence[str]:
    return next((each["values"] for each in instance_type["requirements"] if each["key"] == key), ())


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
