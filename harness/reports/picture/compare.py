"""The page of a comparison: what differs first, then both stories side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.reports.picture.page import page
from harness.reports.picture.story import Line
from harness.reports.picture.world import world_value

__all__ = ["Differing", "Pair", "compare_page"]


@dataclass(frozen=True, slots=True)
class Differing:
    """What is not the same: `about` a group of facts (`NodeClaims`), `name` says which; both sides in words.

    `text` says more, a line each in `notes`; `kept` is why it may differ; `grave` marks what somebody has to act on.
    """

    about: str
    name: str
    left: str = ""
    right: str = ""
    text: str = ""
    notes: Sequence[str] = ()
    kept: str = ""
    grave: bool = False


@dataclass(frozen=True, slots=True)
class Pair:
    """Two traces as lines, and what differs; `notes` say where they began otherwise."""

    name: str
    left: Iterable[Line]
    right: Iterable[Line]
    differences: Sequence[Differing]
    notes: Sequence[str] = ()


def compare_page(title: str, names: tuple[str, str], pairs: Iterable[Pair]) -> str:
    """The document; `names` are those of the two sides."""
    return page(
        title, {"page": "compare", "title": title, "names": list(names), "pairs": [_pair(one) for one in pairs]}
    )


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "name": pair.name,
        "notes": list(pair.notes),
        "differences": [_difference(one) for one in pair.differences],
        "worlds": [world_value(pair.left), world_value(pair.right)],
    }


def _difference(one: Differing) -> Mapping[str, Any]:
    return {
        "about": one.about,
        "name": one.name,
        "a": one.left,
        "b": one.right,
        "text": one.text,
        "notes": list(one.notes),
        "kept": one.kept,
        "grave": one.grave,
    }
