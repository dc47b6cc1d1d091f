"""Delta debugging: the smallest part of a value for which a test still holds (Zeller and Hildebrandt, *Simplifying and Isolating
Failure-Inducing Input*, 2002), first over a list, then over the fields and values of each item.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

__all__ = ["Path", "smaller_list", "smaller_values", "without"]

T = TypeVar("T")
Path = tuple[str | int, ...]

_NAMES = frozenset({"annotations", "labels", "matchLabels", "nodeSelector", "values"})
"""Fields whose values are names, also where they read as numbers: another number would be another name."""
_AMOUNT = re.compile(r"[0-9.]+([numkMGTPE]|[KMGTPE]i)?")


def smaller_list(items: Sequence[T], holds: Callable[[list[T]], bool]) -> list[T]:
    """Return a part of the list for which `holds` holds, and from which no single item can go (ddmin)."""
    part = list(items)
    parts = 2
    while part:
        size = max(1, len(part) // parts)
        for start in range(0, len(part), size):
            rest = part[:start] + part[start + size :]
            if holds(rest):
                part, parts = rest, max(parts - 1, 2)
                break
        else:
            if size == 1:
                break
            parts = min(len(part), parts * 2)
    return part


def smaller_values(value: Any, holds: Callable[[Any], bool], fixed: frozenset[Path]) -> Any:
    """Return the value without removable parts: fields and items from the outside to the inside, then smaller numbers.

    `fixed` are paths that stay. Nothing more can go one by one.
    """
    changed = True
    while changed:
        changed = False
        for path in _paths(value):
            if any(stays[: len(path)] == path for stays in fixed) or not _there(value, path):
                continue
            candidate = without(value, path)
            if holds(candidate):
                value, changed = candidate, True
    for path in list(_paths(value)):
        if path in fixed or not _NAMES.isdisjoint(map(str, path[:-1])):
            continue
        for smaller in _smaller(_at(value, path)):
            candidate = _with(value, path, smaller)
            if holds(candidate):
                value = candidate
                break
    return value


def without(value: Any, path: Path) -> Any:
    """Return the value without the part at a path."""
    first, *rest = path
    if isinstance(value, list):
        index = int(first)
        return [*value[:index], *([without(value[index], tuple(rest))] if rest else []), *value[index + 1 :]]
    rest_of_map = {key: item for key, item in value.items() if key != first or rest}
    return {**rest_of_map, first: without(value[first], tuple(rest))} if rest else rest_of_map


def _with(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    first, *rest = path
    if isinstance(value, list):
        return [_with(item, tuple(rest), new) if index == first else item for index, item in enumerate(value)]
    return {key: _with(item, tuple(rest), new) if key == first else item for key, item in value.items()}


def _paths(value: Any) -> Iterator[Path]:
    """Yield the places of all values inside, the outer ones first; in lists from behind, so that a removal moves no other place."""
    level: list[tuple[Path, Any]] = [((), value)]
    while level:
        below: list[tuple[Path, Any]] = []
        for path, inner in level:
            if isinstance(inner, Mapping):
                below += [((*path, key), item) for key, item in inner.items()]
            elif isinstance(inner, list):
                below += [((*path, index), inner[index]) for index in reversed(range(len(inner)))]
        yield from (path for path, _ in below)
        level = below


def _there(value: Any, path: Path) -> bool:
    for part in path:
        held = part in value if isinstance(value, Mapping) else isinstance(value, list) and _index(part) < len(value)
        if not held:
            return False
        value = _at(value, (part,))
    return True


def _index(part: str | int) -> int:
    return int(part)


def _at(value: Any, path: Path) -> Any:
    for part in path:
        value = value[part]
    return value


def _smaller(value: Any) -> Iterator[Any]:
    """Simpler numbers and quantities, the simplest first."""
    if isinstance(value, bool):
        return
    if isinstance(value, int) and value > 1:
        yield from dict.fromkeys((1, 2, value // 2))
    elif isinstance(value, str) and _AMOUNT.fullmatch(value) and value != "1" and len(value) > 1:
        yield "1"
