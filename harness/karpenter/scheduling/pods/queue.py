"""The queue of a simulation: its pods, largest first, each with this simulation's own copy of its shape.

Core ``pkg/controllers/provisioning/scheduling/queue.go``.
"""

from collections.abc import Callable, Iterable
from typing import Final

from harness.karpenter.scheduling.nodeclaims.planned import pod_key
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.kube.api.objects import Object, uid_of
from lazyrecords import dataclass

__all__ = ["Place", "QueuedPod", "place_of", "queued_pod", "shaped"]

Place = tuple[tuple[int, int], str, int, str]
"""The sort key of pods: size, the largest first, and age; then fit and key (``namespace/name``). Most are told apart by one text."""

_KEY: Final = 3
"""The index of a pod's key in its place."""


@dataclass(frozen=True, slots=True)
class QueuedPod:
    """A pod as a queue reads it, and its place there."""

    pod: Object
    shape: PodShape
    place: Place

    @property
    def key(self) -> str:
        return self.place[_KEY]


def place_of(pod: QueuedPod) -> Place:
    """Return the pod's place."""
    return pod.place


def queued_pod(shape_of: Callable[[Object], PodShape], pod: Object) -> QueuedPod:
    """A pod as a queue reads it. Raises what ``shape_of`` raises."""
    shape, key = shape_of(pod), pod_key(pod)
    created = (pod.get("metadata") or {}).get("creationTimestamp") or ""
    age = f"{created}\0{uid_of(pod) or key}"  # sorted as the two of them
    return QueuedPod(pod, shape, (shape.size, age, shape.fit, key))


def shaped(pods: Iterable[QueuedPod]) -> list[tuple[PodShape, Object]]:
    """Each pod with a copy of its shape; pods of one shape share the copy."""
    fresh: dict[int, PodShape] = {}
    return [(_fresh(pod.shape, fresh), pod.pod) for pod in pods]


def _fresh(shape: PodShape, fresh: dict[int, PodShape]) -> PodShape:
    """This simulation's own copy of a shape."""
    copy = fresh.get(id(shape))
    if copy is None:
        copy = fresh[id(shape)] = shape.fresh()
    return copy
