"""Two traces side by side: the differences of their outcomes."""

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
    """A fact that is not the same. `kept`: why it may differ, where it may."""

    fact: str
    left: Any
    right: Any
    kept: str = ""


@dataclass(frozen=True, slots=True)
class Missing:
    """Sizes that a NodePool is not offered on one `side` (A, B): the provider's `filter` drops them, or, without one, they are not sold."""

    nodepool: str
    side: str
    filter: str
    sizes: Sequence[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The differences of two traces, the weightiest first, and the number of equal facts.

    `situations`: where the worlds began otherwise. `objects`: the numbers of NodeClaims, Nodes and NodePools, on either
    side. `missing`: why sizes are offered on one side only.
    """

    situations: Sequence[tuple[str, Any, Any]]
    differences: Sequence[Difference]
    same: int
    objects: Mapping[str, int] = field(default_factory=dict)
    missing: Sequence[Missing] = ()

    @property
    def real(self) -> Sequence[Difference]:
        """The differences that are not allowed."""
        return [difference for difference in self.differences if not difference.kept]


def compare_traces(left: Trace, right: Trace) -> Comparison:
    """Compare the outcomes of two worlds."""
    sources = "real" not in (left.header.karpenter, right.header.karpenter)
    left_outcome, right_outcome = (
        _in_region(outcome_of(trace, sources=sources), trace.header, left, right) for trace in (left, right)
    )
    result: list[Difference] = []
    count = 0
    for part in left_outcome:
        count += _count(left_outcome[part])
        for place, mine, theirs in differences(left_outcome[part], right_outcome[part], part):
            result.append(Difference(place, mine, theirs, _kept(place, left.header, right.header)))
    situations = [
        (name, getattr(left.header, name), getattr(right.header, name))
        for name in _SAID
        if getattr(left.header, name) != getattr(right.header, name)
    ]
    order = list(left_outcome)
    result.sort(
        key=lambda difference: (bool(difference.kept), order.index(re.split(r"[\[]", difference.fact, maxsplit=1)[0]))
    )
    missing = [*_missing(right, left, "A"), *_missing(left, right, "B")] if sources else []
    return Comparison(situations, result, max(0, count - len(result)), _objects(left_outcome, right_outcome), missing)


def _missing(having: Trace, lacking: Trace, side: str) -> Iterator[Missing]:
    """Yield the sizes that one side is offered and the other is not, by the filter that drops them there; of each NodePool's last list."""
    here, there = ({fact.nodepool: fact for fact in trace.facts_of(Sizes)} for trace in (having, lacking))
    for nodepool, mine in here.items():
        theirs = there.get(nodepool)
        if theirs is None:
            continue
        dropped = {size: name for name, sizes in theirs.dropped.items() for size in sizes}
        by_filter: dict[str, list[str]] = {}
        offered = set(theirs.offered)
        for size in mine.offered:
            if size not in offered:
                by_filter.setdefault(dropped.get(size, ""), []).append(size)
        for name, sizes in by_filter.items():
            yield Missing(nodepool, side, name, sizes)


def _objects(mine: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, int]:
    claims = {**mine["NodeClaims"], **other["NodeClaims"]}
    alone = {**mine["other Nodes"], **other["other Nodes"]}
    nodes = sum(
        max(len(side["NodeClaims"].get(name, {}).get("Nodes", ())) for side in (mine, other)) for name in claims
    )
    pools = {**mine["sizes"], **other["sizes"]}
    return {"NodeClaim": len(claims), "Node": nodes + len(alone), "NodePool": len(pools)}


def _in_region(outcome: dict[str, Any], header: Header, left: Trace, right: Trace) -> dict[str, Any]:
    """Return the outcome with one word for both regions, where they are two."""
    if left.header.region == right.header.region:
        return outcome
    renamed_outcome: dict[str, Any] = json.loads(
        re.sub(rf"(?<![a-z0-9]){header.region}(?![a-z0-9])", "REGION", json.dumps(outcome))
    )
    return renamed_outcome


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
