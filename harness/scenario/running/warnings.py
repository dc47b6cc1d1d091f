"""Warnings of lint about the objects of a failed expectation, where they may be the reason."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.explain.lint.checks import findings_of
from harness.scenario.expectations.failure import FailedExpectation

__all__ = ["warning_lines"]

_OF_STAYING = frozenset({"budget-never", "budget-schedule"})
"""Codes that tell why a node stays."""
_OF_WAITING = frozenset({"limit-below-node", "memory-bytes", "nodeclass-missing"})
"""Codes that tell why a pod waits."""
_ABOUT_LEAVING = frozenset({"always", "cost", "disrupted", "eventually", "nodeclaims", "objects"})


def warning_lines(failure: FailedExpectation, lines: Sequence[str]) -> Iterator[str]:
    """Yield the warnings about the objects that `lines` name: of budgets where nodes stay, of others where pods wait."""
    stays = failure.kind in _ABOUT_LEAVING and _has_node(lines) and not _too_few(failure)
    waits = any("pending" in line for line in lines)
    codes = (_OF_STAYING if stays else frozenset()) | (_OF_WAITING if waits else frozenset())
    if not codes:
        return
    # lint reads manifests that the API server has taken
    refused = {refusal.manifest.identity for refusal in failure.run.refusals if refusal.manifest is not None}
    taken = [manifest.object for manifest in failure.run.case.manifests if manifest.identity not in refused]
    for finding in findings_of(taken, lambda: failure.run.world):
        if finding.code in codes and _names(lines, finding.kind, finding.name):
            yield f"warning {finding.code}: {finding.kind}/{finding.name}: {finding.text}"


def _has_node(lines: Sequence[str]) -> bool:
    """Return whether a NodeClaim is there that has not gone."""
    return any(line.startswith("NodeClaim ") and "gone at" not in line for line in lines)


def _too_few(failure: FailedExpectation) -> bool:
    """Return whether a number is below the expected one."""
    pairs = [(difference.expected, difference.actual) for difference in failure.verdict.differences]
    return any(wanted.isdigit() and actual.isdigit() and int(actual) < int(wanted) for wanted, actual in pairs)


def _names(lines: Sequence[str], kind: str, name: str) -> bool:
    return any(f"{kind}{between}{name}{behind}" in f"{line} " for line in lines for between in " /" for behind in " ,:")
