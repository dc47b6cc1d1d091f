"""The common part of the methods of disruption."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import ClassVar

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.commands.command import Command
from harness.karpenter.disruption.methods.balanced import Totals
from harness.karpenter.disruption.situation import Situation, TurnGenerator
from lazyrecords import dataclass

__all__ = ["DRIFTED", "EMPTY", "UNDERUTILIZED", "Findings", "Method", "Proposal"]

EMPTY, DRIFTED, UNDERUTILIZED = "Empty", "Drifted", "Underutilized"


@dataclass(slots=True)
class Proposal:
    """The inputs of a method: candidates in the order of the state, by NodePool what its budgets allow and what it costs.

    ``unseen`` are the NodePools that single-node consolidation did not get to before its last timeout. ``validates``: whether commands
    are validated after a while.
    """

    candidates: list[Candidate]
    budgets: dict[str, int]
    totals: Mapping[str, Totals] = field(default_factory=dict)
    unseen: frozenset[str] = frozenset()
    validates: bool = True


@dataclass(slots=True)
class Findings:
    """The result of a method.

    ``order``: the candidates in the order in which it tried them. ``consolidated``: it need not run again until something changes.
    ``timeout``: the log line of a timeout, with its values. ``unseen``: the NodePools that it did not get to; None keeps those of the
    time before. ``withdrawn``: the validation of the command failed, so that the next turn may have another result although nothing has
    changed. ``prioritized``: the NodePools with which it began, because it did not get to them the time before.
    """

    commands: list[Command] = field(default_factory=list)
    order: Sequence[Candidate] = ()
    consolidated: bool | None = None
    error: Exception | None = None
    timeout: tuple[str, Mapping[str, int]] | None = None
    unseen: frozenset[str] | None = None
    withdrawn: bool = False
    prioritized: frozenset[str] = frozenset()


class Method(ABC):
    """One way to find nodes to disrupt (core's interface Method).

    ``name`` is that of core's type, ``reason`` stands in budgets and conditions, ``kind`` is the consolidation type of metrics.
    ``eventual``: pods and PodDisruptionBudgets do not block it on nodes with a terminationGracePeriod (core's EventualDisruptionClass).
    ``scores``: the policy Balanced applies to it.
    """

    name: ClassVar[str]
    reason: ClassVar[str]
    kind: ClassVar[str]
    eventual: ClassVar[bool] = False
    scores: ClassVar[bool] = False

    @abstractmethod
    def should_disrupt(self, situation: Situation, candidate: Candidate) -> bool:
        """Return whether the method considers the candidate; it may publish why not."""

    @abstractmethod
    def compute(self, situation: Situation, proposal: Proposal) -> TurnGenerator[Findings]:
        """The commands."""
