"""Puts candidates into the order in which a method tries them, from one turn to the next."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.situation import Situation
from harness.kube.api.objects import same_objects
from harness.kube.go.sort import sort_slice

__all__ = ["sort_lasting"]


def sort_lasting(situation: Situation, candidates: list[Candidate], key: Callable[[Candidate], Any]) -> None:
    """Sort candidates in place as Go's ``sort.Slice`` does, by ``key`` of a candidate.

    Those that stood in the same order in the turn before come into the same order again, so that ``key`` has to rest on the candidate
    alone: it is another object as soon as its Node or NodeClaim changes.
    """
    about: Hashable = (sort_lasting, key)
    entry: tuple[Sequence[Candidate], Sequence[Candidate]] | None = situation.view.lasting.get(about)
    if entry is not None and same_objects(entry[0], candidates):
        candidates[:] = entry[1]
        return
    before = tuple(candidates)
    sort_slice(candidates, key)
    situation.view.lasting[about] = before, tuple(candidates)
