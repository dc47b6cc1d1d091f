"""What `kubectl apply` reads, and what it sends: the new manifest, and what takes away what the last one had and the new one has not."""

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
    """The objects, those of paths and texts among them."""
    found: list[Object] = []
    problems: list[Problem] = []
    for each in objects:
        if not isinstance(each, (str, Path)):
            found.append(each)
            continue
        from harness.reading.sources import manifests_from  # a world of mappings needs no YAML

        try:
            found += [manifest.object for manifest in manifests_from(each)]
        except ScenarioError as error:
            problems += error.problems
    if problems:
        raise ScenarioError(problems)
    return found


def applied_patch(last: Object | None, new: Object, *, strategic: bool = False) -> dict[str, Any]:
    """The patch that takes an object from what was applied last to what is applied now; what others set stays.

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
    before = {each.get(by): each for each in last}
    kept = [_with_removals(before.pop(each.get(by), {}), each, True, field) for each in new]
    return [*kept, *({by: name, "$patch": "delete"} for name in before)]
