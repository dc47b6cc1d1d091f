"""A node with the pods on it, as kube-scheduler's snapshot keeps it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from harness.kube.api.objects import Object, labels_of, name_of, namespace_of, spec_of, status_of
from harness.kube.api.quantity import Quantity
from harness.kube.api.resources import parse_list
from harness.kube.scheduling.loads import NOTHING, Load, amount, load_of
from harness.kube.scheduling.node_ports import NodePort, node_ports, ports_of_sidecars
from harness.kube.scheduling.pods import affinity_terms, is_terminal, pod_requests

_ZERO = Quantity.parse("0")


def priority_of(pod: Object) -> int:
    """`spec.priority`, 0 when absent."""
    return int(spec_of(pod).get("priority") or 0)


class NodeInfo:
    """The scheduler's record of one node: its object, its pods, and the amounts they have taken."""

    __slots__ = (
        "_capacity",
        "_load",
        "allocatable",
        "by_namespace",
        "labels",
        "lowest",
        "name",
        "node",
        "pods",
        "ports",
        "ports_of_sidecars",
        "related",
        "repelling",
        "requested",
        "taints",
    )

    def __init__(self, node: Object, pods: Iterable[Object] = ()) -> None:
        self.node = node
        self.name = name_of(node)
        self.labels: Mapping[str, str] = labels_of(node)
        self.taints: Sequence[Mapping[str, str]] = spec_of(node).get("taints") or ()
        self.allocatable: Mapping[str, Quantity] = parse_list(status_of(node).get("allocatable"))
        self.pods: list[Object] = []
        self.by_namespace: dict[str, list[Object]] = {}
        self.requested: dict[str, Quantity] = {}
        self.ports: list[NodePort] = []
        self.ports_of_sidecars: list[NodePort] = []
        self._capacity: tuple[int, int] | None = None
        self._load: Load | None = None
        self.related: list[Object] = []
        """The pods with any pod affinity or anti-affinity."""
        self.repelling: list[Object] = []
        """The pods with required anti-affinity."""
        self.lowest: int | None = None
        """The lowest priority of a pod here."""
        for pod in pods:
            self.add_pod(pod)

    def add_pod(self, pod: Object) -> None:
        """Count a pod that is bound here; an ended pod takes nothing."""
        if is_terminal(pod):
            return
        self.pods.append(pod)
        self.by_namespace.setdefault(namespace_of(pod), []).append(pod)
        priority = priority_of(pod)
        if self.lowest is None or priority < self.lowest:
            self.lowest = priority
        for name, quantity in pod_requests(pod).items():
            present = self.requested.get(name)
            self.requested[name] = quantity if present is None else present + quantity
        self.ports.extend(node_ports(pod))
        if spec_of(pod).get("initContainers"):
            self.ports_of_sidecars.extend(ports_of_sidecars(pod))
        if self._load is not None:
            self._load += load_of(pod)
        affinity = spec_of(pod).get("affinity")
        if affinity and (affinity.get("podAffinity") or affinity.get("podAntiAffinity")):
            self.related.append(pod)
        if affinity_terms(pod, "podAntiAffinity", "required"):
            self.repelling.append(pod)

    @property
    def load(self) -> Load:
        """Return the load of the pods here, as scores count it."""
        if self._load is None:
            self._load = sum((load_of(pod) for pod in self.pods), NOTHING)
        return self._load

    @property
    def capacity(self) -> tuple[int, int]:
        """The allocatable CPU and memory, in the units of a Load."""
        if self._capacity is None:
            self._capacity = amount(self.allocatable, "cpu"), amount(self.allocatable, "memory")
        return self._capacity

    def without(self, pods: Sequence[Object]) -> NodeInfo:
        """The node as it would be if these pods had left."""
        gone = {id(pod) for pod in pods}
        return NodeInfo(self.node, (pod for pod in self.pods if id(pod) not in gone))

    def with_also(self, pods: Iterable[Object]) -> NodeInfo:
        """The node as it would be if these pods ran here, too."""
        return NodeInfo(self.node, (*self.pods, *pods))

    def insufficient(self, requests: Mapping[str, Quantity]) -> list[str]:
        """The resources of which too little is left for the requests, with `pods` for the number of pods."""
        return list(self._short(requests))

    def has_room(self, requests: Mapping[str, Quantity]) -> bool:
        """Return whether enough is left for the requests."""
        return next(self._short(requests), None) is None

    def _short(self, requests: Mapping[str, Quantity]) -> Iterator[str]:
        limit = self.allocatable.get("pods")
        if limit is not None and len(self.pods) + 1 > limit.value():
            yield "pods"
        for name, quantity in requests.items():
            if not quantity.nano:
                continue
            taken = self.requested.get(name)
            if quantity.nano > self.allocatable.get(name, _ZERO).nano - (taken.nano if taken is not None else 0):
                yield name
