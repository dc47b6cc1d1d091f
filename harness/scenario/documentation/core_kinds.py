"""Kubernetes' own kinds as JSON Schema, for editors: the fields, types and choices by which an API server reads a Pod or a Deployment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.kube.admission.core_types import core_table, required_fields

__all__ = ["core_definitions", "core_kinds"]

Schema = dict[str, Any]

# k8s.io/apimachinery pkg/api/resource (ParseQuantity): a sign, digits with a point, a suffix or an exponent
_QUANTITY = "^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)(m|n|u|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?[0-9]+)?$"
_SCALARS: Mapping[str, Schema] = {
    "any": {},
    "boolean": {"type": ["boolean", "null"]},
    "integer": {"type": ["integer", "null"]},
    "integer or string": {"type": ["integer", "string", "null"]},
    "quantity": {"type": ["number", "string", "null"], "pattern": _QUANTITY},
    "string": {"type": ["string", "null"]},
}
"""Shape of the table → JSON Schema. Go reads null as absent, and generated manifests have it (`creationTimestamp: null`)."""

# kubernetes pkg/apis/core/validation/validation.go, and apimachinery pkg/apis/meta/v1/validation for selectors
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_CHOICES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("core.v1.NodeSelectorRequirement", "operator"): ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
    ("core.v1.PodSpec", "dnsPolicy"): ("ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"),
    ("core.v1.PodSpec", "preemptionPolicy"): ("Never", "PreemptLowerPriority"),
    ("core.v1.PodSpec", "restartPolicy"): ("Always", "OnFailure", "Never"),
    ("core.v1.Taint", "effect"): _EFFECTS,
    ("core.v1.Toleration", "effect"): ("", *_EFFECTS),
    ("core.v1.TopologySpreadConstraint", "whenUnsatisfiable"): ("DoNotSchedule", "ScheduleAnyway"),
    ("meta.v1.LabelSelectorRequirement", "operator"): ("In", "NotIn", "Exists", "DoesNotExist"),
}


def core_kinds() -> Mapping[str, tuple[str, ...]]:
    """Return the kinds of the table, each with its API version."""
    return {name.rpartition("/")[2]: (name.rpartition("/")[0],) for name in core_table()["kinds"]}


def core_definitions() -> dict[str, Schema]:
    """Return a definition for each type of the table, by its name, and for each kind, by the kind's."""
    table = core_table()
    types = {name: _type(name, fields, table["types"]) for name, fields in table["types"].items()}
    return {**types, **{kind: _kind(kind, versions[0], table) for kind, versions in core_kinds().items()}}


def _kind(kind: str, version: str, table: Mapping[str, Any]) -> Schema:
    """Return the definition of a kind; one type is that of a whole object, and of a template's part too."""
    name = table["kinds"][f"{version}/{kind}"]
    schema = _type(name, table["types"][name], table["types"])
    own = {"apiVersion": {"const": version}, "kind": {"const": kind}}
    return {
        **schema,
        "title": kind,
        "type": "object",
        "required": ["apiVersion", "kind", "metadata", *schema.get("required", ())],
        "properties": {**schema["properties"], **own},
    }


def _type(name: str, fields: Mapping[str, str], types: Mapping[str, Any]) -> Schema:
    properties = {field: _shape(shape, types) for field, shape in fields.items()}
    for field in fields.keys() & {field for owner, field in _CHOICES if owner == name}:
        properties[field] = {"enum": [*_CHOICES[name, field], None]}
    schema: Schema = {"type": ["object", "null"], "properties": properties, "additionalProperties": False}
    required = required_fields(name)
    return {**schema, "required": list(required)} if required else schema


def _shape(shape: str, types: Mapping[str, Any]) -> Schema:
    """Return the schema of a shape: `[]` before it is a list, `{}` a map."""
    if shape.startswith("[]"):
        return {"type": ["array", "null"], "items": _shape(shape[2:], types)}
    if shape.startswith("{}"):
        return {"type": ["object", "null"], "additionalProperties": _shape(shape[2:], types)}
    return {"$ref": f"#/definitions/{shape}"} if shape in types else dict(_SCALARS[shape])
