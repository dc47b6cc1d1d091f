"""kube-scheduler's decision for one pod: the node it fits, or the sentence that says why it fits none.

The filters are those of the default profile, in its order; the first that fails a node gives its reason. Not simulated:
volumes, dynamic resources, and preemption (a pod never evicts others; the sentence says so as the real one does).
Sources: kubernetes pkg/scheduler/framework/plugins/*, pkg/scheduler/framework/types.go (FitError).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from harness.kube.node_affinity import preferred_weight, required_matches
from harness.kube.objects import Object, spec_of
from harness.kube.placement import NodeInfo
from harness.kube.pods import HostPort, host_ports, pod_requests
from harness.kube.quantity import Quantity
from harness.kube.spreading import InterPodAffinity, TopologySpread
from harness.kube.taints import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE, tolerates

NO_NODES = "no nodes available to schedule pods"
_UNSCHEDULABLE_TAINT = {"key": "node.kubernetes.io/unschedulable", "effect": NO_SCHEDULE}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why one node does not take the pod. `helpless`: evicting others would not change that."""

    node: str
    reasons: tuple[str, ...]
    helpless: bool


@dataclass(frozen=True, slots=True)
class Unschedulable:
    """No node takes the pod."""

    failures: tuple[Failure, ...]
    version: tuple[int, int] = (1, 35)

    @property
    def message(self) -> str:
        """The text of the PodScheduled condition and of the FailedScheduling event."""
        count = len(self.failures)
        if not count:
            return NO_NODES
        reasons = Counter(reason for failure in self.failures for reason in failure.reasons)
        first = f"0/{count} nodes are available: {_histogram(reasons)}."
        help_ = Counter(
            "Preemption is not helpful for scheduling"
            if failure.helpless
            else "No preemption victims found for incoming pod"
            for failure in self.failures
        )
        claims = "no new claims to deallocate, " if self.version >= (1, 34) else ""
        return f"{first} {claims}preemption: 0/{count} nodes are available: {_histogram(help_)}."


def _histogram(reasons: Mapping[str, int]) -> str:
    return ", ".join(sorted(f"{count} {reason}" for reason, count in reasons.items()))


Choose = Callable[[Sequence[str]], str]
"""Breaks a tie between equally good nodes (the real scheduler draws one at random)."""


@dataclass(frozen=True, slots=True)
class _Pod:
    pod: Object
    requests: Mapping[str, Quantity]
    ports: tuple[HostPort, ...]
    tolerations: Sequence[Mapping[str, object]]


def schedule(
    pod: Object,
    nodes: Sequence[NodeInfo],
    *,
    choose: Choose = min,
    version: tuple[int, int] = (1, 35),
) -> str | Unschedulable:
    """The name of the node for this pod, or why there is none. `version` is Kubernetes' (major, minor)."""
    asking = _Pod(pod, pod_requests(pod), host_ports(pod), spec_of(pod).get("tolerations") or ())
    spread = TopologySpread.of(pod, nodes)
    affinity = InterPodAffinity.of(pod, nodes)
    fitting: list[NodeInfo] = []
    failures: list[Failure] = []
    for info in nodes:
        failure = _first_failure(asking, info, spread, affinity)
        if failure is None:
            fitting.append(info)
        else:
            failures.append(failure)
    if not fitting:
        return Unschedulable(tuple(failures), version)
    if len(fitting) == 1:
        return fitting[0].name
    scores = {info.name: _score(asking, info, spread, affinity) for info in fitting}
    best = max(scores.values())
    return choose(sorted(name for name, score in scores.items() if score == best))


def _first_failure(
    asking: _Pod, info: NodeInfo, spread: TopologySpread | None, affinity: InterPodAffinity | None
) -> Failure | None:
    spec = spec_of(info.node)
    if spec.get("unschedulable") and not any(tolerates(each, _UNSCHEDULABLE_TAINT) for each in asking.tolerations):
        return Failure(info.name, ("node(s) were unschedulable",), True)
    for taint in info.taints:
        if taint.get("effect") in (NO_SCHEDULE, NO_EXECUTE) and not any(
            tolerates(each, taint) for each in asking.tolerations
        ):
            text = f"node(s) had untolerated taint {{{taint['key']}: {taint.get('value') or ''}}}"
            return Failure(info.name, (text,), True)
    if not required_matches(asking.pod, info.node):
        return Failure(info.name, ("node(s) didn't match Pod's node affinity/selector",), True)
    if any(wanted.conflicts(taken) for wanted in asking.ports for taken in info.ports):
        return Failure(info.name, ("node(s) didn't have free ports for the requested pod ports",), False)
    short = info.insufficient(asking.requests)
    if short:
        reasons = tuple("Too many pods" if name == "pods" else f"Insufficient {name}" for name in short)
        return Failure(info.name, reasons, _never_fits(asking, info))
    for plugin in (spread, affinity):
        if plugin is not None and (found := plugin.failure(info)) is not None:
            reason, helpless = found
            return Failure(info.name, (reason,), helpless)
    return None


def _never_fits(asking: _Pod, info: NodeInfo) -> bool:
    """Whether even the empty node is too small."""
    zero = Quantity.parse("0")
    return any(quantity > info.allocatable.get(name, zero) for name, quantity in asking.requests.items())


def _score(
    asking: _Pod, info: NodeInfo, spread: TopologySpread | None, affinity: InterPodAffinity | None
) -> tuple[float, ...]:
    """What makes a node better, the weightier first: the pod's own wishes, then room.

    The real scheduler adds normalised scores; the order of wishes here follows their weights (3, 2, 2, 2, 1).
    """
    untolerated = sum(
        1
        for taint in info.taints
        if taint.get("effect") == PREFER_NO_SCHEDULE and not any(tolerates(each, taint) for each in asking.tolerations)
    )
    spreading = -spread.imbalance(info) if spread is not None else 0.0
    together = affinity.preference(info) if affinity is not None else 0
    return (
        -untolerated,
        preferred_weight(asking.pod, info.node) + together + spreading,
        _least_allocated(asking, info),
    )


def _least_allocated(asking: _Pod, info: NodeInfo) -> float:
    """The mean free share of CPU and memory with the pod on the node, in whole percent as the plugin counts."""
    zero = Quantity.parse("0")
    shares: list[int] = []
    for name in ("cpu", "memory"):
        total = info.allocatable.get(name, zero).nano
        if total <= 0:
            continue
        used = info.requested.get(name, zero).nano + asking.requests.get(name, zero).nano
        shares.append(max(0, (total - used) * 100 // total))
    return sum(shares) / len(shares) if shares else 0.0
