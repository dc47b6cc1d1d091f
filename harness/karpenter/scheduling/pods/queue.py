"""The queue of a simulation: its pods, largest first, each with this simulation's own copy of its shape.

Core ``pkg/controllers/provisioning/scheduling/queue.go``.
"""

from collections.abc import Callable, Iterable

from harness.karpenter.scheduling.nodeclaims.planned import pod_key
from harness.karpenter.scheduling.pods.shapes import PodShape
from harness.kube.api.objects import Object, uid_of
from lazyrecords import dataclass

__all__ = ["QueuedPod", "queued_pod", "shaped"]


@dataclass(frozen=True, slots=True)
class QueuedPod:
    """What a queue reads of a pod: ``key`` is namespace/name, ``rank`` what it is sorted by."""

    pod: Object
    shape: PodShape
    key: str
    rank: tuple[int, int, str, str]


def queued_pod(shape_of: Callable[[Object], PodShape], pod: Object) -> QueuedPod:
    """A pod as a queue reads it. Raises what ``shape_of`` raises."""
    shape = shape_of(pod)
    return QueuedPod(pod, shape, pod_key(pod), _largest_first(shape, pod))


def shaped(pods: Iterable[QueuedPod]) -> list[tuple[PodShape, Object]]:
    """Each pod with a copy of its shape; pods of one shape share the copy."""
    known: dict[int, PodShape] = {}
    return [(_fresh(each.shape, known), each.pod) for each in pods]


def _largest_first(shape: PodShape, pod: Object) -> tuple[int, int, str, str]:
    """The key to sort by: CPU, memory, age."""
    cpu, memory = shape.requests.get("cpu"), shape.requests.get("memory")
    created = (pod.get("metadata") or {}).get("creationTimestamp") or ""
    return -(cpu.nano if cpu else 0), -(memory.nano if memory else 0), created, uid_of(pod) or pod_key(pod)


def _fresh(shape: PodShape, known: dict[int, PodShape]) -> PodShape:
    """This simulation's own copy of a shape."""
    found = known.get(id(shape))
    if found is None:
        found = known[id(shape)] = shape.fresh()
    return found
