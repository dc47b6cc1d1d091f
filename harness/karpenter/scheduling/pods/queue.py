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
"""What pods are sorted by: size, the largest first, and age; then fit and key (``namespace/name``). Most are told apart by one text."""

_KEY: Final = 3
"""Where the key of a pod stands in its place."""


@dataclass(frozen=True, slots=True)
class QueuedPod:
    """What a queue reads of a pod, and where it stands in it."""

    pod: Object
    shape: PodShape
    place: Place

    @property
    def key(self) -> str:
        return self.place[_KEY]


def place_of(pod: QueuedPod) -> Place:
    """Where the pod stands."""
    return pod.place


def queued_pod(shape_of: Callable[[Object], PodShape], pod: Object) -> QueuedPod:
    """A pod as a queue reads it. Raises what ``shape_of`` raises."""
    shape, key = shape_of(pod), pod_key(pod)
    created = (pod.get("metadata") or {}).get("creationTimestamp") or ""
    age = f"{created}\0{uid_of(pod) or key}"  # sorted as the two of them
    return QueuedPod(pod, shape, (shape.size, age, shape.fit, key))


def shaped(pods: Iterable[QueuedPod]) -> list[tuple[PodShape, Object]]:
    """Each pod with a copy of its shape; pods of one shape share the copy."""
    known: dict[int, PodShape] = {}
    return [(_fresh(each.shape, known), each.pod) for each in pods]


def _fresh(shape: PodShape, known: dict[int, PodShape]) -> PodShape:
    """This simulation's own copy of a shape."""
    found = known.get(id(shape))
    if found is None:
        found = known[id(shape)] = shape.fresh()
    return found
