"""Defaults that the API server fills in when core objects are written, as far as anything here reads them; a second
time changes nothing.

Sources: kubernetes pkg/apis/{core,apps,batch,storage}/v1/defaults.go, plugin/pkg/admission/{defaulttolerationseconds,nodetaint,priority}.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

from harness.kube.api.labels import NOT_READY, UNREACHABLE
from harness.kube.api.quantity import Quantity
from harness.kube.scheduling.pods import is_pod_level, pod_requests

_SYSTEM_PRIORITIES: Mapping[str, Mapping[str, Any]] = {
    name: {"metadata": {"name": name}, "value": value}
    for name, value in (("system-cluster-critical", 2_000_000_000), ("system-node-critical", 2_000_001_000))
}
_PREEMPTS = "PreemptLowerPriority"
_CONTAINERS = ("containers", "initContainers")
_POD_LEVEL_FROM = (1, 34)


def default_pod(
    pod: dict[str, Any], class_of: Callable[[str], Mapping[str, Any] | None], kubernetes: tuple[int, int]
) -> dict[str, Any]:
    """Return a pod as the API server of a version stores it: defaulted spec, added tolerations, priority, phase
    Pending.

    `class_of` finds a PriorityClass by its name; for "" the global default, if there is one. Raises PriorityRefused,
    QuantityError.
    """
    spec = _defaulted_spec(pod.get("spec") or {}, kubernetes)
    _prioritise(spec, class_of)
    return {**pod, "spec": spec, "status": {"phase": "Pending", "qosClass": _quality_of_service(spec, kubernetes)}}


def default_changed_pod(pod: dict[str, Any], old: Mapping[str, Any], kubernetes: tuple[int, int]) -> dict[str, Any]:
    """Return a stored pod as the API server takes a change of it: with the same defaults, and the priority that it has.

    Raises QuantityError.
    """
    spec = _defaulted_spec(pod.get("spec") or {}, kubernetes)
    before = old.get("spec") or {}
    for field in ("priority", "preemptionPolicy"):
        if spec.get(field) is None and field in before:
            spec[field] = before[field]
    return {**pod, "spec": spec}


def _defaulted_spec(spec_given: Mapping[str, Any], kubernetes: tuple[int, int]) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "schedulerName": "default-scheduler",
        **{
            field: value for field, value in spec_given.items() if value is not None
        },  # a null is none, and gets the default
    }
    on_host = spec.get("hostNetwork") is True
    for field in _CONTAINERS:
        if spec.get(field):
            spec[field] = [_default_container(container, on_host) for container in spec[field]]
    if spec.get("overhead"):
        spec["overhead"] = canonical_list(spec["overhead"])
    if spec.get("resources"):
        spec["resources"] = _pod_level(spec, kubernetes)
    tolerations = list(spec.get("tolerations") or ())
    for key in (NOT_READY, UNREACHABLE):
        if not any(_covers_no_execute(toleration, key) for toleration in tolerations):
            tolerations.append({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300})
    spec["tolerations"] = tolerations
    return spec


_MISSING = "no PriorityClass with name "


def missing_priority_class(message: str) -> str:
    """Return the name of the missing PriorityClass in the message of a refusal; "" for other messages."""
    return message.partition(_MISSING)[2].partition(" ")[0]


def priority_classes(stored: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the names that a pod may give: those of the stored PriorityClasses and the two that each cluster has."""
    return [*_SYSTEM_PRIORITIES, *(str(stored_class["metadata"]["name"]) for stored_class in stored)]


class PriorityRefused(LookupError):
    """A pod whose priority contradicts its PriorityClass, or whose class does not exist; the message is the plugin's."""


def _prioritise(spec: dict[str, Any], class_of: Callable[[str], Mapping[str, Any] | None]) -> None:
    name = spec.get("priorityClassName") or ""
    priority_class = class_of(name) or _SYSTEM_PRIORITIES.get(name)
    if priority_class is None and name:
        raise PriorityRefused(f"{_MISSING}{name} was found")
    if priority_class is not None:
        spec["priorityClassName"] = priority_class["metadata"]["name"]
    computed = {
        "priority": int(priority_class["value"]) if priority_class is not None else 0,
        "preemptionPolicy": (priority_class or {}).get("preemptionPolicy") or _PREEMPTS,
    }
    for (field, value), label in zip(
        computed.items(), ("integer value of priority", "string value of PreemptionPolicy"), strict=True
    ):
        stated = spec.get(field)
        if stated is not None and stated != value:
            raise PriorityRefused(
                f"the {label} ({stated}) must not be provided in pod spec; "
                f"priority admission controller computed {value} from the given PriorityClass name"
            )
        spec[field] = value


def _quality_of_service(spec: Mapping[str, Any], kubernetes: tuple[int, int]) -> str:
    """pkg/apis/core/v1/helper/qos ComputePodQOS: Guaranteed when every container limits cpu and memory to what it requests.

    A pod that asks as a whole is judged as if it were one container.
    """
    whole = spec.get("resources") if kubernetes >= _POD_LEVEL_FROM else None
    containers = [container.get("resources") or {} for field in _CONTAINERS for container in spec.get(field) or ()]
    requests, limits, limited = Counter[str](), Counter[str](), True
    for resources in containers if whole is None else [whole]:
        own = _positive(resources.get("limits") or {})
        limits += own
        requests += _positive(resources.get("requests") or {})
        limited = limited and len(own) == 2
    if not requests and not limits:
        return "BestEffort"
    return "Guaranteed" if limited and requests == limits else "Burstable"


def _positive(resources: Mapping[str, Any]) -> Counter[str]:
    """The amounts of cpu and memory that are more than nothing."""
    amounts = {name: Quantity.parse(resources[name]).nano for name in ("cpu", "memory") if name in resources}
    return +Counter(amounts)


def _default_container(container: Mapping[str, Any], on_host: bool) -> Mapping[str, Any]:
    """Quantities in their canonical form; limits stand in for missing requests; ports are TCP, and the host's on its network."""
    container = _default_ports(container, on_host)
    resources = container.get("resources")
    if not resources:
        return container
    limits = canonical_list(resources.get("limits") or {})
    requests = {**limits, **canonical_list(resources.get("requests") or {})}
    lists = {kind: amounts for kind, amounts in (("limits", limits), ("requests", requests)) if amounts}
    return {**container, "resources": {**resources, **lists}}


def _default_ports(container: Mapping[str, Any], on_host: bool) -> Mapping[str, Any]:
    ports = container.get("ports")
    if not ports or all(port.get("protocol") and (port.get("hostPort") or not on_host) for port in ports):
        return container
    made = [{**port, "protocol": port.get("protocol") or "TCP"} for port in ports]
    if on_host:
        made = [{**port, "hostPort": port.get("hostPort") or port.get("containerPort")} for port in made]
    return {**container, "ports": made}


def _pod_level(spec: Mapping[str, Any], kubernetes: tuple[int, int]) -> dict[str, Any]:
    """``spec.resources`` with the requests that follow from its limits: what the containers ask for, else the limit itself.

    From Kubernetes 1.34 on (feature gate PodLevelResources); pkg/apis/core/v1/defaults.go defaultPodRequests.
    """
    resources = dict(spec["resources"])
    lists = {kind: canonical_list(resources[kind]) for kind in ("limits", "requests") if resources.get(kind)}
    limits = lists.get("limits")
    if limits and kubernetes >= _POD_LEVEL_FROM:
        total = pod_requests({"spec": {field: spec.get(field) for field in _CONTAINERS}})
        of_containers = {name: str(amount) for name, amount in total.items() if is_pod_level(name)}
        lists["requests"] = {**limits, **of_containers, **lists.get("requests", {})}
    return {**resources, **lists}


def canonical_list(resources: Mapping[str, Any]) -> dict[str, str]:
    """Quantities as the API server writes them: `0.5` becomes `500m`, 1 becomes `"1"`. Raises QuantityError."""
    return {name: _canonical(value) for name, value in resources.items()}


@lru_cache(maxsize=4096)
def _canonical(value: str | int | float | None) -> str:
    return str(Quantity.stored(value))


def _covers_no_execute(toleration: Mapping[str, Any], key: str) -> bool:
    return toleration.get("key") in (None, "", key) and toleration.get("effect") in (None, "", "NoExecute")


def default_node(node: dict[str, Any]) -> dict[str, Any]:
    """A node as the API server stores it: with the taint that keeps pods away until it is ready."""
    status = node.get("status") or {}
    lists = {kind: canonical_list(status[kind]) for kind in ("allocatable", "capacity") if status.get(kind)}
    if lists:
        node = {**node, "status": {**status, **lists}}
    spec = node.get("spec") or {}
    taints = spec.get("taints") or []
    taint = {"key": NOT_READY, "effect": "NoSchedule"}
    if any(present.get("key") == NOT_READY and present.get("effect") == "NoSchedule" for present in taints):
        return node
    return {**node, "spec": {**spec, "taints": [*taints, taint]}}


def default_template(spec: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the spec of a pod template with ports and quantities as the API server stores them. Raises QuantityError."""
    made: dict[str, Any] = {}
    for field in _CONTAINERS:
        stated = spec.get(field) or ()
        containers = [_default_ports(_canonical_resources(container), on_host=False) for container in stated]
        if any(defaulted is not other for defaulted, other in zip(containers, stated, strict=True)):
            made[field] = containers
    return {**spec, **made} if made else spec


def _canonical_resources(container: Mapping[str, Any]) -> Mapping[str, Any]:
    resources = container.get("resources") or {}
    lists = {kind: canonical_list(resources[kind]) for kind in ("limits", "requests") if resources.get(kind)}
    changed = any(amounts != resources[kind] for kind, amounts in lists.items())
    return {**container, "resources": {**resources, **lists}} if changed else container


_STORAGE: Mapping[str, Mapping[str, str]] = {
    "PersistentVolume": {"persistentVolumeReclaimPolicy": "Retain", "volumeMode": "Filesystem"},
    "PersistentVolumeClaim": {"volumeMode": "Filesystem"},
    "StorageClass": {"reclaimPolicy": "Delete", "volumeBindingMode": "Immediate"},
}


def default_storage(obj: dict[str, Any]) -> dict[str, Any]:
    """A volume, a claim or a storage class as the API server stores it."""
    kind = obj["kind"]
    holder = obj if kind == "StorageClass" else obj.get("spec") or {}
    missing = {field: value for field, value in _STORAGE[kind].items() if not holder.get(field)}
    if not missing:
        return obj
    return {**obj, **missing} if kind == "StorageClass" else {**obj, "spec": {**holder, **missing}}
