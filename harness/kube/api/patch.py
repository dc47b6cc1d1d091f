"""Two of the patch types of the API: JSON merge (RFC 7386) and JSON patch (RFC 6902)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.kube.api.objects import copy_json, is_mapping
from harness.kube.api.status import rejected


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7386: mappings merge, null removes, everything else replaces. Shares unchanged parts with `target`."""
    if not is_mapping(patch):
        return copy_json(patch)
    result: dict[str, Any] = dict(target) if is_mapping(target) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif value.__class__ is str:
            result[key] = value
        elif is_mapping(value):
            result[key] = merge_patch(result.get(key), value)
        else:
            result[key] = copy_json(value)
    return result


def merge_diff(old: Any, new: Any) -> dict[str, Any]:
    """The smallest merge patch that makes `new` of `old` (what a controller's `client.MergeFrom` sends)."""
    patch: dict[str, Any] = {}
    for key, value in new.items():
        before = old.get(key)
        if value is before or value == before:
            continue
        if is_mapping(value) and is_mapping(before):
            patch[key] = merge_diff(before, value)
        else:
            patch[key] = value
    for key in old:
        if key not in new:
            patch[key] = None
    return patch


def json_patch(target: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """RFC 6902. An operation that does not apply is a 422 as the API server answers it."""
    document = copy_json(target)
    for operation in operations:
        try:
            document = _OPERATIONS[operation["op"]](document, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise rejected() from error
    return document


def _pointer(path: str) -> list[str]:
    if path == "":
        return []
    if not path.startswith("/"):
        raise ValueError(f"not a JSON pointer: {path!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/")]


def _find(document: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        document = document[int(part)] if isinstance(document, list) else document[part]
    return document


def _value(document: Any, path: str) -> Any:
    """Return the value at a path; a missing key is null to the API server's library, an index must exist."""
    parts = _pointer(path)
    parent = _find(document, parts[:-1])
    return parent.get(parts[-1]) if parts and isinstance(parent, dict) else _find(parent, parts[-1:])


def _add(document: Any, path: str, value: Any) -> Any:
    parts = _pointer(path)
    if not parts:
        return copy_json(value)
    parent = _find(document, parts[:-1])
    if isinstance(parent, list):
        index = len(parent) if parts[-1] == "-" else int(parts[-1])
        if index < 0:  # the API server's library counts from behind the last
            index += len(parent) + 1
        if not 0 <= index <= len(parent):
            raise IndexError(f"index {parts[-1]} out of bounds")
        parent.insert(index, copy_json(value))
    else:
        parent[parts[-1]] = copy_json(value)
    return document


def _remove(document: Any, path: str) -> Any:
    parts = _pointer(path)
    parent = _find(document, parts[:-1])
    if isinstance(parent, list):
        del parent[int(parts[-1])]
    else:
        del parent[parts[-1]]
    return document


def _replace(document: Any, path: str, value: Any) -> Any:
    parts = _pointer(path)
    # the API server's library replaces a key that is not there, too; an index must exist
    if isinstance(_find(document, parts[:-1]), list):
        _remove(document, path)
    return _add(document, path, value)


def _move(document: Any, source: str, path: str) -> Any:
    value = _value(document, source)
    return _add(_remove(document, source), path, value)


def _test(document: Any, path: str, value: Any) -> Any:
    if _value(document, path) != value:
        raise ValueError("testing value failed")
    return document


_OPERATIONS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "add": lambda doc, op: _add(doc, op["path"], op.get("value")),
    "remove": lambda doc, op: _remove(doc, op["path"]),
    "replace": lambda doc, op: _replace(doc, op["path"], op.get("value")),
    "move": lambda doc, op: _move(doc, op["from"], op["path"]),
    "copy": lambda doc, op: _add(doc, op["path"], _value(doc, op["from"])),
    "test": lambda doc, op: _test(doc, op["path"], op.get("value")),
}
