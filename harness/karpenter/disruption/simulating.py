"""Where the pods of candidates would go: one simulation of the scheduler without their nodes.

Core ``pkg/controllers/disruption/helpers.go`` (SimulateScheduling), ``pkg/controllers/provisioning/scheduling/scheduler.go`` (Results).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import inf

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.events.texts import failed_scheduling, sentence
from harness.karpenter.disruption.situation import Situation, View
from harness.karpenter.lifecycle.nominations import machine_text
from harness.karpenter.scheduling import PlannedNodeClaim, SchedulingEvent, TopologyError, pod_key
from harness.karpenter.scheduling.likeness.outcomes import Foretold
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.simulation import NoNodePools
from harness.kube.api.objects import Object, name_of
from lazyrecords import dataclass

__all__ = [
    "Foreseen",
    "OutOfTime",
    "Outcome",
    "SimulationError",
    "foresee",
    "hurried_text",
    "simulate",
    "tell_judged",
]

_NAMED = 5
_NOT_FOR_KARPENTER = "configured to not run on a Karpenter provisioned node"


class SimulationError(Exception):
    """The scheduler could not be made; the message is core's."""


class OutOfTime(Exception):
    """A simulation exceeded its time limit."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a simulation: NodeClaims to create, pods by the existing node that takes them, and errors by pod (``namespace/name``).

    ``stranded`` are the pods of ``errors`` that were not pending before. ``nodes`` are the state nodes at that moment by name, since a
    machine has its NodeClaim's name until its Node registers.
    """

    nodeclaims: tuple[PlannedNodeClaim, ...] = ()
    existing: Mapping[str, tuple[Object, ...]] | None = None
    errors: Mapping[str, str] | None = None
    stranded: tuple[str, ...] = ()
    nodes: Mapping[str, StateNode] = field(default_factory=dict, repr=False, compare=False)

    def text(self) -> str:
        """Core's sentence about the candidates' pods that cannot be scheduled."""
        return _stranded_text(self.stranded, (self.errors or {}).__getitem__)


def _stranded_text(stranded: Sequence[str], reason: Callable[[str], str]) -> str:
    text = "".join(["not all pods would schedule, ", *[f"{pod} => {reason(pod)} " for pod in stranded[:_NAMED]]])
    if len(stranded) >= _NAMED:
        text += f" and {len(stranded) - _NAMED} other(s)"
    return text


class Foreseen:
    """The result of a simulation that need not be made: it would take ``seconds`` of virtual time.

    ``strands``: a pod of the candidates cannot be scheduled. It does not say which pods go where: ``existing`` of the outcome is left
    out, and ``nodeclaims`` may have the pods of an equal simulation.
    """

    __slots__ = ("_outcome", "_text", "nodeclaims", "seconds", "strands")

    def __init__(
        self,
        nodeclaims: tuple[PlannedNodeClaim, ...],
        seconds: float,
        strands: bool,
        outcome: Callable[[], Outcome],
        text: Callable[[], str],
    ) -> None:
        self.nodeclaims, self.seconds, self.strands = nodeclaims, seconds, strands
        self._outcome, self._text = outcome, text

    @property
    def outcome(self) -> Outcome:
        """The outcome, calculated at each access."""
        return self._outcome()

    def text(self) -> str:
        """Core's sentence about the candidates' pods that cannot be scheduled, as events begin it."""
        return sentence(self._text())


@dataclass(frozen=True, slots=True)
class _Seen:
    """What is kept of a simulation: errors, and texts about pods on nodes that are not initialized, by the pod's place in its order."""

    nodeclaims: tuple[PlannedNodeClaim, ...]
    errors: tuple[tuple[int, str], ...]
    uninitialized: tuple[tuple[int, str], ...]
    events: tuple[SchedulingEvent, ...]
    seconds: float


def simulate(
    situation: Situation, candidates: Sequence[Candidate], *, settled: bool, time_limit: float = inf
) -> Outcome | None:
    """The outcome of a simulation; None when a candidate is already being deleted. Raises SimulationError, OutOfTime.

    ``settled``: as for consolidation, nodes within their NodePool's consolidateAfter take no pods of candidates. ``time_limit`` is in
    virtual seconds.
    """
    view = situation.view
    names = {each.name for each in candidates}
    simulations = view.simulations
    if names & simulations.deleting_names:
        return None
    groups = _moving(situation, candidates)
    moving = groups[0] if len(groups) == 1 else [pod for each in groups for pod in each]
    try:
        results = simulations.without(names, moving, settled=settled, time_limit=time_limit)
    except NoNodePools as error:
        raise SimulationError(f"creating scheduler, {error}") from error
    except TopologyError as error:
        raise SimulationError(f"creating scheduler, tracking topology counts, {error}") from error
    finally:
        tell_judged(situation)
    situation.seconds += results.seconds
    if results.timed_out:
        raise OutOfTime
    situation.say_all(results.events)
    errors = {pod: str(reason) for pod, reason in results.errors.items()}
    uninitialized = {}
    for name, pods in results.existing.items():
        node = view.node_by_name[name]
        if not node.initialized:
            uninitialized.update({pod_key(pod): _too_early(node) for pod in pods})
    if (told := simulations.foretold(names, groups, settled=settled)) is not None:
        simulations.learn(told, results)
    if (
        len(candidates) == 1
        and (alike := simulations.likeness(candidates[0].name, moving, settled=settled)) is not None
    ):
        places = {key: place for place, key in enumerate(alike.order)} if errors or uninitialized else {}
        failed, early = (tuple((places[key], text) for key, text in each.items()) for each in (errors, uninitialized))
        seen = _Seen(results.nodeclaims, failed, early, results.events, results.seconds)
        view.remembered[_Seen, alike.key, settled] = seen
    return _outcome(view, results.nodeclaims, results.existing, errors, uninitialized)


def _outcome(
    view: View,
    nodeclaims: tuple[PlannedNodeClaim, ...],
    existing: Mapping[str, tuple[Object, ...]] | None,
    errors: Mapping[str, str],
    uninitialized: Mapping[str, str],
) -> Outcome:
    """A pod on a node that is not initialized counts as failed, unless its own node is being deleted anyway."""
    simulations = view.simulations
    early = {pod: text for pod, text in uninitialized.items() if pod not in simulations.displaced_keys}
    failed = {**errors, **early}
    stranded = tuple(sorted(pod for pod in failed if pod not in simulations.pending_keys))
    return Outcome(nodeclaims, existing, failed, stranded, view.node_by_name)


def foresee(
    situation: Situation, candidates: Sequence[Candidate], *, settled: bool, time_limit: float = inf
) -> Foreseen | None:
    """The result of :func:`simulate` without a simulation; None where it needs one."""
    view = situation.view
    simulations = view.simulations
    names = [each.state.name for each in candidates]
    if not simulations.deleting_names.isdisjoint(names):
        return None
    groups = _moving(situation, candidates)
    counted = simulations.hurry(names, groups, settled=settled) if len(candidates) > 1 else None
    found = counted or simulations.foretold(names, groups, settled=settled)
    nodeclaims = simulations.nodeclaims_of(found) if found is not None else None
    if found is None or nodeclaims is None:
        return _known(situation, candidates[0], groups[0], settled) if len(candidates) == 1 else None
    seconds = simulations.seconds(found.tried)
    if seconds >= time_limit:
        return None
    tell_judged(situation)
    if simulations.events:
        situation.say_once(simulations.events)

    def told() -> Foretold:
        """All that can be told; counting did not look at each pod."""
        known = simulations.foretold(names, groups, settled=settled) if counted is not None else found
        assert isinstance(known, Foretold)
        return known

    return Foreseen(
        nodeclaims,
        seconds,
        found.hurries,
        lambda: _told_outcome(view, nodeclaims, told()),
        lambda: hurried_text(view, told().hurried),
    )


def hurried_text(view: View, hurried: Mapping[str, str]) -> str:
    """Core's sentence about pods (``namespace/name``) that would go to nodes which are not initialized, by the names of these."""
    nodes = view.node_by_name
    return _stranded_text(sorted(hurried), lambda pod: _too_early(nodes[hurried[pod]]))


def _told_outcome(view: View, nodeclaims: tuple[PlannedNodeClaim, ...], told: Foretold) -> Outcome:
    nodes = view.node_by_name
    return _outcome(view, nodeclaims, None, {}, {pod: _too_early(nodes[name]) for pod, name in told.early.items()})


def _known(situation: Situation, candidate: Candidate, moving: Sequence[Object], settled: bool) -> Foreseen | None:
    """The result for a candidate, taken from the simulation for an equal candidate at this moment; None without one."""
    alike = situation.view.simulations.likeness(candidate.name, moving, settled=settled)
    seen: _Seen | None = situation.view.remembered.get((_Seen, alike.key, settled)) if alike is not None else None
    if alike is None or seen is None:
        return None
    tell_judged(situation)
    situation.say_all(seen.events)
    order = alike.order if seen.errors or seen.uninitialized else ()
    failed, early = ({order[place]: text for place, text in each} for each in (seen.errors, seen.uninitialized))
    outcome = _outcome(situation.view, seen.nodeclaims, None, failed, early)
    return Foreseen(seen.nodeclaims, seen.seconds, bool(outcome.stranded), lambda: outcome, outcome.text)


def _moving(situation: Situation, candidates: Sequence[Candidate]) -> Sequence[Sequence[Object]]:
    """The pods of each candidate that have to be rescheduled."""
    judge = situation.view.simulations.displaced
    if not judge.knows_budgets and not any(each.marked for each in candidates):
        return [each.pods for each in candidates]
    found: list[Sequence[Object]] = []
    for each in candidates:
        if not (judge.knows_budgets or each.marked):
            found.append(each.pods)
            continue
        moving = [pod for pod in each.pods if judge.movable(pod)]
        found.append(moving if len(moving) < len(each.pods) else each.pods)
    return found


def tell_judged(situation: Situation) -> None:
    """Publishes the events about pods that are examined, or ignored, before the scheduling; each once."""
    simulations = situation.view.simulations
    judged = simulations, len(simulations.displaced.events)
    if situation.judged == judged:
        return
    situation.judged = judged
    situation.say_once(simulations.displaced.events)
    if situation.rules.tells_ignored and simulations.pending.rejected:
        for pod, reason in simulations.pending.rejected.items():
            if not reason.startswith(_NOT_FOR_KARPENTER):
                situation.say(failed_scheduling(pod, reason))


def _too_early(node: StateNode) -> str:
    """Core's text about a pod that would go to a node which is not initialized."""
    text: str | None = node.remembered.get(_too_early)
    if text is None:
        nodeclaim, own = (None if each is None else name_of(each) for each in (node.nodeclaim, node.node))
        text = node.remembered[_too_early] = f"would schedule against uninitialized {machine_text(nodeclaim, own)}"
    return text
