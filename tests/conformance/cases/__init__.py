"""Random but realistic questions, the same for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tests.conformance.cases.clusters.default_spread import with_default_spread
from tests.conformance.cases.clusters.sizes import with_attach_limits
from tests.conformance.cases.disruption.azure_drift import azure_drift_case
from tests.conformance.cases.disruption.disrupt import disrupt_case
from tests.conformance.cases.disruption.lifetimes import lifetimes_case
from tests.conformance.cases.disruption.sizes import disruption_catalogs
from tests.conformance.cases.disruption.static import static_case
from tests.conformance.cases.draw import Draw
from tests.conformance.cases.nodepools import nodepool_case
from tests.conformance.cases.objects import object_case
from tests.conformance.cases.overlays import launch_case, with_overlays
from tests.conformance.cases.provider import instance_types_case, labels_case, with_trusted_launch
from tests.conformance.cases.requirements import requirements_case
from tests.conformance.cases.schedule import schedule_case
from tests.conformance.cases.updates import update_case

if TYPE_CHECKING:
    from tests.conformance.material import Material

__all__ = ["ANSWERED", "OPS", "SHARES", "draw_cases"]

Json = dict[str, Any]


def _validate(draw: Draw, material: Material) -> Json:
    return nodepool_case(draw) if draw.chance(0.6) else object_case(draw, material.schemas)


def _schedule(draw: Draw, material: Material) -> Json:
    case = schedule_case(draw, material.catalogs, material.zone_names)
    if material.takes_attach_limits:
        case = with_attach_limits(draw, case, material.catalogs)
    if material.has_default_spread:
        case = with_default_spread(draw, case)
    return with_overlays(draw, case, material.catalogs) if material.has_overlays else case


def _disrupt(draw: Draw, material: Material) -> Json:
    case = disrupt_case(draw)
    return with_overlays(draw, case, disruption_catalogs()) if material.has_overlays else case


def _trusting(draw: Draw, material: Material, case: Json) -> Json:
    return with_trusted_launch(draw, case) if material.has_trusted_launch else case


MAKERS: Mapping[str, Callable[[Draw, Material], Json]] = {
    "requirements": lambda draw, material: requirements_case(draw),
    "validate_nodepool": _validate,
    "update": lambda draw, material: update_case(draw, material.schemas),
    "instance_types": lambda draw, material: _trusting(
        draw, material, instance_types_case(draw, material.types, material.records)
    ),
    "labels": lambda draw, material: _trusting(draw, material, labels_case(draw, material.types)),
    "launch": lambda draw, material: launch_case(draw, material.types),
    "schedule": _schedule,
    "disrupt": _disrupt,
    "lifetimes": lambda draw, material: lifetimes_case(draw),
    "azure_drift": lambda draw, material: azure_drift_case(draw, material.schemas),
    "static": lambda draw, material: static_case(draw),
}

#: the ops that have cases
OPS: tuple[str, ...] = tuple(MAKERS)

#: those that `harness dev answer` answers, and a run asks unless told otherwise
ANSWERED: tuple[str, ...] = OPS

#: how the cases of a run are spread over the ops, by what a case costs and how much it can find
SHARES: Mapping[str, int] = {
    "requirements": 40,
    "validate_nodepool": 30,
    "update": 15,
    "instance_types": 8,
    "labels": 12,
    "launch": 4,
    "schedule": 10,
    "disrupt": 8,
    "lifetimes": 8,
    "azure_drift": 4,
    "static": 3,
}


def draw_cases(op: str, count: int, seed: int, material: Material) -> list[Json]:
    """`count` requests of `op` for the release of `material`; the first ones do not depend on how many follow."""
    draw = Draw(f"{seed} {op} {material.release}")
    make = MAKERS[op]
    return [{"op": op, **make(draw, material)} for _ in range(count)]
