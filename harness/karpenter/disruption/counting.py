"""Candidates that stay, where numbers tell it without a simulation.

Most candidates of a busy hour stay for the same few reasons, in turn after turn: each is asked in few steps, and all are told in one row.
"""

from collections.abc import Callable, Sequence
from functools import partial

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.events.nodes import NodeRow, Text
from harness.karpenter.disruption.events.texts import sentence
from harness.karpenter.disruption.simulating import hurried_text, tell_judged
from harness.karpenter.disruption.situation import Situation
from harness.karpenter.scheduling import PlannedNodeClaim
from harness.karpenter.scheduling.likeness.outlook import Counted

__all__ = ["Counting", "Refuses"]

Refuses = Callable[[Candidate, Sequence[PlannedNodeClaim]], str | None]
"""Why the new nodes of a simulation do not replace a candidate; None when they might, or there is no such node."""


class Counting:
    """Asks the candidates of one view, one after the other; what is said of them begins a row (`begin`) that grows.

    ``settled``: as for consolidation, nodes within their NodePool's consolidateAfter take no pods of candidates.
    """

    def __init__(
        self, situation: Situation, begin: Callable[[], NodeRow], *, settled: bool, refuses: Refuses | None = None
    ) -> None:
        self._situation, self._settled, self._begin, self._refuses = situation, settled, begin, refuses
        self._view, self._simulations = situation.view, situation.view.simulations
        self._going = self._simulations.deleting_names
        knows = self._simulations.displaced.knows_budgets
        self._ask = None if knows else self._simulations.counting(settled=settled)
        self._row: NodeRow | None = None
        self._last: Counted | None = None
        self._nodeclaims: Sequence[PlannedNodeClaim] = ()
        self._took = 0.0

    def keeps(self, candidate: Candidate) -> bool:
        """Whether the candidate stays: says why, and the time passes that the simulation would have taken.

        If not, it is not known: :func:`foresee` may know more.
        """
        name = candidate.state.name
        if self._ask is None or candidate.marked or name in self._going:
            return self._ends()
        counted = self._ask(name, candidate.pods)
        if counted is None or not (counted is self._last or self._goes_on(counted)):
            return self._ends()
        text: Text | None
        if counted.hurries:
            text = partial(self._word, candidate)
        else:
            text = self._refuses(candidate, self._nodeclaims) if self._refuses is not None else None
            if text is None:
                return self._ends()
        if self._row is None:
            self._row = self._begun()
        self._row.add((candidate.state, text))
        self._situation.seconds += self._took
        return True

    def _ends(self) -> bool:
        """Whoever is asked instead may say something, or simulate, on which other answers may rest."""
        self._row = self._last = None
        return False

    def _goes_on(self, counted: Counted) -> bool:
        """Whether it is known which new nodes the pods need that no node takes."""
        nodeclaims = self._simulations.nodeclaims_of(counted)
        if nodeclaims is None:
            return False
        self._last, self._nodeclaims = counted, nodeclaims
        self._took = self._simulations.seconds(counted.tried)
        return True

    def _begun(self) -> NodeRow:
        tell_judged(self._situation)
        if self._simulations.events:
            self._situation.say_once(self._simulations.events)
        row = self._begin()
        self._situation.say_all(row)
        return row

    def _word(self, candidate: Candidate) -> str:
        pods = self._simulations.hurried_of(candidate.state.name, candidate.pods, settled=self._settled)
        return sentence(hurried_text(self._view, pods))
