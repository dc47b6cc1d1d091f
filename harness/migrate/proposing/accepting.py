"""Removal of all that an API server and Karpenter refuse of a proposed object, with their own sentence as the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.explain.upgrade.verdicts import refusals_by
from harness.karpenter.releases import ProviderRelease
from harness.karpenter.validation import Rejection
from harness.kube.api.objects import copy_json
from lazyrecords import dataclass

__all__ = ["Removed", "Unacceptable", "accepted"]

Pointer = tuple[str | int, ...]

_MOST = 200
"""Fields that are taken out of one object at most."""
_KEPT = frozenset({"apiVersion", "kind", "metadata", "nodeClassRef"})


class Unacceptable(Exception):
    """An object that stays refused whatever is taken out of it; the text is the refusal."""


@dataclass(frozen=True, slots=True)
class Removed:
    """A part of an object that was refused: where it stood, and the refusal; `key`: that of the requirement or taint that it is of."""

    pointer: Pointer
    value: Any
    rejection: Rejection
    key: str = ""

    @property
    def text(self) -> str:
        """Return the refusal as a sentence of a row."""
        return f"refused: {self.rejection.message or self.rejection.text}"


def accepted(
    obj: Mapping[str, Any], release: ProviderRelease, kubernetes: str, on_removed: Callable[[Removed], None]
) -> dict[str, Any]:
    """Return the object without what is refused of it; `on_removed` is called with each part. Raises Unacceptable."""
    draft: dict[str, Any] = copy_json(obj)
    for _ in range(_MOST):
        refused = refusals_by(draft, release, kubernetes)
        if not refused:
            return draft
        rejection = refused[0]
        pointer = _removable(draft, rejection.pointer)
        if pointer is None:
            raise Unacceptable(rejection.text)
        key = _key(draft, pointer)
        on_removed(Removed(pointer, _take(draft, pointer), rejection, key))
    raise Unacceptable(refused[0].text)


def _removable(obj: Mapping[str, Any], pointer: Pointer) -> Pointer | None:
    """The deepest part on the way to a pointer that there is and that an object can do without."""
    place: Any = obj
    way: list[str | int] = []
    for part in pointer:
        inside = (
            part in place
            if isinstance(place, Mapping)
            else isinstance(part, int) and isinstance(place, list) and part < len(place)
        )
        if not inside:
            break
        way.append(part)
        place = place[part]
    while way and (way[-1] in ("spec", "template", "values", "key", "operator", "effect", "value") or way[-1] in _KEPT):
        if way[-1] in _KEPT or way == ["spec"]:
            return None
        way.pop()
    return tuple(way) or None


def _take(obj: dict[str, Any], pointer: Pointer) -> Any:
    place: Any = obj
    for part in pointer[:-1]:
        place = place[part]
    return place.pop(pointer[-1])


def _key(obj: Mapping[str, Any], pointer: Pointer) -> str:
    """The key of the last map on the way to a pointer that has one."""
    place: Any = obj
    key = ""
    for part in pointer:
        place = place[part]
        if isinstance(place, Mapping) and isinstance(place.get("key"), str):
            key = place["key"]
    return key
