"""The flags by which core releases simulate differently, and the table of who has them."""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from harness.karpenter.releases.core_release import CoreRelease
from harness.karpenter.releases.flag_values import entry_of
from harness.kube.api.objects import Object
from harness.kube.scheduling.pods import has_resource_claims
from lazyrecords import dataclass

__all__ = ["ClaimsIn", "SchedulingRules", "VolumeClaimChecks", "rules_of"]


class ClaimsIn(StrEnum):
    """The places where a release looks for resource claims."""

    NOWHERE = "nowhere"
    CONTAINERS = "containers"
    POD = "pod"

    def found(self, pod: Object) -> bool:
        """Return whether the pod has claims there."""
        return self is not ClaimsIn.NOWHERE and has_resource_claims(pod, only_containers=self is ClaimsIn.CONTAINERS)


class VolumeClaimChecks(StrEnum):
    """The checks of the volume claims of a pending pod."""

    EXISTENCE = "existence"
    """The objects that a claim names must exist."""
    BINDING = "binding"
    """The claim is not being deleted or lost, and is bound where it has to be."""
    DELETION = "deletion"
    """And its volume is not being deleted."""


@dataclass(frozen=True, slots=True)
class SchedulingRules:
    """The differences between core releases; the defaults are those of the newest one.

    Core ``pkg/controllers/provisioning``, ``pkg/scheduling``, ``pkg/utils/{pod,resources}``, where a flag names no other place.
    """

    fits_needs_offering: bool = True
    """An instance type without an offering does not count as having room (only texts show it)."""
    daemons_by_instance_type: bool = True
    """DaemonSet overhead is that of the pods that fit the single instance type, and is added last; else it is one per NodePool,
    part of the requests from the start, and host ports are checked before requirements."""
    simulates_registration: bool = True
    """Templates carry ``karpenter.sh/registered`` and ``karpenter.sh/initialized`` for DaemonSets."""
    resolves_custom_labels: bool = True
    """NodeClaims get the labels that their custom requirements name."""
    names_capacity_types: bool = True
    """NodeClaims name the capacity types that their instance types are offered in."""
    daemons_need_listed_resources: bool = False
    """A node that lacks a resource of its DaemonSets has no room for any pod; else a resource that it does not list is not looked
    at."""
    host_ports_shared: bool = False
    """The host ports of all NodeClaims of a NodePool count for each of them."""
    volumes_have_alternatives: bool = True
    """Each term of a volume's node affinity, or of a storage class's topologies, is tried; else the first counts."""
    volumes_in_affinity: bool = False
    """A volume's node affinity becomes part of the pod's own required node affinity."""
    limits_as_requests: bool = False
    """Limits count as requests where there are none; pod-level resources do not count."""
    node_limits: bool = True
    """A NodePool whose limit of nodes is used up is not tried."""
    repeated_expressions_cancel: bool = False
    """Two equal selector expressions count as none when topology groups are told apart."""
    daemons_named: bool = True
    """Pods made of DaemonSet templates have names of their own; else only the last one's host ports count."""
    no_nodepool_is_error: bool = True
    """Pods fail when no NodePool has an instance type left; else they are passed over."""
    min_values_relaxable: bool = True
    """``minValues`` can be BestEffort, and NodeClaims say whether they were relaxed."""
    min_values_text: str = "minValues requirement is not met for label(s) (label(s)=[{all}])"
    """The sentence of :class:`~harness.karpenter.scheduling.reasons.pods.MinValuesUnmet`."""
    plain_errors: bool = False
    """Sentences carry their values inside, and name the NodePool that gives them."""
    hosts_registered_first: bool = False
    """A new node's hostname becomes a domain before its first pod is tried, and pods only go to hosts that are domains of their
    constraints; else any new host is as good as an empty domain."""
    max_instance_types: int = 600
    """The most instance types that a NodeClaim names."""
    equal_prices_by_name: bool = False
    """Instance types that cost the same are kept in the order of their names."""
    actual_resources: bool = True
    """While a container is being resized, the most of what it asks for and has counts; else what it asks for."""
    volume_claim_checks: VolumeClaimChecks = VolumeClaimChecks.DELETION
    """The checks of the volume claims of pending pods."""
    static_nodepools: bool = True
    """NodePools with ``replicas`` take no part; else the field means nothing."""
    protection_may_end: bool = True
    """The annotation ``karpenter.sh/do-not-disrupt`` may be a duration; else only ``true`` counts."""
    protects_ending: bool = False
    """The annotation keeps also pods of StatefulSets that end already from being given another place (core ``pkg/utils/pdb/pdb.go``
    IsCurrentlyReschedulable: HasDoNotDisrupt up to 1.10, IsDisruptable from 1.12.0 on)."""
    several_budgets_block: bool = True
    """A pod that several disruption budgets select cannot be evicted; else each is asked."""
    min_values_admitted: bool = True
    """``minValues`` counts the values of instance types that the requirement admits; else all values that they have
    (core ``pkg/cloudprovider/types.go`` SatisfiesMinValues, since 1.14.3)."""
    attach_limits: bool = True
    """A new NodeClaim keeps the instance types whose nodes can attach all volumes of its pods, a node whose CSINode does not list a
    driver has its instance type's limit, and a pod whose volumes cannot be looked up is tried nowhere; else CSINodes alone count
    (core ``scheduling/nodeclaim.go`` filterInstanceTypesByVolumeAttachmentLimits, since 1.15.0). No size of Azure's has such a limit
    yet."""
    uncounted_drivers_attach_any: bool = True
    """A CSI driver whose CSINode says something of what can be attached, but no number, attaches any number of volumes; else none
    (core ``pkg/controllers/state/cluster.go`` populateVolumeLimits, since 1.15.0)."""
    default_spread: bool = True
    """Pods without topology spread constraints get those of the option ``--scheduler-config``
    (core ``scheduling/defaultconstraints.go``, since 1.15.0)."""
    launchable_offerings: bool = True
    """Reserved offerings with capacity left are the only ones that count, in prices and capacity types; a NodeClaim
    falls back from a reservation that is full (core ``pkg/cloudprovider/types.go`` Launchable, since 1.15.0). Azure
    sells no such offerings to Karpenter.
    """
    settling_nodes_refuse: bool = True
    """In a simulation for consolidation, nodes within their NodePool's ``consolidateAfter`` take no pods of the nodes that would
    go."""
    compares_tolerations: bool = True
    """Tolerations with the operators Lt and Gt cover taints whose number is lower or higher; before, nothing (core
    ``pkg/scheduling/taints.go``, with k8s.io/api 0.35.0 since 1.10.0)."""
    resource_claims: ClaimsIn = ClaimsIn.POD
    """The places in a pod where dynamic resource allocation is looked for, and refused: nowhere (such pods are like
    others), in its containers, or in the pod too.
    """


_NEWEST = SchedulingRules()
_V1_14_3 = replace(
    _NEWEST, attach_limits=False, uncounted_drivers_attach_any=False, default_spread=False, launchable_offerings=False
)
_V1_14 = replace(_V1_14_3, min_values_admitted=False)
_V1_13 = replace(
    _V1_14,
    settling_nodes_refuse=False,
    fits_needs_offering=False,
    daemons_by_instance_type=False,
    simulates_registration=False,
    daemons_named=False,
    resource_claims=ClaimsIn.CONTAINERS,
    actual_resources=False,
)
_V1_12_1 = replace(_V1_13, host_ports_shared=True)
_V1_12_0 = replace(_V1_12_1, volumes_have_alternatives=False)
_V1_10 = replace(_V1_12_0, node_limits=False, protection_may_end=False, protects_ending=True)
_V1_7 = replace(
    _V1_10,
    compares_tolerations=False,
    volumes_in_affinity=True,
    limits_as_requests=True,
    names_capacity_types=False,
    resolves_custom_labels=False,
    volume_claim_checks=VolumeClaimChecks.BINDING,
    static_nodepools=False,
)
_V1_6 = replace(
    _V1_7,
    no_nodepool_is_error=False,
    repeated_expressions_cancel=True,
    max_instance_types=60,
    volume_claim_checks=VolumeClaimChecks.EXISTENCE,
    several_budgets_block=False,
    resource_claims=ClaimsIn.NOWHERE,
)
_V1_5 = replace(
    _V1_6,
    min_values_relaxable=False,
    min_values_text="minValues requirement is not met for label (label={first})",
)
_V1_4 = replace(
    _V1_5,
    plain_errors=True,
    hosts_registered_first=True,
    daemons_need_listed_resources=True,
    equal_prices_by_name=True,
    min_values_text='minValues requirement is not met for "{first}"',
)

_RULES: Mapping[str, SchedulingRules] = {
    "1.4.0": _V1_4,
    "1.5.0": _V1_5,
    **dict.fromkeys(("1.6.1", "1.6.2"), _V1_6),
    "1.7.1": _V1_7,
    "1.10.0": _V1_10,
    "1.12.0": _V1_12_0,
    "1.12.1": _V1_12_1,
    "1.13.0": _V1_13,
    "1.14.0": _V1_14,
    "1.14.3": _V1_14_3,
    "1.15.0": _NEWEST,
}


def rules_of(core: CoreRelease) -> SchedulingRules:
    """The rules of a core release. Raises UnknownRelease for one that nobody has compared with."""
    return entry_of(core.version, _RULES)
