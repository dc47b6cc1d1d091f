"""The three patch types of the API: JSON merge, JSON patch and strategic merge.

Strategic merge knows the lists of the core types that carry a merge key (k8s.io/api core/v1/types.go,
`patchStrategy:"merge"`); every other list, taints and tolerations among them, is replaced whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.kube.api.field_errors import go_text
from harness.kube.api.objects import copy_json, is_mapping
from harness.kube.api.status import ApiError, rejected

_MERGE_KEYS: Mapping[str, str] = {
    "conditions": "type",
    "addresses": "type",
    "containers": "name",
    "initContainers": "name",
    "ephemeralContainers": "name",
    "env": "name",
    "volumes": "name",
    "volumeMounts": "mountPath",
    "volumeDevices": "devicePath",
    "hostAliases": "ip",
    "imagePullSecrets": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "topologySpreadConstraints": "topologyKey",
    "ownerReferences": "uid",
}
_MERGED_VALUES = frozenset({"finalizers"})


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


def strategic_patch(target: Any, patch: Mapping[str, Any], field: str = "") -> Any:
    """A strategic merge patch on a core object, with `$patch: delete|replace`, `$retainKeys` and `$deleteFromPrimitiveList/`."""
    if "$patch" in patch:
        return _directed(patch)
    result: dict[str, Any] = dict(target) if is_mapping(target) else {}
    if "$retainKeys" in patch:
        result = {key: value for key, value in result.items() if key in patch["$retainKeys"]}
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.split("/", 1)[1]
            result[name] = [each for each in result.get(name) or () if each not in value]
        elif key.startswith(("$setElementOrder/", "$retainKeys")):
            continue
        elif value is None:
            result.pop(key, None)
        elif is_mapping(value):
            result[key] = strategic_patch(result.get(key), value, key)
        elif value.__class__ is str or not isinstance(value, Sequence):
            result[key] = copy_json(value)
        elif key in _MERGED_VALUES:
            present = list(result.get(key) or ())
            result[key] = present + [each for each in value if each not in present]
        elif merge_key := merge_key_of(field, key):
            result[key] = _merge_list(result.get(key) or (), value, merge_key, key)
        else:
            result[key] = copy_json(value)
    return result


def _directed(patch: Mapping[str, Any]) -> dict[str, Any]:
    """What a mapping becomes that says itself what is to happen to the one that is there."""
    directive = patch["$patch"]
    if directive == "replace":
        return {key: copy_json(value) for key, value in patch.items() if key != "$patch"}
    if directive == "delete":
        return {}
    # an error that the API server does not expect
    raise ApiError(500, "", f"unknown patch type: {go_text(directive)} in map: {go_text(patch)}")


def merge_key_of(parent: str, field: str) -> str | None:
    """The key by which a strategic merge matches the items of the list `field` of `parent`; None for a list that is replaced whole."""
    if field == "ports":
        return "port" if parent == "spec" else "containerPort"
    return _MERGE_KEYS.get(field)


def _merge_list(present: Sequence[Any], patch: Sequence[Any], merge_key: str, field: str) -> list[Any]:
    merged: dict[Any, Any] = {each.get(merge_key): each for each in present}
    for each in patch:
        if not is_mapping(each) or (merge_key not in each and each.get("$patch") != "replace"):
            # an error that the API server does not expect
            raise ApiError(500, "", f"map: {go_text(each)} does not contain declared merge key: {merge_key}")
        if each.get("$patch") == "delete":
            merged.pop(each[merge_key], None)
        elif each.get("$patch") == "replace":
            return [copy_json(other) for other in patch if "$patch" not in other]
        else:
            merged[each[merge_key]] = strategic_patch(merged.get(each[merge_key]), each, field)
    return list(merged.values())


def json_patch(target: Any, operations: Sequence[Mapping[str, Any]]) -> Any:
    """RFC 6902. An operation that does not apply is a 422 as the API server answers it."""
    document = copy_json(target)
    for each in operations:
        try:
            document = _OPERATIONS[each["op"]](document, each)
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
    value = _find(document, _pointer(source))
    return _add(_remove(document, source), path, value)


def _test(document: Any, path: str, value: Any) -> Any:
    if _find(document, _pointer(path)) != value:
        raise ValueError("testing value failed")
    return document


_OPERATIONS: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "add": lambda doc, op: _add(doc, op["path"], op["value"]),
    "remove": lambda doc, op: _remove(doc, op["path"]),
    "replace": lambda doc, op: _replace(doc, op["path"], op["value"]),
    "move": lambda doc, op: _move(doc, op["from"], op["path"]),
    "copy": lambda doc, op: _add(doc, op["path"], _find(doc, _pointer(op["from"]))),
    "test": lambda doc, op: _test(doc, op["path"], op["value"]),
}
