"""Karpenter's metrics of removed nodes, and of the decisions to remove them.

Core ``pkg/metrics/metrics.go``, ``pkg/controllers/disruption/{metrics,queue}.go``,
``pkg/controllers/nodeclaim/{lifecycle,expiration,garbagecollection}``, ``pkg/controllers/node/health``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.lifecycle.names import nodepool_of
from harness.kube.api.objects import Object, is_terminating, labels_of, spec_of, status_of
from harness.kube.go.durations import parse_duration
from harness.kube.scheduling.pods import is_reschedulable
from harness.world.metrics.samples import Labels, Sample, snake_case
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.engine.disruptions import Disruption
    from harness.world.observations import Observations

__all__ = ["DISRUPTION_FAMILIES", "disruption_samples"]

_DISRUPTED = "karpenter_nodeclaims_disrupted_total"
_PODS = "karpenter_pods_disruption_initiated_total"
_DECISIONS = "karpenter_voluntary_disruption_decisions_total"
_BY_NODEPOOL = "karpenter_voluntary_disruption_decisions_by_nodepool_total"
_TERMINATE_FIRST = "karpenter_voluntary_disruption_terminate_first_decisions_total"
_FAILURES = "karpenter_voluntary_disruption_queue_failures_total"
_TIMEOUTS = "karpenter_voluntary_disruption_consolidation_timeouts_total"
DISRUPTION_FAMILIES: Mapping[str, str] = dict.fromkeys(
    (_DISRUPTED, _PODS, _DECISIONS, _BY_NODEPOOL, _TERMINATE_FIRST, _FAILURES, _TIMEOUTS), "counter"
)
"""The metrics, and their type."""

_SEARCHES = {"multi-node consolidation": "multi", "single-node consolidation": "single"}
_TYPES = {"MultiNodeConsolidation": "multi", "SingleNodeConsolidation": "single", "Emptiness": "empty"}
_COLLECTED = "garbage collecting nodeclaim with no cloudprovider representation"


@dataclass(frozen=True, slots=True)
class _Removal:
    """A NodeClaim that Karpenter has deleted. ``pods`` is the number that have to find another place, None where it is not counted."""

    nodeclaim: str
    reason: str
    policy: str = ""
    pods: int | None = None


def disruption_samples(world: Observations, claims: Mapping[str, Object]) -> Iterator[Sample]:
    """Yield all series; ``claims`` are the NodeClaims that ever existed, by name."""
    counted: Counter[tuple[str, Labels]] = Counter()
    for removal in _removals(world, claims):
        claim = claims.get(removal.nodeclaim)
        if claim is None:
            continue
        labels = _labels(claim, removal, modes=world.release.core.disruption_modes_in_metrics)
        counted[_DISRUPTED, labels] += 1
        if world.release.core.disruption_modes_in_metrics and removal.pods is not None:
            counted[_PODS, labels] += removal.pods
    for name, labels in _decisions(world):
        counted[name, labels] += 1
    for method in _SEARCHES.values():
        counted[_TIMEOUTS, (("consolidation_type", method),)] += 0
    yield from (Sample(name, dict(labels), value) for (name, labels), value in counted.items())


def _labels(claim: Object, removal: _Removal, *, modes: bool) -> Labels:
    labels = {
        "capacity_type": labels_of(claim).get(CAPACITY_TYPE, ""),
        "nodepool": nodepool_of(claim),
        "reason": removal.reason,
    }
    if modes:
        labels |= {"consolidation_policy": removal.policy, "termination_mode": _termination_mode(claim)}
    return tuple(sorted(labels.items()))


def _termination_mode(claim: Object) -> str:
    """Return the label for the patience of its end (core ``pkg/utils/nodeclaim/nodeclaim.go`` DisruptionTerminationMode)."""
    grace = spec_of(claim).get("terminationGracePeriod")
    if grace is None:
        return "graceful"
    return "eventual" if parse_duration(grace) > 0 else "forceful"


def _removals(world: Observations, claims: Mapping[str, Object]) -> Iterator[_Removal]:
    """NodeClaims that Karpenter has deleted, and why."""
    for disruption in world.disruptions:
        if disruption.ended is not None and not disruption.problem:
            for gone in disruption.nodes:
                policy = snake_case(gone.policy) if disruption.method in _TYPES else ""
                yield _Removal(gone.nodeclaim, disruption.reason.lower(), policy, gone.pods)
    short = {
        event.object.name
        for event in world.events
        if event.reason == "InsufficientCapacityError" and event.object.kind == "NodeClaim"
    }
    left: Mapping[str, int] | None = None
    for line in world.log:
        name = str(line.values.get("NodeClaim"))
        if line.message == "failed launching nodeclaim" and line.controller == "nodeclaim.lifecycle":
            yield _Removal(name, "insufficient_capacity" if name in short else "nodeclass_not_ready")
        elif line.message == "failed launching nodeclaim" and line.controller == "instance.promise":
            yield _Removal(name, "async_provisioning")  # kaz pkg/cloudprovider/cloudprovider.go
        elif line.message == "terminating due to timeout":
            yield _Removal(name, str(line.values.get("reason")))
        elif line.message == "terminating due to registration ttl":
            yield _Removal(name, "liveness")
        elif line.message == _COLLECTED:
            left = _pods_left(world, claims) if left is None else left
            yield _Removal(name, "garbage_collected", pods=left.get(name, 0))


def _pods_left(world: Observations, claims: Mapping[str, Object]) -> dict[str, int]:
    """Return NodeClaim → the number of pods of its Node that had to find another place when it began to go."""
    counts: dict[str, int] = {}
    pods: dict[tuple[str, str], Object] = {}
    for entry in world.journal:
        key, after = entry.key, entry.after
        if entry.error is not None:
            continue
        if key.kind == "Pod":
            place = key.namespace, key.name
            if after is None:
                pods.pop(place, None)
            else:
                pods[place] = after
        elif key.kind == "NodeClaim" and key.name not in counts and (after is None or is_terminating(after)):
            node = status_of(claims[key.name]).get("nodeName")
            there = (pod for pod in pods.values() if node and spec_of(pod).get("nodeName") == node)
            counts[key.name] = sum(is_reschedulable(pod) for pod in there)
    return counts


def _decisions(world: Observations) -> Iterator[tuple[str, Labels]]:
    for disruption in world.disruptions:
        if not disruption.method:
            continue
        labels = ("decision", disruption.decision), ("reason", disruption.reason.lower())
        kind = ("consolidation_type", _TYPES.get(disruption.method, ""))
        yield _DECISIONS, (kind, *labels)
        if world.release.core.nodepool_decision_metrics:
            for pool in dict.fromkeys(gone.nodepool for gone in disruption.nodes):
                yield _BY_NODEPOOL, (kind, labels[0], ("nodepool", pool), labels[1])
        if disruption.terminate_first:
            for pool in dict.fromkeys(gone.nodepool for gone in disruption.nodes):
                yield (
                    _TERMINATE_FIRST,
                    (("nodepool", pool), labels[1], ("terminate_first_reason", disruption.terminate_first)),
                )
        if disruption.problem:
            yield from _failures(disruption, labels, by_type=world.release.core.queue_failures_by_type)
    for line in world.log:
        for words, method in _SEARCHES.items():
            if words in line.message and "timeout" in line.message:
                yield _TIMEOUTS, (("consolidation_type", method),)


def _failures(disruption: Disruption, labels: Labels, *, by_type: bool) -> Iterator[tuple[str, Labels]]:
    """Yield one entry for each replacement that was not initialized; before core 1.15.0 the decision stands under consolidation_type."""
    kind = _TYPES.get(disruption.method, "") if by_type else disruption.decision
    for _ in range(disruption.missing):
        yield _FAILURES, (("consolidation_type", kind), *labels)
