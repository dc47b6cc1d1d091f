"""Facts of a comparison that may be shown to others: figures and words of a known form, and labels that many clusters have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from harness.capture.public_values import is_public
from harness.reality.facts import Comparison, State

__all__ = ["shared"]

_QUANTITY = re.compile(r"[0-9]{1,20}(m|[KMGT]i?|k)?")
_FORMS: Mapping[str, re.Pattern[str]] = {
    "capacity.cpu": _QUANTITY,
    "capacity.memory": _QUANTITY,
    "capacity.ephemeral-storage": _QUANTITY,
    "capacity.pods": _QUANTITY,
    "allocatable.cpu": _QUANTITY,
    "allocatable.memory": _QUANTITY,
    "allocatable.ephemeral-storage": _QUANTITY,
    "allocatable.pods": _QUANTITY,
    "nodeInfo.architecture": re.compile("amd64|arm64"),
    "nodeInfo.osImage": re.compile(
        r"Ubuntu [0-9]{2}\.[0-9]{2}(\.[0-9])? LTS|Microsoft Azure Linux 3\.0|CBL-Mariner/Linux"
    ),
    "nodeInfo.kubeletVersion": re.compile(r"v1\.[0-9]{1,2}\.[0-9]{1,3}"),
}
_SIZE = "labels.node.kubernetes.io/instance-type"


def shared(comparisons: Iterable[Comparison]) -> list[dict[str, object]]:
    """One entry for each kind of machine: the facts of its first Node that say nothing of whose cluster it is, and its size."""
    by_object: dict[str, list[Comparison]] = {}
    for comparison in comparisons:
        if comparison.object.startswith("Node/") and comparison.state is not State.INCOMPARABLE:
            by_object.setdefault(comparison.object, []).append(comparison)
    entries: list[dict[str, object]] = []
    for facts in by_object.values():
        entry = _entry(facts)
        if entry not in entries and entry["facts"]:
            entries.append(entry)
    return entries


def _entry(facts: Sequence[Comparison]) -> dict[str, object]:
    size = next((fact.theirs for fact in facts if fact.field == _SIZE and _may_stay(fact)), "")
    named = {"size": size} if size else {}
    return {
        "where": "a cluster of a user",
        **named,
        "facts": {fact.field: fact.theirs for fact in facts if _may_stay(fact)},
    }


def _may_stay(fact: Comparison) -> bool:
    if fact.field in _FORMS:
        return _FORMS[fact.field].fullmatch(fact.theirs) is not None
    key = fact.field.removeprefix("labels.")
    return key != fact.field and is_public(key, fact.theirs)
