"""Accessors of pods: their requests, their host ports, and the predicates that decide who looks after them.

Sources: component-helpers ``resource/helpers.go``; core ``pkg/utils/pod/scheduling.go``, ``pkg/utils/resources/resources.go``,
``pkg/scheduling/hostportusage.go``.
"""

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_address
from typing import Any

from harness.kube.api.objects import Object, conditions_of, is_terminating, owners_of, spec_of, status_of
from harness.kube.api.quantity import NANO, Quantity
from harness.kube.api.resources import merge, parse_list
from lazyrecords import dataclass

PODS = "pods"
_POD_LEVEL = ("cpu", "memory")
_BESIDE_CONTAINERS = ("initContainers", "resources", "overhead")
_STATUSES = ("containerStatuses", "initContainerStatuses")


def pod_requests(pod: Object) -> dict[str, Quantity]:
    """Return the requests of a pod that hold at once, with overhead: containers and sidecars together, or the largest
    init step.

    Pod-level cpu, memory and huge pages replace the sums. Statuses count, as they do while a pod is being resized.
    Raises QuantityError.
    """
    spec, status = spec_of(pod), status_of(pod)
    containers: Sequence[Object] = spec.get("containers") or ()
    if len(containers) == 1 and not any(map(spec.get, _BESIDE_CONTAINERS)) and not any(map(status.get, _STATUSES)):
        return parse_list((containers[0].get("resources") or {}).get("requests"))  # as in most pods
    statuses = {
        status_of_container.get("name"): status_of_container
        for status_of_container in (
            *(status.get("containerStatuses") or ()),
            *(status.get("initContainerStatuses") or ()),
        )
        if status_of_container.get("resources") is not None
    }
    of = {id(container): _container_requests(container, statuses, pod) for container in containers}
    of |= {
        id(container): _container_requests(
            container, statuses if container.get("restartPolicy") == "Always" else {}, pod
        )
        for container in spec.get("initContainers") or ()
    }
    total = _at_once(spec, of)
    for name, quantity in parse_list((spec.get("resources") or {}).get("requests")).items():
        if is_pod_level(name):
            total[name] = quantity
    _add(total, parse_list(spec.get("overhead")))
    return total


def pod_limits(pod: Object) -> dict[str, Quantity]:
    """Return the limits of a pod, added up as :func:`pod_requests` does; overhead where there is a limit."""
    spec = spec_of(pod)
    each_container = (*(spec.get("containers") or ()), *(spec.get("initContainers") or ()))
    total = _at_once(
        spec,
        {id(container): parse_list((container.get("resources") or {}).get("limits")) for container in each_container},
    )
    for name, quantity in parse_list((spec.get("resources") or {}).get("limits")).items():
        if is_pod_level(name):
            total[name] = quantity
    for name, quantity in parse_list(spec.get("overhead")).items():
        if name in total and not total[name].is_zero():
            total[name] = total[name] + quantity
    return total


def _at_once(spec: Mapping[str, Any], of: Mapping[int, Mapping[str, Quantity]]) -> dict[str, Quantity]:
    """Return the most that runs at the same time: containers and sidecars together, or the largest init step. `of`: by
    id of the container."""
    total: dict[str, Quantity] = {}
    for container in spec.get("containers") or ():
        _add(total, of[id(container)])
    sidecars: dict[str, Quantity] = {}
    largest: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        amounts = of[id(container)]
        if container.get("restartPolicy") == "Always":
            _add(total, amounts)
            _add(sidecars, amounts)
            step = sidecars
        else:
            step = dict(amounts)
            _add(step, sidecars)
        _raise_to(largest, step)
    _raise_to(total, largest)
    return total


def is_pod_level(name: str) -> bool:
    """Return whether a pod as a whole may request a resource."""
    return name in _POD_LEVEL or name.startswith("hugepages-")


def limits_for_pods(pods: Iterable[Object]) -> dict[str, Quantity]:
    """The sum over pods, and their number as the resource ``pods``."""
    return _counted([pod_limits(pod) for pod in pods])


def requests_for_pods(pods: Iterable[Object]) -> dict[str, Quantity]:
    """The sum over pods, and their number as the resource ``pods``."""
    return _counted([pod_requests(pod) for pod in pods])


def _counted(lists: Sequence[Mapping[str, Quantity]]) -> dict[str, Quantity]:
    total = merge(*lists)
    total[PODS] = Quantity(len(lists) * NANO, "DecimalExponent")
    return total


def _container_requests(container: Object, statuses: Mapping[Any, Object], pod: Object) -> Mapping[str, Quantity]:
    requests = parse_list((container.get("resources") or {}).get("requests"))
    status = statuses.get(container.get("name"))
    if status is None:
        return requests
    actuated = parse_list(status["resources"].get("requests"))
    allocated = parse_list(status.get("allocatedResources"))
    result: dict[str, Quantity] = {}
    for candidate in (actuated, allocated) if _resize_infeasible(pod) else (requests, actuated, allocated):
        _raise_to(result, candidate)
    return result


def _resize_infeasible(pod: Object) -> bool:
    return any(c.get("type") == "PodResizePending" and c.get("reason") == "Infeasible" for c in conditions_of(pod))


def _add(total: dict[str, Quantity], more: Mapping[str, Quantity]) -> None:
    for name, quantity in more.items():
        total[name] = total[name] + quantity if name in total else quantity


def _raise_to(total: dict[str, Quantity], least: Mapping[str, Quantity]) -> None:
    for name, quantity in least.items():
        if name not in total or quantity > total[name]:
            total[name] = quantity


@dataclass(frozen=True, slots=True)
class HostPort:
    """One port of a node that a container binds. ``ip`` is a normalised address, or None for any text that is no address."""

    ip: str | None
    port: int
    protocol: str

    def conflicts(self, other: "HostPort") -> bool:
        """Return whether both cannot be bound on one node; unspecified addresses overlap with every other one."""
        if self.protocol != other.protocol or self.port != other.port:
            return False
        return self.ip == other.ip or "0.0.0.0" in (self.ip, other.ip) or "::" in (self.ip, other.ip)


def host_ports(pod: Object) -> tuple[HostPort, ...]:
    """The host ports of the pod's containers as Karpenter reads them (init containers do not count)."""
    return tuple(
        [
            HostPort(_address(port.get("hostIP") or "0.0.0.0"), port["hostPort"], port.get("protocol") or "")
            for container in spec_of(pod).get("containers") or ()
            for port in container.get("ports") or ()
            if port.get("hostPort")
        ]
    )


def _address(text: str) -> str | None:
    if text == "0.0.0.0":
        return text
    if "%" in text:
        return None  # Go's net.ParseIP takes no zone
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return str(getattr(address, "ipv4_mapped", None) or address)


def is_scheduled(pod: Object) -> bool:
    """Return whether the pod is bound to a node."""
    return bool(spec_of(pod).get("nodeName"))


_ENDED = ("Failed", "Succeeded")


def is_terminal(pod: Object) -> bool:
    """Return whether the pod has ended (Failed or Succeeded)."""
    return status_of(pod).get("phase") in _ENDED


def is_active(pod: Object) -> bool:
    """Return whether the pod has neither ended nor is being deleted."""
    return status_of(pod).get("phase") not in _ENDED and not is_terminating(pod)


def failed_to_schedule(pod: Object) -> bool:
    """Return whether kube-scheduler has marked the pod as Unschedulable."""
    return bool(
        [c for c in conditions_of(pod) if c.get("reason") == "Unschedulable" and c.get("type") == "PodScheduled"]
    )


_STAYING = frozenset({("DaemonSet", "apps/v1"), ("Node", "v1")})
"""Kinds of owners whose pods have no other place."""


def is_owned_by(pod: Object, api_version: str, kind: str) -> bool:
    """Return whether some owner is of this kind."""
    return bool(
        [owner for owner in owners_of(pod) if owner.get("kind") == kind and owner.get("apiVersion") == api_version]
    )


def is_daemon(pod: Object) -> bool:
    """Return whether a DaemonSet owns the pod."""
    return is_owned_by(pod, "apps/v1", "DaemonSet")


def is_static(pod: Object) -> bool:
    """Return whether a node owns the pod (a mirror of a static pod)."""
    return is_owned_by(pod, "v1", "Node")


def is_provisionable(pod: Object) -> bool:
    """Return whether Karpenter should provision for the pod (IsProvisionable).

    Such a pod is unschedulable, unbound, not preempting, and of no DaemonSet and no Node.
    """
    return (
        not is_scheduled(pod)
        and failed_to_schedule(pod)
        and not status_of(pod).get("nominatedNodeName")
        and not is_daemon(pod)
        and not is_static(pod)
    )


def is_reschedulable(pod: Object) -> bool:
    """Return whether the pod has to be rescheduled when its node is removed (IsReschedulable).

    Such a pod is active, or a StatefulSet's that is terminating.
    """
    if not is_active(pod) and not (is_terminating(pod) and is_owned_by(pod, "apps/v1", "StatefulSet")):
        return False
    return not [owner for owner in owners_of(pod) if (owner.get("kind"), owner.get("apiVersion")) in _STAYING]


def has_resource_claims(pod: Object, *, only_containers: bool = False) -> bool:
    """Return whether the pod, or one of its containers, uses dynamic resource allocation."""
    spec = spec_of(pod)
    if spec.get("resourceClaims") and not only_containers:
        return True
    containers: Sequence[Object] = (*(spec.get("initContainers") or ()), *(spec.get("containers") or ()))
    return any((c.get("resources") or {}).get("claims") for c in containers)


def affinity_terms(pod: Object, kind: str, strength: str) -> Sequence[Object]:
    """``spec.affinity.KIND.{required,preferred}DuringSchedulingIgnoredDuringExecution`` of a pod (anti-)affinity, or nothing."""
    affinity = spec_of(pod).get("affinity")
    terms = affinity and (affinity.get(kind) or {}).get(f"{strength}DuringSchedulingIgnoredDuringExecution")
    return terms or ()
