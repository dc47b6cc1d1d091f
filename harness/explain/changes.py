"""The smallest change that would let a pod in: candidates are tried before they are told, first one, then two together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from harness.explain.candidates import Candidate, Looked, NodeClassSeen, candidates
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingResults
from harness.kube.api.objects import copy_json, name_of, namespace_of

__all__ = ["Change", "smallest_changes"]

Types = Mapping[str, Sequence[InstanceType]]
Decide = Callable[[ClusterSnapshot, Types], SchedulingResults]
LIMIT = 24  # candidates tried for one pod
PAIRS = 48  # pairs tried for one pod that no single candidate helps


@dataclass(frozen=True, slots=True)
class Change:
    """A change, tried: with it Karpenter would use `nodepool`, cheapest with `size` at `price` USD per hour."""

    text: str
    nodepool: str
    size: str
    price: float


def smallest_changes(
    pod: Mapping[str, Any],
    snapshot: ClusterSnapshot,
    types: Types,
    pools: Sequence[Looked],
    classes: Iterable[NodeClassSeen],
    decide: Decide,
) -> tuple[tuple[Change, ...], int]:
    """The changes that work and are of the smallest kind, best first, at most three; and how many were tried.

    `pools` are the NodePools that were looked at, `classes` their AKSNodeClasses. Two together are tried when no single one is
    enough. None works when not even two are.
    """
    singles = sorted(candidates(pod, snapshot, pools, classes), key=lambda one: one.rank)[:LIMIT]
    pairs = sorted(combinations(singles, 2), key=lambda pair: sum(one.rank for one in pair))[:PAIRS]
    count = 0
    for group in ([(one,) for one in singles], pairs):
        found: list[Change] = []
        rank: int | None = None
        for parts in group:
            weight = sum(one.rank for one in parts)
            if rank is not None and weight > rank:
                break
            count += 1
            change = _try(parts, pod, snapshot, types, decide)
            if change is not None:
                found.append(change)
                rank = weight
        if found:
            return tuple(sorted(found, key=lambda one: one.price)[:3]), count
    return (), count


def _try(
    parts: Sequence[Candidate], pod: Mapping[str, Any], snapshot: ClusterSnapshot, types: Types, decide: Decide
) -> Change | None:
    bound = [one for one in snapshot.pods if one.get("spec", {}).get("nodeName")]
    edits = parts[::-1]  # of two parts of one list the later one first: the earlier keeps its place
    pools = [_edited(one, [part for part in edits if part.nodepool == name_of(one)]) for one in snapshot.nodepools]
    wanted = _edited(pod, [part for part in edits if part.nodepool is None and part.nodeclass is None])
    offered = dict(types)
    for seen in {id(part.nodeclass): part.nodeclass for part in parts if part.nodeclass is not None}.values():
        changed = seen.types(_edited(seen.nodeclass, [part for part in edits if part.nodeclass is seen]))
        offered |= dict.fromkeys(seen.nodepools, changed)
    results = decide(replace(snapshot, pods=[*bound, wanted], nodepools=pools), offered)
    text = " and to ".join(part.text for part in parts)
    name = (namespace_of(pod), name_of(pod))
    for claim in results.nodeclaims:
        if not any((namespace_of(one), name_of(one)) == name for one in claim.pods):
            continue
        size = claim.instance_types[0].name if claim.instance_types else ""
        return Change(text, claim.nodepool, size, claim.cheapest_price)
    for node, pods in results.existing.items():
        if any((namespace_of(one), name_of(one)) == name for one in pods):
            return Change(text, f"Node {node}", "", 0.0)
    return None


def _edited(obj: Mapping[str, Any], parts: Sequence[Candidate]) -> Mapping[str, Any]:
    if not parts:
        return obj
    changed: dict[str, Any] = copy_json(obj)
    for part in parts:
        part.edit(changed)
    return changed
