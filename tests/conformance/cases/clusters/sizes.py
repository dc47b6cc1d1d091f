"""Lists of instance types that a case brings along: with capacity reservations, or with offerings that cannot be had."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

from tests.conformance.cases.clusters.scene import CAPACITY, RESERVATION, ZONE, Json
from tests.conformance.cases.draw import Draw

__all__ = ["reserved_sizes", "scarce_sizes", "with_attach_limits"]

_DRIVERS = ("disk.csi.azure.com", "file.csi.azure.com")


def with_attach_limits(draw: Draw, case: Json, catalogs: Mapping[str, list[Json]]) -> Json:
    """The case for a core since 1.15: full reservations that are available all the same, and sizes that attach few volumes."""
    if "instance_types" not in case and (not case.get("pvcs") or draw.chance(0.4)):
        return case
    types = copy.deepcopy(case.get("instance_types") or draw.some(catalogs[case["catalog"]], 2, 8))
    for item in types:
        for offering in item["offerings"]:
            if offering.get("reservation_capacity") == 0 and draw.chance(0.7):
                offering["available"] = True
        if draw.chance(0.7):
            item["attach_limits"] = {driver: draw.choice([0, 1, 1, 2, 3]) for driver in draw.some(_DRIVERS, 1, 2)}
    kept = {name: value for name, value in case.items() if name not in ("catalog", "catalog_by_nodepool")}
    return {**kept, "instance_types": types}


def scarce_sizes(draw: Draw, types: Sequence[Json]) -> list[Json]:
    """A few sizes, of which some offerings are unavailable, cost the same, or cost nothing."""
    found = copy.deepcopy(draw.some(types, 2, 8))
    for item in found:
        for offering in item["offerings"]:
            if draw.chance(0.4):
                offering["available"] = False
            if draw.chance(0.3):
                offering["price"] = draw.choice([0, 1, 1, 999])
    return found


def reserved_sizes(draw: Draw, types: Sequence[Json]) -> list[Json]:
    """A few sizes, most with offerings from capacity reservations that take few nodes, some shared by sizes."""
    found = copy.deepcopy(draw.some(types, 2, 6))
    names = [f"r{number}" for number in range(draw.randint(1, 4))]
    for item in found:
        if draw.chance(0.2):
            continue
        for requirement in item["requirements"]:
            if requirement["key"] == CAPACITY:
                requirement["values"] = [*requirement["values"], "reserved"]
        zones = [value for each in item["requirements"] if each["key"] == ZONE for value in each["values"]]
        for name in draw.some(names, 1, 2):
            left = draw.choice([0, 1, 1, 2, 5])
            values = {CAPACITY: "reserved", ZONE: draw.choice(zones), RESERVATION: name}
            item["offerings"].append(
                {
                    "requirements": [{"key": key, "operator": "In", "values": [each]} for key, each in values.items()],
                    "price": draw.choice([0, 0.001, 0.01]),
                    "available": left > 0 and draw.chance(0.95),
                    "reservation_capacity": left,
                }
            )
    return found
