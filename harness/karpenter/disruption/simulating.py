"""What would become of the pods of candidates: one simulation of the scheduler without their nodes.

Core ``pkg/controllers/disruption/helpers.go`` (SimulateScheduling), ``pkg/controllers/provisioning/scheduling/scheduler.go`` (Results).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.events import failed_scheduling
from harness.karpenter.disruption.situation import Situation
from harness.karpenter.scheduling import PlannedNodeClaim, TopologyError, pod_key
from harness.karpenter.scheduling.simulation import NoNodePools
from harness.karpenter.scheduling.state import StateNode
from harness.kube.api.objects import Object, name_of

__all__ = ["OutOfTime", "Outcome", "SimulationError", "simulate"]

_NAMED = 5
_NOT_FOR_KARPENTER = "configured to not run on a Karpenter provisioned node"


class SimulationError(Exception):
    """The scheduler could not be made; the message is core's."""


class OutOfTime(Exception):
    """A simulation took longer than it may."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """NodeClaims to create, pods by the node that takes them, and why others find no place, by ``namespace/name``.

    ``stranded`` are those of ``errors`` that were not pending before.
    """

    nodeclaims: tuple[PlannedNodeClaim, ...] = ()
    existing: Mapping[str, tuple[Object, ...]] | None = None
    errors: Mapping[str, str] | None = None
    stranded: tuple[str, ...] = ()

    def text(self) -> str:
        """Why not all pods of the candidates find a place."""
        errors = self.errors or {}
        text = "not all pods would schedule, "
        text += "".join(f"{pod} => {errors[pod]} " for pod in self.stranded[:_NAMED])
        if len(self.stranded) >= _NAMED:
            text += f" and {len(self.stranded) - _NAMED} other(s)"
        return text


def simulate(
    situation: Situation, candidates: Sequence[Candidate], *, settled: bool, time_limit: float = inf
) -> Outcome | None:
    """The outcome, None when one of the candidates is already going away. Raises SimulationError, OutOfTime.

    ``settled``: as for consolidation, nodes that still settle take no pods of candidates. ``time_limit``: virtual seconds.
    """
    view = situation.view
    names = {each.name for each in candidates}
    simulations = view.simulations
    if names & simulations.deleting_names:
        return None
    judge = simulations.displaced
    moving = [pod for each in candidates for pod in each.pods if judge.movable(pod)]
    try:
        results = simulations.without(names, moving, settled=settled, time_limit=time_limit)
    except NoNodePools as error:
        raise SimulationError(f"creating scheduler, {error}") from error
    except TopologyError as error:
        raise SimulationError(f"creating scheduler, tracking topology counts, {error}") from error
    finally:
        situation.say_all(judge.events)
        if situation.rules.tells_ignored:
            for pod, reason in simulations.pending.rejected.items():
                if not reason.startswith(_NOT_FOR_KARPENTER):
                    situation.say(failed_scheduling(pod, reason))
    situation.seconds += results.seconds
    if results.timed_out:
        raise OutOfTime
    situation.say_all(results.events)
    errors = {pod: str(reason) for pod, reason in results.errors.items()}
    anyway = simulations.displaced_keys
    for name, pods in results.existing.items():
        node = view.node_by_name[name]
        if not node.initialized:
            text = f"would schedule against uninitialized {_named(node)}"
            errors.update({key: text for pod in pods if (key := pod_key(pod)) not in anyway})
    stranded = tuple(sorted(pod for pod in errors if pod not in simulations.pending_keys))
    return Outcome(results.nodeclaims, results.existing, errors, stranded)


def _named(node: StateNode) -> str:
    names = [f"nodeclaim/{name_of(node.nodeclaim)}"] if node.nodeclaim is not None else []
    return ", ".join([*names, *([f"node/{name_of(node.node)}"] if node.node is not None else [])])
