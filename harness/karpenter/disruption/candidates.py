"""Nodes that may be disrupted, and why the others may not.

Core ``pkg/controllers/disruption/types.go`` (NewCandidate), ``pkg/controllers/state/statenode.go`` (ValidateNodeDisruptable,
ValidatePodsDisruptable), ``pkg/controllers/disruption/helpers.go`` (GetCandidatesWithTotals).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from harness.karpenter.cloudprovider import InstanceType
from harness.karpenter.disruption.candidate_cache import CandidateCache, MethodFilterCache
from harness.karpenter.disruption.costs import BASE_COST, eviction_cost, is_unpriced, labelled_price, lifetime_remaining
from harness.karpenter.disruption.events.nodes import NodeEvents, Told
from harness.karpenter.disruption.events.texts import blocked, sentence
from harness.karpenter.disruption.situation import Situation
from harness.karpenter.labels.core import CAPACITY_TYPE, DO_NOT_DISRUPT, NODEPOOL
from harness.karpenter.releases.core_release import CoreRelease
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.scheduling.nodeclaims.planned import SchedulingEvent, pod_key
from harness.karpenter.scheduling.nodes.state import StateNode, pods_on
from harness.karpenter.scheduling.pods.displaced import Displaced
from harness.karpenter.scheduling.remembered import Result, remembered, remembered_while_same
from harness.kube.api.labels import INSTANCE_TYPE, ZONE
from harness.kube.api.objects import Object, annotations_of, condition_is, spec_of
from harness.kube.go.text import quote
from harness.kube.scheduling.pods import is_reschedulable
from lazyrecords import dataclass

__all__ = [
    "Candidate",
    "all_candidates",
    "candidate_of",
    "condition_of",
    "find_candidates",
    "node_refusals",
    "pod_refusals",
    "savings_ratio",
]


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A node that may be disrupted; ``pool`` is the name of its NodePool, ``policy`` that NodePool's ``consolidationPolicy``. The same
    candidate is the same object.

    ``pods`` are those that need another node. Costs have no unit, ``price`` is in USD per hour. ``eviction_cost`` is the sum over all its
    pods, ``moving_cost`` that over ``pods`` with the base cost. ``savings_ratio``: the price for each unit of that. ``marked``: some
    of its pods have the annotation do-not-disrupt.
    """

    state: StateNode
    nodepool: Object
    instance_type: InstanceType | None
    pods: tuple[Object, ...]
    eviction_cost: float
    moving_cost: float
    price: float
    savings_ratio: float
    marked: bool
    pool: str
    policy: str

    @property
    def name(self) -> str:
        return self.state.name

    @property
    def node(self) -> Object:
        assert self.state.node is not None
        return self.state.node

    @property
    def nodeclaim(self) -> Object:
        assert self.state.nodeclaim is not None
        return self.state.nodeclaim

    @property
    def size(self) -> str:
        """Its instance type, by its label."""
        return self.state.labels.get(INSTANCE_TYPE) or ""

    @property
    def zone(self) -> str:
        return self.state.labels.get(ZONE) or ""

    @property
    def capacity_type(self) -> str:
        return self.state.labels.get(CAPACITY_TYPE) or ""

    @property
    def known_price(self) -> float:
        """USD per hour; 0 where no price is known, although Karpenter then assumes one."""
        return 0.0 if is_unpriced(self.state.labels, self.instance_type) else self.price

    @property
    def is_static(self) -> bool:
        """Return whether its NodePool is static, with a fixed number of nodes (``spec.replicas``)."""
        return spec_of(self.nodepool).get("replicas") is not None

    def disruption_cost(self, now: int) -> float:
        """Return the cost of its disruption at ``now`` (nanoseconds since the start): the nearer its expiration, the less."""
        return self.eviction_cost * lifetime_remaining(self.nodeclaim, now)

    def is_empty(self, by_cost: bool) -> bool:
        """Return whether none of its pods has to move; ``by_cost``: whether moving them costs nothing beyond the base cost."""
        return self.moving_cost <= BASE_COST if by_cost else not self.pods


def condition_of(candidate: Candidate, kind: str) -> bool:
    """Return whether a condition of its NodeClaim is true."""
    return _condition_is_true(candidate.state, kind)


@remembered
def _condition_is_true(node: StateNode, kind: str) -> bool:
    return condition_is(node.nodeclaim or {}, kind)


def find_candidates(
    situation: Situation, should_disrupt: Callable[[Situation, Candidate], bool], *, eventual: bool
) -> list[Candidate]:
    """The candidates that a method takes, in the order of the state.

    ``should_disrupt`` judges by the candidate and the release: the same candidates are not asked again.
    """
    candidates = all_candidates(situation, eventual=eventual)
    about = find_candidates, getattr(should_disrupt, "__func__", should_disrupt), eventual
    cache: MethodFilterCache[Candidate] = situation.view.lasting.setdefault(about, MethodFilterCache())

    def judge(candidate: Candidate) -> tuple[bool, Sequence[Told]]:
        before = len(situation.said)
        takes = should_disrupt(situation, candidate)
        events = situation.said[before:]
        del situation.said[before:]
        return takes, events

    taken, events = cache.look(candidates, judge)
    situation.said.extend(events)
    return taken


_CANDIDATES = Result[tuple[Sequence[Candidate], Sequence[Iterable[SchedulingEvent]]]]()
"""The candidates of a view, and the events about all nodes, by whether they may go eventually."""


def all_candidates(situation: Situation, *, eventual: bool) -> Sequence[Candidate]:
    """Every node that may be disrupted; ``eventual``: also one whose pods block it, if its NodeClaim has a terminationGracePeriod."""
    view = situation.view
    last = _CANDIDATES.last(view, eventual)
    if last is None:
        judge = view.simulations.pod_judge()
        look = _Look(situation, judge, eventual, [], [])
        candidates = view.settled(("candidates", eventual), _found(look))
        last = _CANDIDATES.keep(view, (candidates, (*look.events, judge.events)), eventual)
        if not look.held:  # no pod blocks a node, so that it makes no difference
            _CANDIDATES.keep(view, last, not eventual)
    for events in last[1]:
        situation.say_all(events)
    return last[0]


def _found(look: "_Look") -> list[Candidate]:
    """The candidates. One that depends on nothing but its node, its NodePool and its instance types is kept from the look before."""
    view = look.situation.view
    if look.judge.knows_budgets:
        return [made for node in view.nodes if (made := _candidate(look, node)) is not None]
    cache: CandidateCache[Candidate] | None = view.lasting.get(CandidateCache)
    if cache is None or cache.offers is not view.offers:
        cache = view.lasting[CandidateCache] = CandidateCache(view.offers)
    return cache.look(view.nodes, view.in_queue_or_nominated, partial(_candidate, look))


@dataclass(frozen=True, slots=True)
class _Load:
    """The cost of a node's pods: the eviction costs of all, and, with the base cost, those of the pods that move where
    they are above 0.

    ``marked``: some have the annotation do-not-disrupt.
    """

    moving: tuple[Object, ...]
    rescheduling_cost: float
    moving_cost: float
    marked: bool


@remembered_while_same
def _load(node: StateNode, rules: DisruptionRules) -> _Load:
    moving: list[Object] = []
    evicting, moved, marked = 0.0, BASE_COST, False
    for pod in pods_on(node):
        cost = eviction_cost(pod, rules)
        evicting += cost
        if is_reschedulable(pod):
            moving.append(pod)
            moved += max(0.0, cost)
        marked = marked or DO_NOT_DISRUPT in annotations_of(pod)
    return _Load(tuple(moving), evicting, moved, marked)


@dataclass(frozen=True, slots=True)
class _Look:
    """One look at all nodes. ``held`` are those that pods block."""

    situation: Situation
    judge: Displaced
    eventual: bool
    events: list[NodeEvents]
    held: list[StateNode]


def _candidate(look: _Look, node: StateNode) -> Candidate | None:
    situation, view = look.situation, look.situation.view
    queued = bool(view.queued) and view.is_queued(node)
    if queued and not situation.rules.tells_queued:
        return None
    is_nominated = bool(view.nominated) and view.is_nominated(node)
    if is_nominated or not _is_unhindered(node):
        event = _refusal(node, situation.rules, view.release.core, is_nominated)
        if event is not None:
            look.events.append(event)
        return None
    if queued:
        return None
    assert node.nodeclaim is not None
    pool = node.labels[NODEPOOL]
    nodepool, types = view.wanted.get(pool), view.types_by_name.get(pool)
    if nodepool is None or types is None:
        structured = view.release.core.structured_errors
        text = f"NodePool not found (NodePool={pool})" if structured else f"NodePool {quote(pool)} not found"
        look.events.append(blocked(node, text))
        return None
    reason = None
    if look.judge.knows_budgets or _load(node, situation.rules).marked:
        reason = next(pod_refusals(situation, pods_on(node), look.judge), None)
    if reason is not None:
        look.held.append(node)
    if reason is not None and not (look.eventual and spec_of(node.nodeclaim).get("terminationGracePeriod") is not None):
        look.events.append(blocked(node, sentence(reason)))
        return None
    return candidate_of(situation, node)


def candidate_of(situation: Situation, node: StateNode) -> Candidate:
    """The candidate that a node is, whatever blocks its disruption.

    Raises KeyError where its NodePool does not exist or has no instance types.
    """
    view = situation.view
    assert node.nodeclaim is not None
    pool = node.labels[NODEPOOL]
    nodepool = view.wanted[pool]
    instance_type = view.types_by_name[pool].get(node.labels.get(INSTANCE_TYPE) or "")
    return _made(node, nodepool, instance_type, situation.rules)


@remembered_while_same
def _made(node: StateNode, nodepool: Object, instance_type: InstanceType | None, rules: DisruptionRules) -> Candidate:
    load, price = _load(node, rules), labelled_price(node, instance_type)
    return Candidate(
        node,
        nodepool,
        instance_type,
        load.moving,
        load.rescheduling_cost,
        load.moving_cost,
        price,
        price / load.moving_cost,
        load.marked,
        node.labels[NODEPOOL],
        (spec_of(nodepool).get("disruption") or {}).get("consolidationPolicy") or "",
    )


def savings_ratio(situation: Situation, node: StateNode, instance_type: InstanceType | None) -> float:
    """Return the node's price for each unit of what moving its pods costs."""
    return labelled_price(node, instance_type) / _load(node, situation.rules).moving_cost


@remembered_while_same
def _refusal(node: StateNode, rules: DisruptionRules, core: CoreRelease, is_nominated: bool) -> NodeEvents | None:
    """Return the events about a node that itself cannot be disrupted; none about one without a NodeClaim."""
    if node.nodeclaim is None:
        return None
    return blocked(node, sentence(next(_node_refusals(node, rules, core, is_nominated))))


@remembered
def _is_unhindered(node: StateNode) -> bool:
    """Return whether nothing about the node itself, a nomination apart, keeps it from being disrupted."""
    return (
        node.nodeclaim is not None
        and node.node is not None
        and node.initialized
        and not node.deleting
        and node.annotations.get(DO_NOT_DISRUPT) != "true"
        and NODEPOOL in node.labels
    )


def node_refusals(situation: Situation, node: StateNode) -> Iterator[str]:
    """Yield the reasons why the node itself cannot be disrupted, in the order of core's checks; core reports only the first."""
    view = situation.view
    return _node_refusals(node, situation.rules, view.release.core, view.is_nominated(node))


def _node_refusals(node: StateNode, rules: DisruptionRules, core: CoreRelease, is_nominated: bool) -> Iterator[str]:
    if node.nodeclaim is None:
        yield "node isn't managed by karpenter"
        return
    if node.node is None:
        yield "nodeclaim does not have an associated node"
        return
    starting = "node isn't initialized" if not node.initialized else ""
    if starting and not rules.names_deleting_first:
        yield starting
    if node.deleting:
        yield "node is deleting or marked for deletion"
    if starting and rules.names_deleting_first:
        yield starting if node.registered else f"{starting} nor registered"
    if is_nominated:
        yield "node is nominated for a pending pod"
    if node.annotations.get(DO_NOT_DISRUPT) == "true":
        yield f"disruption is blocked through the {quote(DO_NOT_DISRUPT)} annotation"
    if NODEPOOL not in node.labels:
        structured = core.structured_errors
        yield f"node doesn't have required label {f'(label={NODEPOOL})' if structured else quote(NODEPOOL)}"


def pod_refusals(situation: Situation, pods: Sequence[Object], judge: Displaced) -> Iterator[str]:
    """Yield the reasons why the node's pods block its disruption, in the order of core's checks; core reports only the first."""
    structured = situation.view.release.core.structured_errors
    for pod in pods:
        if not judge.disruptable(pod):
            yield (
                f'pod has "{DO_NOT_DISRUPT}" annotation (Pod={pod_key(pod)})'
                if structured
                else f'pod {quote(pod_key(pod))} has "{DO_NOT_DISRUPT}" annotation'
            )
    for pod in pods:
        budgets = judge.budgets_against(pod)
        names = " ".join(pod_key(budget) for budget in budgets)
        if len(budgets) > 1:
            yield f"eviction does not support multiple PDBs (PodDisruptionBudget(s)=[{names}])"
        elif budgets and not structured:
            yield f"pdb {quote(names)} prevents pod evictions"
        elif budgets:
            shown = f"[{names}]" if situation.rules.lists_budgets else names
            yield f"pdb prevents pod evictions (PodDisruptionBudget={shown})"
