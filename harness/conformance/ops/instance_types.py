"""Op ``instance_types``: the instance types that a NodeClass sees in a location, from recorded or given SKU records."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.conformance.context import AnswerContext
from harness.conformance.errors import RequestError
from harness.conformance.provider_inputs import Location, location_of, nodeclass_of, options_of, shared_book
from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.instancetypes import (
    FamilyUsage,
    InstanceTypeList,
    NoInstanceTypes,
    Region,
    UnavailableOfferings,
    Usages,
)
from harness.karpenter.requirements import Requirements
from harness.kube.api.resources import render


class _NotFound(LookupError):
    pass


def answer(request: Mapping[str, Any], context: AnswerContext) -> Any:
    """Instance types by name in the protocol's form, or ``{"error": text}``. Raises RequestError for malformed requests."""
    try:
        built = build_from(request, context)
    except (NoInstanceTypes, _NotFound) as error:
        return {"error": str(error)}
    keep = set(request.get("skus") or ())
    return [describe(item) for item in built.types if not keep or item.name in keep]


def build_from(request: Mapping[str, Any], context: AnswerContext) -> InstanceTypeList:
    """The list for the body of such a request. Raises NoInstanceTypes and RequestError."""
    location = location_of(request, context)
    records = location.skus
    raw = request.get("sku_json")
    if raw is not None:
        if not isinstance(raw, list):
            raise RequestError("sku_json is not a list")
        records = raw
    try:
        options = options_of(request, context)
        nodeclass = nodeclass_of(request)
        region = _region(records, location, context, options.use_sig, shared=raw is None)
        return region.build(
            options=options,
            nodeclass=nodeclass,
            prices=location.prices,
            unavailable=_unavailable(request, region),
            usages=_usages(request),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RequestError(f"malformed request: {error}") from error


def describe(item: InstanceType) -> dict[str, Any]:
    """An instance type as the protocol writes it."""
    overhead = item.overhead
    return {
        "name": item.name,
        "requirements": _requirements(item.requirements),
        "capacity": render(item.capacity),
        "overhead": {
            "kubeReserved": render(overhead.kube_reserved),
            "systemReserved": render(overhead.system_reserved),
            "evictionThreshold": render(overhead.eviction_threshold),
        },
        "allocatable": render(item.allocatable),
        "offerings": [_offering(offering) for offering in item.offerings],
    }


def _offering(offering: Offering) -> dict[str, Any]:
    return {
        "requirements": _requirements(offering.requirements),
        "price": offering.price,
        "available": offering.available,
    }


def _requirements(requirements: Requirements) -> list[dict[str, Any]]:
    return requirements.node_selector_requirements()


def _region(
    records: Sequence[Mapping[str, Any]], location: Location, context: AnswerContext, use_sig: bool, *, shared: bool
) -> Region:
    if shared:
        return shared_book(context).region(records, context.release, location.name, use_sig=use_sig)
    return Region(records, context.release, location.name, use_sig=use_sig)


def _unavailable(request: Mapping[str, Any], region: Region) -> UnavailableOfferings:
    release = region.release
    marks = UnavailableOfferings(family_with_size=release.family_marked_with_size)
    if not region.skus and release.no_sizes_is_error:
        raise NoInstanceTypes
    for item in request.get("unavailable") or ():
        name, zone, capacity_type = item.get("sku") or "", item.get("zone") or "", item.get("capacity_type") or ""
        sku = region.skus.get(name)
        if sku is not None:
            marks.mark("requested", sku, zone, capacity_type, now=0.0)
        elif release.unavailable_needs_known_size:
            raise _NotFound(f"instance type {name} not found")
        else:
            marks.mark_name("requested", name, zone, capacity_type, now=0.0)
    return marks


def _usages(request: Mapping[str, Any]) -> Usages:
    return Usages(
        {
            item.get("family") or "": FamilyUsage(item.get("current") or 0, item.get("limit") or 0)
            for item in request.get("usages") or ()
        }
    )
