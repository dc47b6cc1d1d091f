"""The order in which groups of pods are packed: the largest first, measured by the node that would come.

Source: autoscaler estimator/decreasing_pod_orderer.go.
"""

from __future__ import annotations

from collections.abc import Sequence

from harness.clusterautoscaler.amounts import milli, whole
from harness.clusterautoscaler.scaleup.equivalence import PodGroup
from harness.kube.api.objects import Object
from harness.kube.go.sort import sort_slice
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.pods import pod_requests

__all__ = ["decreasing"]


def decreasing(groups: Sequence[PodGroup], template: NodeInfo) -> list[PodGroup]:
    """Return the groups by decreasing score: the parts of the node's cpu and memory that one pod requests, added up."""
    ordered = list(groups)
    sort_slice(ordered, lambda group: -_score(group[0], template))
    return ordered


def _score(pod: Object, template: NodeInfo) -> float:
    requests, score = pod_requests(pod), 0.0
    for name, measure in (("cpu", milli), ("memory", whole)):
        available = measure(template.allocatable.get(name))
        if available > 0:
            score += measure(requests.get(name)) / available
    return score
