"""The options between which an expander chooses.

Source: autoscaler expander/expander.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.clusterautoscaler.nodegroups import NodeGroup
from harness.kube.api.objects import Object
from lazyrecords import dataclass

__all__ = ["Option"]


@dataclass(frozen=True, slots=True)
class Option:
    """A group, the number of nodes that it would get, and the pods that come onto them."""

    group: NodeGroup
    count: int
    pods: Sequence[Object]
