"""Which core releases simulate how: a table; the flags are explained at :class:`SchedulingRules`."""

from collections.abc import Mapping
from dataclasses import replace

from harness.karpenter.releases import CoreRelease, UnknownRelease
from harness.karpenter.scheduling.snapshot import ClaimChecks, ClaimsIn, SchedulingRules

_NEWEST = SchedulingRules()
_V1_13 = replace(
    _NEWEST,
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
_V1_10 = replace(_V1_12_0, node_limits=False, protection_may_end=False)
_V1_7 = replace(
    _V1_10,
    volumes_in_affinity=True,
    limits_as_requests=True,
    names_capacity_types=False,
    resolves_custom_labels=False,
    claim_checks=ClaimChecks.BINDING,
    static_nodepools=False,
)
_V1_6 = replace(
    _V1_7,
    no_nodepool_is_error=False,
    repeated_expressions_cancel=True,
    max_instance_types=60,
    claim_checks=ClaimChecks.EXISTENCE,
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
    "1.14.0": _NEWEST,
}


def rules_of(core: CoreRelease) -> SchedulingRules:
    """The rules of a core release. Raises UnknownRelease for one that nobody has compared with."""
    if core.version not in _RULES:
        raise UnknownRelease(core.version, tuple(_RULES))
    return _RULES[core.version]
