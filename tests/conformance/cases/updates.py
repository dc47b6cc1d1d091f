"""Updates of NodePools, NodeClaims and AKSNodeClasses, and of their status, for the op `update`.

The stored object may be one that today's definition would refuse, as objects are that an older one let pass (their types are the right
ones: no definition let others pass); what an update leaves as it was is not held against it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from tests.conformance.cases.draw import Draw
from tests.conformance.cases.nodepools import nodepool_case
from tests.conformance.cases.objects import OTHER_TYPES, Schemas, object_case, status_of

__all__ = ["update_case"]

Json = dict[str, Any]


def update_case(draw: Draw, schemas: Schemas) -> Json:
    """A stored object and what it is to be replaced by; one time in three, its status."""
    old = _object(draw, schemas, other_types=False)
    if draw.chance(0.4):
        old["status"] = status_of(draw, old, schemas, other_types=False)
    if draw.chance(0.33):
        changed = status_of(draw, old, schemas)
        if isinstance(changed, dict) and draw.chance(0.5):
            changed = _mixed(draw, old.get("status") or {}, changed)
        return {"old": old, "object": {**copy.deepcopy(old), "status": changed}, "subresource": "status"}
    return {"old": old, "object": _changed(draw, old, schemas)}


def _object(draw: Draw, schemas: Schemas, *, other_types: bool = True) -> Json:
    made = nodepool_case(draw) if draw.chance(0.4) else object_case(draw, schemas, other_types=other_types)
    found: Json = made["object"]
    found["metadata"]["name"] = found["metadata"]["name"] or "default"  # what is stored has one
    if not other_types and isinstance(found["spec"].get("replicas"), str):
        del found["spec"]["replicas"]
    return found


def _changed(draw: Draw, old: Json, schemas: Schemas) -> Json:
    new = copy.deepcopy(old)
    for _ in range(draw.choice((0, 1, 1, 1, 2))):
        _change(draw, new, schemas)
    if draw.chance(0.15):
        new["status"] = {"conditions": []}
    return new


def _change(draw: Draw, new: Json, schemas: Schemas) -> None:
    """One of the things that users change: a field, a part that comes or goes, metadata."""
    what = draw.random()
    if what < 0.15:
        new["metadata"]["labels"] = {"team": draw.choice(("a", "b", "a b"))}
    elif what < 0.2:
        new["metadata"]["finalizers"] = [draw.choice(("karpenter.sh/termination", "x", "a b/c"))]
    elif what < 0.25:
        new["metadata"]["annotations"] = {draw.choice(("team", "a b")): "x"}
    elif what < 0.7 and isinstance(new["spec"], dict):
        other = next(
            (made for made in (_object(draw, schemas) for _ in range(6)) if made["kind"] == new["kind"]), {"spec": {}}
        )
        if other.get("apiVersion") == new["apiVersion"] and isinstance(other["spec"], dict):
            new["spec"] = _mixed(draw, new["spec"], other["spec"])
    else:
        _set_somewhere(draw, new["spec"])


def _mixed(draw: Draw, one: Mapping[str, Any], other: Mapping[str, Any]) -> Json:
    """Some keys of either, and where both have mappings, some of theirs."""
    made: Json = {}
    for key in sorted({*one, *other}, key=str):
        if key in one and key in other and isinstance(one[key], dict) and isinstance(other[key], dict):
            made[key] = _mixed(draw, one[key], other[key])
            continue
        side = one if key in one and (key not in other or draw.chance(0.7)) else other
        if key in side and (side is one or draw.chance(0.6)):
            made[key] = copy.deepcopy(side[key])
    return made


def _set_somewhere(draw: Draw, value: Any) -> None:
    """Changes one value at any depth: to another of its type, or, rarely, of another."""
    while isinstance(value, dict | list) and value:
        key: Any = draw.choice(sorted(value, key=str)) if isinstance(value, dict) else draw.randrange(len(value))
        below = value[key]
        if isinstance(below, dict | list) and below and draw.chance(0.8):
            value = below
            continue
        if draw.chance(0.15):
            value[key] = draw.choice(OTHER_TYPES)
        elif isinstance(below, bool):
            value[key] = not below
        elif isinstance(below, int):
            value[key] = draw.choice((below + 1, below - 1, -below, 0))
        elif isinstance(below, str):
            value[key] = draw.choice((below + "x", "x", "", "default", "5m", "4"))
        elif isinstance(value, dict):
            del value[key]
        else:
            value.append(copy.deepcopy(below))
        return
