"""The described cluster, and the document's words about it."""

from __future__ import annotations

from harness.karpenter.hosting import LIMITS
from harness.scenario.language.hosting import violations_of
from harness.scenario.language.models.base import Model
from harness.scenario.running.matching import as_written, show
from harness.scenario.running.reasons.failed_expectation import FailedExpectation

__all__ = ["failure_lines"]


def failure_lines(failure: FailedExpectation) -> list[str]:
    """Return the given cluster, the limits that it breaks, and the words of those that it does not."""
    given = failure.run.case.given
    cluster = given.cluster
    lines = [f"given.cluster: {_said(cluster)}, given.hosting: {given.hosting or 'self-hosted'}"]
    broken = list(violations_of(given))
    lines += [f"broken: {violation.limit.id}: {violation.text}" for violation in broken]
    wanted = {*failure.body.violated, *failure.body.outdated} - {violation.limit.id for violation in broken}
    for limit in LIMITS:
        if limit.id in wanted:
            lines.append(f"not broken: {limit.id} ({limit.field}): {limit.statement}: {limit.why}")
    return lines


def _said(cluster: Model | None) -> str:
    return "absent, so no limit is looked at" if cluster is None else show(as_written(cluster))
