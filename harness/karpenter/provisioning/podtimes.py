"""When Karpenter first saw a pod as pending, first decided about it, and since when it has had a place for it.

Core ``pkg/controllers/state/cluster.go`` (AckPods, MarkPodSchedulingDecisions), ``pkg/controllers/provisioning/controller.go``. It forgets
a pod that runs; here its times stay, for who asks later how long it took.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from harness.karpenter.scheduling import SchedulingResults
from harness.kube.api.objects import Object, spec_of, uid_of
from lazyrecords import dataclass

__all__ = ["PodTimes", "TakenUp"]


@dataclass(slots=True)
class TakenUp:
    """The times of one pod, in nanoseconds since the start: first seen as pending, first decision of any kind, since when it has a
    place."""

    seen: int
    decided: int | None = None
    placed: int | None = None


class PodTimes:
    """The times of all pods by uid."""

    __slots__ = ("by_uid",)

    def __init__(self) -> None:
        self.by_uid: dict[str, TakenUp] = {}

    def seen(self, pod: Object, now: int) -> None:
        """Note a provisionable pod, at its first call for the pod."""
        uid = uid_of(pod)
        if uid not in self.by_uid:
            self.by_uid[uid] = TakenUp(now)

    def decided(self, results: SchedulingResults, pod: Callable[[str], Object | None], now: int) -> None:
        """Note the results of a simulation. `pod` finds a pod by `namespace/name`; pods that are bound already do not count."""
        for key in (*results.errors, *results.ignored):
            failed = pod(key)
            if failed is not None and (times := self.by_uid.get(uid_of(failed))) is not None:
                times.placed = None
                times.decided = now if times.decided is None else times.decided
        placed: Mapping[str, tuple[Object, ...]] = results.existing
        for pods in (*placed.values(), *(planned.pods for planned in results.nodeclaims)):
            for decided_pod in pods:
                times = self.by_uid.get(uid_of(decided_pod))
                if times is not None and not spec_of(decided_pod).get("nodeName"):
                    times.placed = now if times.placed is None else times.placed
                    times.decided = now if times.decided is None else times.decided
        if results.no_nodepools:
            for times in self.by_uid.values():
                times.decided = now if times.decided is None else times.decided
