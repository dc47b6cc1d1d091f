"""The number of replicas that a HorizontalPodAutoscaler's metric asks for.

Source: kubernetes 1.36 pkg/controller/podautoscaler/replica_calculator.go (GetResourceReplicas, GetRawResourceReplicas,
groupPods), metrics/utilization.go. Amounts are thousandths of their unit, as upstream's milli-values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from math import ceil
from typing import Protocol

from harness.kube.api.containers import running_containers
from harness.kube.api.objects import Object, condition, is_terminating, name_of, spec_of, status_of
from harness.kube.api.quantity import Quantity
from harness.kube.go.times import parse_rfc3339
from harness.kube.scheduling.pods import is_pod_level, pod_requests
from lazyrecords import dataclass

__all__ = [
    "MetricError",
    "PodUsage",
    "Proposal",
    "ResourceMetric",
    "Tolerances",
    "container_request",
    "pod_request",
    "proposal",
]

_INITIALIZATION = timedelta(minutes=5)
_INITIAL_READINESS = timedelta(seconds=30)
"""Defaults of kube-controller-manager (config/v1alpha1/defaults.go)."""
_POD_LEVEL_FROM = (1, 34)


class MetricError(Exception):
    """A metric from which no number of replicas follows; the message is upstream's."""


@dataclass(frozen=True, slots=True)
class PodUsage:
    """The usage of one pod as the metrics API serves it: by container, by resource, in thousandths."""

    at: datetime
    window: timedelta
    containers: Mapping[str, Mapping[str, int]]

    def of(self, metric: ResourceMetric) -> int | None:
        """Return the usage that a metric is about; None where the metrics API lacks it."""
        names = [metric.container] if metric.container else list(self.containers)
        amounts = [self.containers.get(name, {}).get(metric.resource) for name in names]
        known_amounts = [amount for amount in amounts if amount is not None]
        return sum(known_amounts) if amounts and len(known_amounts) == len(amounts) else None


@dataclass(frozen=True, slots=True)
class ResourceMetric:
    """A target for a resource of all containers, or of one: `utilization` in percent of the requests, or `average` of each pod."""

    resource: str
    container: str = ""
    utilization: int | None = None
    average: int | None = None


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Shares of the target by which the usage may be off before anything is scaled."""

    down: float = 0.1
    up: float = 0.1

    def covers(self, ratio: float) -> bool:
        """Return whether a ratio of usage to target changes nothing."""
        return 1.0 - self.down <= ratio <= 1.0 + self.up


@dataclass(frozen=True, slots=True)
class Proposal:
    """The number of replicas, and the measured usage: in percent where the target is, and the average of a pod.

    `settling`: a pod was left out that will count soon, without any further change of it.
    """

    replicas: int
    utilization: int | None
    average: int
    settling: bool = False


class _Target(Protocol):
    def ratio(self, usages: Mapping[str, int]) -> float: ...

    def fallback(self, pod: str) -> int:
        """The usage that a pod without a metric is taken to have where there are too many pods."""
        ...


def proposal(
    metric: ResourceMetric,
    pods: Sequence[Object],
    usages: Mapping[str, PodUsage],
    current: int,
    tolerances: Tolerances,
    now: datetime,
    kubernetes: tuple[int, int],
) -> Proposal:
    """Return the replicas that a metric asks for. `usages`: by name of the pod. Raises MetricError."""
    if not usages:
        raise MetricError(
            f"unable to get metrics for resource {metric.resource}: no metrics returned from resource metrics API"
        )
    if not pods:
        raise MetricError("no pods returned by selector while calculating replica count")
    groups = _Groups(metric.resource, usages, metric, now)
    for pod in pods:
        groups.put(pod)
    counted = groups.counted
    if not counted:
        raise MetricError("did not receive metrics for targeted pods (pods might be unready)")
    target = _target(metric, pods, kubernetes)
    ratio = target.ratio(counted)
    percent = None if metric.average is not None else _percent(target, counted)
    average = sum(counted.values()) // len(counted)

    def proposed(replicas: int) -> Proposal:
        return Proposal(replicas, percent, average, groups.settling)

    rises_with_unready = bool(groups.unready) and ratio > 1.0
    if not rises_with_unready and not groups.missing:
        return proposed(current if tolerances.covers(ratio) else ceil(ratio * groups.ready))
    filled = dict(counted)
    if ratio < 1.0:
        filled |= {name: target.fallback(name) for name in groups.missing}
    elif ratio > 1.0:
        filled |= dict.fromkeys(groups.missing, 0)
    if rises_with_unready:
        filled |= dict.fromkeys(groups.unready, 0)
    new_ratio = target.ratio(filled)
    turned = (ratio < 1.0 < new_ratio) or (new_ratio < 1.0 < ratio)
    if tolerances.covers(new_ratio) or turned:
        return proposed(current)
    replicas = ceil(new_ratio * len(filled))
    against = (new_ratio < 1.0 and replicas > current) or (new_ratio > 1.0 and replicas < current)
    return proposed(current if against else replicas)


class _Groups:
    """The pods of a workload by what their metrics are worth (groupPods)."""

    def __init__(self, resource: str, usages: Mapping[str, PodUsage], metric: ResourceMetric, now: datetime) -> None:
        self._resource, self._metric, self._now = resource, metric, now
        self._usages = usages
        self.ready = 0
        self.counted: dict[str, int] = {}
        self.unready: list[str] = []
        self.missing: list[str] = []
        self.settling = False

    def put(self, pod: Object) -> None:
        """Sort one pod into its group."""
        name, phase = name_of(pod), status_of(pod).get("phase")
        if is_terminating(pod) or phase == "Failed":
            return
        if phase == "Pending":
            self.unready.append(name)
            return
        usage = self._usages.get(name)
        amount = None if usage is None else usage.of(self._metric)
        if usage is None or amount is None:
            self.missing.append(name)
        elif self._resource == "cpu" and self._is_unready(pod, usage):
            self.unready.append(name)
        else:
            self.ready += 1
            self.counted[name] = amount

    def _is_unready(self, pod: Object, usage: PodUsage) -> bool:
        ready, started = condition(pod, "Ready"), status_of(pod).get("startTime")
        if ready is None or not started:
            return True
        changed, start = parse_rfc3339(str(ready.get("lastTransitionTime"))), parse_rfc3339(str(started))
        is_false = ready.get("status") == "False"
        if start + _INITIALIZATION <= self._now:
            return is_false and start + _INITIAL_READINESS > changed
        if is_false:
            return True
        early = usage.at < changed + usage.window
        self.settling = self.settling or early
        return early


@dataclass(frozen=True, slots=True)
class _Utilization:
    """A target in percent of what the pods request."""

    target: int
    requests: Mapping[str, int]

    def percent(self, usages: Mapping[str, int]) -> int:
        requested = sum(self.requests[name] for name in usages)
        if not requested:
            raise MetricError("no metrics returned matched known pods")
        return sum(usages.values()) * 100 // requested

    def ratio(self, usages: Mapping[str, int]) -> float:
        return self.percent(usages) / self.target

    def fallback(self, pod: str) -> int:
        return self.requests[pod] * max(100, self.target) // 100


@dataclass(frozen=True, slots=True)
class _Average:
    """A target for the average of a pod."""

    target: int

    def ratio(self, usages: Mapping[str, int]) -> float:
        return (sum(usages.values()) // len(usages)) / self.target

    def fallback(self, pod: str) -> int:
        return self.target


def _target(metric: ResourceMetric, pods: Sequence[Object], kubernetes: tuple[int, int]) -> _Target:
    if metric.average is not None:
        return _Average(metric.average)
    if metric.utilization is None:
        raise MetricError(
            "invalid resource metric source: neither an average utilization target nor an average value (usage) target was set"
        )
    requests = {name_of(pod): pod_request(pod, metric.resource, metric.container, kubernetes) for pod in pods}
    return _Utilization(metric.utilization, requests)


def _percent(target: _Target, usages: Mapping[str, int]) -> int | None:
    return target.percent(usages) if isinstance(target, _Utilization) else None


def container_request(container: Object, resource: str) -> int | None:
    """Return what a container requests of a resource, in thousandths; None where it does not say."""
    stated = ((container.get("resources") or {}).get("requests") or {}).get(resource)
    return None if stated is None else Quantity.parse(stated).milli_value()


def pod_request(pod: Object, resource: str, container: str, kubernetes: tuple[int, int]) -> int:
    """Return what a pod, or one of its containers, requests of a resource, in thousandths (calculateRequests).

    Raises MetricError for a container without a request.
    """
    spec, name = spec_of(pod), name_of(pod)
    whole = (spec.get("resources") or {}).get("requests") or {}
    if not container and kubernetes >= _POD_LEVEL_FROM and any(map(is_pod_level, whole)):
        amount = pod_requests(pod).get(resource)
        if amount is None:
            raise MetricError(f"missing pod-level request for {resource} in Pod {name}")
        return amount.milli_value()
    total = 0
    for member in running_containers(pod):
        if container in ("", member["name"]):
            amount_of_member = container_request(member, resource)
            if amount_of_member is None:
                raise MetricError(f"missing request for {resource} in container {member['name']} of Pod {name}")
            total += amount_of_member
        if container == member["name"]:
            return total
    if container:
        raise MetricError(f"container {container} not found in Pod {name}")
    return total
