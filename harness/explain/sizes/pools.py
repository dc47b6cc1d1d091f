"""One NodePool and one pod: what became of each size, counted, and whether Karpenter looked at sizes at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from harness.explain.sizes.reasons import Cause, Why, causes_of, nobody_knows
from harness.karpenter.scheduling.reasons.ledger import PoolTried
from harness.karpenter.scheduling.reasons.pods import (
    HostPortConflict,
    NodeLimitReached,
    RequirementsIncompatible,
    TaintsNotTolerated,
    TopologyUnsatisfiable,
)
from harness.karpenter.scheduling.reasons.verdicts import TypeVerdict

__all__ = ["PoolExplanation", "Verdicts", "before_sizes"]

_BEFORE_SIZES = (
    TaintsNotTolerated,
    HostPortConflict,
    RequirementsIncompatible,
    TopologyUnsatisfiable,
    NodeLimitReached,
)
"""The reasons of core's CanAdd before it filters instance types (core nodeclaim.go)."""


def before_sizes(entry: PoolTried) -> bool:
    """Return whether a NodePool was out before a size was looked at, so that it does not matter how much the pod requests."""
    return isinstance(entry.reason, _BEFORE_SIZES)


class Verdicts:
    """The verdicts of a NodePool's sizes, worked out when somebody asks: thousands of pods are explained without."""

    def __init__(self, of: Callable[[], Iterable[TypeVerdict]]) -> None:
        self._of = of

    @cached_property
    def _all(self) -> tuple[TypeVerdict, ...]:
        return tuple(self._of())

    def __iter__(self) -> Iterator[TypeVerdict]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


@dataclass(frozen=True, slots=True)
class PoolExplanation:
    """One NodePool and one pod. `sentence` is Karpenter's, empty when the NodePool took the pod.

    `deciding` counts the sizes by the first cause against each, `all_causes` by every cause; `kept` are the sizes that stay.
    `dropped_sizes` are the sizes of the region that are no instance types, with the filter that drops each; `dropped` counts them.
    `filtered`: the NodePool suits no size, so that no pod was tried with it; `unmet` are then the keys whose `minValues` it
    misses: how many values are asked for, how many there are. `chosen`: what became of the pod's wish for a zone, where topology
    made it one that no NodePool and no pod asks for. `guessed`: the sizes that were refused for a guess of the catalogue
    alone and would have been the choice, with the fields and why these are guesses. `why` tells what stands in the way of an
    offering that cannot be had. `looked`: whether Karpenter came to look at sizes; the verdicts are then none of its own.
    """

    nodepool: str
    sentence: str
    verdicts: Verdicts
    dropped_sizes: Mapping[str, str]
    filtered: bool = False
    unmet: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    guessed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    why: Why = nobody_knows
    chosen: str = ""
    looked: bool = True

    def causes(self, verdict: TypeVerdict) -> tuple[Cause, ...]:
        """All causes against a size, with Azure's reasons."""
        return causes_of(verdict, self.why)

    @property
    def dropped(self) -> Mapping[str, int]:
        """Filter → sizes that it drops."""
        return Counter(self.dropped_sizes.values())

    @property
    def kept(self) -> tuple[str, ...]:
        """Sizes that nothing speaks against."""
        return tuple(verdict.instance_type.name for verdict in self.verdicts if verdict.kept)

    @property
    def deciding_allowed(self) -> Mapping[Cause, int]:
        """First cause → sizes that the NodePool itself has nothing against."""
        every = (self.causes(verdict) for verdict in self.verdicts)
        return Counter(causes[0] for causes in every if causes and all(cause.rule != "nodepool" for cause in causes))

    @property
    def ruled_out(self) -> Mapping[Cause, int]:
        """Return the NodePool's own causes against sizes, the first of each, with the number of sizes."""
        every = (self.causes(verdict) for verdict in self.verdicts)
        own = (next((cause for cause in causes if cause.rule == "nodepool"), None) for causes in every)
        return Counter(cause for cause in own if cause is not None)

    @property
    def deciding(self) -> Mapping[Cause, int]:
        """Cause → sizes that it is the first against."""
        return Counter(causes[0] for verdict in self.verdicts if (causes := self.causes(verdict)))

    @property
    def all_causes(self) -> Mapping[Cause, int]:
        """Cause → sizes that it is against."""
        return Counter(cause for verdict in self.verdicts for cause in self.causes(verdict))
