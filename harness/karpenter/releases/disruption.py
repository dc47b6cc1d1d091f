"""The flags by which core releases disrupt differently, and the table of who has them."""

from collections.abc import Mapping
from dataclasses import replace

from harness.karpenter.releases.core_release import CoreRelease
from harness.karpenter.releases.flag_values import entry_of
from lazyrecords import dataclass

__all__ = ["DisruptionRules", "disruption_rules_of"]


@dataclass(frozen=True, slots=True)
class DisruptionRules:
    """The differences between core releases; the defaults are those of the newest one.

    Core ``pkg/controllers/disruption``, where a flag names no other place.
    """

    by_savings: bool = True
    """Candidates stand in the order of what they save per disruption; else by disruption cost."""
    empty_by_cost: bool = True
    """A node is empty when moving its pods costs nothing; else when it has none to move."""
    balanced: bool = True
    """There is the policy Balanced, which scores commands."""
    priced_by_labels: bool = True
    """A candidate costs what the offering of its zone and capacity type costs, nothing without one; else the cheapest one that
    its labels accept, and one candidate without makes the whole command worth nothing."""
    unpriced_fails: bool = False
    """A candidate without an offering is an error."""
    drift_error: str = "checking cloud provider drift, {error} (NodeClaim={nodeclaim})"
    """The error when the cloud provider cannot tell whether a NodeClaim has drifted (core
    ``pkg/controllers/nodeclaim/disruption/drift.go`` isDrifted, since 1.15.0).
    """
    announces: bool = True
    """Commands that were found, or dropped again, are told by events."""
    saves_available: bool = True
    """The cost of a replacement is told from available offerings only."""
    repair_is_disruption: bool = True
    """Unhealthy nodes are replaced as a method of disruption, with replacements first and within the budgets of the reason
    ``Unhealthy``, unless ``--legacy-node-repair`` is set (core ``pkg/controllers/disruption/repair.go``, since 1.15.0). With the provider
    of today it cannot run: core asks for an action in each repair policy and for one fallback among them
    (``pkg/controllers/node/health/policy.go``), which its policies do not have, and NewRepair panics without a matcher of policies."""
    own_disruption_cost: bool = True
    """Pods say by ``karpenter.sh/disruption-cost`` what their eviction costs, which counts before the cost of their deletion; of both
    only whole numbers of 32 bits count, and before any number (core ``pkg/utils/disruption/disruption.go`` EvictionCost, since 1.15.0)."""
    deletion_cost_counts: bool = True
    """The cost of a pod's deletion is that of its eviction; not where Karpenter itself writes that annotation (the same
    function, with the gate PodDeletionCostManagement, since 1.15.0).
    """
    manages_deletion_costs: bool = True
    """There is the gate PodDeletionCostManagement (core ``pkg/controllers/pod/deletioncost``, since 1.15.0)."""
    terminates_first: bool = True
    """The gate TerminateFirstDrift lets drifted nodes of a static NodePool at its limit go before there is a replacement (the same file,
    since 1.15.0)."""
    tells_unreplaceable: bool = True
    """Events tell of drifted nodes of a static NodePool whose limit leaves no room for a replacement (core
    ``pkg/controllers/disruption/staticdrift.go`` unreplaceableCommands, since 1.15.0)."""
    names_deleting_first: bool = True
    """Events tell the deletion of a node that is being deleted before it was initialized, even before its registration
    (core ``pkg/controllers/state/statenode.go`` ValidateNodeDisruptable, since 1.15.0).
    """
    saves_compatible: bool = True
    """And from those alone that the replacement may be launched into (core ``pkg/controllers/disruption/types.go``
    EstimatedSavings, since 1.14.3)."""
    static_nodepools: bool = True
    """NodePools with ``replicas`` are replaced one by one, and never consolidated."""
    injected_clock: bool = True
    """Nominations end by the clock that Karpenter is given; else by the machine's."""
    tells_ignored: bool = True
    """Events tell of pending pods that are not considered because they are invalid."""
    patience_grows: bool = True
    """The time that a command may take grows with the nodes that are waiting; else it is 10 minutes."""
    when_empty_text: str = "NodePool {pool} has consolidation policy WhenEmpty, but node is not empty"
    """The sentence about NodePools whose policy leaves nodes with pods alone."""
    lists_budgets: bool = True
    """The sentence about disruption budgets puts them in brackets."""
    drift_takes_empty: bool = True
    """Drift replaces nodes without pods, and before others; else it leaves them to emptiness, which may never come."""
    drift_first: bool = False
    """Drift is tried before emptiness, and takes all nodes without pods that the budgets allow in one command, without a simulation."""
    keeps_empty: bool = True
    """Empty nodes that are still empty after the wait are deleted; else one that is not saves all of them."""
    validates_by_method: bool = True
    """Validation asks whether the method still takes the nodes; else whether they are Consolidatable, of a NodePool that consolidates."""
    tells_queued: bool = False
    """Events tell what keeps a node also while a command is under way about it."""
    marks_first: bool = False
    """Nodes count as going away before their replacements are created, also when these cannot be."""
    types_at_once: bool = False
    """A NodeClaim drifts as soon as its instance type is not sold any more; else from an hour of age on."""
    unpriced_text: str = "(capacity-type={capacity_type}, instance-type={size}, zone={zone})"
    """The text about a candidate without an offering in the error."""
    looks_less: bool = False
    """Commands under way are looked at after 1, 2, 4, 8 and then every 10 seconds, their time first. Events tell the decision, too
    (``pkg/controllers/disruption/orchestration/queue.go``)."""
    several_commands: bool = True
    """A method may find several commands, and the error of each is wrapped once more."""
    single_timeout_text: str = "abandoning single-node consolidation due to timeout"
    """The log when single-node consolidation runs out of time; some releases say after how many candidates."""
    multi_timeout_text: str = "failed to find a multi-node consolidation after timeout"
    """The log when multi-node consolidation runs out of time with nothing found."""
    prioritizing_text: str = "prioritizing nodepools that have not yet been considered due to timeouts in previous runs"
    """The log when single-node consolidation begins with the NodePools that it did not get to; some releases name them.
    """


_NEWEST = DisruptionRules()
_V1_14_3 = replace(
    _NEWEST,
    repair_is_disruption=False,
    own_disruption_cost=False,
    manages_deletion_costs=False,
    drift_error="{error}",
    terminates_first=False,
    tells_unreplaceable=False,
    names_deleting_first=False,
)
_V1_14 = replace(_V1_14_3, saves_compatible=False)
_V1_13 = replace(
    _V1_14,
    by_savings=False,
    empty_by_cost=False,
    balanced=False,
    priced_by_labels=False,
    saves_available=False,
    when_empty_text="NodePool {pool} has non-empty consolidation disabled",
)
_V1_7 = replace(
    _V1_13,
    unpriced_fails=True,
    announces=False,
    static_nodepools=False,
    injected_clock=False,
    several_commands=False,
    single_timeout_text="abandoning single-node consolidation due to timeout after evaluating {} candidates",
    multi_timeout_text="failed to find a multi-node consolidation after timeout, last considered batch had {}",
    prioritizing_text=f"{_NEWEST.prioritizing_text}: {{}}",
)
_V1_6 = replace(_V1_7, lists_budgets=False, tells_ignored=False, patience_grows=False)
_V1_5 = replace(
    _V1_6, drift_takes_empty=False, tells_queued=True, marks_first=True, types_at_once=True, looks_less=True
)
_V1_4 = replace(
    _V1_5,
    drift_takes_empty=True,
    drift_first=True,
    keeps_empty=False,
    validates_by_method=False,
    unpriced_text="for {size}/{capacity_type}/{zone}",
)

_RULES: Mapping[str, DisruptionRules] = {
    "1.4.0": _V1_4,
    "1.5.0": _V1_5,
    "1.6.1": replace(_V1_6, drift_takes_empty=False),
    "1.6.2": _V1_6,
    "1.7.1": _V1_7,
    **dict.fromkeys(("1.10.0", "1.12.0", "1.12.1", "1.13.0"), _V1_13),
    "1.14.0": _V1_14,
    "1.14.3": _V1_14_3,
    "1.15.0": _NEWEST,
}


_WITH_DELETION_COSTS: Mapping[str, DisruptionRules] = {
    version: replace(rules, deletion_cost_counts=False)
    for version, rules in _RULES.items()
    if rules.manages_deletion_costs
}


def disruption_rules_of(core: CoreRelease, *, writes_deletion_costs: bool = False) -> DisruptionRules:
    """Return the rules of a core release; the same object for the same arguments. Raises UnknownRelease for one that the table does not
    have.

    ``writes_deletion_costs``: the gate PodDeletionCostManagement is open, which makes a difference where the release has it.
    """
    rules = entry_of(core.version, _RULES)
    return _WITH_DELETION_COSTS.get(core.version, rules) if writes_deletion_costs else rules
