"""How long nodes lived and took to go, and pods took to be bound and to start, in virtual time.

Core ``pkg/controllers/node/termination/{controller,metrics}.go``, ``pkg/controllers/metrics/pod/controller.go``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.engine.clock import SECOND, parse
from harness.karpenter.labels.core import NODEPOOL, TERMINATION_FINALIZER
from harness.kube.api.objects import (
    Object,
    condition,
    condition_is,
    finalizers_of,
    is_terminating,
    labels_of,
    metadata_of,
    status_of,
)
from harness.world.samples import Distributions, Sample

if TYPE_CHECKING:
    from harness.clusters.memory.journal import Entry
    from harness.world.observations import Observations

__all__ = ["DURATION_FAMILIES", "duration_samples"]

_DRAINED = "karpenter_nodes_drained_total"
_GOING = "karpenter_nodes_termination_duration_seconds"
_LIVES = "karpenter_nodes_lifetime_duration_seconds"
_BOUND = "karpenter_pods_bound_duration_seconds"
_STARTED = "karpenter_pods_startup_duration_seconds"
DURATION_FAMILIES: Mapping[str, str] = {
    _DRAINED: "counter",
    _GOING: "summary",
    _LIVES: "histogram",
    _BOUND: "histogram",
    _STARTED: "summary",
}
"""The metrics that are told, and their type."""

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
    """All series, from what was written."""
    drained: Counter[str] = Counter()
    going, lives = Distributions(_GOING), Distributions(_LIVES, _LIFETIMES)
    bound, started = Distributions(_BOUND, _DURATIONS), Distributions(_STARTED)
    for entry in world.journal:
        kind, before, after = entry.key.kind, entry.before, entry.after
        if entry.error is not None or before is None:
            continue
        if kind == "NodeClaim" and after is not None and _becomes(before, after, "Drained"):
            drained[_pool(after)] += 1
        elif kind == "Node" and _finalized(entry):
            going.observe(_since(entry, "deletionTimestamp"), nodepool=_pool(before))
            lives.observe(_since(entry, "creationTimestamp"), nodepool=_pool(before))
        elif kind == "Pod" and after is not None:
            if _becomes(before, after, "PodScheduled"):
                bound.observe(_took(after, "PodScheduled"))
            if _becomes(before, after, "Ready") and status_of(after).get("phase") == "Running":
                started.observe(_took(after, "Ready"))
    yield from (Sample(_DRAINED, {"nodepool": pool}, count) for pool, count in drained.items())
    for each in (going, lives, bound, started):
        yield from each.samples()


def _becomes(before: Object, after: Object, kind: str) -> bool:
    return condition_is(after, kind) and not condition_is(before, kind)


def _finalized(entry: Entry) -> bool:
    """Whether Karpenter's finalizer goes, with which a Node goes that somebody has deleted."""
    before, after = entry.before, entry.after
    had = before is not None and is_terminating(before) and TERMINATION_FINALIZER in finalizers_of(before)
    return had and (after is None or TERMINATION_FINALIZER not in finalizers_of(after))


def _since(entry: Entry, field: str) -> float:
    return (entry.at - parse(metadata_of(entry.before or {})[field])) / SECOND


def _took(pod: Object, kind: str) -> float:
    found = condition(pod, kind) or {}
    return (parse(found["lastTransitionTime"]) - parse(metadata_of(pod)["creationTimestamp"])) / SECOND


def _pool(obj: Object) -> str:
    return str(labels_of(obj).get(NODEPOOL) or "")
