"""The funnel of each NodePool that was tried, from the sizes that a region sells to the few that a pod gets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from harness.reports.picture.story import Line, Story
from harness.wording import duration_text

__all__ = ["closed_texts", "funnels", "size_lists"]


def size_lists(story: Story) -> dict[str, dict[str, Any]]:
    """The lists that funnels begin with, by number: `sold`, `dropped` by the provider's filters, `offered`."""
    return {
        str(fact["number"]): {key: fact[key] for key in ("nodepool", "sold", "dropped", "offered")}
        for fact in story.facts("sizes")
    }


def funnels(story: Story, numbers: Iterable[int]) -> dict[str, dict[str, Any]]:
    """Some funnels by their number: when each was first needed, its NodePool, the list that it begins with, and its filters."""
    funnels_by_number = {fact["number"]: fact for fact in story.facts("funnel")}
    return {
        str(number): {
            **{key: funnels_by_number[number][key] for key in ("t", "nodepool", "sizes")},
            "steps": [_step(step) for step in funnels_by_number[number]["steps"]],
        }
        for number in sorted(set(numbers))
    }


def _step(step: Line) -> dict[str, Any]:
    """A filter; of what cannot be had `closed` says why, by the positions of sizes."""
    return {**step, "closed": closed_texts(step)} if "closed" in step else dict(step)


def closed_texts(step: Line) -> dict[str, list[int]]:
    """Return the reasons why sizes cannot be had, each with their positions in the list of sizes."""
    reasons: dict[int, dict[tuple[str, str], Line]] = {}
    for closing in sorted(
        step["closed"], key=lambda closing: -closing.get("until", 0.0)
    ):  # the first mark that ends opens the size
        for position in _positions(closing["removed"]):
            reasons.setdefault(position, {})[closing["what"], closing.get("name", "")] = closing
    texts: dict[str, list[int]] = {}
    for position, closings in sorted(reasons.items()):
        texts.setdefault("; ".join(sorted(map(_closed, closings.values()))), []).append(position)
    return texts


def _closed(closing: Line) -> str:
    name = closing.get("name", "")
    if closing["what"] == "mark":
        return f"Azure refused it, and Karpenter leaves it alone until {duration_text(closing['until'])} (its word for that: {name})"
    if closing["what"] == "quota":
        return f"Azure's quota {name} has {max(0, closing.get('left', 0))} of {closing.get('limit', 0)} vCPUs left"
    return {"price": "no price is known", "spot": "not sold as spot"}[closing["what"]]


def _positions(text: str) -> Iterator[int]:
    """`0-14,17` as numbers."""
    for part in filter(None, text.split(",")):
        low, _, high = part.partition("-")
        yield from range(int(low), int(high or low) + 1)
