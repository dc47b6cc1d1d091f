"""Pairs of NodeClaims of two runs that are compared: names are drawn, so those that are most alike belong together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["POLLED", "nearest", "paired"]

POLLED = re.compile(r"Normal (Unconsolidatable|DisruptionBlocked|ConsolidationRejected|ConsolidationCandidate): ")
"""Events of the turns of disruption, of which a run has as many as there were turns (core ``pkg/controllers/disruption/controller.go``
pollingPeriod)."""
_MOST = 30
"""NodeClaims of a NodePool that are compared with one another; of more the order of their facts decides."""


def paired(left: Mapping[str, Any], right: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the facts `right` with its NodeClaims named so that each has the name of the one in `left` that it differs least from.

    Facts name NodeClaims after their NodePool with a number, in the order of their texts (`harness/world/naming.py`). One missing Event
    moves a NodeClaim to another number, and all facts of two equal ones look exchanged.
    """
    own: Mapping[str, Any] = left.get("NodeClaims") or {}
    other: Mapping[str, Any] = right.get("NodeClaims") or {}
    if own == other:
        return right
    names: dict[str, str] = {}
    for pool, theirs in _by_pool(other).items():
        ours = _by_pool(own).get(pool, [])
        if max(len(theirs), len(ours)) <= _MOST:
            names.update(nearest({name: own[name] for name in ours}, {name: other[name] for name in theirs}))
    if all(name == new for name, new in names.items()):
        return right
    pattern = _any_of(names)
    renamed_facts: dict[str, Any] = json.loads(pattern.sub(lambda match: names[match[0]], json.dumps(right)))
    return renamed_facts


def nearest(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, str]:
    """Return a new name for each of `theirs`: the nearest pairs first, then the remaining ones with the remaining names."""
    from harness.world.snapshot import differences

    masked = [_masked(side, (*ours, *theirs)) for side in (ours, theirs)]
    distances = sorted(
        (sum(1 for _ in differences(mine, other)), name != new, new, name)
        for new, mine in masked[0].items()
        for name, other in masked[1].items()
    )
    names: dict[str, str] = {}
    for _, _, new, name in distances:
        if name not in names and new not in names.values():
            names[name] = new
    free = [name for name in theirs if name not in names.values()]
    unnamed = [name for name in theirs if name not in names]
    return names | dict(zip(unnamed, [name for name in free if name not in names.values()], strict=False))


def _masked(claims: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    """Return the facts of each NodeClaim without the names of any, and without Events that chance decides."""
    pattern = _any_of(names)
    return {name: json.loads(pattern.sub("*", json.dumps(_lasting(facts)))) for name, facts in claims.items()}


def _lasting(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _lasting(item) for key, item in value.items() if not POLLED.match(key)}
    return value


def _by_pool(claims: Iterable[str]) -> dict[str, list[str]]:
    by_pool: dict[str, list[str]] = {}
    for name in claims:
        by_pool.setdefault(name.rpartition(" ")[0], []).append(name)
    return by_pool


def _any_of(names: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(rf"{re.escape(name)}(?!\d)" for name in sorted(set(names), key=len, reverse=True)))
