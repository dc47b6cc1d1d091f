"""Evictions, unhealthy nodes, and the durations of the ends of NodeClaims and their machines.

Core ``pkg/controllers/node/termination/terminator/{eviction,metrics}.go``, ``pkg/controllers/node/health/{controller,metrics}.go``,
``pkg/controllers/nodeclaim/lifecycle/{controller,metrics}.go``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.engine.clock import nanoseconds
from harness.engine.disruptions import UNHEALTHY, Disrupted
from harness.karpenter.labels.core import CAPACITY_TYPE, TERMINATION_FINALIZER
from harness.karpenter.lifecycle.names import nodepool_of
from harness.karpenter.lifecycle.nodes.repair import unhealthy_since
from harness.kube.api.objects import (
    Key,
    Object,
    condition,
    finalizers_of,
    is_terminating,
    labels_of,
    metadata_of,
    status_of,
)
from harness.world.metrics.samples import Distributions, Labels, Sample, seconds_since, snake_case

if TYPE_CHECKING:
    from harness.clusters.memory.journal import Entry
    from harness.world.observations import Observations

__all__ = ["DEPARTURE_FAMILIES", "departure_samples", "finalized"]

_ASKED, _DRAINED = "karpenter_pods_eviction_requests_total", "karpenter_pods_drained_total"
_UNHEALTHY = "karpenter_nodeclaims_unhealthy_disrupted_total"
_INSTANCES = "karpenter_nodeclaims_instance_termination_duration_seconds"
_CLAIMS = "karpenter_nodeclaims_termination_duration_seconds"
DEPARTURE_FAMILIES: Mapping[str, str] = {
    _ASKED: "counter",
    _DRAINED: "counter",
    _UNHEALTHY: "counter",
    _INSTANCES: "histogram",
    _CLAIMS: "histogram",
}
"""The metrics, and their type."""

_POWERS = tuple(float(2**power) for power in range(11))


def departure_samples(world: Observations) -> Iterator[Sample]:
    """Yield all series, by the writes and the Events."""
    evictions = world.karpenter.evictions
    yield from (Sample(_ASKED, {"code": str(code)}, count) for code, count in sorted(evictions.answers.items()))
    if world.release.core.counts_drains:
        yield from (Sample(_DRAINED, {"reason": reason}, count) for reason, count in sorted(evictions.drained.items()))
    instances, claims = Distributions(_INSTANCES, _POWERS), Distributions(_CLAIMS, _POWERS)
    for entry in world.journal:
        if entry.key.kind == "NodeClaim" and entry.before is not None and entry.error is None and finalized(entry):
            pool = nodepool_of(entry.before)
            claims.observe(seconds_since(metadata_of(entry.before)["deletionTimestamp"], entry.at), nodepool=pool)
            ending = condition(entry.before, "InstanceTerminating")
            if ending is not None and status_of(entry.before).get("providerID"):
                instances.observe(seconds_since(ending["lastTransitionTime"], entry.at), nodepool=pool)
    unhealthy = Counter(
        _unhealthy(world, disruption.at, gone)
        for disruption in world.disruptions
        if disruption.reason == UNHEALTHY and not disruption.method
        for gone in disruption.nodes
    )
    yield from (Sample(_UNHEALTHY, dict(labels), count) for labels, count in unhealthy.items())
    yield from (*instances.samples(), *claims.samples())


def finalized(entry: Entry) -> bool:
    """Return whether Karpenter's finalizer goes, and with it a deleted Node or NodeClaim."""
    before, after = entry.before, entry.after
    had = before is not None and is_terminating(before) and TERMINATION_FINALIZER in finalizers_of(before)
    return had and (after is None or TERMINATION_FINALIZER not in finalizers_of(after))


def _unhealthy(world: Observations, at: float, gone: Disrupted) -> Labels:
    """Return the labels of the NodeClaim that was deleted at that time, and of the condition of its Node that was the cause."""
    node, claim = (
        _as_it_was(world, Key(kind, "", name), at)
        for kind, name in (("Node", gone.node), ("NodeClaim", gone.nodeclaim))
    )
    met = [policy for policy in world.release.repair_policies if unhealthy_since(node, [policy]) is not None]
    first = min(met, key=lambda unhealthy: unhealthy_since(node, [unhealthy]) or 0, default=None)
    own = labels_of(node)
    return (
        ("capacity_type", str(own.get(CAPACITY_TYPE) or "")),
        ("condition", snake_case(first.condition) if first is not None else ""),
        ("image_id", str(status_of(claim).get("imageID") or "")),
        ("nodepool", nodepool_of(node)),
    )


def _as_it_was(world: Observations, key: Key, at: float) -> Object:
    moment = world.clock.start + nanoseconds(at)
    entries = [entry for entry in world.journal.entries_about(key) if entry.at <= moment and entry.after is not None]
    return entries[-1].after or {} if entries else {}
