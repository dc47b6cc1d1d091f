"""The JSON Schema of the file format for editors, generated from the models.

The schema also judges Kubernetes manifests, because an editor checks every document of a file by itself: Karpenter's kinds by the CRDs of
a release, Kubernetes' own by their types, each by a schema of its own, to which the scenario's refers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.karpenter.releases import DEFAULT_RELEASE
from harness.karpenter.validation.crds import CrdSet, crd_set
from harness.scenario.documentation.core_kinds import core_definitions, core_kinds
from harness.scenario.documentation.kinds import kind_schema, kinds_of
from harness.scenario.documentation.rules_for_editors import escaped
from harness.scenario.language.models import Header

__all__ = ["SCHEMA_ID", "default_crds", "json_schema", "language_definitions", "render", "render_kind", "schema_files"]

SCHEMA_ID = "urn:karpenter-azure-harness:scenario"
"""The name of the schema that is whole in itself. It is no address: editors read the file that `harness schema` writes.

The one with files beside it has none, since their paths would be relative to it.
"""

_DRAFT = "http://json-schema.org/draft-07/schema#"
_CORE = "core.schema.json"
_LONG, _MANY = 100, 4
"""The length of a property, and the number of definitions with it, from which on it gets a definition of its own."""

_VARIABLE = {"pattern": "\\$\\("}
_QUOTED = {"integer": "^\\d+$", "number": "^\\d+(\\.\\d+)?$", "boolean": "^(true|false)$"}  # as the loader reads a text
_MANIFEST = {
    "type": "object",
    "title": "Kubernetes manifest",
    "description": "A Kubernetes object, pasted unchanged. It belongs to the scenario above it.",
    "required": ["apiVersion", "kind"],
    "properties": {
        "apiVersion": {
            "type": "string",
            "examples": ["karpenter.sh/v1", "karpenter.azure.com/v1beta1", "v1", "apps/v1"],
        },
        "kind": {"type": "string", "examples": ["NodePool", "AKSNodeClass", "Pod", "Deployment"]},
        "metadata": {"type": "object"},
    },
    "additionalProperties": True,
}


def default_crds() -> CrdSet:
    """Return the CRDs by which editors judge by default: those of the release that scenarios have by default."""
    return crd_set(DEFAULT_RELEASE)


def json_schema(crds: CrdSet | None = None) -> dict[str, Any]:
    """Return the schema as a value that is whole in itself; keys in a stable order."""
    crds = crds or default_crds()
    kinds = kinds_of(crds)
    every = {**kinds, **core_kinds()}
    karpenter = {kind: _or_variable(kind_schema(crds, kind)) for kind in kinds}
    return {
        "$id": SCHEMA_ID,
        **_frame({kind: f"#/definitions/{kind}" for kind in every}, every),
        "definitions": {**_definitions(), **karpenter, **_core_with_variables()},
    }


def schema_files(crds: CrdSet | None = None) -> dict[str, str]:
    """Return the schema in files that refer to one another, by their paths.

    They are the scenario's schema, one for each of Karpenter's kinds, and one for Kubernetes' own.
    """
    crds = crds or default_crds()
    kinds = kinds_of(crds)
    paths = {kind: f"crds/{kind}.schema.json" for kind in kinds}
    core = {kind: f"{_CORE}#/definitions/{kind}" for kind in core_kinds()}
    scenario = {**_frame({**paths, **core}, {**kinds, **core_kinds()}), "definitions": _definitions()}
    judged = {path: _or_variable(kind_schema(crds, kind)) for kind, path in paths.items()}
    shapes = {"$schema": _DRAFT, "title": "Kinds of Kubernetes", "definitions": _core_with_variables()}
    return {"scenario.schema.json": _text(scenario), _CORE: _text(shapes)} | {
        path: json.dumps({"$schema": _DRAFT, **schema}, indent=1, ensure_ascii=False) + "\n"
        for path, schema in judged.items()
    }


def render(crds: CrdSet | None = None) -> str:
    """Return the text of the schema that is whole in itself."""
    return _text(json_schema(crds))


def render_kind(crds: CrdSet, kind: str) -> str:
    """Return the text of a kind's own schema, for plain manifests. KeyError for a kind that neither the CRDs nor Kubernetes has."""
    if kind in core_kinds():
        definitions = core_definitions()
        own = {"$schema": _DRAFT, "title": kind, "$ref": f"#/definitions/{kind}"}
        reached = _reached(definitions, kind)
        return _text({**own, "definitions": {name: definitions[name] for name in definitions if name in reached}})
    return json.dumps({"$schema": _DRAFT, **kind_schema(crds, kind)}, indent=1, ensure_ascii=False) + "\n"


def _frame(references: Mapping[str, str], kinds: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Return the part before the definitions: the definition that an object follows, by its kind."""
    by_kind = [
        {
            "if": {"properties": {"apiVersion": {"pattern": _group_of(versions)}, "kind": {"const": kind}}},
            "then": {"$ref": references[kind]},
        }
        for kind, versions in kinds.items()
    ]
    return {
        "$schema": _DRAFT,
        "title": "Karpenter on Azure scenario file",
        "if": {"required": ["apiVersion"]},
        "then": {"allOf": [{"$ref": "#/definitions/Manifest"}, *by_kind]},
        "else": {"$ref": "#/definitions/Header"},
    }


def _core_with_variables() -> dict[str, Any]:
    return {name: _or_variable(body) for name, body in core_definitions().items()}


def _reached(definitions: Mapping[str, Any], kind: str) -> set[str]:
    """Return the names of the definitions that a kind's needs, its own among them."""
    names, waiting = {kind}, [kind]
    while waiting:
        text = json.dumps(definitions[waiting.pop()])
        new = set(re.findall(r'"#/definitions/([^"]+)"', text)) - names
        names |= new
        waiting += new
    return names


def _group_of(versions: Sequence[str]) -> str:
    """Any version of the group, so that one that is not served is marked, too; the oldest group has no name."""
    group, slash, _ = versions[0].rpartition("/")
    return f"^{escaped(group)}/" if slash else "^[^/]+$"


def language_definitions() -> dict[str, Any]:
    """Return the definitions of the scenario language, by name; `Header` is a scenario's first document."""
    schema = Header.model_json_schema(by_alias=True)
    definitions = {name: _trimmed(body) for name, body in sorted(schema.pop("$defs").items())}
    header = _trimmed(schema)
    header["title"] = "Scenario"
    moved: dict[str, Any] = _moved({"Header": header, **definitions})
    return moved


def _definitions() -> dict[str, Any]:
    """Return the definitions with the other forms that the loader takes, and with any object."""
    return {"Manifest": _MANIFEST, **{name: _varied(body) for name, body in _shared(language_definitions()).items()}}


def _or_variable(value: Any) -> Any:
    """A schema of a manifest in which a value of the matrix or of a case, `$(NAME)`, may stand for any other value."""
    if isinstance(value, list):
        return [_or_variable(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "properties" in value or value.get("type") in ("object", "array", ["object", "null"], ["array", "null"]):
        parts = {
            name: {key: _or_variable(body) for key, body in item.items()}
            if name == "properties"
            else _or_variable(item)
            for name, item in value.items()
            if name in ("properties", "items", "additionalProperties")
        }
        return {**value, **parts}
    if not value.keys() & {"type", "enum", "pattern", "anyOf", "allOf"}:
        return value
    described = {name: value[name] for name in ("description", "default") if name in value}
    return {
        **described,
        "if": {"type": "string", **_VARIABLE},
        "else": {name: body for name, body in value.items() if name not in described},
    }


def _shared(definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the definitions with one for each long property that many have, such as `only`, by its name."""
    users: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for body in definitions.values():
        for name, value in (body.get("properties") or {}).items():
            if len(text := json.dumps(value)) >= _LONG:
                users.setdefault((name, text), []).append(body["properties"])
    shared: dict[str, Any] = {}
    for (name, text), properties in users.items():
        own = name[0].upper() + name[1:]
        if len(properties) >= _MANY and own not in {**definitions, **shared}:
            shared[own] = json.loads(text)
            for property_ in properties:
                property_[name] = {"$ref": f"#/definitions/{own}"}
    return {**definitions, **shared}


def _text(schema: Mapping[str, Any]) -> str:
    """The text of its file: one line for each definition, so that changes are readable."""

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    lines = []
    for key, value in schema.items():
        if key == "definitions":
            entries = ",\n".join(f"{compact(name)}:{compact(body)}" for name, body in value.items())
            lines.append(f"{compact(key)}:{{\n{entries}\n}}")
        else:
            lines.append(f"{compact(key)}:{compact(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _trimmed(value: Any) -> Any:
    """Return the schema without pydantic's titles, without nulls as alternatives and as defaults: absence is written by leaving a key
    out."""
    if isinstance(value, list):
        return [_trimmed(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for key, item in value.items():
        if key in ("title", "discriminator") and not isinstance(item, dict):
            continue
        if key == "discriminator" or (key == "default" and item in (None, [], {})):
            continue
        result[key] = (
            {name: _trimmed(subschema) for name, subschema in item.items()} if key == "properties" else _trimmed(item)
        )
    options = result.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        rest = [option for option in options if option != {"type": "null"}]
        del result["anyOf"]
        if len(rest) == 1:
            result = {**rest[0], **result}
        else:
            result["anyOf"] = rest
    if "oneOf" in result and "properties" not in result:
        result["anyOf"] = result.pop("oneOf")  # 'yes' is text and choice at once: one match is enough
    return result


def _varied(value: Any) -> Any:
    """Return the schema with the other forms that the loader takes.

    They are a number, a choice or a yes or no in quotes, and `$(NAME)`, a value of the matrix or of a case.
    """
    if isinstance(value, list):
        return [_varied(item) for item in value]
    if not isinstance(value, dict):
        return value
    result = {key: _varied(item) for key, item in value.items()}
    kind = result.get("type")
    if isinstance(kind, str) and kind in _QUOTED and "enum" not in result:
        return {**result, "type": [kind, "string"], "pattern": f"{_QUOTED[kind]}|{_VARIABLE['pattern']}"}
    if result.get("type") == "string" and isinstance(result.get("enum"), list):
        annotations = {key: result.pop(key) for key in ("description", "default") if key in result}
        return {**annotations, "anyOf": [result, {"type": "string", **_VARIABLE}]}
    return result


def _moved(value: Any) -> Any:
    if isinstance(value, list):
        return [_moved(item) for item in value]
    if isinstance(value, dict):
        return {key: _moved(item) for key, item in value.items()}
    return (
        value.replace("#/$defs/", "#/definitions/")
        if isinstance(value, str) and value.startswith("#/$defs/")
        else value
    )
