"""The load of pods on a node as kube-scheduler's scores count it: CPU in thousandths of a core, memory in bytes.

Sources: kubernetes pkg/scheduler/framework/types.go (calculateResource), pkg/scheduler/util/pod_resources.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from harness.kube.api.objects import Object, spec_of
from harness.kube.api.quantity import NANO, Quantity
from harness.kube.scheduling.pods import is_pod_level, pod_requests
from lazyrecords import dataclass

__all__ = ["NOTHING", "Load", "amount", "load_of", "load_of_incoming"]

_UNSAID: Mapping[str, str] = {"cpu": "100m", "memory": "200Mi"}
_MILLI = 10**6


@dataclass(frozen=True, slots=True)
class Load:
    """CPU and memory as requested, and as assumed where a container says nothing: 100m and 200Mi for each."""

    cpu: int
    memory: int
    assumed_cpu: int
    assumed_memory: int

    def __add__(self, other: Load) -> Load:
        return Load(
            self.cpu + other.cpu,
            self.memory + other.memory,
            self.assumed_cpu + other.assumed_cpu,
            self.assumed_memory + other.assumed_memory,
        )


NOTHING = Load(0, 0, 0, 0)


def load_of(pod: Object) -> Load:
    """The load of a pod that runs. Raises QuantityError."""
    requests, spec = pod_requests(pod), spec_of(pod)
    levels = (spec.get("resources") or {}).get("requests") or ()
    unsaid = _UNSAID
    if any(is_pod_level(name) for name in levels):
        unsaid = {name: text for name, text in _UNSAID.items() if name not in requests}
    return _load(requests, _assumed(pod, spec, unsaid, requests))


def load_of_incoming(pod: Object) -> Load:
    """Return the load of a pod that is being scheduled: its requests as a whole are no part of the assumed ones
    (noderesources/fit.go).

    NewFit does not hand the feature of pod-level resources to its scorer, in 1.33 to 1.37. Raises QuantityError.
    """
    requests, spec = pod_requests(pod), spec_of(pod)
    if spec.get("resources"):
        bare = {key: value for key, value in spec.items() if key != "resources"}
        return _load(requests, pod_requests({**pod, "spec": _with(bare, _UNSAID)}))
    return _load(requests, _assumed(pod, spec, _UNSAID, requests))


def _assumed(
    pod: Object, spec: Object, unsaid: Mapping[str, str], requests: Mapping[str, Quantity]
) -> Mapping[str, Quantity]:
    """Return the requests, had each container stated all of its own."""
    if any(name not in _asked(container) for container in _containers(spec) for name in unsaid):
        return pod_requests({**pod, "spec": _with(spec, unsaid)})
    return requests


def _load(requests: Mapping[str, Quantity], assumed: Mapping[str, Quantity]) -> Load:
    return Load(amount(requests, "cpu"), amount(requests, "memory"), amount(assumed, "cpu"), amount(assumed, "memory"))


def amount(quantities: Mapping[str, Quantity], name: str) -> int:
    """The amount of `cpu` or `memory` in a list, in the units of a Load; 0 when it is absent."""
    quantity = quantities.get(name)
    return 0 if quantity is None else -(-quantity.nano // (_MILLI if name == "cpu" else NANO))


def _containers(spec: Mapping[str, object]) -> list[Object]:
    containers: list[Object] = []
    for kind in ("containers", "initContainers"):
        listed = spec.get(kind) or ()
        assert isinstance(listed, (list, tuple))
        containers.extend(listed)
    return containers


def _asked(container: Object) -> Mapping[str, object]:
    return (container.get("resources") or {}).get("requests") or {}


def _with(spec: Object, unsaid: Mapping[str, str]) -> dict[str, object]:
    """Return the spec of a pod whose containers state the requests that they did not."""
    filled: dict[str, object] = dict(spec)
    for kind in ("containers", "initContainers"):
        filled[kind] = [
            {
                **container,
                "resources": {**(container.get("resources") or {}), "requests": {**unsaid, **_asked(container)}},
            }
            for container in spec.get(kind) or ()
        ]
    return filled
