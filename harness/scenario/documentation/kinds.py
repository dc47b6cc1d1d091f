"""Karpenter's own kinds as JSON Schema, for editors: the CRDs of a release, and their rules as far as JSON Schema can express them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from harness.karpenter.validation.crds import CrdSet, openapi_of
from harness.scenario.documentation.field_descriptions import description_of
from harness.scenario.documentation.rules_for_editors import constraint, in_any_case, more_than_the_crd

__all__ = ["kind_schema", "kinds_of", "version_schema"]

Schema = dict[str, Any]

_TAKEN = ("default", "enum", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum",
          "pattern", "required", "type", "anyOf")  # fmt: skip
"""Keywords that mean the same in a CRD and in JSON Schema."""
_METADATA: Schema = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "maxLength": 253, "pattern": "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


def kinds_of(crds: CrdSet) -> Mapping[str, tuple[str, ...]]:
    """Return the kinds of a release's CRDs, each with the API versions that are served."""
    kinds: dict[str, tuple[str, ...]] = {}
    for resource in crds.kinds:
        group_version, _, kind = resource.rpartition("/")
        kinds[kind] = (*kinds.get(kind, ()), group_version)
    return kinds


def kind_schema(crds: CrdSet, kind: str) -> Schema:
    """Return the schema of a kind, in any of its versions, which have the same fields. KeyError for another kind."""
    versions = kinds_of(crds)[kind]
    schema = version_schema(crds, versions[-1], kind)
    own = {"apiVersion": {"enum": list(versions)}, "kind": {"const": kind}, "metadata": _METADATA}
    return {
        "title": f"{kind} ({crds.name})",
        **schema,
        "required": ["apiVersion", "kind", "metadata", *schema.get("required", ())],
        "properties": {**schema["properties"], **own},
    }


def version_schema(crds: CrdSet, version: str, kind: str) -> Schema:
    """Return the CRD's schema of a kind's fields in one version. Raises KeyError for a version that the CRDs do not have."""
    return _schema(openapi_of(crds, f"{version}/{kind}", lambda row: json.dumps(row)), kind, "")


def _schema(document: Mapping[str, Any], kind: str, path: str) -> Schema:
    """Return the JSON Schema of a place in a CRD; a map with fields has no others, as an API server prunes or refuses them."""
    schema: Schema = {name: document[name] for name in _TAKEN if name in document}
    if "pattern" in schema:
        schema["pattern"] = in_any_case(schema["pattern"])
    if text := description_of(kind, path):
        schema["description"] = text
    if "properties" in document:
        schema["properties"] = {
            name: _schema(body, kind, f"{path}.{name}" if path else name)
            for name, body in document["properties"].items()
        }
        schema["additionalProperties"] = bool(document.get("x-kubernetes-preserve-unknown-fields"))
    if isinstance(document.get("additionalProperties"), Mapping):
        schema["additionalProperties"] = _schema(document["additionalProperties"], kind, f"{path}{{}}")
    if "items" in document:
        schema["items"] = _schema(document["items"], kind, f"{path}[]")
    if document.get("x-kubernetes-list-type") == "set":
        schema["uniqueItems"] = True
    if document.get("nullable") and "type" in schema:
        schema["type"] = [schema["type"], "null"]
    return _with(schema, (*_rules(document), more_than_the_crd(kind, path)))


def _rules(document: Mapping[str, Any]) -> Iterable[Schema]:
    for rule in document.get("x-kubernetes-validations", ()):
        yield constraint(json.loads(rule["rule"]), rule["message"])


def _with(schema: Schema, constraints: Iterable[Schema]) -> Schema:
    """The schema with more constraints: one `allOf`, since each may have an `if` or a `not` of its own."""
    parts = [part for part in constraints if part]
    return {**schema, "allOf": parts} if parts else schema
