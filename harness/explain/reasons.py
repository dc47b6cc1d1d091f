"""The reasons of the scheduler's ledger in plain words, so that equal ones can be counted together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from harness.explain.amounts import amount_text
from harness.karpenter.labels.core import CAPACITY_TYPE
from harness.karpenter.requirement import Requirement
from harness.karpenter.requirements import Conflicts, UndefinedKey
from harness.karpenter.scheduling.ledger import (
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

__all__ = ["Cause", "causes_of", "offering_text"]


@dataclass(frozen=True, slots=True, order=True)
class Cause:
    """One reason, without what differs from size to size: `rule` names its kind, `subject` the key or resource, `text` says it."""

    rule: str
    subject: str
    text: str


_OFFERED = (ZONE, CAPACITY_TYPE)
_SOLD_OUT = Cause("offerings", "available", "not to be had now in the zones and priorities that fit")


def causes_of(verdict: TypeVerdict) -> tuple[Cause, ...]:
    """All causes against a size, the deciding one first; empty when it stays."""
    found: list[Cause] = []
    for reason in verdict.reasons:
        found += _causes(reason, verdict)
    return tuple(dict.fromkeys(found))


def _causes(reason: TypeReason, verdict: TypeVerdict) -> list[Cause]:
    if isinstance(reason, NodePoolExcludes):
        return _conflicts("nodepool", "the NodePool wants", reason.conflicts, verdict)
    if isinstance(reason, PodExcludes):
        return _conflicts("pod", "pod and NodePool together want", reason.conflicts, verdict)
    if isinstance(reason, TooSmall):
        requested = amount_text(reason.resource, reason.requested)
        return [
            Cause("resources", reason.resource, f"too small: {requested} {reason.resource} requested (with DaemonSets)")
        ]
    if isinstance(reason, BeyondLimit):
        left = amount_text(reason.resource, reason.remaining)
        return [Cause("limits", reason.resource, f"the NodePool's limit leaves {left} {reason.resource}")]
    if isinstance(reason, Overcommitted):
        return [Cause("resources", reason.resource, f"what is reserved is more {reason.resource} than the size has")]
    if isinstance(reason, PortTaken):
        return [Cause("host-port", "", f"a DaemonSet holds the host port: {reason.conflict}")]
    assert isinstance(reason, NotOffered)
    return [_not_offered(verdict)]


def _conflicts(rule: str, who: str, conflicts: Conflicts, verdict: TypeVerdict) -> list[Cause]:
    # The provider leaves zones and priorities out of a size's requirements while they cannot be had: that is the cause then.
    sold_out = {one.key for one in conflicts.keys if one.key in _OFFERED} and _sold_out(verdict, conflicts)
    return [
        _SOLD_OUT
        if sold_out and one.key in _OFFERED
        else Cause(rule, one.key, f"{who} {_wanted(one.incoming)} for {one.key}")
        for one in conflicts.keys
    ]


def _sold_out(verdict: TypeVerdict, conflicts: Conflicts) -> bool:
    wanted = [one.incoming for one in conflicts.keys if one.key in _OFFERED]
    fitting = [
        one
        for one in verdict.offerings
        if all(requirement.has_intersection(one.offering.requirements.get(requirement.key)) for requirement in wanted)
    ]
    return bool(fitting) and not any(one.available for one in fitting)


def _not_offered(verdict: TypeVerdict) -> Cause:
    fitting = [one for one in verdict.offerings if one.conflict is None]
    if fitting and not any(one.available for one in fitting):
        return _SOLD_OUT
    texts = sorted({offering_text(one) for one in verdict.offerings})
    if not texts:
        return Cause("offerings", "none", "sold in no zone")
    return Cause("offerings", "zone and priority", f"not sold as wanted: {texts[0]}")


def offering_text(verdict: OfferingVerdict) -> str:
    """Why one offering will not do; `usable` when it will."""
    if isinstance(verdict.conflict, Conflicts):
        return "; ".join(
            f"{_wanted(one.incoming)} is not {_wanted(one.existing)} for {one.key}" for one in verdict.conflict.keys
        )
    if isinstance(verdict.conflict, UndefinedKey):
        return str(verdict.conflict)
    return "usable" if verdict.available else "not to be had now"


@lru_cache(maxsize=256)
def _wanted(requirement: Requirement) -> str:
    """The requirement without its key. The same one meets thousands of sizes, and may have as many values."""
    return str(requirement).removeprefix(requirement.key).strip()
