"""`most-pods`: the options that help the largest number of pods.

Source: autoscaler expander/mostpods/mostpods.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.clusterautoscaler.expanders.options import Option
from harness.kube.scheduling.placement import NodeInfo

__all__ = ["most_pods"]


def most_pods(options: Sequence[Option], templates: Mapping[str, NodeInfo]) -> Sequence[Option]:
    """Return the options with the most pods."""
    most = max((len(option.pods) for option in options), default=0)
    return [option for option in options if len(option.pods) == most]
