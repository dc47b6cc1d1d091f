"""The pods of a ReplicaSet.

Source: kubernetes pkg/controller/replicaset/replica_set.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from harness.kube.api.objects import Frozen, Object, spec_of
from harness.kube.deletion_order import in_deletion_order
from harness.kube.workloads.plans import Plan, living
from harness.kube.workloads.templates import pod_from_template

__all__ = ["missing_pods", "replica_set"]


def replica_set(owner: Object, pods: Sequence[Object], related: Sequence[Object], now: datetime) -> Plan:
    """Keep `spec.replicas` pods that are neither terminating nor ended; delete surplus pods in the order of
    kube-controller-manager.

    `related` are the pods of all ReplicaSets of its Deployment, none where it has none.
    """
    present = living(pods)
    missing = int(spec_of(owner).get("replicas", 1)) - len(present)
    if missing >= 0:
        return missing_pods(owner, len(present))
    return Plan(delete=tuple(in_deletion_order(present, living(related), now)[:-missing]))


def missing_pods(owner: Object, living: int) -> Plan:
    """The pods that a ReplicaSet creates when `living` are not more than `spec.replicas`: each is the same, until it has a name."""
    missing = int(spec_of(owner).get("replicas", 1)) - living
    if missing <= 0:
        return Plan()
    pod = Frozen(pod_from_template(owner, spec_of(owner).get("template") or {}))
    return Plan(create=(pod,) * missing)
