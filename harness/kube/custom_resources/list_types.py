"""Uniqueness in lists of type set and map.

Source: apiextensions-apiserver pkg/apiserver/schema/listtype/validation.go.
"""

from __future__ import annotations

from typing import Any

from harness.kube.api.field_errors import ErrorType, FieldError, Pointer, go_json
from harness.kube.api.objects import is_mapping
from harness.kube.custom_resources.schema import Schema


def validate_list_types(schema: Schema, value: Any) -> list[FieldError]:
    """The duplicates in a resource's lists of type set and map; each duplicated element is reported once."""
    errors: list[FieldError] = []
    _visit(schema, value, "", (), errors)
    return errors


def _visit(schema: Schema, value: Any, path: str, at: Pointer, errors: list[FieldError]) -> None:
    if not schema.has_list_types:
        return
    if isinstance(value, dict):
        for key, child in schema.listed:
            if key in value:
                _visit(child, value[key], f"{path}.{key}" if path else key, (*at, key), errors)
        if schema.additional is not None and schema.additional.has_list_types:
            for key, entry in value.items():
                if key not in schema.properties:
                    _visit(schema.additional, entry, f"{path}[{key}]", (*at, key), errors)
    elif isinstance(value, list):
        _elements(schema, value, path, at, errors)
        if schema.items is not None and schema.items.has_list_types:
            for index, entry in enumerate(value):
                _visit(schema.items, entry, f"{path}[{index}]", (*at, index), errors)


def _elements(schema: Schema, value: list[Any], path: str, at: Pointer, errors: list[FieldError]) -> None:
    if schema.list_type == "map":
        for index, entry in enumerate(value):
            if entry is not None and not is_mapping(entry):
                detail = "must be an object for an array of list-type map"
                errors.append(FieldError(ErrorType.INVALID, f"{path}[{index}]", detail, entry, (*at, index)))
                return
        keys: list[Any] = [
            {key: entry[key] for key in schema.list_map_keys if key in entry} if entry is not None else {}
            for entry in value
        ]
    elif schema.list_type == "set":
        keys = value
    else:
        return
    if _all_differ(keys):
        return
    seen: dict[str, int] = {}
    for index, key in enumerate(keys):
        text = go_json(key)
        seen[text] = seen.get(text, 0) + 1
        if seen[text] == 2:
            errors.append(FieldError(ErrorType.DUPLICATE, f"{path}[{index}]", "", key, (*at, index)))


def _all_differ(keys: list[Any]) -> bool:
    """Return whether all items certainly differ; True only for texts and mappings of one key to a text, the content of most lists."""
    texts = [next(iter(key.values())) if key.__class__ is dict and len(key) == 1 else key for key in keys]
    return all(text.__class__ is str for text in texts) and len(set(texts)) == len(texts)
