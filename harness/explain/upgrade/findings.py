"""A consequence of an upgrade, and what it means for the one who upgrades."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Effect", "Finding", "Pointer"]

Pointer = tuple[str | int, ...]


class Effect(StrEnum):
    """The effect of a finding on the one who upgrades."""

    WORSE = "worse"
    CHANGED = "changed"
    BETTER = "better"
    SAME = "same"


@dataclass(frozen=True, slots=True)
class Finding:
    """One consequence of the upgrade.

    ``object`` is ``Kind/name`` and ``pointer`` the place in it, ``kind`` what it is about (refused, nodeclaims-refused, validation,
    sizes, choice, pod, label, hash), ``key`` the label key if it is about one. ``before`` and ``after`` are for reading; ``rule`` and
    ``since`` say who refuses from which release on; ``instead`` are ways out and ``notes`` what else to know.
    """

    effect: Effect
    object: str
    kind: str
    text: str
    pointer: Pointer = ()
    key: str | None = None
    layer: str | None = None
    rule: str | None = None
    since: str | None = None
    before: str | None = None
    after: str | None = None
    instead: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
