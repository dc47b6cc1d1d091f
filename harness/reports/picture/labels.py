"""Who wrote which label of a Node: every write in its order."""

from __future__ import annotations

from typing import Any

from harness.reports.picture.story import Story

__all__ = ["label_tables"]

_NODES = 25
"""Nodes whose labels a page holds: more would make it heavy, and they repeat each other."""


def label_tables(story: Story) -> list[dict[str, Any]]:
    """For each Node its keys in order, each with `value` (None where it has none at the end) and its writes."""
    nodes: dict[str, dict[str, list[Any]]] = {}
    for fact in story.facts("label"):
        if fact["node"] in nodes or len(nodes) < _NODES:
            write = {key: fact.get(key) for key in ("t", "kind", "by", "from", "value") if fact.get(key) is not None}
            nodes.setdefault(fact["node"], {}).setdefault(fact["key"], []).append(write)
    return [
        {
            "node": node,
            "keys": [{"key": key, "value": _final(writes), "writes": writes} for key, writes in sorted(keys.items())],
        }
        for node, keys in nodes.items()
    ]


def _final(writes: list[Any]) -> str | None:
    value = None
    for one in writes:
        if one["kind"] in ("set", "overwrote", "same"):
            value = one.get("value", value)
        elif one["kind"] == "removed":
            value = None
    return value
