"""Durations of nodes' lives and ends, and of pods until decision, binding and start, in virtual time.

Core ``pkg/controllers/node/termination/{controller,metrics}.go``, ``pkg/controllers/metrics/pod/controller.go``,
``pkg/controllers/state/{cluster,metrics}.go`` (PodSchedulingDecisionSeconds).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.engine.clock import SECOND, parse
from harness.karpenter.lifecycle.names import nodepool_of
from harness.kube.api.objects import (
    Object,
    condition,
    condition_is,
    metadata_of,
    status_of,
    uid_of,
)
from harness.world.metrics.departures import finalized
from harness.world.metrics.samples import Distributions, Sample, resource_claim_labels, seconds_since

if TYPE_CHECKING:
    from harness.world.observations import Observations

__all__ = ["DURATION_FAMILIES", "duration_samples"]

_DRAINED = "karpenter_nodes_drained_total"
_GOING = "karpenter_nodes_termination_duration_seconds"
_LIVES = "karpenter_nodes_lifetime_duration_seconds"
_BOUND = "karpenter_pods_bound_duration_seconds"
_STARTED = "karpenter_pods_startup_duration_seconds"
_DECIDED = "karpenter_pods_scheduling_decision_duration_seconds"
_PLACED_BOUND = "karpenter_pods_provisioning_bound_duration_seconds"
_PLACED_STARTED = "karpenter_pods_provisioning_startup_duration_seconds"
DURATION_FAMILIES: Mapping[str, str] = {
    _DRAINED: "counter",
    _GOING: "summary",
    _LIVES: "histogram",
    _BOUND: "histogram",
    _STARTED: "summary",
    _DECIDED: "histogram",
    _PLACED_BOUND: "histogram",
    _PLACED_STARTED: "histogram",
}
"""The metrics, and their type."""

_HOUR = 3600.0
_DAY = 24 * _HOUR
_LIFETIMES = (
    *(_HOUR * part for part in (0.25, 0.5, 0.75, 1, 2, 4, 6, 8, 10, 12, 16, 20)),
    *(_DAY * days for days in (1, 2, 3, 5, 10, 15, 20, 25, 30)),
)
_DURATIONS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    *(
        1.25,
        1.5,
        1.75,
        2.0,
        2.5,
        3.0,
        3.5,
        4.0,
        4.5,
        5,
        6,
        7,
        8,
        9,
        10,
        15,
        20,
        25,
        30,
        40,
        50,
        60,
        120,
        150,
        300,
        450,
        600,
    ),
)


def duration_samples(world: Observations) -> Iterator[Sample]:
    """Yield all series, by the writes."""
    drained: Counter[str] = Counter()
    going, lives = Distributions(_GOING), Distributions(_LIVES, _LIFETIMES)
    bound, started = Distributions(_BOUND, _DURATIONS), Distributions(_STARTED)
    decided, placed_bound, placed_started = (
        Distributions(name, _DURATIONS) for name in (_DECIDED, _PLACED_BOUND, _PLACED_STARTED)
    )
    taken_up = world.karpenter.taken_up
    for taken in taken_up.values():
        if taken.decided is not None:
            decided.observe((taken.decided - taken.seen) / SECOND)
    for entry in world.journal:
        kind, before, after = entry.key.kind, entry.before, entry.after
        if entry.error is not None or before is None:
            continue
        if kind == "NodeClaim" and after is not None and _becomes(before, after, "Drained"):
            drained[nodepool_of(after)] += 1
        elif kind == "Node" and finalized(entry):
            going.observe(
                seconds_since(metadata_of(before)["deletionTimestamp"], entry.at), nodepool=nodepool_of(before)
            )
            lives.observe(
                seconds_since(metadata_of(before)["creationTimestamp"], entry.at), nodepool=nodepool_of(before)
            )
        elif kind == "Pod" and after is not None:
            decision = taken_up.get(uid_of(after))
            placed = decision.placed if decision is not None else None
            if _becomes(before, after, "PodScheduled"):
                labels = resource_claim_labels(world.release.core, after)
                bound.observe(_took(after, "PodScheduled"), **labels)
                if placed is not None:
                    placed_bound.observe((_when(after, "PodScheduled") - placed) / SECOND, **labels)
            if _becomes(before, after, "Ready") and status_of(after).get("phase") == "Running":
                started.observe(_took(after, "Ready"))
                if placed is not None:
                    placed_started.observe((_when(after, "Ready") - placed) / SECOND)
    yield from (Sample(_DRAINED, {"nodepool": pool}, count) for pool, count in drained.items())
    for distribution in (going, lives, bound, started, decided, placed_bound, placed_started):
        yield from distribution.samples()


def _becomes(before: Object, after: Object, kind: str) -> bool:
    return condition_is(after, kind) and not condition_is(before, kind)


def _took(pod: Object, kind: str) -> float:
    return seconds_since(metadata_of(pod)["creationTimestamp"], _when(pod, kind))


def _when(pod: Object, kind: str) -> int:
    return parse((condition(pod, kind) or {})["lastTransitionTime"])
