"""What the described cluster is, and what the document says of it."""

from __future__ import annotations

from harness.karpenter.hosting import LIMITS
from harness.scenario.language.hosting import violations_of
from harness.scenario.language.models.base import Model
from harness.scenario.running.matching import said, show
from harness.scenario.running.reasons.asked import Asked

__all__ = ["tell"]


def tell(asked: Asked) -> list[str]:
    """The cluster as given, the limits that it breaks, and the words of those that it does not."""
    given = asked.run.case.given
    cluster = given.cluster
    lines = [f"given.cluster: {_said(cluster)}, given.hosting: {given.hosting or 'self-hosted'}"]
    broken = list(violations_of(given))
    lines += [f"broken: {one.limit.id}: {one.text}" for one in broken]
    wanted = {*asked.body.violated, *asked.body.outdated} - {one.limit.id for one in broken}
    for limit in LIMITS:
        if limit.id in wanted:
            lines.append(f"not broken: {limit.id} ({limit.field}): {limit.statement}: {limit.why}")
    return lines


def _said(cluster: Model | None) -> str:
    return "absent, so no limit is looked at" if cluster is None else show(said(cluster))
