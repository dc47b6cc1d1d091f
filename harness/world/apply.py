"""The patch of `kubectl apply`: the new manifest, and the removal of fields that only the last one had."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.kube.api.objects import Object
from harness.kube.api.strategic import merge_key_of
from harness.reading.problems import Problem, ScenarioError

if TYPE_CHECKING:
    from harness.reading.sources import Source

_OWN = ("apiVersion", "kind", "status")


def read(objects: Iterable[Object | Source]) -> list[Object]:
    """Return the objects, those of paths and texts among them."""
    mappings: list[Object] = []
    problems: list[Problem] = []
    for obj in objects:
        if not isinstance(obj, (str, Path)):
            mappings.append(obj)
            continue
        from harness.reading.sources import manifests_from  # a world of mappings needs no YAML

        try:
            mappings += [manifest.object for manifest in manifests_from(obj)]
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return mappings


def applied_patch(last: Object | None, new: Object, *, strategic: bool = False) -> dict[str, Any]:
    """Return the patch that takes an object from the last applied manifest to the new one; fields of others stay.

    A merge patch, as custom resources take it, or a `strategic` one: core kinds have lists whose items are matched by a key.
    """
    patch = {key: value for key, value in new.items() if key not in _OWN}
    return _with_removals({key: value for key, value in (last or {}).items() if key not in _OWN}, patch, strategic)


def _with_removals(last: Mapping[str, Any], new: Mapping[str, Any], strategic: bool, field: str = "") -> dict[str, Any]:
    patch: dict[str, Any] = {}
    for key, value in new.items():
        before = last.get(key)
        by = merge_key_of(field, key) if strategic else None
        if isinstance(value, Mapping):
            patch[key] = _with_removals(before if isinstance(before, Mapping) else {}, value, strategic, key)
        elif by is not None and isinstance(value, Sequence):
            patch[key] = _items(before if isinstance(before, Sequence) else (), value, by, key)
        else:
            patch[key] = value
    for key in last:
        if key not in new:
            patch[key] = None
    return patch


def _items(last: Sequence[Any], new: Sequence[Any], by: str, field: str) -> list[dict[str, Any]]:
    before = {item.get(by): item for item in last}
    merged = [_with_removals(before.pop(item.get(by), {}), item, True, field) for item in new]
    return [*merged, *({by: name, "$patch": "delete"} for name in before)]
