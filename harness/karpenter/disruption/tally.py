"""The counters of the methods of disruption, for metrics.

Core ``pkg/controllers/disruption/{controller,helpers,validation}.go``.
"""

from collections import Counter
from dataclasses import field

from lazyrecords import dataclass

__all__ = ["Tally"]


@dataclass(slots=True)
class Tally:
    """Counters since Karpenter started, and gauges as they were last set."""

    eligible: dict[str, int] = field(default_factory=dict)
    """Reason → candidates of the method of that reason which looked last."""
    allowed: dict[tuple[str, str], int] = field(default_factory=dict)
    """NodePool and reason → nodes that its budgets allow, without regard to those that use them up already."""
    consuming: dict[tuple[str, str], int] = field(default_factory=dict)
    """NodePool and reason → nodes that use up its budgets."""
    failed_validations: Counter[str] = field(default_factory=Counter)
    """Consolidation type → candidates of commands whose validation failed."""
    moves: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Decision (approved or rejected), NodePool and its policy → consolidations that were scored, or need no score."""
    scores: dict[tuple[str, str, str], list[float]] = field(default_factory=dict)
    """The same of Balanced NodePools → what was scored."""

    def moved(self, taken: bool, pool: str, policy: str, score: float | None, passes: bool) -> None:
        """Count one command for one NodePool; ``score`` is None where its policy asks for none."""
        self.moves[_decision(taken), pool, policy] += 1
        if score is not None:
            self.scores.setdefault((_decision(passes), pool, policy), []).append(score)


def _decision(taken: bool) -> str:
    return "approved" if taken else "rejected"
