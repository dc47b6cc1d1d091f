"""The page of `harness reality`: how many facts agree, what differs and where it stands, and why the rest cannot be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.reports.picture.page import page

__all__ = ["reality_page", "reality_value"]

_STATES = ("equal", "different", "not comparable")


def reality_page(title: str, head: Sequence[str], facts: Sequence[Mapping[str, Any]]) -> str:
    """Return the document. `head`: lines about what was read and is assumed; `facts` as `harness reality --format json` has them."""
    return page(title, reality_value(title, head, facts))


def reality_value(title: str, head: Sequence[str], facts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the facts, those together whose field, values and reason are the same: many machines say the same.

    A group has the number of its facts, and the object and place of the first.
    """
    groups: dict[tuple[str, ...], dict[str, Any]] = {}
    for fact in facts:
        kind = fact["object"].partition("/")[0]
        # of what is equal or not comparable the field is enough: names and ids would make a group each
        values = (fact["theirs"], fact["ours"]) if fact["state"] == "different" else ("", "")
        key = (fact["state"], kind, fact["field"], *values, fact.get("why", ""))
        row = groups.setdefault(
            key,
            {
                **dict(zip(("state", "kind", "field", "theirs", "ours", "why"), key, strict=True)),
                "count": 0,
                "object": fact["object"],
                "place": fact["place"],
            },
        )
        row["count"] += 1
    return {
        "page": "reality",
        "title": title,
        "head": list(head),
        "objects": len({fact["object"] for fact in facts}),
        "counts": {state: sum(fact["state"] == state for fact in facts) for state in _STATES},
        "groups": sorted(groups.values(), key=lambda row: (-row["count"], row["kind"], row["field"], row["theirs"])),
    }
