"""The page of a comparison: what differs first, then both stories side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.explain.traces.group_texts import TITLES, missing_lines
from harness.explain.traces.sides import WHOLE, place_text, side_texts
from harness.reports.picture.page import page
from harness.reports.picture.story import Line
from harness.reports.picture.world import world_value
from harness.trace import Trace
from harness.trace.comparing import Comparison

__all__ = ["Differing", "Pair", "Summary", "compare_page", "pair_of"]


@dataclass(frozen=True, slots=True)
class Differing:
    """A difference: `about` a group of facts (`NodeClaims`), `name` says which; both sides in words.

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
    """Two traces as lines, and what differs; `notes` say more of them.

    `also` says plainly where the sides differ in what nobody asked for; `nothing` why there are no pictures, where nothing ran.
    """

    name: str
    left: Iterable[Line]
    right: Iterable[Line]
    differences: Sequence[Differing]
    notes: Sequence[str] = ()
    also: Sequence[str] = ()
    nothing: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """Over all pairs: how much differs in a line, a note about what both have, and the groups of differences (group_value)."""

    text: str
    note: str
    groups: Sequence[Mapping[str, Any]]
    cost: Sequence[str] = ()
    """The cost of both sides, in lines."""


def compare_page(title: str, names: tuple[str, str], pairs: Iterable[Pair], summary: Summary | None = None) -> str:
    """The document; `names` are those of the two sides."""
    extra = {} if summary is None else {"summary": summary.text, "note": summary.note, "groups": list(summary.groups)}
    extra |= {"cost": list(summary.cost)} if summary is not None and summary.cost else {}
    data = {"page": "compare", "title": title, "names": list(names), "titles": dict(TITLES), **extra}
    return page(title, {**data, "pairs": [_pair(pair) for pair in pairs]})


def pair_of(name: str, left: Trace, right: Trace, comparison: Comparison) -> Pair:
    """Two traces with the differences that comparing them found, in the words of `harness compare`."""
    differing = []
    for difference in comparison.differences:
        about, _, rest = place_text(difference.fact).partition(": ")
        one_side, other = side_texts(difference, WHOLE)
        differing.append(Differing(about, rest, one_side, other, kept=difference.kept))
    return Pair(
        name, left.to_json(), right.to_json(), differing, [f"{comparison.same} facts are the same."], _also(comparison)
    )


def _also(comparison: Comparison) -> list[str]:
    """Return the differences of two worlds that no option asks for: they follow from the releases, or from the files."""
    words = {"kubernetes": "Kubernetes", "mode": "provision mode", "seed": "seed"}
    lines = [
        f"B also has {words[name]} {right}, A {left}." for name, left, right in comparison.situations if name in words
    ]
    return [*lines, *missing_lines([("", comparison)])]


def _pair(pair: Pair) -> dict[str, Any]:
    return {
        "name": pair.name,
        "notes": list(pair.notes),
        "also": list(pair.also),
        "nothing": pair.nothing,
        "differences": [_difference(differing) for differing in pair.differences],
        "worlds": [world_value(pair.left), world_value(pair.right)],
    }


def _difference(differing: Differing) -> Mapping[str, Any]:
    return {
        "about": differing.about,
        "name": differing.name,
        "a": differing.left,
        "b": differing.right,
        "text": differing.text,
        "notes": list(differing.notes),
        "kept": differing.kept,
        "grave": differing.grave,
    }
