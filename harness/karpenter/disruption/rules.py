"""Which core releases disrupt how: a table of flags, explained at :class:`DisruptionRules`."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.karpenter.releases import CoreRelease

__all__ = ["DisruptionRules", "disruption_rules_of"]


@dataclass(frozen=True, slots=True)
class DisruptionRules:
    """What differs between core releases.

    * ``by_savings``: candidates stand in the order of what they save per disruption; else by disruption cost.
    * ``empty_by_cost``: a node is empty when moving its pods costs nothing; else when it has none to move.
    * ``balanced``: there is the policy Balanced, which scores commands.
    * ``priced_by_labels``: a candidate costs what the offering of its zone and capacity type costs, nothing without one; else the
      cheapest one that its labels accept, and one candidate without makes the whole command worth nothing.
    * ``unpriced_fails``: a candidate without an offering is an error.
    * ``announces``: commands that were found, or dropped again, are told by events.
    * ``saves_available``: what a replacement costs is told from available offerings only.
    * ``static_nodepools``: NodePools with ``replicas`` are replaced one by one, and never consolidated.
    * ``injected_clock``: nominations end by the clock that Karpenter is given; else by the machine's.
    * ``when_empty_text``: the sentence about NodePools whose policy leaves nodes with pods alone.
    * ``lists_budgets``: the sentence about disruption budgets puts them in brackets.
    """

    by_savings: bool = True
    empty_by_cost: bool = True
    balanced: bool = True
    priced_by_labels: bool = True
    unpriced_fails: bool = False
    announces: bool = True
    saves_available: bool = True
    static_nodepools: bool = True
    injected_clock: bool = True
    when_empty_text: str = "NodePool {pool} has consolidation policy WhenEmpty, but node is not empty"
    lists_budgets: bool = True


_NEWEST = DisruptionRules()
_V1_13 = replace(
    _NEWEST,
    by_savings=False,
    empty_by_cost=False,
    balanced=False,
    priced_by_labels=False,
    saves_available=False,
    when_empty_text="NodePool {pool} has non-empty consolidation disabled",
)
_V1_7 = replace(_V1_13, unpriced_fails=True, announces=False, static_nodepools=False, injected_clock=False)
_V1_6 = replace(_V1_7, lists_budgets=False)

_RULES: Mapping[str, DisruptionRules] = {
    **dict.fromkeys(("1.6.1", "1.6.2"), _V1_6),
    "1.7.1": _V1_7,
    **dict.fromkeys(("1.10.0", "1.12.0", "1.12.1", "1.13.0"), _V1_13),
}
_UNKNOWN = frozenset({"1.4.0", "1.5.0"})


def disruption_rules_of(core: "CoreRelease") -> DisruptionRules | None:
    """The rules of a core release, None where nobody has measured it; releases that the table does not name follow the newest."""
    return None if core.version in _UNKNOWN else _RULES.get(core.version, _NEWEST)
