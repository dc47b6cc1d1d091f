"""What the methods of disruption have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import ClassVar

from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.commands.command import Command
from harness.karpenter.disruption.methods.balanced import Totals
from harness.karpenter.disruption.situation import Deliberation, Situation
from lazyrecords import dataclass

__all__ = ["DRIFTED", "EMPTY", "UNDERUTILIZED", "Findings", "Method", "Proposal"]

EMPTY, DRIFTED, UNDERUTILIZED = "Empty", "Drifted", "Underutilized"


@dataclass(slots=True)
class Proposal:
    """What a method is given: candidates in the order of the state, what budgets allow, what NodePools cost.

    ``unseen`` are NodePools that single-node consolidation did not get to before its time was up. ``validates``: whether commands
    are looked at again after a while.
    """

    candidates: list[Candidate]
    budgets: dict[str, int]
    totals: Mapping[str, Totals] = field(default_factory=dict)
    unseen: frozenset[str] = frozenset()
    validates: bool = True


@dataclass(slots=True)
class Findings:
    """What a method comes to.

    ``order``: the candidates as it looked at them. ``consolidated``: it needs not look again until something changes. ``timeout`` is what
    Karpenter logs when its time was up, with the number that goes with it. ``unseen``: the NodePools that it did not get to; None
    leaves those of the time before. ``withdrawn``: the command did not stand a second look. The next turn may come to something else,
    although nothing has changed. ``prioritized``: the NodePools with which it began, as it had not got to them the time before.
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
    """One way to find nodes that can go.

    ``name`` is that of core's type, ``reason`` the budgets' and the conditions', ``kind`` the metrics' consolidation type.
    ``eventual``: pods and budgets of NodeClaims with a terminationGracePeriod do not block it. ``scores``: the policy Balanced has
    a say.
    """

    name: ClassVar[str]
    reason: ClassVar[str]
    kind: ClassVar[str]
    eventual: ClassVar[bool] = False
    scores: ClassVar[bool] = False

    @abstractmethod
    def should_disrupt(self, situation: Situation, candidate: Candidate) -> bool:
        """Whether the method looks at the candidate; may say why not."""

    @abstractmethod
    def compute(self, situation: Situation, proposal: Proposal) -> Deliberation[Findings]:
        """The commands."""
