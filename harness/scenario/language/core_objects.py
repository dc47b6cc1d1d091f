"""Manifests that no API server would take from kubectl, reported at their place before anything runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from harness.engine.clock import parse
from harness.karpenter.validation import fields
from harness.kube.admission import core_types
from harness.kube.api.field_errors import Pointer
from harness.kube.api.objects import TIMES
from harness.kube.api.quantity import Quantity, QuantityError
from harness.kube.go.durations import DurationError, parse_duration
from harness.reading.manifests import Manifest
from harness.reading.problems import Problem, did_you_mean, dotted

__all__ = ["core_problems", "duration_problems", "field_problems", "too_long"]

_DURATIONS = {
    "NodePool": (
        ("spec", "template", "spec", "expireAfter"),
        ("spec", "template", "spec", "terminationGracePeriod"),
        ("spec", "disruption", "consolidateAfter"),
        ("spec", "disruption", "budgets", "*", "duration"),
    ),
    "NodeClaim": (("spec", "expireAfter"), ("spec", "terminationGracePeriod")),
}
"""Fields that Karpenter reads as Go durations, or `Never` (core pkg/apis/v1/duration.go); a budget's is never `Never` (metav1.Duration)."""

_PATTERN = re.compile(r"([0-9]+[smh])+")
"""Durations that the CRDs take where they do not take `Never` (kaz pkg/apis/crds/karpenter.sh_nodepools.yaml)."""

_LISTS = ("requests", "limits")


def core_problems(manifest: Manifest) -> Iterator[Problem]:
    """Fields of core objects with a wrong type or name, missing ones, and quantities that are malformed or negative."""
    for error in core_types.shape_errors(manifest.object):
        hint = _field_hint(manifest, error.pointer, error.known, core_types.places_of) if error.known else ""
        if error.what.endswith("not a quantity"):
            hint = "a number such as 4, 500m or 8Gi is expected"
        elif error.what.startswith(core_types.TEXT_EXPECTED):
            hint = manifest.quote_hint(error.pointer)
        yield Problem(manifest.document.position(error.pointer), dotted(error.pointer), error.what, hint)
    for path, value in _resources(manifest.object, ()):
        try:
            negative = Quantity.parse(value).negative
        except QuantityError:
            continue  # its shape is wrong
        if negative:
            yield Problem(manifest.document.position(path), dotted(path), f"the quantity {value} is negative")
    for path, message in _told(manifest.object):
        yield Problem(manifest.document.position(path), dotted(path), message)


def field_problems(manifest: Manifest) -> Iterator[Problem]:
    """Fields of Karpenter's resources that no release has: typing errors, which an API server drops silently.

    Not for objects that CRDs of the user's own judge.
    """
    for pointer, fields_there in fields.unknown_fields(manifest.object):
        hint = _field_hint(manifest, pointer, fields_there, fields.places_of)
        yield Problem(manifest.document.position(pointer), dotted(pointer), f"unknown field '{pointer[-1]}'", hint)


def _field_hint(
    manifest: Manifest, pointer: Pointer, fields_there: Sequence[str], places: Callable[[str, str, str], Sequence[str]]
) -> str:
    """Return the place below with a field of this name; else the nearest known name; else the place of such a field elsewhere."""
    name, here = str(pointer[-1]), dotted(pointer[:-1])
    if pointer[-2:] == ("nodeClassRef", "apiVersion"):
        return _group_hint(manifest.object, pointer)
    places_known = places(str(manifest.object.get("apiVersion")), manifest.kind, name)
    below = _one_of([place for place in places_known if place.startswith(f"{here}.")])
    return below or did_you_mean(name, fields_there, limit=0) or _one_of(places_known)


def _group_hint(obj: Mapping[str, Any], pointer: Pointer) -> str:
    """Return the field of v1 in place of `nodeClassRef.apiVersion` of v1beta1 (core pkg/apis/v1/nodeclaim.go NodeClassReference)."""
    reference: Any = obj
    for part in pointer[:-1]:
        reference = reference[part]
    group = str(reference["apiVersion"]).partition("/")[0]
    return (
        "group says it already, leave it out" if "group" in reference else f"write group: {group}, without the version"
    )


def _one_of(places: Sequence[str]) -> str:
    """Return the place of the field: the first one, if no other one is at its depth; else nothing."""
    nearest = [place for place in places if place.count(".") == places[0].count(".")]
    return f"it belongs in {nearest[0]}" if len(nearest) == 1 else ""


def duration_problems(manifest: Manifest) -> Iterator[Problem]:
    """Durations that Karpenter cannot parse. Its own CRDs refuse them, but for those that are too long; a user's CRDs may not."""
    for path in _DURATIONS.get(manifest.kind, ()):
        for pointer, value in _at(manifest.object, path):
            if not isinstance(value, str) or (value == "Never" and path[-1] != "duration"):
                continue
            try:
                parse_duration(value)
            except DurationError as error:
                message = f"these CRDs take '{value}', and Karpenter cannot read it: {error}"
                yield Problem(manifest.document.position(pointer), dotted(pointer), message)


def too_long(manifest: Manifest) -> Iterator[Problem]:
    """Yield durations in a form of Karpenter's own CRDs, but of more than 292 years: Karpenter cannot read its NodePools then."""
    for path in _DURATIONS.get(manifest.kind, ()):
        for pointer, value in _at(manifest.object, path):
            if isinstance(value, str) and _PATTERN.fullmatch(value):
                try:
                    parse_duration(value)
                except DurationError as error:
                    message = f"the CRDs take '{value}', and Karpenter cannot read it: {error}"
                    yield Problem(
                        manifest.document.position(pointer),
                        dotted(pointer),
                        message,
                        "the longest is 2562047h; for no end write Never",
                    )


def _at(value: Any, path: Sequence[str], before: Pointer = ()) -> Iterator[tuple[Pointer, Any]]:
    """Yield the values at a path; `*` is every item of a list."""
    if not path:
        yield before, value
    elif path[0] == "*":
        for index, item in enumerate(value if isinstance(value, list) else ()):
            yield from _at(item, path[1:], (*before, index))
    elif isinstance(value, dict) and path[0] in value:
        yield from _at(value[path[0]], path[1:], (*before, path[0]))


def _told(obj: Mapping[str, Any]) -> Iterator[tuple[Pointer, str]]:
    """Yield a cluster's mistakes about an object, where it has another form; for NodeClaims and NodePools only `spec` is judged by
    schema."""
    status = obj.get("status")
    if status is not None and not isinstance(status, dict):
        yield ("status",), "a map is expected"
    elif isinstance(status, dict) and not isinstance(status.get("conditions") or [], list):
        yield ("status", "conditions"), "a list is expected"
    else:
        for index, item in enumerate((status or {}).get("conditions") or ()):
            if not isinstance(item, dict):
                yield ("status", "conditions", index), "a map is expected"
    for part in ("metadata", "status"):
        yield from _moments(obj.get(part), (part,))


def _moments(value: Any, at: Pointer) -> Iterator[tuple[Pointer, str]]:
    """Timestamps that are not valid (meta/v1 Time: RFC 3339)."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _moments(item, (*at, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            if key not in TIMES:
                yield from _moments(item, (*at, key))
            elif item is not None and not _is_moment(item):
                yield (*at, key), f"a moment is expected, as 2026-03-01T10:00:00Z, not {str(item)!r}"


def _is_moment(value: Any) -> bool:
    try:
        return isinstance(value, str) and "T" in value and parse(value) is not None
    except (ValueError, TypeError, OverflowError):
        return False


def _resources(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _resources(item, (*path, index))
    elif isinstance(value, dict):
        for key, item in value.items():
            below = (*path, key)
            if key == "resources" and isinstance(item, dict):
                for name in _LISTS:
                    amounts = item.get(name)
                    if isinstance(amounts, dict):
                        yield from (((*below, name, resource), amount) for resource, amount in amounts.items())
            elif isinstance(item, (dict, list)):
                yield from _resources(item, below)
