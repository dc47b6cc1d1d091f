"""The preferences of a pod, given up one by one: one step per failed attempt.

Core ``pkg/controllers/provisioning/scheduling/preferences.go``. The preferences after a step share the storage of
those before it, so that a pod with thousands of terms takes thousands of steps and not millions of copies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import overload

from harness.karpenter.scheduling.topology.group import AFFINITY, ANTI_AFFINITY, SPREAD
from harness.kube.api.objects import Object, spec_of
from harness.kube.go.sort import sort_slice
from harness.kube.scheduling.pods import affinity_terms
from harness.kube.scheduling.taints import TOLERATE_PREFERENCES, Toleration, known_tolerations, same_toleration
from lazyrecords import dataclass

SCHEDULE_ANYWAY = "ScheduleAnyway"


@dataclass(frozen=True, slots=True)
class Relaxation:
    """One step: what is left, what was dropped in words, and when that was a topology constraint its (kind, id).

    ``filters_change``: which nodes count for the pod's spread constraints is another question from now on.
    """

    preferences: Preferences
    text: str
    constraint: tuple[str, int] | None = None
    filters_change: bool = False


@dataclass(frozen=True, slots=True)
class Preferences:
    """The parts of a pod that relaxation takes away, and the tolerations that it adds."""

    required_nodes: Sequence[Object]
    preferred_nodes: Sequence[Object]
    preferred_pods: Sequence[Object]
    preferred_anti: Sequence[Object]
    spread: Sequence[Object]
    tolerations: tuple[Toleration, ...]

    @classmethod
    def of(cls, pod: Object, *, ignored: bool, comparing: bool = True) -> Preferences:
        """Return the preferences of a pod; ``ignored`` leaves preferred node affinity in the order it is written in,
        ``comparing`` allows tolerations to compare numbers.
        """
        spec = spec_of(pod)
        nodes = (spec.get("affinity") or {}).get("nodeAffinity") or {}
        required = (nodes.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
        preferred = list(nodes.get("preferredDuringSchedulingIgnoredDuringExecution") or ())
        if not ignored:
            sort_slice(preferred, _lightest_first)
        return cls(
            tuple(required),
            tuple(preferred),
            tuple(affinity_terms(pod, "podAffinity", "preferred")),
            tuple(affinity_terms(pod, "podAntiAffinity", "preferred")),
            tuple(spec.get("topologySpreadConstraints") or ()),
            tuple(known_tolerations(spec.get("tolerations") or (), comparing=comparing)),
        )

    def relaxed(self, *, tolerate_preferences: bool) -> Relaxation | None:
        """The next weaker preferences, or None when nothing is left to drop."""
        if len(self.required_nodes) > 1:
            terms = self.required_nodes
            rest = (terms if isinstance(terms, _Terms) else _Terms(tuple(terms), 0)).rest()
            return Relaxation(
                replace(self, required_nodes=rest), "required node affinity term", filters_change=bool(self.spread)
            )
        if self.preferred_pods:
            dropped, rest = _without_heaviest(self.preferred_pods)
            dropped_term = AFFINITY, id(dropped["podAffinityTerm"])
            return Relaxation(replace(self, preferred_pods=rest), "preferred pod affinity term", dropped_term)
        if self.preferred_anti:
            dropped, rest = _without_heaviest(self.preferred_anti)
            dropped_term = ANTI_AFFINITY, id(dropped["podAffinityTerm"])
            return Relaxation(replace(self, preferred_anti=rest), "preferred pod anti-affinity term", dropped_term)
        if self.preferred_nodes:
            rest = _without_heaviest(self.preferred_nodes)[1]
            return Relaxation(replace(self, preferred_nodes=rest), "preferred node affinity term")
        spread = self.spread if isinstance(self.spread, _Spread) else _Spread.of(self.spread)
        if spread.next is not None:
            dropped_term = SPREAD, id(spread.next)
            text = "ScheduleAnyway topology spread constraint"
            return Relaxation(replace(self, spread=spread.rest()), text, dropped_term)
        if tolerate_preferences and not any(same_toleration(t, TOLERATE_PREFERENCES) for t in self.tolerations):
            more = (*self.tolerations, TOLERATE_PREFERENCES)
            return Relaxation(
                replace(self, tolerations=more), "PreferNoSchedule taints", filters_change=bool(self.spread)
            )
        return None


class _Terms(Sequence[Object]):
    """Terms in the order in which they are dropped, the next one first."""

    __slots__ = ("_start", "_terms")

    def __init__(self, terms: tuple[Object, ...], start: int) -> None:
        self._terms, self._start = terms, start

    def __len__(self) -> int:
        return len(self._terms) - self._start

    @overload
    def __getitem__(self, index: int) -> Object: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Object]: ...
    def __getitem__(self, index: int | slice) -> Object | Sequence[Object]:
        if isinstance(index, slice):
            return self._terms[self._start :][index]
        return self._terms[self._start + index if index >= 0 else index]

    def __iter__(self) -> Iterator[Object]:
        return islice(self._terms, self._start, None)

    def rest(self) -> _Terms:
        """All but the first."""
        return _Terms(self._terms, self._start + 1)


class _Spread(Sequence[Object]):
    """Spread constraints of which some were dropped: the first that may be gives its place to the last of the list."""

    __slots__ = ("_all", "_dropped", "_plan")

    def __init__(self, constraints: tuple[Object, ...], plan: Sequence[Object], dropped: int) -> None:
        self._all, self._plan, self._dropped = constraints, plan, dropped

    @classmethod
    def of(cls, constraints: Sequence[Object]) -> _Spread:
        """Return the spread of constraints as they are written."""
        plan: list[Object] = []
        _drop(list(constraints), plan, len(constraints))
        return cls(tuple(constraints), plan, 0)

    def _left(self) -> list[Object]:
        left = list(self._all)
        _drop(left, [], self._dropped)
        return left

    def __len__(self) -> int:
        return len(self._all) - self._dropped

    @overload
    def __getitem__(self, index: int) -> Object: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Object]: ...
    def __getitem__(self, index: int | slice) -> Object | Sequence[Object]:
        return self._left()[index]

    def __iter__(self) -> Iterator[Object]:
        return iter(self._left())

    @property
    def next(self) -> Object | None:
        """The one that is dropped next."""
        return self._plan[self._dropped] if self._dropped < len(self._plan) else None

    def rest(self) -> _Spread:
        """All but the next."""
        return _Spread(self._all, self._plan, self._dropped + 1)


def _drop(left: list[Object], dropped: list[Object], steps: int) -> None:
    """Take up to ``steps`` steps."""
    position = 0
    while steps and position < len(left):
        if left[position].get("whenUnsatisfiable") != SCHEDULE_ANYWAY:
            position += 1
            continue
        dropped.append(left[position])
        left[position] = left[-1]
        left.pop()
        steps -= 1


def _lightest_first(term: Object) -> int:
    return -(term.get("weight") or 0)


def _without_heaviest(terms: Sequence[Object]) -> tuple[Object, _Terms]:
    if not isinstance(terms, _Terms):
        terms = _Terms(tuple(sorted(terms, key=_lightest_first)), 0)
    return terms[0], terms.rest()


__all__ = ["SCHEDULE_ANYWAY", "Preferences", "Relaxation"]
