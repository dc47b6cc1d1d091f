"""What a simulation is given and the options it runs under."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from harness.karpenter.releases.options import BEST_EFFORT, STRICT
from harness.kube.api.objects import Object
from harness.kube.scheduling.pods import has_resource_claims

RESPECT, IGNORE = "Respect", "Ignore"


@dataclass(frozen=True, slots=True)
class ClusterSnapshot:
    """The objects that Karpenter sees, in any order; they are read, never changed.

    ``pods`` are pending and bound ones. ``deleting`` names Nodes and NodeClaims that Karpenter has marked for deletion, beside
    those with a deletion timestamp: their room does not count and their pods are scheduled again, unless ``pdbs`` or annotations
    keep them from being evicted at ``now``, in nanoseconds since the start.
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
    deleting: frozenset[str] = frozenset()
    now: int = 0


def _lowest(low: int, _high: int) -> int:
    return low


@dataclass(frozen=True, slots=True)
class SchedulingOptions:
    """Karpenter's own options, and where the simulation has a choice.

    ``choose(low, high)`` draws the integer in [low, high) that a label gets from an open-ended custom requirement.
    ``stable_inflight_sort`` replaces Go's unstable sort of NodeClaims.
    ``node_class`` is the (group, kind) whose NodePools count.
    ``reservation_label``: the key by which reserved offerings name their capacity reservation; None is the feature gate
    ReservedCapacity off, as Azure sets it. ``time_limit`` seconds after its start a simulation stops and keeps what it has;
    its time is virtual: each attempt to place a pod takes ``attempt_seconds`` of it.
    """

    preference_policy: str = RESPECT
    min_values_policy: str = STRICT
    stable_inflight_sort: bool = False
    ignore_resource_claims: bool = True
    choose: Callable[[int, int], int] = _lowest
    node_class: tuple[str, str] = ("karpenter.azure.com", "AKSNodeClass")
    reservation_label: str | None = None
    time_limit: float = 60.0
    attempt_seconds: float = 0.0

    def relaxes_min_values(self, rules: "SchedulingRules") -> bool:
        """Whether a NodeClaim may be made although it misses ``minValues``."""
        return rules.min_values_relaxable and self.min_values_policy == BEST_EFFORT

    def __post_init__(self) -> None:
        """Raises ValueError for policies that Karpenter does not have."""
        for name, value, known in (
            ("preference policy", self.preference_policy, (RESPECT, IGNORE)),
            ("minValues policy", self.min_values_policy, (STRICT, BEST_EFFORT)),
        ):
            if value not in known:
                raise ValueError(f"{name} is {known[0]} or {known[1]}, not {value!r}")


class ClaimsIn(StrEnum):
    """Where a release looks for resource claims."""

    NOWHERE = "nowhere"
    CONTAINERS = "containers"
    POD = "pod"

    def found(self, pod: Object) -> bool:
        """Whether the pod has claims there."""
        return self is not ClaimsIn.NOWHERE and has_resource_claims(pod, only_containers=self is ClaimsIn.CONTAINERS)


class ClaimChecks(StrEnum):
    """What is asked of the volume claims of a pending pod."""

    EXISTENCE = "existence"
    """What a claim names must exist."""
    BINDING = "binding"
    """The claim is not being deleted or lost, and is bound where it has to be."""
    DELETION = "deletion"
    """And its volume is not being deleted."""


@dataclass(frozen=True, slots=True)
class SchedulingRules:
    """What differs between core releases.

    * ``fits_needs_offering``: an instance type without an offering does not count as having room (only texts show it).
    * ``daemons_by_instance_type``: DaemonSet overhead is that of the pods that fit the single instance type, and is added last;
      else it is one per NodePool, part of the requests from the start, and host ports are checked before requirements.
    * ``simulates_registration``: templates carry ``karpenter.sh/registered`` and ``karpenter.sh/initialized`` for DaemonSets.
    * ``resolves_custom_labels``: NodeClaims get the labels that their custom requirements name.
    * ``names_capacity_types``: NodeClaims name the capacity types that their instance types are offered in.
    * ``daemons_need_listed_resources``: a node that lacks a resource of its DaemonSets has no room for any pod; else a resource
      that it does not list is not looked at.
    * ``host_ports_shared``: the host ports of all NodeClaims of a NodePool count for each of them.
    * ``volumes_have_alternatives``: each term of a volume's node affinity, or of a storage class's topologies, is tried; else the
      first counts. ``volumes_in_affinity``: it becomes part of the pod's own required node affinity.
    * ``limits_as_requests``: limits count as requests where there are none; pod-level resources do not count.
    * ``node_limits``: a NodePool whose limit of nodes is used up is not tried.
    * ``repeated_expressions_cancel``: two equal selector expressions count as none when topology groups are told apart.
    * ``daemons_named``: pods made of DaemonSet templates have names of their own; else only the last one's host ports count.
    * ``no_nodepool_is_error``: pods fail when no NodePool has an instance type left; else they are passed over.
    * ``min_values_relaxable``: ``minValues`` can be BestEffort, and NodeClaims say whether they were relaxed.
    * ``min_values_text``: the sentence of :class:`~harness.karpenter.scheduling.reasons.MinValuesUnmet`.
    * ``plain_errors``: sentences carry their values inside, and name the NodePool that gives them.
    * ``hosts_registered_first``: a new node's hostname becomes a domain before its first pod is tried, and pods only go to hosts
      that are domains of their constraints; else any new host is as good as an empty domain.
    * ``max_instance_types``: how many a NodeClaim names; ``equal_prices_by_name``: of those that cost the same, the first by name.
    * ``actual_resources``: while a container is being resized, the most of what it asks for and has counts; else what it asks for.
    * ``claim_checks``: what the volume claims of pending pods must be.
    * ``static_nodepools``: NodePools with ``replicas`` take no part; else the field means nothing.
    * ``protection_may_end``: the annotation ``karpenter.sh/do-not-disrupt`` may be a duration; else only ``true`` counts.
    * ``several_budgets_block``: a pod that several disruption budgets select cannot be evicted; else each is asked.
    * ``settling_nodes_refuse``: in a simulation for consolidation, nodes within their NodePool's ``consolidateAfter`` take no pods
      of the nodes that would go.
    * ``resource_claims``: where dynamic resource allocation is looked for in a pod, which is then refused: nowhere (such pods are
      like others), in its containers, or in the pod too.
    """

    fits_needs_offering: bool = True
    daemons_by_instance_type: bool = True
    simulates_registration: bool = True
    resolves_custom_labels: bool = True
    names_capacity_types: bool = True
    daemons_need_listed_resources: bool = False
    host_ports_shared: bool = False
    volumes_have_alternatives: bool = True
    volumes_in_affinity: bool = False
    limits_as_requests: bool = False
    node_limits: bool = True
    repeated_expressions_cancel: bool = False
    daemons_named: bool = True
    no_nodepool_is_error: bool = True
    min_values_relaxable: bool = True
    min_values_text: str = "minValues requirement is not met for label(s) (label(s)=[{all}])"
    plain_errors: bool = False
    hosts_registered_first: bool = False
    max_instance_types: int = 600
    equal_prices_by_name: bool = False
    actual_resources: bool = True
    claim_checks: ClaimChecks = ClaimChecks.DELETION
    static_nodepools: bool = True
    protection_may_end: bool = True
    several_budgets_block: bool = True
    settling_nodes_refuse: bool = True
    resource_claims: ClaimsIn = ClaimsIn.POD
