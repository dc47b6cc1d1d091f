"""The metrics API of the memory cluster: the usage of pods, by the load that a scenario gives their workload.

The ready pods of a workload share its load equally; a pod that runs and is not ready uses nothing. The usage is that of the moment,
measured over 15 s, the resolution with which metrics-server is deployed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

from harness.engine.clock import Clock
from harness.engine.ports import Change, ChangeType
from harness.kube.api.containers import running_containers
from harness.kube.api.objects import Key, Object, condition_is, is_terminating, key_of, name_of, spec_of, status_of
from harness.kube.workloads.autoscaler_replicas import MetricError, PodUsage, container_request, pod_request
from harness.kube.workloads.loads import Amount, Curve, Load

__all__ = ["Loads"]

_WINDOW = timedelta(seconds=15)


class Loads:
    """The loads of workloads. It has to `hear` every change of one: its first size is what percentages are of."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._curves: dict[Key, Curve] = {}
        self._first: dict[Key, int] = {}

    def hear(self, change: Change) -> None:
        """Keep the size with which a workload came."""
        if change.type is ChangeType.ADDED:
            self._first[key_of(change.object)] = int(spec_of(change.object).get("replicas", 1))

    def put(self, workload: Key, curve: Curve) -> None:
        """Give a workload this load, in place of the one that it had."""
        self._curves[workload] = curve

    def knows(self, workload: Key) -> bool:
        """Return whether the load of a workload is given, from now or from a later moment on."""
        return bool(self._curves.get(workload))

    def begun(self, workload: Key) -> bool:
        """Return whether the workload has a load by now."""
        return self._load(workload) is not None

    def _load(self, workload: Key) -> Load | None:
        curve = self._curves.get(workload, ())
        past = bisect_right([second for second, _ in curve], self._clock.seconds)
        return curve[past - 1][1] if past else None

    def usages(self, workload: Key, pods: Sequence[Object], kubernetes: tuple[int, int]) -> Mapping[str, PodUsage]:
        """Return the usage of each of the workload's running pods, by name."""
        load = self._load(workload) or {}
        running = [pod for pod in pods if status_of(pod).get("phase") == "Running"]
        ready = [pod for pod in running if condition_is(pod, "Ready") and not is_terminating(pod)]
        shares = {
            resource: self._total(workload, resource, amount, ready, kubernetes) // max(1, len(ready))
            for resource, amount in load.items()
        }
        working = {name_of(pod) for pod in ready}
        now = self._clock.datetime().replace(microsecond=0)
        return {
            name_of(pod): PodUsage(
                now, _WINDOW, _split(pod, shares if name_of(pod) in working else dict.fromkeys(shares, 0))
            )
            for pod in running
        }

    def _total(
        self, workload: Key, resource: str, amount: Amount, ready: Iterable[Object], kubernetes: tuple[int, int]
    ) -> int:
        if amount.percent is None:
            return amount.total or 0
        requests = [_request(pod, resource, kubernetes) for pod in ready]
        if not requests:
            return 0
        return amount.percent * self._first.get(workload, 1) * sum(requests) // (100 * len(requests))


def _request(pod: Object, resource: str, kubernetes: tuple[int, int]) -> int:
    try:
        return pod_request(pod, resource, "", kubernetes)
    except MetricError:
        return 0  # nobody can say what a share of it is; a utilization of it fails anyway


def _split(pod: Object, usage: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return the usage by container, in the proportion of their requests; the last one has the rest."""
    members = running_containers(pod)
    made: dict[str, dict[str, int]] = {member["name"]: {} for member in members}
    for resource, amount in usage.items():
        weights = [container_request(member, resource) or 0 for member in members]
        if not sum(weights):
            weights = [1] * len(members)
        left = amount
        for member, weight in zip(members[:-1], weights, strict=False):
            part = amount * weight // sum(weights)
            made[member["name"]][resource] = part
            left -= part
        made[members[-1]["name"]][resource] = left
    return made
