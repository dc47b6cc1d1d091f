"""The number of NodeClaims of a static NodePool, and the ones that are deleted when it has too many.

Core ``pkg/controllers/static/{provisioning,deprovisioning}/controller.go``, ``pkg/controllers/state/statenodepool.go``.
"""

from collections.abc import Callable, Iterable, Sequence

from harness.karpenter.disruption.costs import lifetime_remaining, rescheduling_cost
from harness.karpenter.disruption.methods.static_drift import Counts, counts_of, node_limit
from harness.karpenter.labels.core import NODEPOOL
from harness.karpenter.lifecycle.conditions import nodepool_is_ready
from harness.karpenter.lifecycle.names import is_managed
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.karpenter.scheduling import SchedulingEvent
from harness.karpenter.scheduling.nodes.state import StateNode, pods_on
from harness.karpenter.scheduling.pods.displaced import Displaced
from harness.karpenter.scheduling.simulation import Simulations
from harness.kube.api.objects import Object, is_terminating, labels_of, name_of, spec_of, status_of
from harness.kube.go.sort import sort_slice
from harness.kube.scheduling.pods import is_daemon
from lazyrecords import dataclass

__all__ = ["LIMITED", "POLLING", "UNSYNCED", "Growth", "growth", "is_static_nodepool", "surplus"]

POLLING, LIMITED, UNSYNCED = 60.0, 30.0, 1.0
"""Seconds to the next look: usually, when the limit of nodes is reached, while NodeClaims have no machine yet."""


@dataclass(frozen=True, slots=True)
class Growth:
    """The number of NodeClaims to create, and the seconds to the next reconcile (None: only a change triggers one)."""

    count: int = 0
    again: float | None = None
    counts: Counts | None = None


def _silent(event: SchedulingEvent) -> None:
    """Drops the event."""


def is_static_nodepool(nodepool: Object) -> bool:
    """Return whether the NodePool is static (has ``spec.replicas``)."""
    return spec_of(nodepool).get("replicas") is not None


def growth(
    simulations: Simulations, nodepool: Object, *, synced: bool, replacing: frozenset[str] = frozenset()
) -> Growth:
    """Return how many NodeClaims the NodePool lacks. ``replacing`` names the NodeClaims that a disruption command is
    about to replace.

    They count when it is decided whether NodeClaims are missing, but not for how many: then the controller creates one for each of them
    as well, as upstream does.
    """
    if (
        not _is_managed(simulations, nodepool)
        or not nodepool_is_ready(nodepool)
        or not is_static_nodepool(nodepool)
        or is_terminating(nodepool)
    ):
        return Growth()
    if not synced:
        return Growth(again=UNSYNCED)
    counts = counts_of(simulations, name_of(nodepool), replacing)
    replicas = int(spec_of(nodepool)["replicas"])
    if counts.running + counts.replacing >= replicas:
        return Growth(again=POLLING, counts=counts)
    left = node_limit(nodepool) - counts.total
    count = min(replicas - counts.running, left)
    if count <= 0:
        return Growth(again=LIMITED, counts=counts)
    return Growth(count, POLLING, counts)


def surplus(
    simulations: Simulations,
    nodepool: Object,
    *,
    replacing: frozenset[str] = frozenset(),
    say: Callable[[SchedulingEvent], None] = _silent,
) -> tuple[Sequence[Object], Growth]:
    """The NodeClaims to delete, in order, and when to reconcile again.

    First come NodeClaims without a machine, then empty nodes, then those whose pods cost least to move. ``say`` gets the events about pods
    with a duration as do-not-disrupt.
    """
    if not _is_managed(simulations, nodepool) or not is_static_nodepool(nodepool) or is_terminating(nodepool):
        return (), Growth()
    name = name_of(nodepool)
    counts = counts_of(simulations, name, replacing)
    count = counts.running - int(spec_of(nodepool)["replicas"])
    if count <= 0:
        return (), Growth(again=POLLING, counts=counts)
    unresolved = sorted(_unresolved(simulations.snapshot.nodeclaims, name), key=name_of)[:count]
    nodes = [
        node
        for node in sorted(simulations.state.nodes, key=lambda state: state.provider_id)
        if node.labels.get(NODEPOOL) == name and node.nodeclaim is not None and not node.deleting
    ]
    if len(unresolved) == count:
        return unresolved, Growth(again=POLLING, counts=counts)
    chosen = [*unresolved, *(_claim(item) for item in _cheapest(simulations, nodes, say)[: count - len(unresolved)])]
    return chosen, Growth(again=POLLING, counts=counts)


def _is_managed(simulations: Simulations, nodepool: Object) -> bool:
    reference = spec_of(spec_of(nodepool).get("template") or {}).get("nodeClassRef") or {}
    return (reference.get("group") or "", reference.get("kind") or "") == simulations.options.node_class


def _unresolved(claims: Iterable[Object], nodepool: str) -> list[Object]:
    return [
        claim
        for claim in claims
        if labels_of(claim).get(NODEPOOL) == nodepool
        and is_managed(claim)
        and not status_of(claim).get("providerID")
        and not is_terminating(claim)
    ]


def _cheapest(
    simulations: Simulations, nodes: Sequence[StateNode], say: Callable[[SchedulingEvent], None]
) -> list[StateNode]:
    """Empty nodes in their order; then the others, those with a do-not-disrupt pod last, by the cost of moving their pods."""
    judge = Displaced((), simulations.snapshot.now, simulations.rules)
    rules = disruption_rules_of(simulations.core, writes_deletion_costs=simulations.options.writes_deletion_costs)

    def is_protected(pods: Sequence[Object]) -> bool:
        for pod in pods:
            event = judge.told(pod)
            if event is not None:
                say(event)
            if judge.protected(pod):
                return True
        return False

    empty, others, keys = [], [], {}
    for node in nodes:
        pods = pods_on(node)
        if not pods or (all(map(is_daemon, pods)) and not is_protected(pods)):
            empty.append(node)
            continue
        cost = rescheduling_cost(pods, rules) * lifetime_remaining(_claim(node), simulations.snapshot.now)
        keys[node.provider_id] = is_protected(pods), cost
        others.append(node)
    sort_slice(others, lambda node: keys[node.provider_id])
    return [*empty, *others]


def _claim(node: StateNode) -> Object:
    assert node.nodeclaim is not None
    return node.nodeclaim
