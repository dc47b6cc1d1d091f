"""The queue of a simulation: its pods, largest first, each with this simulation's own copy of its shape.

Core ``pkg/controllers/provisioning/scheduling/queue.go``.
"""

from collections.abc import Callable, Iterable

from harness.karpenter.scheduling.nodeclaims import pod_key
from harness.karpenter.scheduling.shapes import PodShape
from harness.kube.api.objects import Object, uid_of

__all__ = ["largest_first", "shaped"]


def shaped(pods: Iterable[Object], shape_of: Callable[[Object], PodShape]) -> list[tuple[PodShape, Object]]:
    """Each pod with a copy of its shape; pods of one shape share the copy."""
    known: dict[int, PodShape] = {}
    return [(_fresh(shape_of(pod), known), pod) for pod in pods]


def largest_first(item: tuple[PodShape, Object]) -> tuple[int, int, str, str]:
    """The key to sort by: CPU, memory, age."""
    shape, pod = item
    cpu, memory = shape.requests.get("cpu"), shape.requests.get("memory")
    created = (pod.get("metadata") or {}).get("creationTimestamp") or ""
    return -(cpu.nano if cpu else 0), -(memory.nano if memory else 0), created, uid_of(pod) or pod_key(pod)


def _fresh(shape: PodShape, known: dict[int, PodShape]) -> PodShape:
    """This simulation's own copy of a shape."""
    found = known.get(id(shape))
    if found is None:
        found = known[id(shape)] = shape.fresh()
    return found
