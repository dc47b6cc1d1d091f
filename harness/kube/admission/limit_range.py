"""LimitRanges: defaults of containers without requests or limits, and the bounds of pods and claims.

Source: kubernetes plugin/pkg/admission/limitranger/admission.go, pkg/apis/core/v1/defaults.go (SetDefaults_LimitRangeItem).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.kube.admission.defaults import canonical_list
from harness.kube.api.objects import Object, annotations_of, spec_of
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import parse_list
from harness.kube.scheduling.pods import pod_limits, pod_requests

__all__ = ["default_limit_range", "limit_range_errors", "with_limit_ranges"]

_ANNOTATION = "kubernetes.io/limit-ranger"
_CONTAINERS = (("containers", "container"), ("initContainers", "init container"))
_LISTS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def default_limit_range(obj: dict[str, Any]) -> dict[str, Any]:
    """Return a LimitRange as the API server stores it.

    A container's default limit is its maximum, its default request its default limit, then its minimum. Raises
    QuantityError.
    """
    limits = [_default_item(item) for item in spec_of(obj).get("limits") or ()]
    return {**obj, "spec": {**spec_of(obj), "limits": limits}}


def _default_item(item: Mapping[str, Any]) -> dict[str, Any]:
    lists = {key: canonical_list(item[key]) for key in _LISTS if item.get(key)}
    if item.get("type") != "Container":
        return {**item, **lists}
    default = {**lists.get("max", {}), **lists.get("default", {})}
    request = {**lists.get("min", {}), **default, **lists.get("defaultRequest", {})}
    filled = {key: value for key, value in (("default", default), ("defaultRequest", request)) if value}
    return {**item, **lists, **filled}


def _items(limit_range: Object, kind: str) -> Iterator[Mapping[str, Any]]:
    yield from (item for item in spec_of(limit_range).get("limits") or () if item.get("type") == kind)


def with_limit_ranges(pod: dict[str, Any], limit_ranges: Sequence[Object]) -> dict[str, Any]:
    """Return a new pod with the defaults of the LimitRanges of its namespace, and the annotation that tells of them."""
    for limit_range in limit_ranges:
        default: dict[str, str] = {}
        request: dict[str, str] = {}
        for item in _items(limit_range, "Container"):
            default |= item.get("default") or {}
            request |= item.get("defaultRequest") or {}
        notes: list[str] = []
        spec = dict(spec_of(pod))
        for field, word in _CONTAINERS:
            if spec.get(field):
                spec[field] = [_filled(container, default, request, word, notes) for container in spec[field]]
        if notes:
            annotations = {**annotations_of(pod), _ANNOTATION: f"LimitRanger plugin set: {'; '.join(notes)}"}
            pod = {**pod, "metadata": {**pod["metadata"], "annotations": annotations}, "spec": spec}
    return pod


def _filled(
    container: Mapping[str, Any], default: Mapping[str, str], request: Mapping[str, str], word: str, notes: list[str]
) -> Mapping[str, Any]:
    resources = container.get("resources") or {}
    limits = resources.get("limits") or {}
    requests = {**limits, **(resources.get("requests") or {})}  # a limit is a request, too
    more_limits = {name: amount for name, amount in default.items() if name not in limits}
    more_requests = {name: amount for name, amount in request.items() if name not in requests}
    for amount_kind, more in (("request", more_requests), ("limit", more_limits)):
        if more:
            notes.append(f"{', '.join(sorted(more))} {amount_kind} for {word} {container.get('name')}")
    if not more_limits and not more_requests:
        return container
    filled = {"limits": {**limits, **more_limits}, "requests": {**requests, **more_requests}}
    return {**container, "resources": {**resources, **{key: value for key, value in filled.items() if value}}}


def limit_range_errors(kind: str, obj: Object, limit_ranges: Sequence[Object]) -> list[str]:
    """Return the errors of a pod or a claim by the LimitRanges of its namespace, in the plugin's words."""
    for limit_range in limit_ranges:
        errors = list(_pod_errors(obj, limit_range) if kind == "Pod" else _claim_errors(obj, limit_range))
        if errors:
            return errors  # the next one is asked when this one is content
    return []


def _pod_errors(pod: Object, limit_range: Object) -> Iterator[str]:
    containers = [container for field, _ in _CONTAINERS for container in spec_of(pod).get(field) or ()]
    for item in _items(limit_range, "Container"):
        for container in containers:
            resources = container.get("resources") or {}
            yield from _item_errors(item, parse_list(resources.get("requests")), parse_list(resources.get("limits")))
    for item in _items(limit_range, "Pod"):
        yield from _item_errors(item, pod_requests(pod), pod_limits(pod))


def _claim_errors(claim: Object, limit_range: Object) -> Iterator[str]:
    requests = parse_list((spec_of(claim).get("resources") or {}).get("requests"))
    for item in _items(limit_range, "PersistentVolumeClaim"):
        for name, bound in _bounds(item, "min"):
            yield from _below("PersistentVolumeClaim", name, bound, requests, {})
        for name, bound in _bounds(item, "max"):
            request = requests.get(name)
            start = f"maximum {name} usage per PersistentVolumeClaim is {bound}"
            if request is None:
                yield f"{start}.  No request is specified"
            elif request > bound:
                yield f"{start}, but request is {request}"


def _bounds(item: Mapping[str, Any], key: str) -> Iterator[tuple[str, Quantity]]:
    yield from sorted(parse_list(item.get(key)).items())


def _item_errors(
    item: Mapping[str, Any], requests: Mapping[str, Quantity], limits: Mapping[str, Quantity]
) -> Iterator[str]:
    kind = str(item["type"])
    for name, bound in _bounds(item, "min"):
        yield from _below(kind, name, bound, requests, limits)
    for name, bound in _bounds(item, "max"):
        start = f"maximum {name} usage per {kind} is {bound}"
        if name not in limits:
            yield f"{start}.  No limit is specified"
        elif limits[name] > bound:
            yield f"{start}, but limit is {limits[name]}"
        elif name in requests and requests[name] > bound:
            yield f"{start}, but request is {requests[name]}"
    for name, bound in _bounds(item, "maxLimitRequestRatio"):
        yield from _ratio(kind, name, bound, requests.get(name), limits.get(name))


def _below(
    kind: str, name: str, bound: Quantity, requests: Mapping[str, Quantity], limits: Mapping[str, Quantity]
) -> Iterator[str]:
    start = f"minimum {name} usage per {kind} is {bound}"
    if name not in requests:
        yield f"{start}.  No request is specified"
    elif requests[name] < bound:
        yield f"{start}, but request is {requests[name]}"
    elif name in limits and limits[name] < bound:
        yield f"{start}, but limit is {limits[name]}"


def _ratio(kind: str, name: str, bound: Quantity, request: Quantity | None, limit: Quantity | None) -> Iterator[str]:
    start = f"{name} max limit to request ratio per {kind} is {bound}"
    if request is None or not request.nano:
        yield f"{start}, but no request is specified or request is 0"
    elif limit is None or not limit.nano:
        yield f"{start}, but no limit is specified or limit is 0"
    elif limit.nano * 1_000_000_000 > bound.nano * request.nano:
        yield f"{start}, but provided ratio is {limit.nano / request.nano:f}"
