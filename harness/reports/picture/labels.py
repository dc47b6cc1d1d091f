"""The writers of a Node's labels: every write in its order, and the NodePool that asked for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.explain.labels.sources import SOURCES, in_nodepool
from harness.reports.picture.story import Line, Story

__all__ = ["label_tables", "source_words"]

_NODES = 25
"""Nodes whose labels a page holds: more would make it heavy, and they repeat each other."""


def source_words() -> dict[str, dict[str, str]]:
    """Return the name of each source, and its identity."""
    return {source: {"name": name, "text": text} for source, (name, text) in SOURCES.items()}


def label_tables(story: Story) -> list[dict[str, Any]]:
    """For each Node its keys in order, each with `value` (None where it has none at the end) and its writes.

    Nodes that are there at the end come first; of others `gone` is when they went. A write that comes from a NodePool names it:
    `nodepool` {name, part, and the place of its manifest}.
    """
    nodes: dict[str, dict[str, list[Any]]] = {}
    gone = _gone(story)
    order = list(dict.fromkeys(fact["node"] for fact in story.facts("label")))
    shown = frozenset(sorted(order, key=lambda name: name in gone)[:_NODES])
    pools, manifests = _pools(story), _manifests(story)
    for fact in story.facts("label"):
        if fact["node"] in shown:
            write = {key: fact.get(key) for key in ("t", "kind", "by", "from", "value") if fact.get(key) is not None}
            origin = _origin(fact, pools.get(fact["node"], ""), manifests)
            nodes.setdefault(fact["node"], {}).setdefault(fact["key"], []).append(write | origin)
    return [
        {
            "node": node,
            "gone": gone.get(node),
            "keys": [{"key": key, "value": _final(writes), "writes": writes} for key, writes in sorted(keys.items())],
        }
        for node, keys in sorted(nodes.items(), key=lambda entry: entry[0] in gone)
    ]


def _gone(story: Story) -> dict[str, float]:
    """When each Node was deleted that is not there at the end."""
    last = {fact["node"]: fact for fact in story.facts("node")}
    return {name: fact["t"] for name, fact in last.items() if fact["state"] == "deleted"}


def _pools(story: Story) -> dict[str, str]:
    """The NodePool of each Node."""
    pools = {fact["node"]: fact["nodepool"] for fact in story.facts("node") if fact.get("nodepool")}
    return pools | {fact["node"]: fact["nodepool"] for fact in story.facts("claim") if fact.get("node")}


def _manifests(story: Story) -> dict[str, list[Line]]:
    """Return the applied manifests of each NodePool, by its name, in order of time."""
    manifests: dict[str, list[Line]] = {}
    for fact in story.facts("object"):
        kind, _, name = fact["object"].partition("/")
        if kind == "NodePool" and fact.get("manifest") and not fact.get("refused"):
            manifests.setdefault(name, []).append(fact)
    return manifests


def _origin(write: Line, pool: str, manifests: Mapping[str, Sequence[Line]]) -> dict[str, Any]:
    """The NodePool that a write comes from, as it was last applied before that."""
    for fact in reversed(manifests.get(pool, ())):
        part = in_nodepool(fact["manifest"], write["key"], write.get("value"), write.get("from", ""))
        if fact["t"] <= write["t"] and part:
            place = {"file": fact["file"], "line": fact["line"]} if fact.get("file") else None
            return {"nodepool": {"name": pool, "part": part, "place": place}}
    return {}


def _final(writes: list[Any]) -> str | None:
    value = None
    for write in writes:
        if write["kind"] in ("set", "overwrote", "same"):
            value = write.get("value", value)
        elif write["kind"] == "removed":
            value = None
    return value
