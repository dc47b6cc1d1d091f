"""The releases of karpenter core that the provider's releases were built with, and core's part of the label vocabulary."""

from collections.abc import Mapping
from typing import Any

from harness.karpenter.labels.core import CAPACITY_TYPE, ON_DEMAND, RESERVED, SPOT
from harness.karpenter.labels.vocabulary import Vocabulary
from harness.karpenter.releases.model import CoreRelease

__all__ = ["CORE_RELEASES", "CORE_VOCABULARIES"]

_OLD_EXCEPTIONS = frozenset({"kops.k8s.io", "node.kubernetes.io", "node-restriction.kubernetes.io"})
_OLD_DOMAINS = frozenset({"karpenter.sh", "kubernetes.io", "k8s.io"})
_CAPACITY_TYPES: Mapping[str, frozenset[str]] = {CAPACITY_TYPE: frozenset({SPOT, ON_DEMAND, RESERVED})}

# core pkg/apis/v1/labels.go of each release. Kubernetes' own domains were restricted until 1.9.0 (core #2586).
_V1_4 = Vocabulary(
    restricted_domains=_OLD_DOMAINS,
    domain_exceptions=_OLD_EXCEPTIONS,
    exclusive_bounds=True,
    restricted_domain_dotted=False,
    restriction_text=(
        "label {key} is restricted; specify a well known label: {well_known}, "
        "or a custom label that does not use a restricted domain: {domains}"
    ),
)
_V1_5 = Vocabulary(
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
_V1_9 = Vocabulary(known_values=_CAPACITY_TYPES)


# go.mod of the provider's releases
_KUBERNETES = {"1.4.0": "1.32", "1.5.0": "1.32", "1.6.1": "1.33", "1.6.2": "1.33", "1.7.1": "1.34"}

# core pkg/operator/options/options.go of each release
_GATES_V1_4 = frozenset({"NodeRepair", "ReservedCapacity", "SpotToSpotConsolidation"})
_GATES_V1_7 = _GATES_V1_4 | {"NodeOverlay", "StaticCapacity"}
_GATES_V1_15 = _GATES_V1_7 | {
    "CapacityBuffer",
    "TerminateFirstDrift",
    "TerminateFirstRepair",
    "PodDeletionCostManagement",
}


def _before_v1_15(version: str, **flags: Any) -> CoreRelease:
    return CoreRelease(
        version,
        tells_pods_of_launch=False,
        long_messages=False,
        eviction_queue_deletes=False,
        disruption_modes_in_metrics=False,
        queue_failures_by_type=False,
        resource_claims_in_metrics=False,
        **flags,
    )


def _old(version: str) -> CoreRelease:
    return _before_v1_15(
        version,
        kubernetes=_KUBERNETES[version],
        validates_preferred_terms=version == "1.4.0",
        structured_errors=version != "1.4.0",
        honours_do_not_sync_taints=version != "1.4.0",
        labels_from_claim_requirements=True,
        nodes_in_status=False,
        launch_timeout=version == "1.7.1",
        counts_registrations=False,
        ephemeral_no_execute=version == "1.7.1",
        ephemeral_readiness=False,
        held_repair_looks_again=version == "1.7.1",
        first_overlay_capacity_wins=False,
        zone_in_metrics=False,
        managed_in_metrics=False,
        readiness_in_metrics=False,
        nodepool_cost_metric=False,
        nodepool_decision_metrics=False,
        overlays_skip_broken_nodepools=False,
        gates=_GATES_V1_7 if version == "1.7.1" else _GATES_V1_4,
    )


CORE_RELEASES: Mapping[str, CoreRelease] = {
    **{version: _old(version) for version in ("1.4.0", "1.5.0", "1.6.1", "1.6.2", "1.7.1")},
    **{
        version: _before_v1_15(
            version,
            ephemeral_readiness=False,
            overlays_skip_broken_nodepools=False,
            zone_in_metrics=False,
            managed_in_metrics=False,
            gates=_GATES_V1_7,
        )
        for version in ("1.10.0", "1.12.0", "1.12.1")
    },
    "1.13.0": _before_v1_15("1.13.0", zone_in_metrics=False, managed_in_metrics=False, gates=_GATES_V1_7),
    "1.14.0": _before_v1_15("1.14.0"),
    "1.14.3": _before_v1_15("1.14.3"),
    "1.15.0": CoreRelease("1.15.0", kubernetes="1.36", gates=_GATES_V1_15),
}

CORE_VOCABULARIES: Mapping[str, Vocabulary] = {
    "1.4.0": _V1_4,
    **dict.fromkeys(("1.5.0", "1.6.1", "1.6.2", "1.7.1"), _V1_5),
    **dict.fromkeys(("1.10.0", "1.12.0", "1.12.1", "1.13.0", "1.14.0", "1.14.3", "1.15.0"), _V1_9),
}
