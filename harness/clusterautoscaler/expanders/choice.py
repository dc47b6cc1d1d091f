"""The choice of one option: by the profile's expander, and by chance where it leaves several.

Sources: autoscaler expander/factory/chain.go, expander/random/random.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from harness.clusterautoscaler.expanders.least_waste import least_waste
from harness.clusterautoscaler.expanders.most_pods import most_pods
from harness.clusterautoscaler.expanders.options import Option
from harness.clusterautoscaler.expanders.priority import Priorities, by_priority
from harness.kube.scheduling.placement import NodeInfo

__all__ = ["Draw", "best_option", "filtered"]

Draw = Callable[[int], int]
"""Returns a number from 0 below the given one, by chance."""

_FILTERS: Mapping[str, Callable[[Sequence[Option], Mapping[str, NodeInfo]], Sequence[Option]]] = {
    "least-waste": least_waste,
    "most-pods": most_pods,
}


def filtered(
    expander: str,
    options: Sequence[Option],
    templates: Mapping[str, NodeInfo],
    priorities: Priorities | None = None,
) -> Sequence[Option]:
    """Return the options that an expander leaves; `random` leaves all."""
    if expander == "priority":
        return by_priority(options, priorities)
    best = _FILTERS.get(expander)
    return options if best is None else best(options, templates)


def best_option(
    expander: str,
    options: Sequence[Option],
    templates: Mapping[str, NodeInfo],
    draw: Draw,
    priorities: Priorities | None = None,
) -> Option | None:
    """Return the option that is taken; None where there is none."""
    left = filtered(expander, options, templates, priorities)
    if len(left) <= 1:
        return left[0] if left else None
    return left[draw(len(left))]
