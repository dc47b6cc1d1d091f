"""Karpenter's own kinds in the JSON Schema: the fields that some release has, so that an editor completes them and marks others."""

from __future__ import annotations

from typing import Any

from harness.karpenter.validation.crds import field_paths

__all__ = ["CUSTOM", "custom_definitions"]

CUSTOM = {
    "NodePool": "karpenter.sh/v1",
    "NodeClaim": "karpenter.sh/v1",
    "AKSNodeClass": "karpenter.azure.com/v1beta1",
}
"""The kinds, with the version that is described; an object of another version is any object."""

_METADATA = {
    "type": "object",
    "required": ["name"],
    "properties": {
        "name": {"type": "string"},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "annotations": {"type": "object", "additionalProperties": {"type": "string"}},
    },
}


def custom_definitions() -> dict[str, Any]:
    """A definition for each kind."""
    return {kind: _definition(kind, version) for kind, version in CUSTOM.items()}


def _definition(kind: str, version: str) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for path in filter(None, field_paths(f"{version}/{kind}")):  # the object itself has the path ""
        node = tree
        for part in path.replace("[]", ".[]").replace("{}", ".{}").split("."):
            node = node.setdefault(part, {})
    schema = _schema(tree)
    schema["properties"] |= {"apiVersion": {"const": version}, "kind": {"const": kind}, "metadata": _METADATA}
    return {"title": kind, **schema}


def _schema(tree: dict[str, Any]) -> dict[str, Any]:
    """What stands at a place: a list, a map with any keys, a map with these keys, or a value of which the CRD's rules judge."""
    if "[]" in tree:
        return {"type": "array", "items": _schema(tree["[]"])}
    if "{}" in tree:
        return {"type": "object"}
    if not tree:
        return {}
    return {
        "type": "object",
        "properties": {name: _schema(below) for name, below in tree.items()},
        "additionalProperties": False,
    }
