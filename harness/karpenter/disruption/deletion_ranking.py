"""The order in which ReplicaSets should empty nodes when they shrink, so that Karpenter can take the nodes away.

Core ``pkg/controllers/pod/deletioncost/{ranking,controller}.go``, since 1.15.0, behind the gate PodDeletionCostManagement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto

from harness.karpenter.disruption.budgets import Remaining, remaining_budgets
from harness.karpenter.disruption.candidates import node_refusals, pod_refusals, savings_ratio
from harness.karpenter.disruption.methods.method import DRIFTED, UNDERUTILIZED
from harness.karpenter.disruption.situation import Situation
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.lifecycle.nodes.disrupted import is_disrupted
from harness.karpenter.scheduling.nodes.consolidate_after import consolidate_after
from harness.karpenter.scheduling.nodes.state import StateNode, pods_on
from harness.karpenter.scheduling.pods.displaced import Displaced
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object, annotations_of, condition_is, controller_of, namespace_of, spec_of
from harness.kube.deletion_order import DELETION_COST
from lazyrecords import dataclass

__all__ = ["DeletionCost", "deletion_costs", "has_cost"]

_GOING = -(1 << 31)
_MOST_NODES = 50
_RECREATED = frozenset({("apps/v1", "ReplicaSet"), ("batch/v1", "Job"), ("apps/v1", "DaemonSet")})
_SPARED = "kube-system"


@dataclass(frozen=True, slots=True)
class DeletionCost:
    """The deletion cost that a pod is to have; None: none at all."""

    pod: Object
    cost: int | None


class _Group(Enum):
    """The fate of a node's pods; in the order in which nodes get their ranks."""

    GOING = auto()
    DRIFTED = auto()
    NORMAL = auto()
    UNRANKED = auto()


def deletion_costs(situation: Situation) -> Iterator[DeletionCost]:
    """Yield the costs to write for the pods of ReplicaSets, node by node.

    Pods of nodes that go already get the lowest cost. The others count up to -1: drifted nodes first, then those that save most for what
    moving their pods costs. A node that may not be disrupted, or not within the budgets, gets none. A node whose pods have their costs is
    passed over; of the others all that go are written, and fifty of the rest.
    """
    ranked: list[StateNode] = []
    unranked: list[StateNode] = []
    groups = _groups(situation)
    for reason, group in ((DRIFTED, _Group.DRIFTED), (UNDERUTILIZED, _Group.NORMAL)):
        within, beyond = _within(groups[group], remaining_budgets(situation.view, reason))
        ranked += within
        unranked += beyond
    for node in groups[_Group.GOING]:
        yield from _of_node(situation, node, _GOING)
    written = 0
    wanted: list[tuple[StateNode, int | None]] = [(node, place - len(ranked)) for place, node in enumerate(ranked)]
    wanted += [(node, None) for node in [*groups[_Group.UNRANKED], *unranked]]
    for node, cost in wanted:
        if written == _MOST_NODES:
            return
        costs = _of_node(situation, node, cost)
        written += bool(costs)
        yield from costs


def has_cost(pod: Object, cost: int | None) -> bool:
    """Return whether the pod has this deletion cost already."""
    return annotations_of(pod).get(DELETION_COST) == (None if cost is None else str(cost))


def _of_node(situation: Situation, node: StateNode, cost: int | None) -> Sequence[DeletionCost]:
    """The costs of its ReplicaSets' pods, none where each of them has its own already."""
    pods = [pod for pod in pods_on(node) if _controller(pod) == ("apps/v1", "ReplicaSet")]
    if all(has_cost(pod, cost) for pod in pods):
        return ()
    return [DeletionCost(pod, cost) for pod in pods]


def _groups(situation: Situation) -> Mapping[_Group, Sequence[StateNode]]:
    """Nodes of Karpenter by what becomes of them, those that save most for their cost first."""
    nodes = [node for node in situation.view.nodes if node.managed]
    nodes.sort(key=lambda node: (-_savings(situation, node), node.name))
    judge = situation.view.simulations.pod_judge()
    groups: dict[_Group, list[StateNode]] = {group: [] for group in _Group}
    for node in nodes:
        groups[_group(situation, node, judge)].append(node)
    return groups


def _savings(situation: Situation, node: StateNode) -> float:
    types = situation.view.types_by_name.get(node.labels.get(NODEPOOL) or "", {})
    return savings_ratio(situation, node, types.get(node.labels.get(INSTANCE_TYPE) or ""))


def _group(situation: Situation, node: StateNode, judge: Displaced) -> _Group:
    view = situation.view
    if node.deleting or (node.node is not None and is_disrupted(node.node)):
        return _Group.GOING
    if next(node_refusals(situation, node), None) is not None:
        return _Group.UNRANKED
    pods = pods_on(node)
    if next(pod_refusals(situation, pods, judge), None) is not None:
        return _Group.UNRANKED
    if any(_pins(pod) for pod in pods) or not _is_priced(situation, node):
        return _Group.UNRANKED
    nodepool = view.nodepools.get(node.labels.get(NODEPOOL) or "")
    is_static = nodepool is not None and spec_of(nodepool).get("replicas") is not None
    if condition_is(node.nodeclaim or {}, DRIFTED) and not is_static:
        return _Group.DRIFTED
    if nodepool is not None and consolidate_after(nodepool) is None:
        return _Group.UNRANKED
    return _Group.NORMAL


def _is_priced(situation: Situation, node: StateNode) -> bool:
    """Return whether its NodePool has its instance type; false for a node without those labels."""
    pool, size = node.labels.get(NODEPOOL), node.labels.get(INSTANCE_TYPE)
    return not pool or not size or size in situation.view.types_by_name.get(pool, {})


def _pins(pod: Object) -> bool:
    """Return whether nobody would bring the pod back elsewhere; pods of kube-system do not count."""
    return namespace_of(pod) != _SPARED and _controller(pod) not in _RECREATED


def _controller(pod: Object) -> tuple[str, str]:
    owner = controller_of(pod) or {}
    return owner.get("apiVersion") or "", owner.get("kind") or ""


def _within(
    nodes: Sequence[StateNode], budgets: Mapping[str, Remaining]
) -> tuple[Sequence[StateNode], Sequence[StateNode]]:
    """The nodes that the budgets of their NodePools allow, first come, first served, and the others."""
    left = {name: budget.left for name, budget in budgets.items()}
    within, beyond = [], []
    for node in nodes:
        pool = node.labels.get(NODEPOOL) or ""
        if left.get(pool, 0) > 0:
            left[pool] -= 1
            within.append(node)
        else:
            beyond.append(node)
    return within, beyond
