"""The requested part of a node: of its GPUs where it has some, else the larger part of cpu and memory.

Source: autoscaler simulator/utilization/info.go.
"""

from __future__ import annotations

from harness.clusterautoscaler.amounts import milli
from harness.clusterautoscaler.gpus import GPU, GPU_LABELS
from harness.clusterautoscaler.pods import ends_too_long, is_daemon_set_pod
from harness.clusterautoscaler.profile import Profile
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.pods import pod_requests
from lazyrecords import dataclass

__all__ = ["Utilization", "utilization_of"]


@dataclass(frozen=True, slots=True)
class Utilization:
    """The part of a node's allocatable amounts that is requested, and the resource that decides."""

    cpu: float = 0.0
    memory: float = 0.0
    gpu: float = 0.0
    resource: str = "memory"
    value: float = 0.0

    def __str__(self) -> str:
        return f"{{{self.cpu:g} {self.memory:g} {self.gpu:g} 0 {self.resource} {self.value:g}}}"


def utilization_of(info: NodeInfo, profile: Profile, now: int) -> Utilization | None:
    """Return how much of a node is requested; None where it has no cpu or no memory to give."""
    if any(key in info.labels for key in GPU_LABELS) or milli(info.allocatable.get(GPU)):
        share = _share(info, GPU, profile, now)
        return Utilization(gpu=share or 0.0, resource=GPU, value=share or 0.0)
    cpu, memory = _share(info, "cpu", profile, now), _share(info, "memory", profile, now)
    if cpu is None or memory is None:
        return None
    resource, value = ("cpu", cpu) if cpu > memory else ("memory", memory)
    return Utilization(cpu, memory, resource=resource, value=value)


def _share(info: NodeInfo, resource: str, profile: Profile, now: int) -> float | None:
    """Return the requested part of one resource (CalculateUtilizationOfResource)."""
    available = milli(info.allocatable.get(resource))
    if not available:
        return None
    requested = 0
    for pod in info.pods:
        amount = milli(pod_requests(pod).get(resource))
        if profile.ignore_daemonsets_utilization and is_daemon_set_pod(pod):
            available -= amount
        elif not ends_too_long(pod, now):
            requested += amount
    return requested / available if available else None
