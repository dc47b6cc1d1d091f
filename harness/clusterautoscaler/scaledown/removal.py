"""The removal of one node, tried out: may its pods go, and is there a place for each.

Source: autoscaler simulator/cluster.go (SimulateNodeRemoval), simulator/scheduling/{hinting_simulator,hints}.go.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence

from harness.clusterautoscaler.drainability.outcomes import Context
from harness.clusterautoscaler.drainability.rules import Moves, pods_to_move
from harness.clusterautoscaler.profile import Profile
from harness.clusterautoscaler.scaledown.unremovable import Unremovable, UnremovableReason
from harness.clusterautoscaler.snapshot import Snapshot
from harness.clusterautoscaler.taints import TO_BE_DELETED
from harness.kube.api.objects import Object, spec_of, uid_of, with_spec
from harness.kube.scheduling.placement import NodeInfo

__all__ = ["Hints", "place_pods", "simulate_removal"]


class Hints:
    """The node that took a pod the last time, which is tried first."""

    def __init__(self) -> None:
        self._current: dict[str, str] = {}
        self._before: dict[str, str] = {}

    def node_of(self, pod: Object) -> str | None:
        """Return the node that took the pod in this look or the one before."""
        uid = uid_of(pod)
        return self._current.get(uid) or self._before.get(uid)

    def note(self, pod: Object, node: str) -> None:
        """Note the node that takes the pod."""
        self._current[uid_of(pod)] = node

    @property
    def kept(self) -> Mapping[str, str]:
        """The hints that the last look left, by the uid of their pod."""
        return self._before

    def turn(self) -> None:
        """Forget the hints that the last two looks did not use (DropOld)."""
        self._before, self._current = self._current, {}


def place_pods(pods: Sequence[Object], snapshot: Snapshot, acceptable: Container[str], hints: Hints) -> list[Object]:
    """Place pods in a snapshot, each by its hint if that is possible; return those that fit (TrySchedulePods)."""
    placed = []
    for pod in pods:
        hint = hints.node_of(pod)
        hinted = hint is not None and hint in snapshot.nodes and hint in acceptable
        if hint is not None and hinted and snapshot.place(pod, hint) is None:
            hints.note(pod, hint)
            placed.append(pod)
            continue
        node = snapshot.place_on_any(pod, acceptable.__contains__)
        if node is not None:
            hints.note(pod, node)
            placed.append(pod)
    return placed


def simulate_removal(
    node: str, snapshot: Snapshot, destinations: Container[str], context: Context, profile: Profile, hints: Hints
) -> tuple[Moves, Snapshot] | Unremovable:
    """Return the pods that have to go and the cluster without the node, or why it stays."""
    info = snapshot.nodes[node]
    moves = pods_to_move(info.pods, context, profile)
    if moves.blocked is not None:
        return Unremovable(UnremovableReason.BLOCKED_BY_POD, moves.blocked)
    without = snapshot.fork()
    without.add(NodeInfo(_leaving(info.node)))  # it stays a domain for spreading, and takes no pod
    loose = [with_spec(pod, nodeName="") for pod in moves.pods]
    others = _Others(destinations, node)
    if len(_placed_while_possible(loose, without, others, hints)) != len(loose):
        return Unremovable(UnremovableReason.NO_PLACE)
    without.remove(node)
    return moves, without


class _Others:
    """The destinations without one node."""

    def __init__(self, names: Container[str], node: str) -> None:
        self._names, self._node = names, node

    def __contains__(self, name: object) -> bool:
        return name != self._node and name in self._names


def _placed_while_possible(
    pods: Sequence[Object], snapshot: Snapshot, acceptable: Container[str], hints: Hints
) -> list[Object]:
    """Place pods one after the other up to the first that fits nowhere (breakOnFailure)."""
    placed: list[Object] = []
    for pod in pods:
        if not place_pods((pod,), snapshot, acceptable, hints):
            return placed
        placed.append(pod)
    return placed


def _leaving(node: Object) -> Object:
    taints = [*(spec_of(node).get("taints") or ()), {"key": TO_BE_DELETED, "effect": "NoSchedule"}]
    return with_spec(node, taints=taints)
