"""Limits of the changes that a HorizontalPodAutoscaler makes to a size: bounds, policies, stabilization.

Source: kubernetes 1.36 pkg/controller/podautoscaler/horizontal.go (normalizeDesiredReplicas,
normalizeDesiredReplicasWithBehaviors, storeScaleEvent). Moments are nanoseconds on one clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

from harness.kube.api.autoscalers import DOWN, UP, WINDOW_FIELD, WINDOW_SECONDS
from lazyrecords import dataclass

__all__ = ["Condition", "History", "Limited", "limited"]

_SECOND = 1_000_000_000
_HIGHER = "recent recommendations were higher than current one, applying the highest recent recommendation"
_LOWER = "recent recommendations were lower than current one, applying the lowest recent recommendation"

_Stamped = tuple[int, int]
"""A number, and the moment that it is of."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of the status, without its time."""

    type: str
    status: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Limited:
    """The size that a recommendation comes to now, and the conditions that say why.

    `later`: it comes to another size as time passes.
    """

    replicas: int
    conditions: tuple[Condition, Condition]
    later: bool


class History:
    """Recommendations and changes of one HorizontalPodAutoscaler, as the controller keeps them in memory."""

    def __init__(self, replicas: int, now: int) -> None:
        self.recommendations: list[_Stamped] = [(replicas, now)]
        self.ups: list[_Stamped] = []
        self.downs: list[_Stamped] = []

    def rescaled(self, behavior: Mapping[str, Any] | None, before: int, after: int, now: int) -> None:
        """Keep a change of the size, as far as a policy of the behavior looks back (storeScaleEvent)."""
        if behavior is None:
            return
        events, rules = (
            (self.ups, _rules(behavior, "scaleUp")) if after > before else (self.downs, _rules(behavior, "scaleDown"))
        )
        longest = max((policy["periodSeconds"] for policy in rules["policies"]), default=0)
        events[:] = [event for event in events if event[1] >= now - longest * _SECOND]
        events.append((abs(after - before), now))

    def recommend(self, replicas: int, oldest: int, now: int) -> None:
        """Keep a recommendation, and forget those before a moment."""
        self.recommendations = [stamped for stamped in self.recommendations if stamped[1] >= oldest]
        self.recommendations.append((replicas, now))


def limited(
    behavior: Mapping[str, Any] | None,
    history: History,
    bounds: tuple[int, int],
    current: int,
    recommended: int,
    now: int,
) -> Limited:
    """Return the size that follows from a recommendation, which is kept in the history. `bounds`: minReplicas, maxReplicas.

    A recommendation that is exactly as old as the window counts no more: the real controller, whose syncs are a little more than
    15 s apart, looks at it after the window.
    """
    if behavior is None:
        stabilized, stable = _stabilized(history, recommended, now)
        replicas, reason, message = _ruled(current, stabilized, bounds)
        allowed = True
    else:
        up, down = _rules(behavior, "scaleUp"), _rules(behavior, "scaleDown")
        stabilized, stable = _stabilized_between(history, up, down, current, recommended, now)
        replicas, reason, message = _paced(history, up, down, current, stabilized, bounds, now)
        allowed = (up if recommended > current else down)["selectPolicy"] != "Disabled"
    limits = Condition("ScalingLimited", "False" if replicas == stabilized else "True", reason, message)
    within = min(max(recommended, bounds[0]), bounds[1])
    return Limited(replicas, (stable, limits), allowed and within != replicas)


def _rules(behavior: Mapping[str, Any], way: str) -> dict[str, Any]:
    defaults = UP if way == "scaleUp" else {WINDOW_FIELD: WINDOW_SECONDS, **DOWN}
    stated = behavior.get(way) or {}
    return {**defaults, **{field: stated[field] for field in defaults if stated.get(field) is not None}}


def _ready(stabilized: int, recommended: int, reason: str, message: str) -> Condition:
    if stabilized == recommended:
        return Condition("AbleToScale", "True", "ReadyForNewScale", "recommended size matches current size")
    return Condition("AbleToScale", "True", reason, message)


def _stabilized(history: History, recommended: int, now: int) -> tuple[int, Condition]:
    """Return the highest recommendation of the window (stabilizeRecommendation)."""
    cutoff = now - WINDOW_SECONDS * _SECOND
    highest = max([recommended, *(replicas for replicas, moment in history.recommendations if moment > cutoff)])
    history.recommend(recommended, cutoff, now)
    return highest, _ready(highest, recommended, "ScaleDownStabilized", _HIGHER)


def _stabilized_between(
    history: History, up: Mapping[str, Any], down: Mapping[str, Any], current: int, recommended: int, now: int
) -> tuple[int, Condition]:
    """Return the current size, brought between the recommendations of both windows (stabilizeRecommendationWithBehaviors)."""
    cutoffs = [now - rules[WINDOW_FIELD] * _SECOND for rules in (up, down)]
    lowest = min([recommended, *(replicas for replicas, moment in history.recommendations if moment > cutoffs[0])])
    highest = max([recommended, *(replicas for replicas, moment in history.recommendations if moment > cutoffs[1])])
    history.recommend(recommended, min(cutoffs), now)
    stabilized = min(max(current, lowest), highest)
    if recommended >= current:
        return stabilized, _ready(stabilized, recommended, "ScaleUpStabilized", _LOWER)
    return stabilized, _ready(stabilized, recommended, "ScaleDownStabilized", _HIGHER)


_WITHIN = ("DesiredWithinRange", "the desired count is within the acceptable range")
_FASTER = ("ScaleUpLimit", "the desired replica count is increasing faster than the maximum scale rate")
_SLOWER = ("ScaleDownLimit", "the desired replica count is decreasing faster than the maximum scale rate")
_MANY = ("TooManyReplicas", "the desired replica count is more than the maximum replica count")
_FEW = ("TooFewReplicas", "the desired replica count is less than the minimum replica count")


def _ruled(current: int, wanted: int, bounds: tuple[int, int]) -> tuple[int, str, str]:
    """Return the size without a behavior: at most the double, or 4 (convertDesiredReplicasWithRules)."""
    limit = max(2 * current, 4)
    most, why = (limit, _FASTER) if bounds[1] > limit else (bounds[1], _MANY)
    if wanted < bounds[0]:
        return bounds[0], *_FEW
    return (most, *why) if wanted > most else (wanted, *_WITHIN)


def _paced(
    history: History,
    up: Mapping[str, Any],
    down: Mapping[str, Any],
    current: int,
    wanted: int,
    bounds: tuple[int, int],
    now: int,
) -> tuple[int, str, str]:
    """Return the size that the policies allow (convertDesiredReplicasWithBehaviorRate)."""
    if wanted > current:
        limit = max(current, _limit(history, up, current, now, rises=True))
        most, why = (limit, _FASTER) if bounds[1] > limit else (bounds[1], _MANY)
        if wanted > most:
            return most, *why
    elif wanted < current:
        limit = min(current, _limit(history, down, current, now, rises=False))
        least, why = (limit, _SLOWER) if bounds[0] < limit else (bounds[0], _FEW)
        if wanted < least:
            return least, *why
    return wanted, *_WITHIN


def _limit(history: History, rules: Mapping[str, Any], current: int, now: int, *, rises: bool) -> int:
    """Return how far the policies let the size go (calculateScaleUpLimitWithScalingRules and its counterpart)."""
    select: str = rules["selectPolicy"]
    if select == "Disabled":
        return current
    proposed: list[int] = []
    for policy in rules["policies"]:
        cutoff = now - policy["periodSeconds"] * _SECOND
        start = current - _changed(history.ups, cutoff) + _changed(history.downs, cutoff)
        value = policy["value"] if rises else -policy["value"]
        if policy["type"] == "Pods":
            proposed.append(start + value)
        else:
            share = start * (1 + value / 100)
            proposed.append(ceil(share) if rises else int(share))
    farthest = rises == (select != "Min")
    return max(proposed) if farthest else min(proposed)


def _changed(events: Sequence[_Stamped], cutoff: int) -> int:
    return sum(change for change, moment in events if moment > cutoff)
