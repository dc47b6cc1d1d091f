"""What the API server refuses in requests and limits: kubernetes pkg/apis/core/validation ValidateContainerResourceRequirements."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harness.kube.admission.places import Place
from harness.kube.api.field_errors import FieldError
from harness.kube.api.quantity import NANO, Quantity

__all__ = ["resources_errors"]

Part = Mapping[str, Any]
_OF_NAMESPACES = frozenset({"configmaps", "persistentvolumeclaims", "pods", "secrets", "services", "storage"})


def _plain(resources: Part) -> bool:
    """Whether a container has only requests, of native resources and not negative: the usual case, decided quickly."""
    requests: Part = resources.get("requests") or {}
    return not resources.get("limits") and all(
        name in ("cpu", "memory", "ephemeral-storage") and Quantity.parse(amount).nano >= 0
        for name, amount in requests.items()
    )


def resources_errors(resources: Part, at: Place) -> Iterator[FieldError]:
    """What is wrong with requests and limits of a container, or with the limits that an overhead is."""
    if _plain(resources):
        return
    limits: Part = resources.get("limits") or {}
    for name, amount in limits.items():
        yield from _quantity(name, amount, at.child("limits").key(name))
    for name, amount in (resources.get("requests") or {}).items():
        yield from _quantity(name, amount, at.child("requests").key(name))
        asked = Quantity.parse(amount)
        place = Place(f"{at.text}.requests", (*at.pointer, "requests", name))
        if name not in limits:
            if not _overcommits(name):
                yield at.child("limits").required("Limit must be set for non overcommitable resources")
            continue
        limit = Quantity.parse(limits[name])
        if asked != limit and not _overcommits(name):
            yield place.invalid(str(asked), f"must be equal to {name} limit of {limit}")
        elif asked > limit:
            yield place.invalid(str(asked), f"must be less than or equal to {name} limit of {limit}")


def _quantity(name: str, amount: Any, at: Place) -> Iterator[FieldError]:
    if "/" not in name and name not in ("cpu", "memory", "ephemeral-storage") and not name.startswith("hugepages-"):
        if name not in _OF_NAMESPACES:
            yield at.invalid(name, "must be a standard resource type or fully qualified")
        yield at.invalid(name, "must be a standard resource for containers")
    quantity = Quantity.parse(amount)
    if quantity.negative:
        yield at.invalid(str(quantity), "must be greater than or equal to 0")
    if not _overcommits(name) and not name.startswith("hugepages-") and quantity.nano % NANO:
        yield at.invalid(str(quantity), "must be an integer")


def _overcommits(name: str) -> bool:
    """Whether less may be requested than the limit: Kubernetes' own resources but huge pages."""
    return not name.startswith("hugepages-") and ("/" not in name or "kubernetes.io/" in name)
