"""A machine in Karpenter's cluster state: a Node, its NodeClaim, and what the pods on it use.

Core ``pkg/controllers/state/statenode.go``.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.engine.names import ProviderId
from harness.karpenter.labels.core import INITIALIZED, REGISTERED
from harness.karpenter.lifecycle.names import is_known_ephemeral
from harness.karpenter.scheduling.pods.volumes import VolumeError, VolumeLookup, Volumes
from harness.karpenter.scheduling.remembered import Memory, remembered
from harness.kube.api.labels import HOSTNAME
from harness.kube.api.objects import (
    Object,
    annotations_of,
    condition_is,
    is_terminating,
    labels_of,
    name_of,
    namespace_of,
    same_objects,
    spec_of,
    status_of,
)
from harness.kube.api.quantity import NANO, Quantity
from harness.kube.api.resources import ResourceList, merge, parse_list
from harness.kube.scheduling.pods import (
    PODS,
    HostPort,
    host_ports,
    is_daemon,
    is_terminal,
    pod_requests,
    requests_for_pods,
)
from harness.kube.scheduling.taints import Taint, same_taint
from lazyrecords import dataclass

if TYPE_CHECKING:
    from harness.karpenter.releases import CoreRelease

NODES = "nodes"


@dataclass(frozen=True, slots=True)
class Parts:
    """The objects that a machine consists of; ``placed`` are all pods that are bound to it, ``marked``: it is marked for deletion."""

    node: Object | None
    nodeclaim: Object | None
    marked: bool
    placed: Sequence[Object]
    csinode: Object | None

    def same_as(self, others: "Parts") -> bool:
        """Return whether these are the very same objects."""
        return (
            self.node is others.node
            and self.nodeclaim is others.nodeclaim
            and self.marked == others.marked
            and self.csinode is others.csinode
            and same_objects(self.placed, others.placed)
        )


class StateNode:
    """A machine that Karpenter counts on: with a Node, a NodeClaim or both, and the pods bound to it; of one moment.

    Until its Node is registered, ``name``, ``labels`` and ``annotations`` are those of its NodeClaim. Nodes of others always count as
    ``registered`` and ``initialized``. Core keeps it by ``provider_id``. ``deleting``: its room will go away. ``placed`` are all pods
    that are bound to it, ``pods`` those that have not ended.
    """

    def __init__(self, parts: Parts, core: "CoreRelease") -> None:
        self.parts, self.core = parts, core
        node, nodeclaim, placed = self.node, self.nodeclaim, self.placed = parts.node, parts.nodeclaim, parts.placed
        self.pods: list[Object] = [pod for pod in placed if not is_terminal(pod)]
        self.remembered = Memory()
        """Results that depend on nothing but the machine and its pods."""
        self.volumes: Volumes = {}
        self.volume_limits: Mapping[str, int] = {}
        self.volume_drivers: frozenset[str] = frozenset()
        own = labels_of(node) if node is not None else {}
        self.registered = nodeclaim is None or own.get(REGISTERED) == "true"
        self.initialized = nodeclaim is None or own.get(INITIALIZED) == "true"
        self._speaker = node if node is not None and self.registered else nodeclaim or {}
        self.name: str = name_of(self._speaker)
        self.labels: Mapping[str, str] = labels_of(self._speaker)
        self.provider_id = ProviderId(
            provider_id_of(node) if node is not None else str(status_of(nodeclaim or {}).get("providerID") or "")
        )
        self.deleting = parts.marked or self.deleted

    def attach(self, volumes: VolumeLookup, *, unlimited: bool) -> None:
        """Set the volumes that its pods attach and its limits by CSI driver, see :func:`_limits`."""
        for pod in self.pods:
            if not spec_of(pod).get("volumes"):
                continue
            try:
                attached = volumes.of(pod)
            except VolumeError:
                continue  # a volume that is gone while its pod still runs: what is attached is not known any more
            for driver, claims in attached.items():
                self.volumes.setdefault(driver, set()).update(claims)
        if self.parts.csinode is not None:
            self.volume_limits, self.volume_drivers = _limits(self.parts.csinode, unlimited)

    @property
    def deleted(self) -> bool:
        """Return whether it is being deleted, marked for deletion or not (core pkg/controllers/state/statenode.go Deleted)."""
        node, nodeclaim = self.parts.node, self.parts.nodeclaim
        if nodeclaim is not None:
            return is_terminating(nodeclaim) or condition_is(nodeclaim, "InstanceTerminating")
        return node is not None and is_terminating(node)

    @property
    def managed(self) -> bool:
        return self.nodeclaim is not None

    @property
    def annotations(self) -> Mapping[str, str]:
        return annotations_of(self._speaker)

    @property
    def hostname(self) -> str:
        return self.labels.get(HOSTNAME) or self.name

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The taints; until initialization without startup taints and known ephemeral taints."""
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

    def allocatable(self) -> dict[str, Quantity]:
        """Allocatable, which until initialization the NodeClaim completes."""
        return self._amounts("allocatable")

    def free(self) -> dict[str, int]:
        """Return the rest of each allocatable resource beside the pods on the node, in billionths."""
        free = {name: quantity.nano for name, quantity in self._amounts("allocatable").items()}
        places = free.get(PODS)
        for pod in self.pods:
            for name, quantity in pod_requests(pod).items():
                if name in free:
                    free[name] -= quantity.nano
        if places is not None:
            free[PODS] = places - len(self.pods) * NANO
        return free

    def daemon_requests(self) -> ResourceList:
        """Return the requests of the DaemonSet pods on the node."""
        return merge(*(requests_for_pods((pod,)) for pod in self.pods if is_daemon(pod)))

    def host_ports(self) -> list[HostPort]:
        """Host ports that its pods bind."""
        return [port for pod in self.pods for port in host_ports(pod)]


@remembered
def pods_on(state: StateNode) -> list[Object]:
    """Return all pods that are bound to the machine's Node, by namespace and name, also those that have ended."""
    own = None if state.node is None else name_of(state.node)
    pods = [pod for pod in state.placed if spec_of(pod).get("nodeName") == own]
    return sorted(pods, key=lambda pod: (namespace_of(pod), name_of(pod)))


def provider_id_of(node: Object) -> str:
    """The key of a Node in core's cluster state: its provider id, or its name where it has none."""
    return str(spec_of(node).get("providerID") or name_of(node))


def _limits(csinode: Object, unlimited: bool) -> tuple[dict[str, int], frozenset[str]]:
    """Return the number of volumes of each CSI driver that a node attaches, and its drivers; ``unlimited``: also without a count."""
    drivers = spec_of(csinode).get("drivers") or ()
    limits = {
        driver["name"]: driver["allocatable"].get("count") or 0
        for driver in drivers
        if driver.get("allocatable") is not None and not (unlimited and driver["allocatable"].get("count") is None)
    }
    return limits, frozenset(driver["name"] for driver in drivers)
