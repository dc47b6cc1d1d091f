"""Which core releases simulate how: a table; the flags are explained at :class:`SchedulingRules`."""

from typing import TYPE_CHECKING

from harness.karpenter.scheduling.snapshot import SchedulingRules

if TYPE_CHECKING:
    from harness.karpenter.releases import CoreRelease

_BEFORE_1_14 = SchedulingRules(fits_needs_offering=False, daemons_by_instance_type=False, simulates_registration=False)
_BEFORE_1_9 = SchedulingRules(
    fits_needs_offering=False,
    daemons_by_instance_type=False,
    simulates_registration=False,
    resolves_custom_labels=False,
)

_RULES = {
    **dict.fromkeys(("1.4.0", "1.5.0", "1.6.1", "1.6.2", "1.7.1"), _BEFORE_1_9),
    **dict.fromkeys(("1.10.0", "1.12.0", "1.12.1", "1.13.0"), _BEFORE_1_14),
}


def rules_of(core: "CoreRelease") -> SchedulingRules:
    """The rules of a core release; releases that the table does not name follow the newest rules."""
    return _RULES.get(core.version, SchedulingRules())
