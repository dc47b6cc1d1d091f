"""The smallest change that would let pods in: candidates are tried before they are told, first one, then two, then many together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from harness.explain.advice.candidates import KINDS, Candidate, Rank
from harness.explain.advice.trials import Outcome
from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.labels.core import CAPACITY_TYPE, NODEPOOL, SPOT
from harness.karpenter.scheduling import ClusterSnapshot, SchedulingResults
from harness.kube.api.labels import ARCH, INSTANCE_TYPE
from harness.kube.api.objects import copy_json, name_of, namespace_of

__all__ = ["Advice", "Change", "meant_but_short", "smallest_changes"]

Types = Mapping[str, Sequence[InstanceType]]
Decide = Callable[[ClusterSnapshot, Types], SchedulingResults]
Confirm = Callable[[Sequence[Candidate]], Outcome | None]
Alter = Callable[[Outcome], Sequence[str]]
LIMIT = 32  # candidates tried for one pod
PAIRS = 48  # pairs tried for one pod that no single candidate helps
TOLD = 3
_UNKNOWN_KEY = "incompatible requirements, label"  # how Karpenter's sentence about a label that no Node has begins
_USUAL = "amd64"  # the architecture that images are made for where nobody says so
_SEVERAL = 2  # wishes of a pod that can be taken away together
_OTHERS = 6  # candidates of other kinds than the smallest that are tried in worlds


@dataclass(frozen=True, slots=True)
class Change:
    """A change, tried in a world like this one: with it `pods` of `wanted` pods got Nodes.

    `nodepool` is that of most of their Nodes, `size` likewise, `price` USD per hour of all `nodes`; no new Node when `nodes` is 0.
    `arch`: the architecture of most of them, where it is not amd64.
    `region`: the one that it would be done in, where that is another. `meant`: the word that was probably meant. `alters`: what of
    the machines becomes other than was asked for. `rest`: what Karpenter then says of the pods that still wait. `lost`: how many pods
    of other workloads have a Node without it, and none with it. `spot`: all the new Nodes are spot; `as_on_demand`: `price` is an upper
    bound, for no spot price is known of some.
    """

    text: str
    nodepool: str
    size: str
    price: float
    nodes: int = 1
    pods: int = 1
    wanted: int = 1
    meant: str = ""
    alters: tuple[str, ...] = ()
    region: str = ""
    rest: str = ""
    lost: tuple[tuple[str, int], ...] = ()
    spot: bool = False
    as_on_demand: bool = False
    arch: str = ""


@dataclass(frozen=True, slots=True)
class Advice:
    """The changes that work, at most three; how many were tried; `refused` are Azure's errors in trials that failed for them.

    `untried`: how many could not be tried any more, because the trials before took so long. `short`: words that were probably meant,
    and with which the pods still wait, for another reason (in `rest`). `kinds`: what sorts of changes were tried, in words.
    """

    changes: tuple[Change, ...] = ()
    tried: int = 0
    refused: tuple[str, ...] = ()
    untried: int = 0
    short: tuple[Change, ...] = ()
    kinds: tuple[str, ...] = ()


def smallest_changes(
    pod: Mapping[str, Any],
    snapshot: ClusterSnapshot,
    types: Types,
    singles: Sequence[Candidate],
    decide: Decide,
    confirm: Confirm,
    alter: Alter,
    spare: Callable[[], bool] = lambda: True,
) -> Advice:
    """The changes that work: those of the smallest kind, those that alter nothing else first, then by price; then one of other kinds each.

    One with which other pods lose their Nodes does not work, unless a word was meant: had it been right, they would have got none.

    A candidate is tried by the scheduler alone with `decide`, which is quick, and then in a world with `confirm`. Two together are
    tried when no single one is enough, then the pod without all of its wishes that stand in the way. Other kinds are tried while
    `spare` says that there is time.
    """
    singles = _of_every_kind(singles)
    pairs = sorted(combinations(singles, 2), key=lambda pair: sum(candidate.rank for candidate in pair))[:PAIRS]
    stripped = _stripped(singles, lambda parts: _suits(parts, pod, snapshot, types, decide))
    count, untried, refused = 0, 0, dict[str, None]()
    for group in ([(candidate,) for candidate in singles], pairs, stripped):
        working: list[tuple[_Kind, Change]] = []
        rank: int | None = None
        left = _OTHERS
        for parts in group:
            weight = sum(candidate.rank for candidate in parts)
            if rank is not None and weight > rank:
                if not (rank > Rank.MEANT and len(parts) == 1 and left and spare()):
                    break
                if _is_told(parts[0], working):
                    continue
            count += 1
            try:
                # a word that was meant is tried from the beginning: others have taken its place only because it was misspelt
                alone = all(candidate.solver and candidate.rank > Rank.MEANT for candidate in parts)
                if alone and not _suits(parts, pod, snapshot, types, decide):
                    continue
                outcome = confirm(parts)
            except LookupError:  # one part took away what the other would change
                continue
            if outcome is None:
                count, untried = count - 1, untried + 1
                continue
            beyond = rank is not None and weight > rank
            left -= beyond
            if not outcome.bound:
                refused |= dict.fromkeys(outcome.refused)
                continue
            change = _change(parts, outcome, alter)
            if (change.lost and not change.meant) or (beyond and (change.alters or not outcome.complete)):
                continue  # a word that was meant only gives the others the place back that they would have had without the mistake
            working.append((_kind(parts), change))
            # a change for some of the pods, or to other machines than were asked for, leaves room for a better one
            rank = weight if rank is None and outcome.complete and not change.alters else rank
        if working:
            return Advice(tuple(_told(working)), count)
    kinds = tuple(KINDS[rank] for rank in dict.fromkeys(candidate.rank for candidate in singles))
    return Advice((), count, tuple(refused), untried, kinds=kinds)


def _of_every_kind(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates by rank, at most LIMIT: those that are too many are left out of the kinds that have most."""
    kinds: dict[int, list[Candidate]] = {}
    for candidate in sorted(candidates, key=lambda candidate: candidate.rank):
        kinds.setdefault(candidate.rank, []).append(candidate)
    for _ in range(len(candidates) - LIMIT):
        max(kinds.values(), key=len).pop()
    return [candidate for kind in kinds.values() for candidate in kind]


def _stripped(
    singles: Sequence[Candidate], suits: Callable[[Sequence[Candidate]], bool]
) -> Iterator[tuple[Candidate, ...]]:
    """The pod without those of its wishes that all have to go, where need be with one change beside that adds something."""
    wishes = [candidate for candidate in singles if candidate.rank == Rank.REMOVE_WISH]
    if len(wishes) < _SEVERAL:
        return
    for beside in (
        (),
        *((candidate,) for candidate in singles if Rank.MEANT < candidate.rank < Rank.SHRINK and candidate.solver),
    ):
        parts = [*beside, *wishes]
        if not suits(parts):
            continue
        for wish in wishes:
            fewer = [part for part in parts if part is not wish]
            parts = fewer if suits(fewer) else parts
        yield tuple(parts)
        return


def meant_but_short(singles: Sequence[Candidate], confirm: Confirm, sentence: str) -> tuple[Change, ...]:
    """The likeliest word that was meant, where with it Karpenter has something else against the pods than `sentence`; else none."""
    likeliest = next((candidate for candidate in singles if candidate.meant), None)
    outcome = confirm((likeliest,)) if likeliest is not None else None
    if likeliest is None or outcome is None or outcome.bound:
        return ()
    if not outcome.rest or outcome.rest.startswith(_UNKNOWN_KEY) or _head(outcome.rest) == _head(sentence):
        return ()
    return (Change(likeliest.text, "", "", 0.0, 0, 0, outcome.wanted, likeliest.meant, rest=outcome.rest),)


def _head(sentence: str) -> str:
    """Return Karpenter's sentence up to the list of all requirements."""
    return sentence.partition(", requirements=")[0]


_Kind = tuple[int, str, str]
"""Rank, whose change it is, and what of a NodePool it is about; changes of one rank are of one kind."""


def _kind(parts: Sequence[Candidate]) -> _Kind:
    whose = parts[0].nodepool or ""
    return sum(part.rank for part in parts), whose, parts[0].subject if len(parts) == 1 else ""


def _is_told(candidate: Candidate, working: Sequence[tuple[_Kind, Change]]) -> bool:
    """Return whether a change of this kind, or of the same part of the same NodePool, is known to work."""
    rank, whose, subject = _kind((candidate,))
    return any(rank == kind[0] or (subject and (whose, subject) == kind[1:]) for kind, _ in working)


def _told(working: Sequence[tuple[_Kind, Change]]) -> list[Change]:
    """The best of the smallest kind, then one of each of the others."""
    best = sorted(working, key=lambda entry: (-entry[1].pods, bool(entry[1].alters), entry[1].price))
    ranks = dict.fromkeys(sorted(kind[0] for kind, change in best if _is_whole(change)))
    smallest, *others = ranks or {best[0][0][0]: None}
    more = [next(change for kind, change in best if kind[0] == rank and _is_whole(change)) for rank in others]
    more = more[: TOLD - 1]
    alike = [change for kind, change in best if kind[0] == smallest or not _is_whole(change)]
    return [*alike[: TOLD - len(more)], *more]


def _is_whole(change: Change) -> bool:
    """Return whether it helps all pods, gives what was asked for and takes no other pod's place."""
    return change.pods >= change.wanted and not change.alters and not change.lost


def _change(parts: Sequence[Candidate], outcome: Outcome, alter: Alter) -> Change:
    def most(key: str) -> str:
        counted = Counter(labels.get(key, "") for labels in outcome.nodes.values())
        return max(counted, key=lambda kind: counted[kind], default="")

    return Change(
        " and to ".join(part.text for part in parts),
        most(NODEPOOL),
        most(INSTANCE_TYPE),
        outcome.price,
        len(outcome.nodes),
        outcome.bound,
        outcome.wanted,
        " and ".join(part.meant for part in parts if part.meant),
        () if all(part.meant for part in parts) else tuple(alter(outcome)),
        next((str(part.market["region"]) for part in parts if part.market and "region" in part.market), ""),
        outcome.rest,
        tuple(outcome.lost.items()),
        bool(outcome.nodes) and all(labels.get(CAPACITY_TYPE) == SPOT for labels in outcome.nodes.values()),
        outcome.as_on_demand,
        most(ARCH).replace(_USUAL, ""),
    )


def _suits(
    parts: Sequence[Candidate], pod: Mapping[str, Any], snapshot: ClusterSnapshot, types: Types, decide: Decide
) -> bool:
    """Return whether Karpenter's scheduler alone would find a place for the pod."""
    bound = [running for running in snapshot.pods if running.get("spec", {}).get("nodeName")]
    edits = parts[::-1]  # of two parts of one list the later one first: the earlier keeps its place
    pools = [
        _edited(original, [part for part in edits if part.nodepool == name_of(original)])
        for original in snapshot.nodepools
    ]
    wanted = _edited(pod, [part for part in edits if part.of_pod])
    offered = dict(types)
    for seen in {id(part.nodeclass): part.nodeclass for part in parts if part.nodeclass is not None}.values():
        changed = seen.types(_edited(seen.nodeclass, [part for part in edits if part.nodeclass is seen]))
        offered |= dict.fromkeys(seen.nodepools, changed)
    results = decide(replace(snapshot, pods=[*bound, wanted], nodepools=pools), offered)
    name = (namespace_of(pod), name_of(pod))
    placed = [*(planned for claim in results.nodeclaims for planned in claim.pods)]
    placed += [running for pods in results.existing.values() for running in pods]
    return any((namespace_of(planned), name_of(planned)) == name for planned in placed)


def _edited(obj: Mapping[str, Any], parts: Sequence[Candidate]) -> Mapping[str, Any]:
    if not parts:
        return obj
    changed: dict[str, Any] = copy_json(obj)
    for part in parts:
        if part.edit is not None:
            part.edit(changed)
    return changed
