"""The cluster as simulations see it: its machines, and where its pods are.

Core ``pkg/controllers/state/cluster.go``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from harness.karpenter.releases.scheduling import rules_of
from harness.karpenter.scheduling.nodes.fleet import StateNodes
from harness.karpenter.scheduling.nodes.state import Parts, StateNode, pods_on
from harness.karpenter.scheduling.pods.volumes import VolumeLookup
from harness.karpenter.scheduling.snapshot import ClusterSnapshot
from harness.kube.api.objects import Object

if TYPE_CHECKING:
    from harness.karpenter.releases import CoreRelease

__all__ = ["ClusterState", "is_deleting"]


def is_deleting(state: StateNode) -> StateNode | None:
    """The machine, if it is going away."""
    return state if state.deleting else None


class ClusterState:
    """All state nodes of a snapshot, and where its pods are; ``unbound`` are those without a node.

    ``state_nodes`` are those of the look before, as far as volumes are the same.
    """

    def __init__(
        self,
        snapshot: ClusterSnapshot,
        volumes: VolumeLookup,
        core: "CoreRelease",
        state_nodes: StateNodes | None = None,
    ) -> None:
        self.snapshot = snapshot
        unlimited = rules_of(core).uncounted_drivers_attach_any

        def make(parts: Parts) -> StateNode:
            state = StateNode(parts, core)
            state.attach(volumes, unlimited=unlimited)
            return state

        self.fleet = (state_nodes if state_nodes is not None else StateNodes()).look(snapshot, make)
        self.nodes, self.by_node, self.unbound = self.fleet.nodes, self.fleet.by_node, self.fleet.unbound

    def active(self) -> list[StateNode]:
        """The nodes whose room counts."""
        return [state for state in self.nodes if not state.deleting]

    def displaced_pods(self, movable: Callable[[Object], bool]) -> list[Object]:
        """Pods of nodes that are going away which are ``movable``, by node."""
        going = self.fleet.having(is_deleting).values()
        return [pod for state in going for pod in pods_on(state) if movable(pod)]
