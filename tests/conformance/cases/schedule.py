"""Whole clusters for the op `schedule`: NodePools, pending pods of a few workloads, nodes with their pods, daemonsets, volumes."""

from __future__ import annotations

from collections.abc import Mapping

from tests.conformance.cases.clusters.daemonsets import daemonsets
from tests.conformance.cases.clusters.nodepools import nodepools
from tests.conformance.cases.clusters.nodes import fleet
from tests.conformance.cases.clusters.scene import RESERVATION, Json, Scene
from tests.conformance.cases.clusters.sizes import reserved_sizes, scarce_sizes
from tests.conformance.cases.clusters.volumes import csinodes
from tests.conformance.cases.clusters.workloads import pending_pods
from tests.conformance.cases.draw import Draw

__all__ = ["schedule_case"]

#: how often a case takes a catalog with more sizes than a launch may name, which takes long
MANY = "many"
MANY_SHARE = 0.03


def schedule_case(draw: Draw, catalogs: Mapping[str, list[Json]], zone_names: Mapping[str, list[str]]) -> Json:
    """One cluster with what Karpenter has to place in it, and its options."""
    usual = sorted(name for name in catalogs if name != MANY)
    catalog = MANY if MANY in catalogs and draw.chance(MANY_SHARE) else draw.choice(usual)
    zones = sorted(zone_names[catalog], key=lambda zone: (zone == "0", zone))  # real zones first
    scene = Scene(catalogs[catalog], zones, [f"app{number}" for number in range(draw.randint(1, 6))])
    case: Json = {"catalog": catalog}
    options = _options(draw)
    own = draw.random()
    if own < 0.04:
        options["reservationLabel"] = RESERVATION
        options.pop("cpuRequests", None)  # how many NodePools have said no when the first defers is a race of workers
        case = {"instance_types": reserved_sizes(draw, scene.types)}
    elif own < 0.08:
        case = {"instance_types": scarce_sizes(draw, scene.types)}
    scene.nodepools = nodepools(draw, scene)
    if "instance_types" not in case and draw.chance(0.08):
        case["catalog_by_nodepool"] = {
            each["metadata"]["name"]: draw.choice(usual) for each in draw.some(scene.nodepools, 1, 2)
        }
    machines = fleet(draw, scene)
    pods = [*pending_pods(draw, scene), *machines.pods]
    case.update(
        nodepools=scene.nodepools,
        pods=pods,
        nodes=machines.nodes,
        nodeclaims=machines.claims,
        daemonsets=daemonsets(draw, scene),
        namespaces=[
            {"metadata": {"name": "default", "labels": {"env": "prod"}}},
            {"metadata": {"name": "other"}},
        ],
        options=options,
    )
    more = {
        "pvcs": scene.claims,
        "pvs": scene.volumes,
        "storageclasses": list(scene.classes.values()),
        "csinodes": csinodes(draw, machines.nodes) if scene.claims else [],
        "pdbs": machines.budgets,
        "deleting": machines.deleting,
    }
    return {**case, **{name: items for name, items in more.items() if items}}


def _options(draw: Draw) -> Json:
    found: Json = {}
    if draw.chance(0.15):
        found["preferencePolicy"] = "Ignore"
    if draw.chance(0.15):
        found["minValuesPolicy"] = "BestEffort"
    if draw.chance(0.03):
        found["cpuRequests"] = 4000
    if draw.chance(0.05):
        found["now"] = "2026-01-01T12:00:00Z"
    return found
