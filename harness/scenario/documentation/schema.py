"""The JSON Schema of the file format for editors, generated from the models.

The schema also accepts Kubernetes manifests, because an editor checks every document of a file by itself.
"""

from __future__ import annotations

import json
from typing import Any

from harness.scenario.documentation.manifests import CUSTOM, custom_definitions
from harness.scenario.language.models import Header

__all__ = ["SCHEMA_ID", "json_schema", "render"]

SCHEMA_ID = "urn:karpenter-azure-harness:scenario"
"""The schema's name. It is no address: editors read the file that `harness schema` writes."""

_LONG, _MANY = 100, 4
"""Letters of a property from which on, and definitions with it from which on, it is told once."""

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


def json_schema() -> dict[str, Any]:
    """The schema as a value; keys in a stable order."""
    schema = Header.model_json_schema(by_alias=True)
    definitions = {name: _trimmed(body) for name, body in sorted(schema.pop("$defs").items())}
    header = _trimmed(schema)
    header["title"] = "Scenario"
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": SCHEMA_ID,
        "title": "Karpenter on Azure scenario file",
        "if": {"required": ["apiVersion"]},
        "then": {"$ref": "#/definitions/Manifest"},
        "else": {"$ref": "#/definitions/Header"},
        "definitions": _moved(
            {"Header": header, "Manifest": _MANIFEST | _kinds(), **definitions, **custom_definitions()}
        ),
    }


def _shared(definitions: dict[str, Any]) -> dict[str, Any]:
    """With a definition of its own for each long property that many definitions have, such as `only`, by its name."""
    users: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for body in definitions.values():
        for name, value in (body.get("properties") or {}).items():
            if len(text := json.dumps(value)) >= _LONG:
                users.setdefault((name, text), []).append(body["properties"])
    found: dict[str, Any] = {}
    for (name, text), properties in users.items():
        own = name[0].upper() + name[1:]
        if len(properties) >= _MANY and own not in {**definitions, **found, **CUSTOM}:
            found[own] = json.loads(text)
            for each in properties:
                each[name] = {"$ref": f"#/definitions/{own}"}
    return {**definitions, **found}


def _kinds() -> dict[str, Any]:
    """Which definition an object has to follow, by what it says that it is."""
    return {
        "allOf": [
            {
                "if": {"properties": {"apiVersion": {"const": version}, "kind": {"const": kind}}},
                "then": {"$ref": f"#/definitions/{kind}"},
            }
            for kind, version in CUSTOM.items()
        ]
    }


def render() -> str:
    """The schema as the text of its file: one line for each definition, so that it stays small and its changes readable."""

    def compact(value: Any) -> str:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

    lines = []
    for key, value in json_schema().items():
        if key == "definitions":
            own = {"Manifest", *CUSTOM}
            told = {name: body if name in own else _varied(body) for name, body in _shared(value).items()}
            entries = ",\n".join(f"{compact(name)}:{compact(body)}" for name, body in told.items())
            lines.append(f"{compact(key)}:{{\n{entries}\n}}")
        else:
            lines.append(f"{compact(key)}:{compact(value)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _trimmed(value: Any) -> Any:
    """Without pydantic's titles, without nulls as alternatives and as defaults: absent is written by leaving a key out."""
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
        result[key] = {name: _trimmed(one) for name, one in item.items()} if key == "properties" else _trimmed(item)
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
    """With what the loader takes, too, wherever a number, a choice or a yes or no is expected: one in quotes, and `$(NAME)`, a value of
    the matrix or of a case.
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
        kept = {key: result.pop(key) for key in ("description", "default") if key in result}
        return {**kept, "anyOf": [result, {"type": "string", **_VARIABLE}]}
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
