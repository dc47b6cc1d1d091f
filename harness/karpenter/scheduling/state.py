"""Nodes as Karpenter keeps them: a Node, its NodeClaim, and what the pods on it use.

Core ``pkg/controllers/state/{cluster,statenode}.go``.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.karpenter.labels.core import INITIALIZED, NODEPOOL, REGISTERED
from harness.karpenter.lifecycle.names import is_known_ephemeral
from harness.karpenter.scheduling.snapshot import ClusterSnapshot
from harness.karpenter.scheduling.volumes import VolumeError, VolumeLookup, Volumes
from harness.kube.api.labels import HOSTNAME, INSTANCE_TYPE
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition_is,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    spec_of,
    status_of,
)
from harness.kube.api.quantity import NANO, Quantity
from harness.kube.api.resources import ResourceList, merge, parse_list, subtract
from harness.kube.scheduling.pods import (
    HostPort,
    host_ports,
    is_daemon,
    is_scheduled,
    is_terminal,
    requests_for_pods,
)
from harness.kube.scheduling.taints import Taint, same_taint

if TYPE_CHECKING:
    from harness.karpenter.releases import CoreRelease

NODES = "nodes"


@dataclass(slots=True)
class StateNode:
    """A machine that Karpenter counts on: with a Node, a NodeClaim or both, and the pods bound to it."""

    node: Object | None
    nodeclaim: Object | None
    core: "CoreRelease"
    marked: bool = False
    pods: list[Object] = field(default_factory=list)
    volumes: Volumes = field(default_factory=dict)
    volume_limits: Mapping[str, int] = field(default_factory=dict)

    @property
    def managed(self) -> bool:
        return self.nodeclaim is not None

    @property
    def registered(self) -> bool:
        """Nodes of others always are."""
        return not self.managed or self._label(REGISTERED) == "true"

    @property
    def initialized(self) -> bool:
        """Nodes of others always are."""
        return not self.managed or self._label(INITIALIZED) == "true"

    def _label(self, key: str) -> str | None:
        return labels_of(self.node).get(key) if self.node is not None else None

    @property
    def _speaker(self) -> Object:
        """The NodeClaim until the Node is registered."""
        if self.node is None or (self.nodeclaim is not None and not self.registered):
            return self.nodeclaim or {}
        return self.node

    @property
    def name(self) -> str:
        return name_of(self._speaker)

    @property
    def labels(self) -> Mapping[str, str]:
        return labels_of(self._speaker)

    @property
    def annotations(self) -> Mapping[str, str]:
        return annotations_of(self._speaker)

    @property
    def provider_id(self) -> str:
        """What core keeps it by."""
        if self.node is None:
            return str(status_of(self.nodeclaim or {}).get("providerID") or "")
        return _provider_id(self.node)

    @property
    def hostname(self) -> str:
        return self.labels.get(HOSTNAME) or self.name

    @property
    def taints(self) -> tuple[Taint, ...]:
        """Taints that count: until initialization without startup taints and those that come and go by themselves."""
        taints = tuple(spec_of(self._speaker).get("taints") or ())
        if self.nodeclaim is None or self.initialized:
            return taints
        startup = spec_of(self.nodeclaim).get("startupTaints") or ()
        return tuple(
            t for t in taints if not is_known_ephemeral(t, self.core) and not any(same_taint(s, t) for s in startup)
        )

    def _amounts(self, name: str) -> dict[str, Quantity]:
        amounts = parse_list(status_of(self.node).get(name)) if self.node is not None else {}
        if self.nodeclaim is not None and not self.initialized:
            for resource, quantity in parse_list(status_of(self.nodeclaim).get(name)).items():
                if resource not in amounts or amounts[resource].is_zero():
                    amounts[resource] = quantity
        return amounts

    def capacity(self) -> dict[str, Quantity]:
        """Capacity, which until initialization the NodeClaim completes; and one of the resource ``nodes``."""
        return {**self._amounts("capacity"), NODES: Quantity(NANO)}

    def available(self) -> dict[str, Quantity]:
        """Allocatable without what the pods on it request."""
        return subtract(self._amounts("allocatable"), merge(*(requests_for_pods((pod,)) for pod in self.pods)))

    def daemon_requests(self) -> ResourceList:
        """What the DaemonSet pods on it request."""
        return merge(*(requests_for_pods((pod,)) for pod in self.pods if is_daemon(pod)))

    def host_ports(self) -> list[HostPort]:
        """Host ports that its pods bind."""
        return [port for pod in self.pods for port in host_ports(pod)]

    @property
    def deleting(self) -> bool:
        """Whether its room will go away."""
        if self.marked:
            return True
        if self.nodeclaim is not None:
            return is_terminating(self.nodeclaim) or condition_is(self.nodeclaim, "InstanceTerminating")
        return self.node is not None and is_terminating(self.node)


class ClusterState:
    """All state nodes of a snapshot, and where its pods are."""

    def __init__(self, snapshot: ClusterSnapshot, volumes: VolumeLookup, core: "CoreRelease") -> None:
        self.snapshot, self._core = snapshot, core
        by_provider: dict[str, StateNode] = {}
        self.by_node: dict[str, StateNode] = {}
        for nodeclaim in _by_name(snapshot.nodeclaims):
            provider_id = status_of(nodeclaim).get("providerID")
            if provider_id:
                by_provider[provider_id] = StateNode(None, nodeclaim, core, name_of(nodeclaim) in snapshot.deleting)
        for node in _by_name(snapshot.nodes):
            self._add_node(node, by_provider)
            # marks are kept by provider id: that of a Node which does not count yet is its NodeClaim's, too
            machine = by_provider.get(_provider_id(node))
            if machine is not None and name_of(node) in snapshot.deleting:
                machine.marked = True
        self.nodes = list(by_provider.values())
        self.bound: dict[str, list[Object]] = {}
        """All pods by the name of their node, also those that have ended."""
        self._place_pods(volumes)
        limits = {name_of(csi): _limits(csi) for csi in snapshot.csinodes}
        for state in self.by_node.values():
            state.volume_limits = limits.get(name_of(state.node or {}), {})

    def _add_node(self, node: Object, by_provider: dict[str, StateNode]) -> None:
        labels, name = labels_of(node), name_of(node)
        managed = bool(labels.get(NODEPOOL))
        if managed and not spec_of(node).get("providerID"):
            return
        if managed and not labels.get(INSTANCE_TYPE) and not labels.get(INITIALIZED):
            return
        state = by_provider.setdefault(_provider_id(node), StateNode(None, None, self._core))
        state.node = node
        self.by_node[name] = state

    def _place_pods(self, volumes: VolumeLookup) -> None:
        for pod in self.snapshot.pods:
            if not is_scheduled(pod):
                continue
            self.bound.setdefault(spec_of(pod)["nodeName"], []).append(pod)
            state = self.by_node.get(spec_of(pod)["nodeName"])
            if state is None or is_terminal(pod):
                continue
            state.pods.append(pod)
            try:
                attached = volumes.of(pod)
            except VolumeError:
                continue  # a volume that is gone while its pod still runs: what is attached is not known any more
            for driver, claims in attached.items():
                state.volumes.setdefault(driver, set()).update(claims)

    def active(self) -> list[StateNode]:
        """The nodes whose room counts."""
        return [state for state in self.nodes if not state.deleting]

    def displaced_pods(self, movable: Callable[[Object], bool]) -> list[Object]:
        """Pods of nodes that are going away which are ``movable``, by node."""
        return [pod for state in self.nodes if state.deleting for pod in self.pods_on(state) if movable(pod)]

    def pods_on(self, state: StateNode) -> list[Object]:
        """All pods that are bound to the machine's Node, by namespace and name, also those that have ended."""
        return _by_name(self.bound.get(name_of(state.node), ())) if state.node is not None else []


def _provider_id(node: Object) -> str:
    """Under what core keeps a Node: its provider id, its name where it has none."""
    return str(spec_of(node).get("providerID") or name_of(node))


def _by_name(objects: Iterable[Object]) -> list[Any]:
    return sorted(objects, key=lambda obj: (namespace_of(obj), name_of(obj)))


def _limits(csinode: Object) -> dict[str, int]:
    return {
        driver["name"]: driver["allocatable"].get("count") or 0
        for driver in spec_of(csinode).get("drivers") or ()
        if driver.get("allocatable") is not None
    }
