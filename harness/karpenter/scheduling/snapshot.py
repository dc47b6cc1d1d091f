"""The input of a simulation, and the options it runs under."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

from harness.engine.ports import View
from harness.karpenter.releases.options import BEST_EFFORT, STRICT
from harness.karpenter.releases.scheduling import SchedulingRules
from harness.karpenter.scheduling.equal_prices import EqualPrices
from harness.kube.api.objects import Object
from lazyrecords import dataclass

RESPECT, IGNORE = "Respect", "Ignore"


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """The objects that Karpenter sees, in any order; they are never changed. ``pods`` are pending and bound ones, ``workloads``
    those that are `SPREADING`. ``deleting`` names Nodes and NodeClaims that Karpenter has marked for deletion, beside those with a
    deletion timestamp: their room does not count and their pods are scheduled again, unless ``pdbs`` or annotations keep them from being
    evicted at ``now``, in nanoseconds since the start. ``number`` tells passes apart: each draws anew.
    ``daemon_pods``: the pods by which Karpenter knows DaemonSets, by namespace and uid of the DaemonSet; None: the newest of ``pods``.
    """

    nodepools: Sequence[Object] = ()
    pods: Sequence[Object] = ()
    nodes: Sequence[Object] = ()
    nodeclaims: Sequence[Object] = ()
    daemonsets: Sequence[Object] = ()
    namespaces: Sequence[Object] = ()
    pvcs: Sequence[Object] = ()
    pvs: Sequence[Object] = ()
    storageclasses: Sequence[Object] = ()
    csinodes: Sequence[Object] = ()
    pdbs: Sequence[Object] = ()
    services: Sequence[Object] = ()
    workloads: Sequence[Object] = ()
    deleting: frozenset[str] = frozenset()
    now: int = 0
    number: int = 0
    daemon_pods: Mapping[tuple[str, str], Object] | None = None


SPREADING = ("ReplicaSet", "StatefulSet", "ReplicationController")
"""Kinds of workloads beside whose pods a pod is spread by default."""


def observed(
    view: View, now: int, deleting: frozenset[str], daemon_pods: Mapping[tuple[str, str], Object]
) -> ClusterSnapshot:
    """The snapshot of a cluster as it is."""
    return ClusterSnapshot(
        nodepools=view.list("NodePool"),
        pods=view.list("Pod"),
        nodes=view.list("Node"),
        nodeclaims=view.list("NodeClaim"),
        daemonsets=view.list("DaemonSet"),
        namespaces=view.list("Namespace"),
        pvcs=view.list("PersistentVolumeClaim"),
        pvs=view.list("PersistentVolume"),
        storageclasses=view.list("StorageClass"),
        csinodes=view.list("CSINode"),
        pdbs=view.list("PodDisruptionBudget"),
        services=view.list("Service"),
        workloads=[obj for kind in SPREADING for obj in view.list(kind)],
        deleting=deleting,
        now=now,
        daemon_pods=daemon_pods,
    )


def _lowest(low: int, _high: int) -> int:
    return low


@dataclass(frozen=True, slots=True)
class SchedulingOptions:
    """Karpenter's own options, and where the simulation has a choice.

    ``choose(low, high)`` draws the integer in [low, high) that a label gets from an open-ended custom requirement.
    ``draw`` decides ties that upstream leaves to the order of a Go map (:mod:`harness.karpenter.scheduling.topology.ties`);
    without it the first by name is taken. ``equal_prices`` orders sizes of one price.
    ``stable_inflight_sort`` replaces Go's unstable sort of NodeClaims.
    ``node_class`` is the (group, kind) whose NodePools count.
    ``reservation_label``: the key by which reserved offerings name their capacity reservation; None is the feature gate
    ReservedCapacity off, as Azure sets it. ``time_limit`` seconds after its start a simulation stops and keeps what it has;
    its time is virtual: each attempt to place a pod takes ``attempt_seconds`` of it. ``default_spread`` are the topology spread
    constraints of pods that have none, without selectors. ``writes_deletion_costs`` is the gate PodDeletionCostManagement.
    """

    preference_policy: str = RESPECT
    min_values_policy: str = STRICT
    stable_inflight_sort: bool = False
    ignore_resource_claims: bool = True
    choose: Callable[[int, int], int] = _lowest
    draw: Callable[[str, Sequence[str]], str] | None = None
    equal_prices: EqualPrices = field(default_factory=EqualPrices)
    node_class: tuple[str, str] = ("karpenter.azure.com", "AKSNodeClass")
    reservation_label: str | None = None
    time_limit: float = 60.0
    attempt_seconds: float = 0.0
    default_spread: tuple[Mapping[str, Any], ...] = ()
    writes_deletion_costs: bool = False

    def relaxes_min_values(self, rules: SchedulingRules) -> bool:
        """Return whether a NodeClaim may be made although it misses ``minValues``."""
        return rules.min_values_relaxable and self.min_values_policy == BEST_EFFORT

    def __post_init__(self) -> None:
        """Raise ValueError for policies that Karpenter does not have."""
        for name, value, choices in (
            ("preference policy", self.preference_policy, (RESPECT, IGNORE)),
            ("minValues policy", self.min_values_policy, (STRICT, BEST_EFFORT)),
        ):
            if value not in choices:
                raise ValueError(f"{name} is {choices[0]} or {choices[1]}, not {value!r}")
