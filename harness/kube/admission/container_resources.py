"""Validation of requests and limits: kubernetes pkg/apis/core/validation ValidateContainerResourceRequirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.admission.places import Place
from harness.kube.api.field_errors import FieldError
from harness.kube.api.names import is_qualified_name, qualified_name_errors
from harness.kube.api.quantity import NANO, Quantity, QuantityError

__all__ = ["resource_name_errors", "resources_errors"]

Part = Mapping[str, Any]
_OF_QUOTAS = frozenset(
    [
        "configmaps",
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "persistentvolumeclaims",
        "pods",
        "replicationcontrollers",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory",
        "requests.storage",
        "resourcequotas",
        "secrets",
        "services",
        "services.loadbalancers",
        "services.nodeports",
        "storage",
    ]
)
"""The standard resources that no container can ask for (pkg/apis/core/helper, standardResources)."""

_QUOTA = "requests."
_HUGE_PAGES = "hugepages-"


def _plain(resources: Part) -> bool:
    """Return whether a container has only requests, of native resources and not negative: the usual case, decided quickly."""
    requests: Part = resources.get("requests") or {}
    return not resources.get("limits") and all(
        name in ("cpu", "memory", "ephemeral-storage") and Quantity.parse(amount).nano >= 0
        for name, amount in requests.items()
    )


def resources_errors(resources: Part, at: Place) -> Iterator[FieldError]:
    """Yield the errors of a container's requests and limits, or of the limits that an overhead is."""
    if _plain(resources):
        return
    limits: Part = resources.get("limits") or {}
    for name, amount in limits.items():
        yield from _quantity(name, amount, at.child("limits").key(name))
    for name, amount in (resources.get("requests") or {}).items():
        yield from _quantity(name, amount, at.child("requests").key(name))
        request = Quantity.parse(amount)
        place = Place(f"{at.text}.requests", (*at.pointer, "requests", name))
        if name not in limits:
            if not _overcommits(name):
                yield at.child("limits").required("Limit must be set for non overcommitable resources")
            continue
        limit = Quantity.parse(limits[name])
        if request != limit and not _overcommits(name):
            yield place.invalid(str(request), f"must be equal to {name} limit of {limit}")
        elif request > limit:
            yield place.invalid(str(request), f"must be less than or equal to {name} limit of {limit}")
    named = {*limits, *(resources.get("requests") or ())}
    if any(map(_is_huge_page, named)) and named.isdisjoint(("cpu", "memory")):
        yield at.forbidden("HugePages require cpu or memory")


def _quantity(name: str, amount: Any, at: Place) -> Iterator[FieldError]:
    yield from resource_name_errors(name, at)
    quantity = Quantity.parse(amount)
    if quantity.negative:
        yield at.invalid(str(quantity), "must be greater than or equal to 0")
    if _is_huge_page(name):
        if not _divisible(quantity, name.removeprefix(_HUGE_PAGES)):
            yield at.invalid(str(quantity), f"{quantity} is not positive integer multiple of {name}")
    elif not _overcommits(name) and quantity.nano % NANO:
        yield at.invalid(str(quantity), "must be an integer")


def resource_name_errors(name: str, at: Place) -> Iterator[FieldError]:
    """Yield the errors of the name of a container's resource (core/v1/validation ValidateContainerResourceName)."""
    if name in ("cpu", "memory", "ephemeral-storage"):
        return
    unqualified = qualified_name_errors(name)
    yield from (at.invalid(name, why) for why in unqualified)
    if "/" not in name and not _is_huge_page(name):
        if not unqualified and name not in _OF_QUOTAS and not name.startswith(_QUOTA + _HUGE_PAGES):
            yield at.invalid(name, "must be a standard resource type or fully qualified")
        yield at.invalid(name, "must be a standard resource for containers")
    elif not _is_native(name) and (name.startswith(_QUOTA) or not is_qualified_name(_QUOTA + name)):
        yield at.invalid(name, "doesn't follow extended resource name standard")


def _is_native(name: str) -> bool:
    return "/" not in name or "kubernetes.io/" in name


def _is_huge_page(name: str) -> bool:
    return name.startswith(_HUGE_PAGES)


def _divisible(quantity: Quantity, size: str) -> bool:
    """Return whether a quantity is a whole number of pages of this size (IsHugePageResourceValueDivisible)."""
    try:
        page = Quantity.parse(size)
    except QuantityError:
        return False
    return page.nano > 0 and page.nano % NANO == 0 and quantity.value() % page.value() == 0


def _overcommits(name: str) -> bool:
    """Return whether a resource may be requested below its limit: Kubernetes' own resources but huge pages."""
    return not _is_huge_page(name) and _is_native(name)
