"""Two traces side by side: where what came of them differs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.trace.facts import Sizes
from harness.trace.files import Trace
from harness.trace.header import Header
from harness.trace.outcome import outcome_of
from harness.world.snapshot import differences

__all__ = ["Comparison", "Difference", "Missing", "compare_traces"]

_SAID = ("harness", "release", "kubernetes", "region", "mode", "seed", "cluster", "karpenter", "spot_discount")


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact that is not the same. `kept`: why it may be another one, where it may."""

    fact: str
    left: Any
    right: Any
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """Sizes that a NodePool is not offered on one `side` (A, B): what the provider's `filter` drops, or, without one, what is not sold."""

    nodepool: str
    side: str
    filter: str
    sizes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs of two traces, the weightiest first, and how many facts are the same.

    `situations`: where the worlds began otherwise. `objects`: how many NodeClaims, Nodes and NodePools there are, on either side.
    `missing`: why sizes are offered on one side only.
    """

    situations: Sequence[tuple[str, Any, Any]]
    differences: Sequence[Difference]
    same: int
    objects: Mapping[str, int] = field(default_factory=dict)
    missing: Sequence[Missing] = ()

    @property
    def real(self) -> Sequence[Difference]:
        """The differences that are not allowed."""
        return [each for each in self.differences if not each.kept]


def compare_traces(left: Trace, right: Trace) -> Comparison:
    """Compares the outcomes of two worlds."""
    sources = "real" not in (left.header.karpenter, right.header.karpenter)
    one, other = (_in_region(outcome_of(each, sources=sources), each.header, left, right) for each in (left, right))
    found: list[Difference] = []
    count = 0
    for part in one:
        count += _count(one[part])
        for place, mine, theirs in differences(one[part], other[part], part):
            found.append(Difference(place, mine, theirs, _kept(place, left.header, right.header)))
    situations = [
        (name, getattr(left.header, name), getattr(right.header, name))
        for name in _SAID
        if getattr(left.header, name) != getattr(right.header, name)
    ]
    order = list(one)
    found.sort(key=lambda each: (bool(each.kept), order.index(re.split(r"[\[]", each.fact, maxsplit=1)[0])))
    missing = [*_missing(right, left, "A"), *_missing(left, right, "B")] if sources else []
    return Comparison(situations, found, max(0, count - len(found)), _objects(one, other), missing)


def _missing(having: Trace, lacking: Trace, side: str) -> Iterator[Missing]:
    """What one side is offered and the other is not, by what drops it there; of each NodePool the last list."""
    here, there = ({fact.nodepool: fact for fact in trace.of(Sizes)} for trace in (having, lacking))
    for nodepool, mine in here.items():
        theirs = there.get(nodepool)
        if theirs is None:
            continue
        dropped = {size: name for name, sizes in theirs.dropped.items() for size in sizes}
        found: dict[str, list[str]] = {}
        offered = set(theirs.offered)
        for size in mine.offered:
            if size not in offered:
                found.setdefault(dropped.get(size, ""), []).append(size)
        for name, sizes in found.items():
            yield Missing(nodepool, side, name, sizes)


def _objects(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, int]:
    claims = {**one["NodeClaims"], **other["NodeClaims"]}
    alone = {**one["other Nodes"], **other["other Nodes"]}
    nodes = sum(max(len(side["NodeClaims"].get(name, {}).get("Nodes", ())) for side in (one, other)) for name in claims)
    pools = {**one["sizes"], **other["sizes"]}
    return {"NodeClaim": len(claims), "Node": nodes + len(alone), "NodePool": len(pools)}


def _in_region(outcome: dict[str, Any], header: Header, left: Trace, right: Trace) -> dict[str, Any]:
    """The outcome with one word for both regions, where they are two."""
    if left.header.region == right.header.region:
        return outcome
    found: dict[str, Any] = json.loads(
        re.sub(rf"(?<![a-z0-9]){header.region}(?![a-z0-9])", "REGION", json.dumps(outcome))
    )
    return found


_OF_CLUSTER: Sequence[tuple[str, str, str]] = (
    ("kind", r".*\[Nodes\]\[\d+\]\[allocatable\].*", "a node container has the capacity of its host"),
    ("kind", r".*\[(beta\.)?kubernetes\.io/arch\].*", "a kubelet writes the architecture of its host"),
)
"""Facts that belong to a cluster rather than to Karpenter: its name, a pattern, the reason."""


def _kept(fact: str, left: Header, right: Header) -> str:
    if left.cluster == right.cluster:
        return ""
    clusters = (left.cluster, right.cluster)
    return next((why for name, pattern, why in _OF_CLUSTER if name in clusters and re.fullmatch(pattern, fact)), "")


def _count(value: Any) -> int:
    if isinstance(value, Mapping):
        return sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) and value else 1
