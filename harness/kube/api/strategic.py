"""Strategic merge patches of core objects: lists that have a merge key are merged item by item, and ordered.

Items that a patch names come in the order of ``$setElementOrder`` or else of the patch, before items of the server alone, except where the
server's own order says otherwise. Every list without a strategy, taints and tolerations among them, is replaced whole.

Source: apimachinery pkg/util/strategicpatch/patch.go; the strategies are the tags ``patchStrategy`` of k8s.io/api.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.kube.api.field_errors import go_text
from harness.kube.api.objects import Object, conditions_of, copy_json, is_mapping
from harness.kube.api.status import ApiError

__all__ = ["conditions_in_place", "merge_key_of", "strategic_patch"]

_MERGE_KEYS: Mapping[str, str] = {
    "addresses": "type",
    "allocatedResourcesStatus": "name",
    "conditions": "type",
    "containers": "name",
    "drivers": "name",
    "env": "name",
    "ephemeralContainers": "name",
    "hostAliases": "ip",
    "hostIPs": "ip",
    "imagePullSecrets": "name",
    "initContainers": "name",
    "ownerReferences": "uid",
    "podIPs": "ip",
    "resourceClaimStatuses": "name",
    "resourceClaims": "name",
    "schedulingGates": "name",
    "secrets": "name",
    "topologySpreadConstraints": "topologyKey",
    "volumeDevices": "devicePath",
    "volumeMounts": "mountPath",
    "volumes": "name",
}
_MERGED_VALUES = frozenset({("metadata", "finalizers"), ("spec", "podCIDRs")})
_REPLACED = frozenset({("PodDisruptionBudget", "spec", "selector")})

_DELETES = "$deleteFromPrimitiveList/"
_ORDERS = "$setElementOrder/"
_RETAINS = "$retainKeys"
_MARKER = "$patch"

_GO_TYPES: Mapping[type, str] = {str: "string", bool: "bool", int: "int64", float: "float64", type(None): "%!s(<nil>)"}

Json = dict[str, Any]


def merge_key_of(parent: str, field: str) -> str | None:
    """The key by which a strategic merge matches the items of the list `field` of `parent`; None for a list that is replaced whole."""
    if field == "ports":
        return "port" if parent == "spec" else "containerPort"
    return _MERGE_KEYS.get(field)


def conditions_in_place(obj: Object, conditions: Sequence[Object]) -> Json:
    """Return the patch of a status that keeps the conditions of an object in place and appends the new ones.

    Clients that compare two states write it so (CreateTwoWayMergePatch).
    """
    types = dict.fromkeys(present["type"] for present in (*conditions_of(obj), *conditions))
    return {"conditions": [*conditions], f"{_ORDERS}conditions": [{"type": name} for name in types]}


def strategic_patch(target: Mapping[str, Any], patch: Mapping[str, Any]) -> Json:
    """Return the object that a patch makes of `target`, which stays as it is.

    Raises ApiError: 400 for directives in the wrong form, 422 for lists of lists, 500 for what the API server does not expect.
    """
    return _merged(target, patch, "", str(target.get("kind", "")))


def _merged(target: Mapping[str, Any], patch: Mapping[str, Any], field: str, kind: str) -> Json:
    """Return the mapping that a patch makes of the one in `field`."""
    if _MARKER in patch:
        return _directed(patch)
    rest = dict(patch)
    result = _retained(dict(target), rest)
    for key in [key for key in rest if key.startswith(_ORDERS)]:
        _order(result, rest, key.removeprefix(_ORDERS), rest.pop(key), field, kind)
    for key, value in rest.items():
        if value.__class__ is str and key[:1] != "$":  # most fields
            result[key] = value
        elif key.startswith(_DELETES):
            _take_away(result, key.removeprefix(_DELETES), value)
        elif value is None:
            result.pop(key, None)
        elif is_mapping(value) and is_mapping(result.get(key)):
            whole = (kind, field, key) in _REPLACED
            result[key] = copy_json(value) if whole else _merged(result[key], value, key, kind)
        elif isinstance(value, list | tuple) and isinstance(result.get(key), list | tuple):
            result[key] = _merged_list(result[key], value, field, key, kind)
        elif _is_marked(value):  # the result of a directive about a mapping that is not there
            result.pop(key, None)
        else:
            result[key] = _read(value, drops_marked=True)
    return result


def _directed(patch: Mapping[str, Any]) -> Json:
    """Return the result of a patch that carries a directive for the mapping that is there."""
    directive = patch[_MARKER]
    if directive == "replace":
        replaced: Json = _read(patch)
        return replaced
    if directive == "delete":
        return {}
    raise _bad_directive(patch)


def _retained(result: Json, patch: Json) -> Json:
    """Leave only the keys that ``$retainKeys`` names, where the patch has it; all that the patch sets must be among them."""
    if _RETAINS not in patch:
        return result
    retained = patch.pop(_RETAINS)
    sets = [key for key, value in patch.items() if value is not None and not key.startswith((_DELETES, _ORDERS))]
    if not isinstance(retained, list | tuple) or any(key not in retained for key in sets):
        raise ApiError(400, "BadRequest", "invalid patch format of retainKeys")
    return {key: value for key, value in result.items() if key in retained}


def _take_away(result: Json, key: str, values: Any) -> None:
    """Take scalars out of a list; nothing happens where there is none."""
    present = result.get(key)
    if isinstance(present, list | tuple) and isinstance(values, list | tuple) and (present or values):
        _check_types(present, values)
        result[key] = [scalar for scalar in present if scalar not in values]


def _order(result: Json, patch: Json, key: str, order: Any, field: str, kind: str) -> None:
    """Merge the list of a key and bring it into the order that ``$setElementOrder`` asks for."""
    for value in (order, *(side[key] for side in (result, patch) if key in side)):
        if not isinstance(value, list | tuple):
            raise _unexpected(f"expected a []interface {{}}, but received a {_go_type(value)}")
    present, added = result.get(key), patch.pop(key, None)
    merge_key = merge_key_of(field, key)
    if merge_key is not None:
        for value in (*order, *(present or ()), *(added or ())):
            _check_mapping(value)
    _check_order(added or (), order, merge_key)
    if present is None and added is None:
        return
    if present is None:
        merged = _read(added, drops_marked=True)
    elif added is None:
        merged = [*present]
    else:
        merged = _merged_list(present, added, field, key, kind)
    _check_types(present or (), added or ())
    result[key] = _arranged(merged, order, _as_left(present or (), added or (), merge_key), merge_key)


def _as_left(present: Sequence[Any], patch: Sequence[Any], merge_key: str | None) -> Sequence[Any]:
    """Return the present list in the order in which the API server finds its memory after it has merged a patch into
    it, and by which it then sorts.

    It takes deleted items out of the list's own memory: the others move up, the last ones stay behind twice until the
    additions of the patch are written over them (``deleteMatchingEntries``, ``mergeSliceWithoutSpecialElements``).
    """
    if merge_key is None or not any(map(_is_marked, patch)):
        return present
    left, end = [*present], len(present)
    for item in patch:
        if not _is_marked(item):
            continue
        if item[_MARKER] == "replace":
            return left
        gone = _key(item, merge_key)
        for at in range(end - 1, -1, -1):
            if _key(left[at], merge_key) == gone:
                left[at : end - 1] = left[at + 1 : end]
                end -= 1
    for item in patch:
        name = None if _is_marked(item) else _key(item, merge_key)
        if name is not None and end < len(left) and all(_key(other, merge_key) != name for other in left[:end]):
            left[end] = item
            end += 1
    return left


def _check_order(added: Sequence[Any], order: Sequence[Any], merge_key: str | None) -> None:
    """Raise the server's error unless the additions of a patch stand in the same order in ``$setElementOrder``."""
    if not added or not order:
        return
    left = [item for item in added if not (_is_marked(item) and item[_MARKER] == "delete")]
    i = j = 0
    while i < len(left) and j < len(order):
        directive = _is_marked(left[i])
        if directive or _key(left[i], merge_key) == _key(order[j], merge_key):
            i += 1
        if not directive:
            j += 1
    if i < len(left) and j == len(order):
        shown = f"{go_text(added)}\n doesn't match $setElementOrder list:\n{go_text(order)}\n"
        raise _unexpected(f"The order in patch list:\n{shown}")


def _merged_list(present: Sequence[Any], patch: Sequence[Any], field: str, key: str, kind: str) -> list[Any]:
    merge_key = merge_key_of(field, key)
    if merge_key is None and (field, key) not in _MERGED_VALUES:
        return [copy_json(item) for item in patch]
    if not present and not patch:
        return []
    _check_types(present, patch)
    if merge_key is None:
        return _arranged(_without_doubles([*present, *patch]), patch, present, None)
    remaining, added, replaces = [*present], [], False
    for item in patch:
        if _MARKER not in item:
            added.append(item)
        elif item[_MARKER] == "delete":
            gone = _key(item, merge_key)
            remaining = [other for other in remaining if other.get(merge_key) != gone]
        elif item[_MARKER] == "replace":
            replaces = True
        elif item[_MARKER] == "merge":
            raise _unexpected("merging lists cannot yet be specified in the patch")
        else:
            raise _bad_directive(item)
    if replaces:
        remaining, added = _read(added), []
    merged = [*remaining]
    places = _ranks(merged, merge_key)
    for item in added:
        name = _key(item, merge_key)
        if name in places:
            merged[places[name]] = _merged(merged[places[name]], item, key, kind)
        else:
            places[name] = len(merged)
            merged.append(_read(item))
    return _arranged(merged, added, remaining, merge_key)


def _arranged(merged: Sequence[Any], order: Sequence[Any], present: Sequence[Any], merge_key: str | None) -> list[Any]:
    """Return the items that `order` names in its order, and between them those of the server alone, by the order they had there."""
    wanted, had = _ranks(order, merge_key), _ranks(present, merge_key)
    items = [(_key(item, merge_key), item) for item in merged]
    others = _sorted([item for item in items if item[0] not in wanted], had)
    arranged: list[Any] = []
    for key, placed in _sorted([item for item in items if item[0] in wanted], wanted):
        while others and key in had and others[0][0] in had and had[others[0][0]] < had[key]:
            arranged.append(others.pop(0)[1])
        arranged.append(placed)
    return [*arranged, *(item for _, item in others)]


def _sorted(items: list[tuple[Any, Any]], places: Mapping[Any, int]) -> list[tuple[Any, Any]]:
    """Sort by insertion as Go's sort.SliceStable does with up to 20 items: an item without a place goes before all others."""
    for end in range(1, len(items)):
        for at in range(end, 0, -1):
            mine, theirs = places.get(items[at][0]), places.get(items[at - 1][0])
            if mine is not None and theirs is not None and mine >= theirs:
                break
            items[at - 1], items[at] = items[at], items[at - 1]
    return items


def _ranks(items: Iterable[Any], merge_key: str | None) -> dict[Any, int]:
    ranks: dict[Any, int] = {}
    for place, item in enumerate(items):
        ranks.setdefault(_key(item, merge_key), place)
    return ranks


def _key(item: Any, merge_key: str | None) -> Any:
    if merge_key is not None:
        _check_mapping(item)
        if merge_key not in item:
            raise _unexpected(f"map: {go_text(item)} does not contain declared merge key: {merge_key}")
    value = item if merge_key is None else item[merge_key]
    if is_mapping(value) or isinstance(value, list | tuple):  # Go cannot compare them, and panics
        raise _unexpected(f"comparing uncomparable type {_go_type(value)}")
    return value


def _without_doubles(values: list[Any]) -> list[Any]:
    """Each value once; the last one takes the place of a double, as upstream has it."""
    length, i = len(values), 0
    while i < length - 1:
        j = i + 1
        while j < length:
            if values[i] == values[j]:
                length -= 1
                values[j] = values[length]
            else:
                j += 1
        i += 1
    return values[:length]


def _check_types(*lists: Sequence[Any]) -> None:
    """Items of lists that are merged are all mappings or all scalars of one type."""
    types = [dict if is_mapping(item) else item.__class__ for items in lists for item in items]
    if not types:
        raise _unexpected("no elements in any of the given slices")
    if types[0] is list:
        raise ApiError(422, "", "lists of lists are not supported")
    if any(type_of_item is not types[0] for type_of_item in types):
        raise _unexpected(f"list element types are not identical: {go_text(lists)}")


def _check_mapping(value: Any) -> None:
    if not is_mapping(value):
        raise _unexpected(f"expected a map[string]interface {{}}, but received a {_go_type(value)}")


def _go_type(value: Any) -> str:
    if is_mapping(value):
        return "map[string]interface {}"
    return "[]interface {}" if isinstance(value, list | tuple) else _GO_TYPES[value.__class__]


def _is_marked(value: Any) -> bool:
    return is_mapping(value) and _MARKER in value


def _read(value: Any, *, drops_marked: bool = False) -> Any:
    """Return the value of a patch as the API server reads it: it knows neither nulls nor directives as fields.

    Where nothing was before, a value with a directive is dropped (``drops_marked``).
    """

    if is_mapping(value):
        return {
            key: entry if entry.__class__ is str else _read(entry, drops_marked=drops_marked)
            for key, entry in value.items()
            if entry is not None and not key.startswith("$") and not (drops_marked and _is_marked(entry))
        }
    if isinstance(value, list | tuple):
        return [_read(entry, drops_marked=drops_marked) for entry in value if not (drops_marked and _is_marked(entry))]
    return value


def _bad_directive(patch: Mapping[str, Any]) -> ApiError:
    return _unexpected(f"unknown patch type: {go_text(patch[_MARKER])} in map: {go_text(patch)}")


def _unexpected(message: str) -> ApiError:
    """An error that the API server does not expect."""
    return ApiError(500, "", message)
