"""Attributes that are replaced while a mock is on, and put back as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

_NONE = object()


@dataclass(frozen=True, slots=True)
class Patch:
    """An attribute and its replacement: `wrap` gets the original and returns what stands in its place."""

    owner: Any
    name: str
    wrap: Callable[[Callable[..., Any]], Callable[..., Any]]


class Patches:
    """Patches that are made and undone together."""

    def __init__(self) -> None:
        """Begin with none made."""
        self._made: list[tuple[Patch, object, object]] = []

    def make(self, patches: Iterable[Patch]) -> None:
        """Replace the attributes."""
        for patch in patches:
            original = vars(patch.owner).get(patch.name, _NONE)  # what is inherited is taken away again
            replacement = patch.wrap(getattr(patch.owner, patch.name))
            setattr(patch.owner, patch.name, replacement)
            self._made.append((patch, original, replacement))

    def undo(self) -> None:
        """Put the attributes back. One that somebody replaced since stays theirs: what stands below it does nothing any more."""
        while self._made:
            patch, original, replacement = self._made.pop()
            if vars(patch.owner).get(patch.name) is not replacement:
                continue
            if original is _NONE:
                delattr(patch.owner, patch.name)
            else:
                setattr(patch.owner, patch.name, original)
