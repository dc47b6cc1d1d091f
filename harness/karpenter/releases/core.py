"""The releases of karpenter core that the provider's releases were built with, and core's part of the label vocabulary."""

from collections.abc import Mapping
from dataclasses import replace

from harness.karpenter.labels.core import CAPACITY_TYPE, ON_DEMAND, RESERVED, SPOT
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.releases.core_release import CoreRelease

__all__ = ["CORE_RELEASES", "CORE_VOCABULARIES"]

_OLD_EXCEPTIONS = frozenset({"kops.k8s.io", "node.kubernetes.io", "node-restriction.kubernetes.io"})
_OLD_DOMAINS = frozenset({"karpenter.sh", "kubernetes.io", "k8s.io"})
_CAPACITY_TYPES: Mapping[str, frozenset[str]] = {CAPACITY_TYPE: frozenset({SPOT, ON_DEMAND, RESERVED})}

# core pkg/apis/v1/labels.go of each release. Kubernetes' own domains were restricted until 1.9.0 (core #2586).
_LABELS_V1_4 = Vocabulary(
    restricted_domains=_OLD_DOMAINS,
    domain_exceptions=_OLD_EXCEPTIONS,
    exclusive_bounds=True,
    restricted_domain_dotted=False,
    restriction_text=(
        "label {key} is restricted; specify a well known label: {well_known}, "
        "or a custom label that does not use a restricted domain: {domains}"
    ),
)
_LABELS_V1_5 = Vocabulary(
    restricted_domains=_OLD_DOMAINS,
    domain_exceptions=_OLD_EXCEPTIONS,
    known_values=_CAPACITY_TYPES,
    exclusive_bounds=True,
    restricted_domain_dotted=False,
    restriction_text=(
        "label is restricted; specify a well known label or a custom label that does not use a restricted domain "
        "(label={key}, restricted-labels={domains}, well-known-labels={well_known})"
    ),
)
_LABELS_V1_9 = Vocabulary(known_values=_CAPACITY_TYPES)


# core pkg/operator/options/options.go of each release
_GATES_V1_4 = frozenset({"NodeRepair", "ReservedCapacity", "SpotToSpotConsolidation"})
_GATES_V1_7 = _GATES_V1_4 | {"NodeOverlay", "StaticCapacity"}
_GATES_V1_14 = _GATES_V1_7 | {"CapacityBuffer"}
_GATES_V1_15 = _GATES_V1_14 | {"TerminateFirstDrift", "TerminateFirstRepair", "PodDeletionCostManagement"}

# Kubernetes: go.mod of the provider's releases
_NEWEST = CoreRelease("1.15.0", kubernetes="1.36", gates=_GATES_V1_15)
_V1_14_3 = replace(
    _NEWEST,
    version="1.14.3",
    kubernetes="1.35",
    gates=_GATES_V1_14,
    tells_pods_of_launch=False,
    long_messages=False,
    eviction_queue_deletes=False,
    disruption_modes_in_metrics=False,
    queue_failures_by_type=False,
    resource_claims_in_metrics=False,
)
_V1_14_0 = replace(_V1_14_3, version="1.14.0")
_V1_13 = replace(_V1_14_0, version="1.13.0", gates=_GATES_V1_7, zone_in_metrics=False, managed_in_metrics=False)
_V1_12_1 = replace(_V1_13, version="1.12.1", ephemeral_readiness=False, overlays_skip_broken_nodepools=False)
_V1_12_0 = replace(_V1_12_1, version="1.12.0")
_V1_10 = replace(_V1_12_0, version="1.10.0")
_V1_7 = replace(
    _V1_10,
    version="1.7.1",
    kubernetes="1.34",
    labels_from_claim_requirements=True,
    nodes_in_status=False,
    counts_registrations=False,
    first_overlay_capacity_wins=False,
    unevaluated_quoted=False,
    readiness_in_metrics=False,
    nodepool_cost_metric=False,
    consistency_is_error=True,
    min_drain_seconds=0.0,
    nodepool_decision_metrics=False,
)
_V1_6_2 = replace(
    _V1_7,
    version="1.6.2",
    kubernetes="1.33",
    gates=_GATES_V1_4,
    launch_timeout=False,
    ephemeral_no_execute=False,
    held_repair_looks_again=False,
    tells_several_budgets=False,
)
_V1_6_1 = replace(_V1_6_2, version="1.6.1")
_V1_5_0 = replace(_V1_6_1, version="1.5.0", kubernetes="1.32", terminates_in_steps=False, repair_asks_node_first=False)
_V1_4_0 = replace(
    _V1_5_0,
    version="1.4.0",
    validates_preferred_terms=True,
    structured_errors=False,
    counts_drains=False,
    honours_do_not_sync_taints=False,
)

_BEFORE_1_10 = (_V1_4_0, _V1_5_0, _V1_6_1, _V1_6_2, _V1_7)
_SINCE_1_10 = (_V1_10, _V1_12_0, _V1_12_1, _V1_13, _V1_14_0, _V1_14_3, _NEWEST)

CORE_RELEASES: Mapping[str, CoreRelease] = {release.version: release for release in (*_BEFORE_1_10, *_SINCE_1_10)}
"""Each release by what it does otherwise than the one after it."""

CORE_VOCABULARIES: Mapping[str, Vocabulary] = {
    "1.4.0": _LABELS_V1_4,
    **dict.fromkeys(("1.5.0", "1.6.1", "1.6.2", "1.7.1"), _LABELS_V1_5),
    **dict.fromkeys(("1.10.0", "1.12.0", "1.12.1", "1.13.0", "1.14.0", "1.14.3", "1.15.0"), _LABELS_V1_9),
}
