"""When Karpenter took notice of a pod, first decided about it, and has had a place for it since.

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
    """Of one pod, in nanoseconds: first seen as pending; first decision, whatever it was; since when it has had a place."""

    seen: int
    decided: int | None = None
    placed: int | None = None


class PodTimes:
    """The times of all pods by uid."""

    __slots__ = ("by_uid",)

    def __init__(self) -> None:
        self.by_uid: dict[str, TakenUp] = {}

    def seen(self, pod: Object, now: int) -> None:
        """A pod that Karpenter may provision for is there."""
        uid = uid_of(pod)
        if uid not in self.by_uid:
            self.by_uid[uid] = TakenUp(now)

    def decided(self, results: SchedulingResults, pod: Callable[[str], Object | None], now: int) -> None:
        """A simulation has ended; `pod` finds one by its key. Pods that are bound, and were to move, do not count."""
        for key in (*results.errors, *results.ignored):
            failed = pod(key)
            if failed is not None and (times := self.by_uid.get(uid_of(failed))) is not None:
                times.placed = None
                times.decided = now if times.decided is None else times.decided
        placed: Mapping[str, tuple[Object, ...]] = results.existing
        for pods in (*placed.values(), *(planned.pods for planned in results.nodeclaims)):
            for each in pods:
                times = self.by_uid.get(uid_of(each))
                if times is not None and not spec_of(each).get("nodeName"):
                    times.placed = now if times.placed is None else times.placed
                    times.decided = now if times.decided is None else times.decided
        if results.no_nodepools:
            for times in self.by_uid.values():
                times.decided = now if times.decided is None else times.decided
