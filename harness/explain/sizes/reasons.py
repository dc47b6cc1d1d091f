"""The reasons of the scheduler's ledger in plain words, so that equal ones can be counted together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.explain.sizes.amounts import amount_text
from harness.karpenter.cloudprovider import Offering
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.requirement import Requirement
from harness.karpenter.requirements import Conflicts, UndefinedKey
from harness.karpenter.scheduling.reasons.verdicts import (
    BeyondLimit,
    NodePoolExcludes,
    NotOffered,
    OfferingVerdict,
    Overcommitted,
    PodExcludes,
    PortTaken,
    TooSmall,
    TypeReason,
    TypeVerdict,
)
from harness.kube.api.labels import ZONE
from harness.kube.api.quantity import Quantity

__all__ = ["Cause", "Why", "causes_of", "nobody_knows", "offering_text"]


@dataclass(frozen=True, slots=True, order=True)
class Cause:
    """One reason, without what differs from size to size: `rule` names its kind, `subject` the key or resource, `text` says it."""

    rule: str
    subject: str
    text: str


_OFFERED = (ZONE, CAPACITY_TYPE)
_NAMED = 3  # DaemonSets that are named
Why = Callable[[str, Offering], str]
"""Size and offering → what stands in the way of it at Azure."""


def nobody_knows(size: str, offering: Offering) -> str:
    """For those who do not ask Azure."""
    return "not to be had now"


def causes_of(verdict: TypeVerdict, why: Why = nobody_knows) -> tuple[Cause, ...]:
    """All causes against a size, the deciding one first; empty when it stays. `why` knows of offerings that cannot be had."""
    causes: list[Cause] = []
    for reason in verdict.reasons:
        causes += _causes(reason, verdict, why)
    return tuple(dict.fromkeys(causes))


def _causes(reason: TypeReason, verdict: TypeVerdict, why: Why) -> list[Cause]:
    if isinstance(reason, NodePoolExcludes):
        return _conflicts("nodepool", "the NodePool wants", reason.conflicts, verdict, why)
    if isinstance(reason, PodExcludes):
        return _conflicts("pod", "pod and NodePool together want", reason.conflicts, verdict, why)
    if isinstance(reason, TooSmall):
        requested = amount_text(reason.resource, reason.requested)
        text = f"too small: {requested} {reason.resource} requested{_of_daemons(reason)}"
        return [Cause("resources", reason.resource, text)]
    if isinstance(reason, BeyondLimit):
        left = amount_text(reason.resource, reason.remaining)
        return [Cause("limits", reason.resource, f"the NodePool's limit leaves {left} {reason.resource}")]
    if isinstance(reason, Overcommitted):
        return [Cause("resources", reason.resource, f"what is reserved is more {reason.resource} than the size has")]
    if isinstance(reason, PortTaken):
        return [Cause("host-port", "", f"a DaemonSet holds the host port: {reason.conflict}")]
    assert isinstance(reason, NotOffered)
    return [_not_offered(verdict, why)]


def _of_daemons(reason: TooSmall) -> str:
    """` (of it 1 for DaemonSet agent)`: who besides the pod takes of the size, those that take the most by name."""
    if not reason.daemons:
        return ""
    texts = [f"{amount_text(reason.resource, amount)} for {name}" for name, amount in reason.daemons[:_NAMED]]
    if more := reason.daemons[_NAMED:]:
        total = amount_text(reason.resource, Quantity(sum(amount.nano for _, amount in more), more[0][1].format))
        texts.append(f"{total} for {len(more)} more")
    first, *others = texts
    noun = "DaemonSets" if others else "DaemonSet"
    first = first.replace(" for ", f" for {noun} ", 1)
    return f" (of it {first}{''.join(f', {text}' for text in others)})"


def _conflicts(rule: str, who: str, conflicts: Conflicts, verdict: TypeVerdict, why: Why) -> list[Cause]:
    # The provider leaves zones and priorities out of a size's requirements while they cannot be had: that is the cause then.
    wanted = [conflict.incoming for conflict in conflicts.keys if conflict.key in _OFFERED]
    fitting = [
        offering
        for offering in verdict.offerings
        if all(
            requirement.has_intersection(offering.offering.requirements.get(requirement.key)) for requirement in wanted
        )
    ]
    sold_out = wanted and fitting and not any(offering.available for offering in fitting)
    return [
        _sold_out(verdict, fitting, why)
        if sold_out and conflict.key in _OFFERED
        else Cause(rule, conflict.key, f"{who} {_wanted(conflict.incoming)} for {conflict.key}")
        for conflict in conflicts.keys
    ]


def _sold_out(verdict: TypeVerdict, fitting: Sequence[OfferingVerdict], why: Why) -> Cause:
    """Return the cause against the offerings that fit, once for those with the same text."""
    kinds_by_text: dict[str, dict[str, None]] = {}
    for offering in fitting:
        text = why(verdict.instance_type.name, offering.offering)
        kinds_by_text.setdefault(text, {})[offering.offering.capacity_type] = None
    text = "; ".join(
        f"{' and '.join(sorted(kinds))}: {text}" if len(kinds_by_text) > 1 else text
        for text, kinds in sorted(kinds_by_text.items())
    )
    return Cause("offerings", "available", text)


def _not_offered(verdict: TypeVerdict, why: Why) -> Cause:
    fitting = [offering for offering in verdict.offerings if offering.conflict is None]
    if fitting and not any(offering.available for offering in fitting):
        return _sold_out(verdict, fitting, why)
    texts = sorted({offering_text(verdict.instance_type.name, offering, why) for offering in verdict.offerings})
    if not texts:
        return Cause("offerings", "none", "sold in no zone")
    return Cause("offerings", "zone and priority", f"not sold as wanted: {texts[0]}")


def offering_text(size: str, verdict: OfferingVerdict, why: Why = nobody_knows) -> str:
    """Return the reason why one offering of a size will not do; `usable` when it will."""
    if isinstance(verdict.conflict, Conflicts):
        return "; ".join(
            f"{_wanted(conflict.incoming)} is not {_wanted(conflict.existing)} for {conflict.key}"
            for conflict in verdict.conflict.keys
        )
    if isinstance(verdict.conflict, UndefinedKey):
        return str(verdict.conflict)
    return "usable" if verdict.available else why(size, verdict.offering)


@lru_cache(maxsize=256)
def _wanted(requirement: Requirement) -> str:
    """The requirement without its key. The same one meets thousands of sizes, and may have as many values."""
    return str(requirement).removeprefix(requirement.key).strip()
