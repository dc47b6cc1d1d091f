"""The simulation of the scheduler without the nodes of candidates: where their pods would go.

Core ``pkg/controllers/disruption/helpers.go`` (SimulateScheduling), ``pkg/controllers/provisioning/scheduling/scheduler.go`` (Results).
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from math import inf

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.events.texts import failed_scheduling
from harness.karpenter.disruption.situation import Situation, View
from harness.karpenter.lifecycle.nominations import machine_text
from harness.karpenter.scheduling import PlannedNodeClaim, TopologyError, pod_key
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.pods.displaced import Displaced
from harness.karpenter.scheduling.remembered import remembered
from harness.karpenter.scheduling.simulation import NoNodePools
from harness.kube.api.objects import Object, name_of
from lazyrecords import dataclass

__all__ = [
    "OutOfTime",
    "Outcome",
    "SimulationError",
    "publish_pod_events",
    "simulate",
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
        """Return core's sentence about the candidates' pods that cannot be scheduled, as events begin it."""
        stranded, errors = self.stranded, self.errors or {}
        text = "".join(["Not all pods would schedule, ", *[f"{pod} => {errors[pod]} " for pod in stranded[:_NAMED]]])
        if len(stranded) >= _NAMED:
            text += f" and {len(stranded) - _NAMED} other(s)"
        return text


def simulate(
    situation: Situation, candidates: Sequence[Candidate], *, settled: bool, time_limit: float = inf
) -> Outcome | None:
    """The outcome of a simulation; None when a candidate is already being deleted. Raises SimulationError, OutOfTime.

    ``settled``: as for consolidation, nodes within their NodePool's consolidateAfter take no pods of candidates. ``time_limit`` is in
    virtual seconds.
    """
    view = situation.view
    names = {node.name for node in candidates}
    simulations = view.simulations
    if names & simulations.deleting_names:
        return None
    moving = [pod for candidate in candidates for pod in _moving(simulations.displaced, candidate)]
    try:
        results = simulations.without(names, moving, settled=settled, time_limit=time_limit)
    except NoNodePools as error:
        raise SimulationError(f"creating scheduler, {error}") from error
    except TopologyError as error:
        raise SimulationError(f"creating scheduler, tracking topology counts, {error}") from error
    finally:
        publish_pod_events(situation)
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


def _moving(judge: Displaced, candidate: Candidate) -> Sequence[Object]:
    """Return the candidate's pods that have to be rescheduled."""
    if judge.knows_budgets or candidate.marked:
        return [pod for pod in candidate.pods if judge.movable(pod)]
    return candidate.pods


def publish_pod_events(situation: Situation) -> None:
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


@remembered
def _too_early(node: StateNode) -> str:
    """Core's text about a pod that would go to a node which is not initialized."""
    nodeclaim, own = (None if obj is None else name_of(obj) for obj in (node.nodeclaim, node.node))
    return f"would schedule against uninitialized {machine_text(nodeclaim, own)}"
