"""Functions of template expressions that take a lambda, and those on objects and arrays that Bicep's compiler writes.

Names and rules: learn.microsoft.com, "Lambda functions for ARM templates", "Array functions", "Object functions".
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cmp_to_key
from typing import Any

from fakeazure.resources.deployments.template_functions import Function, text_of, wrong
from fakeazure.resources.deployments.template_values import Budget, Lambda, equal, type_name


def _map(values: Any, function: Lambda) -> list[Any]:
    return [function(value, place) for place, value in enumerate(values)]


def _test(name: str, answer: Any) -> bool:
    if not isinstance(answer, bool):
        raise wrong(name, "expects its lambda to return a boolean")
    return answer


def _filter(values: Any, function: Lambda) -> list[Any]:
    return [value for place, value in enumerate(values) if _test("filter", function(value, place))]


def _reduce(values: Any, start: Any, function: Lambda) -> Any:
    for place, value in enumerate(values):
        start = function(start, value, place)
    return start


def _sort(values: Any, function: Lambda) -> list[Any]:
    return sorted(values, key=cmp_to_key(lambda a, b: -1 if _test("sort", function(a, b)) else 1))


def _key(name: str, key: Any) -> str:
    if not isinstance(key, str):
        raise wrong(name, "expects its lambda to return a string")
    return key


def _to_object(values: Any, key: Lambda, value: Lambda | None = None) -> dict[str, Any]:
    return {_key("toObject", key(item)): value(item) if value is not None else item for item in values}


def _group_by(values: Any, key: Lambda) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {}
    for place, item in enumerate(values):
        groups.setdefault(_key("groupBy", key(item, place)), []).append(item)
    return groups


def _items(value: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": value[key]} for key in sorted(value, key=str.lower)]


def _flatten(values: Any) -> list[Any]:
    if not all(isinstance(value, list | tuple) for value in values):
        raise wrong("flatten", "expects an array of arrays")
    return [item for value in values for item in value]


def _intersection(budget: Budget, *values: Any) -> Any:
    first, *others = values
    if all(isinstance(value, Mapping) for value in values):
        return {
            key: item
            for key, item in first.items()
            if all(key in other and equal(other[key], item) for other in others)
        }
    if any(isinstance(value, Mapping) for value in values):
        raise wrong("intersection", "expects parameters that are all arrays, or all objects")
    sets = [{type_name(item) + text_of(budget, item) for item in other} for other in others]
    common: dict[str, Any] = {}
    for item in first:
        common.setdefault(type_name(item) + text_of(budget, item), item)
    return [item for key, item in common.items() if all(key in other for other in sets)]


def _try_get(holder: Any, *keys: Any) -> Any:
    """The value at a path, null where there is none: what `a.?b` and `a[?b]` are compiled to."""
    for key in keys:
        if isinstance(holder, Mapping) and isinstance(key, str):
            names = {str(name).lower(): name for name in holder}
            holder = holder.get(names.get(key.lower(), key))
        elif isinstance(holder, list | tuple) and type(key) is int:
            holder = holder[key] if -1 < key < len(holder) else None
        else:
            return None
    return holder


def _from_end(values: Any, place: int) -> Any:
    if not 0 < place <= len(values):
        raise wrong("indexFromEnd", "has an index that is out of range")
    return values[-place]


def _object_keys(value: Mapping[str, Any]) -> list[str]:
    return sorted(value, key=str.lower)


def _shallow(values: Any) -> dict[str, Any]:
    if not all(isinstance(value, Mapping) for value in values):
        raise wrong("shallowMerge", "expects an array of objects")
    return {key: item for value in values for key, item in value.items()}


def _index_of(values: Any, wanted: Any) -> int:
    if isinstance(values, str):
        return values.lower().find(str(wanted).lower())
    places = (place for place, value in enumerate(values) if equal(value, wanted))
    return next(places, -1)


def _last_index_of(values: Any, wanted: Any) -> int:
    if isinstance(values, str):
        return values.lower().rfind(str(wanted).lower())
    place = _index_of(list(reversed(values)), wanted)
    return -1 if place < 0 else len(values) - 1 - place


LAMBDAS: Mapping[str, Function] = {
    "map": Function("a l", _map),
    "filter": Function("a l", _filter),
    "reduce": Function("a ? l", _reduce),
    "sort": Function("a l", _sort),
    "toObject": Function("a l l?", _to_object),
    "groupBy": Function("a l", _group_by),
    "mapValues": Function("o l", lambda value, function: {key: function(item) for key, item in value.items()}),
    "items": Function("o", _items),
    "objectKeys": Function("o", _object_keys),
    "shallowMerge": Function("a", _shallow),
    "flatten": Function("a", _flatten),
    "intersection": Function("ao ao*", _intersection, thrifty=True),
    "tryGet": Function("? ? ?*", _try_get),
    "tryIndexFromEnd": Function("a i", lambda values, place: values[-place] if 0 < place <= len(values) else None),
    "indexFromEnd": Function("a i", _from_end),
    "indexOf": Function("sa ?", _index_of),
    "lastIndexOf": Function("sa ?", _last_index_of),
}
"""Functions by name."""
