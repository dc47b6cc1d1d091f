"""Fields of Karpenter's resources that no release has: the API server prunes them, and kubectl (strict by default) refuses them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from harness.karpenter.validation.crds import field_paths

__all__ = ["places_of", "unknown_fields"]

Pointer = tuple[str | int, ...]
_TOP = ("apiVersion", "kind", "metadata")


def unknown_fields(obj: Mapping[str, Any]) -> Iterator[tuple[Pointer, tuple[str, ...]]]:
    """Place of each unknown field, with the fields that are known there; nothing for kinds that are not Karpenter's.

    A field of any release counts as known: a file may be meant for several of them.
    """
    children = _children(f"{obj.get('apiVersion')}/{obj.get('kind')}")
    if children:
        rest = {key: value for key, value in obj.items() if key not in _TOP}
        yield from _walk(rest, "", (), children)


def _walk(
    value: Any, path: str, at: Pointer, children: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[Pointer, tuple[str, ...]]]:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _walk(item, f"{path}[]", (*at, index), children)
    elif isinstance(value, Mapping) and path in children:
        names = children[path]
        for key, item in value.items():
            if "{}" in names:
                continue  # any key
            if key in names:
                yield from _walk(item, f"{path}.{key}" if path else key, (*at, key), children)
            else:
                yield (*at, key), names


def places_of(api_version: str, kind: str, field: str) -> tuple[str, ...]:
    """The paths of the maps that have a field of this name in one of Karpenter's kinds, the shallowest first."""
    children = _children(f"{api_version}/{kind}")
    return tuple(
        sorted(
            (path for path, names in children.items() if path and field in names), key=lambda place: place.count(".")
        )
    )


@lru_cache(maxsize=256)
def _children(resource: str) -> Mapping[str, tuple[str, ...]]:
    """Path of a map → names of its fields; `{}` among them where any name will do."""
    names_of: dict[str, list[str]] = {}
    for path in field_paths(resource):
        if path.endswith("{}"):
            names_of.setdefault(path[:-2], []).append("{}")
        elif path and not path.endswith("[]"):
            parent, _, name = path.rpartition(".")
            names_of.setdefault(parent, []).append(name)
    return {path: tuple(dict.fromkeys(names)) for path, names in names_of.items()}
