"""`least-waste`: the options that leave the smallest part of cpu and memory unused.

Source: autoscaler expander/waste/waste.go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.clusterautoscaler.amounts import milli, whole
from harness.clusterautoscaler.expanders.options import Option
from harness.kube.api.objects import status_of
from harness.kube.api.resources import parse_list
from harness.kube.scheduling.placement import NodeInfo
from harness.kube.scheduling.pods import requests_for_pods

__all__ = ["least_waste"]


def least_waste(options: Sequence[Option], templates: Mapping[str, NodeInfo]) -> Sequence[Option]:
    """Return the options with the least waste; an option without a template is none."""
    scores = [
        (_waste(option, templates[option.group.id]), option) for option in options if option.group.id in templates
    ]
    least = min((score for score, _ in scores), default=0.0)
    return [option for score, option in scores if score == least]


def _waste(option: Option, template: NodeInfo) -> float:
    capacity = parse_list(status_of(template.node).get("capacity"))
    requests = requests_for_pods(option.pods)
    score = 0.0
    for name, measure in (("cpu", milli), ("memory", whole)):
        available = measure(capacity.get(name)) * option.count
        if not available:
            return float("inf")
        score += (available - measure(requests.get(name))) / available
    return score
