"""What the methods of disruption count for metrics.

Core ``pkg/controllers/disruption/{controller,helpers,validation}.go``.
"""

from collections import Counter
from dataclasses import dataclass, field

__all__ = ["Tally"]


@dataclass(slots=True)
class Tally:
    """Counters since Karpenter started, and gauges as they were last set."""

    eligible: dict[str, int] = field(default_factory=dict)
    """Reason → candidates of the method of that reason which looked last."""
    allowed: dict[tuple[str, str], int] = field(default_factory=dict)
    """NodePool and reason → nodes that its budgets allow, before those that use them up are taken off."""
    consuming: dict[tuple[str, str], int] = field(default_factory=dict)
    """NodePool and reason → nodes that use up its budgets."""
    failed_validations: Counter[str] = field(default_factory=Counter)
    """Consolidation type → candidates of commands that did not stand a second look."""
