"""The cells of a release that are no sets: known values, renamed keys and values, named flags."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.karpenter.releases import ALL_PROVIDER_RELEASES, ProviderRelease, provider
from harness.karpenter.releases.scheduling import rules_of
from tests.corpus.mutations.cells import RECORDED, Cell, neighbours
from tests.corpus.mutations.set_cells import with_vocabulary

__all__ = ["FLAGS", "MARKET_FLAGS", "NOT_CHANGED", "OTHER_FLAGS", "flag_cells", "value_cells"]

MARKET_FLAGS = (
    "skus_without_price",
    "price_required",
    "quota_checked",
    "scsi_required_without_sig",
    "encryption_filter",
    "gpu_driver_filter",
    "artifact_streaming_filter",
    "amd_gpu_capacity",
)
"""What can be had in a region, and for which price."""

FLAGS: Mapping[str, tuple[str, ...]] = {
    "release": (
        "skewer",
        "ephemeral_rule",
        "gpu_registry",
        "regional_offerings",
        "zonal_regions_listed",
        "spot_needs_low_priority",
        "false_capabilities_absent",
        "artifact_streaming_default",
        "local_dns",
        "local_dns_preferred_from",
        "only_azure_linux_2",
        "ubuntu_2404",
        "claim_requirement_labels",
        "claim_keeps_well_known",
        "kubelet_filter",
        "machine_drops_legacy_labels",
        "machine_claim_has_priorities",
        "spot_system_machines",
        "instance_type_key_leaves_out",
    ),
    "core": (
        "validates_preferred_terms",
        "structured_errors",
        "honours_do_not_sync_taints",
        "labels_from_claim_requirements",
    ),
    "vocabulary": ("exclusive_bounds", "restricted_domain_dotted", "restriction_text"),
    "scheduling": ("resolves_custom_labels", "names_capacity_types"),
}
"""The flags that a label, its value, a requirement or a refusal of a key depends on, by what has them."""

OTHER_FLAGS: Mapping[str, tuple[str, ...]] = {
    "release": (
        *MARKET_FLAGS,
        "ranks_offerings",
        "azure_linux_3_arm_shared_only",
        "failures_named",
        "billing_tag",
        "machine_creation_tag",
        "in_place_hash_tags",
        "nodeclass_hash_version",
    ),
    "core": (),
    "vocabulary": (),
    "scheduling": (),
}
"""The flags about prices, quota, failures, tags and hashes: changed in the releases that are recorded."""

_HAS_CELLS = "its entries are cells of their own"
_TEXT = "it is text of the custom data, which tests/launch compares with bodies that the real controller sent"
_CATALOGUE = "no region of the catalogue sells a usable size that is on no list, and none is without usable sizes"
_RELEASES = "no label depends on it; unit tests have it by release"
_MEMORY = "how widely and how long a failure is remembered, which tests/launch/test_failures.py has by release"
_DRIFT = "when a node has drifted, which tests/disruption/test_provider_drift.py has by release"
_REPAIR = "when a node is replaced because it is unhealthy, which tests/disruption/test_lifetimes.py has by release"
_OVERLAYS = "what NodeOverlays come to, which scenarios/scheduling/node-overlays.yaml and tests/launch/test_overlays.py have by release"
_METRICS = "what metrics tell, which tests/corridor/test_metrics.py has by release"
_SCHEDULING = (
    "it decides where pods go; core's own test cases and the generated clusters of the conformance run measure it"
)
NOT_CHANGED: Mapping[str, Mapping[str, str]] = {
    "release": {
        "version": "the name",
        "core": "its flags are cells",
        "vocabulary": "its sets and flags are cells",
        "crds": "the rules are cells",
        "azure_well_known": "changed together with the well-known keys",
        "defaults": "what a scenario gets that says nothing, not a behaviour",
        **dict.fromkeys(
            (
                "allowed_at_create",
                "provision_modes",
                "computed_keys",
                "offering_keys",
                "base_keys",
                "winning_base_keys",
                "image_families",
                "restricted_skus",
                "nodeclass_hash_fields",
            ),
            _HAS_CELLS,
        ),
        **dict.fromkeys(
            (
                "kubelet_fields",
                "kubelet_flags_left_out",
                "cluster_dns_option",
                "credential_providers",
                "vm_type",
                "script_timeout",
                "binaries_from_image",
                "gpu_drivers",
                "gpu_driver_optional",
                "machine_node_profiles",
            ),
            _TEXT,
        ),
        **dict.fromkeys(
            ("known_skus", "only_known_skus", "unknown_skus_cost_missing_price", "no_sizes_is_error"), _CATALOGUE
        ),
        **dict.fromkeys(
            (
                "low_quota_has_own_ttl",
                "allocation_failures_kept",
                "spot_quota_kept",
                "zonal_failure_marks_family",
                "family_marked_with_size",
                "unavailable_needs_known_size",
                "machine_refusals_handled",
            ),
            _MEMORY,
        ),
        "filters_overlaid_types": _OVERLAYS,
        **dict.fromkeys(
            ("poll_seconds", "extension_poll_seconds"), "a moment, which tests/launch/test_promises.py has by release"
        ),
        "trusted_launch": "no release has it yet; scenarios/next and tests/launch/test_trusted_launch.py show it",
        **dict.fromkeys(("drift_of_machines", "drift_image", "drift_of_subnets"), _DRIFT),
        "billing_extension_may_lack": "how machines are updated, which tests/corridor/test_in_place.py has by release",
        "empty_window_is_none": "when images change, which scenarios/disruption/images.yaml has by release",
        "repair_policies": _REPAIR,
        **dict.fromkeys(
            (
                "nodeclass_conditions",
                "nodeclass_lookup_told",
                "managed_subnets_refused",
                "additional_tags",
                "machine_name_limit",
            ),
            _RELEASES,
        ),
    },
    "core": {
        **dict.fromkeys(
            ("tells_pods_of_launch", "long_messages"),
            "no release has it yet; scenarios/next and tests/launch/test_launch_failures.py show it",
        ),
        "eviction_queue_deletes": "how drains end, which tests/corridor/test_drain_deadline.py has by release",
        "held_repair_looks_again": _REPAIR,
        "repair_asks_node_first": _REPAIR,
        **dict.fromkeys(
            ("first_overlay_capacity_wins", "overlays_skip_broken_nodepools", "unevaluated_quoted"), _OVERLAYS
        ),
        **dict.fromkeys(
            (
                "disruption_modes_in_metrics",
                "managed_in_metrics",
                "queue_failures_by_type",
                "resource_claims_in_metrics",
                "nodepool_cost_metric",
                "nodepool_decision_metrics",
                "readiness_in_metrics",
                "zone_in_metrics",
            ),
            _METRICS,
        ),
        "gates": "which switches there are; scenarios open them",
        "version": "the name",
        **dict.fromkeys(
            (
                "consistency_is_error",
                "terminates_in_steps",
                "tells_several_budgets",
                "counts_drains",
                "min_drain_seconds",
            ),
            "no scenario looks at a node's drain or at its size in old releases; tests/disruption shows them",
        ),
        "counts_registrations": "no expectation is about a NodePool's health; tests/scheduling/upstream/test_lifecycle.py shows it",
        **dict.fromkeys(
            ("kubernetes", "nodes_in_status", "ephemeral_no_execute", "ephemeral_readiness", "launch_timeout"),
            _RELEASES,
        ),
    },
    "vocabulary": dict.fromkeys(
        (
            "well_known",
            "restricted_labels",
            "restricted_domains",
            "domain_exceptions",
            "known_values",
            "normalized_keys",
            "normalized_values",
        ),
        _HAS_CELLS,
    ),
    "scheduling": dict.fromkeys(
        (
            "min_values_admitted",
            "attach_limits",
            "compares_tolerations",
            "uncounted_drivers_attach_any",
            "default_spread",
            "launchable_offerings",
            "fits_needs_offering",
            "daemons_by_instance_type",
            "daemons_need_listed_resources",
            "settling_nodes_refuse",
            "simulates_registration",
            "host_ports_shared",
            "volumes_have_alternatives",
            "volumes_in_affinity",
            "limits_as_requests",
            "node_limits",
            "repeated_expressions_cancel",
            "daemons_named",
            "no_nodepool_is_error",
            "min_values_relaxable",
            "min_values_text",
            "plain_errors",
            "hosts_registered_first",
            "max_instance_types",
            "equal_prices_by_name",
            "actual_resources",
            "volume_claim_checks",
            "static_nodepools",
            "protection_may_end",
            "protects_ending",
            "several_budgets_block",
            "resource_claims",
        ),
        _SCHEDULING,
    ),
}
"""The fields of the release records that are in neither table of flags, and why."""


def value_cells(version: str) -> Iterator[Cell]:
    """Each known value of a key, missing or there; each renamed key and value."""
    release = provider(version)
    for table in ("known_values", "normalized_values"):
        yield from _pair_cells(release, table)
    if version in RECORDED:  # all releases rename the same keys
        for key in sorted(release.vocabulary.normalized_keys):
            left = {name: to for name, to in release.vocabulary.normalized_keys.items() if name != key}
            yield Cell(version, "aliases", key, "is missing", with_vocabulary(release, normalized_keys=left))


def _pair_cells(release: ProviderRelease, table: str) -> Iterator[Cell]:
    version = release.version
    mine: Mapping[str, Any] = getattr(release.vocabulary, table)
    pairs = _pairs(mine)
    names = ALL_PROVIDER_RELEASES if version in RECORDED else neighbours(version)
    others = [getattr(provider(name).vocabulary, table) for name in names]
    chosen = {pair for other in others for pair in _pairs(other) ^ pairs} | (pairs if version in RECORDED else set())
    if table == "known_values":  # of other keys the values are not judged
        chosen = {pair for pair in chosen if pair[0] in release.vocabulary.well_known}
    title = table.replace("_", "-")
    for key in sorted({key for key, _ in chosen if key not in mine}):
        whole = next(other[key] for other in reversed(others) if key in other)
        yield Cell(version, title, key, "is there", with_vocabulary(release, **{table: {**mine, key: whole}}))
    for key, value in sorted(pair for pair in chosen if pair[0] in mine):
        if isinstance(mine[key], Mapping):
            changed: Any = {old: new for old, new in mine[key].items() if old != value}
        else:
            changed = mine[key] ^ {value}
        change = f"lacks {value!r}" if (key, value) in pairs else f"has {value!r}"
        yield Cell(version, title, key, change, with_vocabulary(release, **{table: {**mine, key: changed}}))


def _pairs(table: Mapping[str, Iterable[str]]) -> frozenset[tuple[str, str]]:
    return frozenset((key, value) for key, values in table.items() for value in values)


def flag_cells(version: str) -> Iterator[Cell]:
    """Each flag with the value that it had before and with the one that it gets later."""
    release = provider(version)
    at = ALL_PROVIDER_RELEASES.index(version)
    reach = len(ALL_PROVIDER_RELEASES) if version in RECORDED else 1
    for owner, flags in FLAGS.items():
        mine = _owner(release, owner)
        others = OTHER_FLAGS[owner] if version in RECORDED else ()
        for flag in (*flags, *others):
            value = getattr(mine, flag)
            found: dict[Any, str] = {}
            for names in (ALL_PROVIDER_RELEASES[:at][::-1][:reach], ALL_PROVIDER_RELEASES[at + 1 :][:reach]):
                values = ((name, getattr(_owner(provider(name), owner), flag)) for name in names)
                name, other = next(((name, other) for name, other in values if other != value), ("", value))
                if name:
                    found.setdefault(other, name)
            for other, name in found.items():
                yield replace(_flagged(release, owner, flag, other, f"as in {name}"), vectors=flag in others)


def _owner(release: ProviderRelease, owner: str) -> Any:
    return {
        "release": release,
        "core": release.core,
        "vocabulary": release.vocabulary,
        "scheduling": rules_of(release.core),
    }[owner]


def _flagged(release: ProviderRelease, owner: str, flag: str, value: Any, change: str) -> Cell:
    changed = replace(_owner(release, owner), **{flag: value})
    title = f"flag of {owner}"
    if owner == "scheduling":
        return Cell(release.version, title, flag, change, rules=changed)
    mutant = changed if owner == "release" else replace(release, **{owner: changed})
    return Cell(release.version, title, flag, change, mutant)
