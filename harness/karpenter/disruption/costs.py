"""The cost of disrupting a node, and the price of a node.

Core ``pkg/utils/disruption/disruption.go``, ``pkg/controllers/disruption/types.go``.
"""

from collections.abc import Iterable, Mapping
from math import inf

from harness.engine.clock import parse
from harness.karpenter.cloudprovider import InstanceType, Offering
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.requirements import Requirements
from harness.karpenter.scheduling.nodes.consolidate_after import NEVER
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.karpenter.scheduling.remembered import remembered_while_same
from harness.kube.api.labels import ZONE
from harness.kube.api.objects import Object, annotations_of, metadata_of, spec_of
from harness.kube.deletion_order import DELETION_COST
from harness.kube.go.durations import parse_duration
from harness.kube.go.text import parse_float, parse_int

__all__ = [
    "BASE_COST",
    "eviction_cost",
    "is_unpriced",
    "labelled_price",
    "lifetime_remaining",
    "lowest_price",
    "offered_price",
    "rescheduling_cost",
]

DISRUPTION_COST = "karpenter.sh/disruption-cost"
BASE_COST = 1.0
"""The cost of draining any node."""

_MOST = 10.0


def eviction_cost(pod: Object, rules: DisruptionRules) -> float:
    """Return the cost of evicting a pod, from -10 to 10 and 1 for most: by its annotation of deletion (or disruption)
    cost and its priority.
    """
    cost = 1.0
    annotations = annotations_of(pod)
    if not rules.own_disruption_cost:
        text = annotations.get(DELETION_COST)
        cost += (parse_float(text) or 0.0) / 2.0**27 if text is not None else 0.0
    elif (
        text := annotations.get(DISRUPTION_COST, annotations.get(DELETION_COST) if rules.deletion_cost_counts else None)
    ) is not None:
        cost += _whole(text) / 2.0**27
    priority = spec_of(pod).get("priority")
    if priority is not None:
        cost += float(priority) / 2.0**25
    return min(max(cost, -_MOST), _MOST)


def _whole(text: str) -> int:
    """Return the number that Go's ParseInt reads of 32 bits, 0 where it reads nothing."""
    number = parse_int(text)
    return number if number is not None and -(1 << 31) <= number < 1 << 31 else 0


def rescheduling_cost(pods: Iterable[Object], rules: DisruptionRules) -> float:
    """The eviction costs of all pods together."""
    cost = 0.0
    for pod in pods:
        cost += eviction_cost(pod, rules)
    return cost


def lifetime_remaining(nodeclaim: Object, now: int) -> float:
    """The fraction of its ``expireAfter`` that a NodeClaim has left, from 0 to 1; 1 when it never expires."""
    text = spec_of(nodeclaim).get("expireAfter")
    if text is None or text == NEVER:
        return 1.0
    total = parse_duration(text) / 1e9
    age = (now - parse(metadata_of(nodeclaim)["creationTimestamp"])) / 1e9
    if total == 0:
        return 0.0 if age > 0 else 1.0
    return min(max((total - age) / total, 0.0), 1.0)


def labelled_price(node: StateNode, instance_type: InstanceType | None) -> float:
    """USD per hour of the offering with exactly the node's zone and capacity type; 0 without one."""
    return offered_price(instance_type, node.labels.get(ZONE) or "", node.labels.get(CAPACITY_TYPE) or "")


def offered_price(instance_type: InstanceType | None, zone: str, kind: str) -> float:
    """USD per hour of an instance type in a zone, of a capacity type; 0 where it is not offered."""
    offering = _offered(instance_type, zone, kind)
    return offering.price if offering is not None else 0.0


def is_unpriced(labels: Mapping[str, str], instance_type: InstanceType | None) -> bool:
    """Return whether no price is known of a node with these labels, so that the figure that Karpenter calculates with
    is only a substitute.
    """
    offering = _offered(instance_type, labels.get(ZONE) or "", labels.get(CAPACITY_TYPE) or "")
    return offering is None or offering.unpriced


def _offered(instance_type: InstanceType | None, zone: str, kind: str) -> Offering | None:
    for offering in instance_type.offerings if instance_type is not None else ():
        first = offering.requirements.first
        if first(ZONE) == zone and first(CAPACITY_TYPE) == kind:
            return offering
    return None


@remembered_while_same
def lowest_price(node: StateNode, instance_type: InstanceType, vocabulary: Vocabulary) -> float | None:
    """USD per hour of the cheapest offering that the node's labels accept; None without one."""
    accepted = Requirements.from_labels(node.labels, vocabulary=vocabulary)
    lowest = min((offering.price for offering in instance_type.compatible_offerings(accepted)), default=inf)
    return None if lowest == inf else lowest
