"""Shapes of the core kinds: the types and required fields by which the API server refuses a Pod, a Deployment, a Node.

The API server decodes core objects into Go types: a field of another type is a 400, a field that does not exist one too (kubectl asks
for strict decoding), and validation then asks for some fields. Custom resources have schemas of their own (`schema.py`). The table is made
by tools/core_types.py from client-go's schema (applyconfigurations/internal/internal.go, Kubernetes 1.36).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from harness.kube.api.quantity import Quantity, QuantityError
from lazyrecords import dataclass

__all__ = ["TEXT_EXPECTED", "ShapeError", "core_table", "places_of", "required_fields", "shape_errors"]

_DEEPEST = 6  # levels in which a field is looked for

Pointer = tuple[str | int, ...]

# k8s.io/kubernetes pkg/apis/{core,apps}/validation: what scheduling cannot do without
_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "apps.v1.DaemonSetSpec": ("selector", "template"),
    "apps.v1.DeploymentSpec": ("selector", "template"),
    "apps.v1.ReplicaSetSpec": ("selector",),
    "apps.v1.StatefulSetSpec": ("selector", "template"),
    "batch.v1.JobSpec": ("template",),
    "core.v1.Container": ("name",),
    "core.v1.NodeSelector": ("nodeSelectorTerms",),
    "core.v1.NodeSelectorRequirement": ("key", "operator"),
    "core.v1.Pod": ("spec",),
    "core.v1.PodAffinityTerm": ("topologyKey",),
    "core.v1.PodSpec": ("containers",),
    "core.v1.PreferredSchedulingTerm": ("preference", "weight"),
    "core.v1.Taint": ("key", "effect"),
    "core.v1.TopologySelectorLabelRequirement": ("key", "values"),
    "core.v1.TopologySpreadConstraint": ("maxSkew", "topologyKey", "whenUnsatisfiable"),
    "core.v1.WeightedPodAffinityTerm": ("podAffinityTerm", "weight"),
    "meta.v1.LabelSelectorRequirement": ("key", "operator"),
}
TEXT_EXPECTED = "a text is expected"
"""The beginning of sentences about another value in a text's place."""

_KINDS: Mapping[str, str] = {
    "string": TEXT_EXPECTED.removesuffix(" is expected"),
    "integer": "a whole number",
    "boolean": "true or false",
}


@dataclass(frozen=True, slots=True)
class ShapeError:
    """One field at fault. `known` are the fields that its map may have, when the field is none of them.

    `mistyped`: what stands there is of another type, so that nothing can read it.
    """

    pointer: Pointer
    what: str
    known: tuple[str, ...] = ()
    mistyped: bool = True


def shape_errors(obj: Mapping[str, Any]) -> Iterator[ShapeError]:
    """Yield an error for each field of a core object that has the wrong type, does not exist, or is missing; for other
    kinds, of the metadata."""
    table = core_table()
    name = table["kinds"].get(f"{obj.get('apiVersion')}/{obj.get('kind')}")
    if name is not None:
        yield from _checked(obj, name, (), table["types"])
        return
    yield from _checked(obj.get("metadata"), "meta.v1.ObjectMeta", ("metadata",), table["types"])


def places_of(api_version: str, kind: str, field: str) -> tuple[str, ...]:
    """Return the paths of the maps that have a field of this name in a core kind, the shallowest first; `[]` for items of a list."""
    table = core_table()
    name, paths = table["kinds"].get(f"{api_version}/{kind}"), list[str]()
    level = [("", name)] if name is not None else []
    for _ in range(_DEEPEST):
        paths += [path for path, shape in level if field in table["types"].get(shape, ())]
        below = [
            (f"{path}.{key}".strip("."), shape)
            for path, of in level
            for key, shape in table["types"].get(of, {}).items()
        ]
        level = [(f"{path}[]" * shape.startswith("[]") or path, shape.removeprefix("[]")) for path, shape in below]
    return tuple(path for path in paths if path)


def required_fields(shape: str) -> tuple[str, ...]:
    """Return the fields that validation asks of a type."""
    return _REQUIRED.get(shape, ())


@cache
def core_table() -> Mapping[str, Any]:
    """Return the table: `kinds`, by API version and kind, and the fields of `types` with their shapes."""
    text = (Path(__file__).parent / "data" / "core_types.json").read_text(encoding="utf-8")
    table: Mapping[str, Any] = json.loads(text)
    return table


def _checked(value: Any, shape: str, at: Pointer, types: Mapping[str, Mapping[str, str]]) -> Iterator[ShapeError]:
    if value is None or shape == "any":
        return
    if shape.startswith("[]"):
        if not isinstance(value, list):
            yield ShapeError(at, f"a list is expected, not {_found(value)}")
            return
        for index, item in enumerate(value):
            if item is None:
                yield ShapeError((*at, index), "a value is missing")
            yield from _checked(item, shape[2:], (*at, index), types)
        return
    fields = types.get(shape)
    if fields is None and not shape.startswith("{}"):
        yield from _scalar(value, shape, at)
        return
    if not isinstance(value, Mapping):
        yield ShapeError(at, f"a map is expected, not {_found(value)}")
        return
    if fields is None:
        for key, item in value.items():
            if item is None:
                yield ShapeError((*at, key), "a value is missing")
            yield from _checked(item, shape[2:], (*at, key), types)
        return
    for key, item in value.items():
        if key in fields:
            yield from _checked(item, fields[key], (*at, key), types)
        else:
            yield ShapeError((*at, key), f"unknown field '{key}'", tuple(fields), mistyped=False)
    for key in required_fields(shape):
        if value.get(key) in (None, "", [], ()):
            yield ShapeError(at, f"'{key}' is missing", mistyped=False)


def _scalar(value: Any, shape: str, at: Pointer) -> Iterator[ShapeError]:
    if shape == "quantity":
        try:
            Quantity.parse(value)
        except QuantityError:
            yield ShapeError(at, f"{_found(value)} is not a quantity")
        return
    if shape == "string":
        fits = isinstance(value, str)
    elif shape == "boolean":
        fits = isinstance(value, bool)
    else:
        fits = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
        fits = fits or (shape == "integer or string" and isinstance(value, str))
    if not fits:
        yield ShapeError(at, f"{_KINDS.get(shape, 'a whole number or a text')} is expected, not {_found(value)}")


def _found(value: Any) -> str:
    if isinstance(value, Mapping):
        return "a map"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else str(value)
