"""The table of a run under two Karpenters: how many scenarios agree, and each that does not with its first fact."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from harness.scenario.comparing.comparison import Comparison, Result
from plainlines import joined

__all__ = ["render_agreement", "render_difference"]


def render_agreement(comparisons: Sequence[Comparison], *, verbose: bool = False) -> str:
    """All lines of the table; with `verbose` also what was drawn, and each case that was not compared."""
    return joined(part for line in _lines(comparisons, verbose) for part in line.split("\n"))


def _lines(comparisons: Sequence[Comparison], verbose: bool) -> Iterator[str]:
    count = Counter(comparison.result for comparison in comparisons)
    compared = count[Result.AGREE] + count[Result.DIFFER]
    share = f" ({100 * count[Result.AGREE] / compared:.1f} % of {compared} compared)" if compared else ""
    yield f"agree {count[Result.AGREE]}{share}, differ {count[Result.DIFFER]}, " + (
        f"needs virtual time {count[Result.VIRTUAL]}, not applicable {count[Result.NOT_APPLICABLE]}"
    )
    yield f"facts that are the same: {sum(comparison.facts for comparison in comparisons)}"
    if rows_of_nodes := sum(comparison.rows for comparison in comparisons):
        yield f"rows of label tables that a real Node shows the same: {rows_of_nodes}"
    rows = Counter(
        (comparison.release, comparison.mode, str(comparison.result))
        for comparison in comparisons
        if comparison.result in (Result.AGREE, Result.DIFFER)
    )
    for (release, mode, result), number in sorted(rows.items()):
        yield f"  {release} {mode}: {result} {number}"
    for differing in comparisons:
        if differing.result is Result.DIFFER:
            yield render_difference(differing)
    reasons: Counter[str] = Counter()
    for differing in comparisons:
        reasons.update({difference.kept for difference in differing.kept})
    for reason, number in reasons.most_common():
        yield f"kept in {number} scenarios: {reason}"
    passed_over = Counter(
        (str(comparison.result), comparison.reason) for comparison in comparisons if comparison.reason
    )
    for (result, reason), number in sorted(passed_over.items(), key=lambda item: (item[0][0], -item[1])):
        if verbose or number > 1 or result == Result.AGREE:
            yield f"{result}, {number} scenarios: {reason}"
    if verbose:
        for differing in comparisons:
            for who, drawn in differing.drawn.items():
                if drawn:
                    yield f"drawn in {differing.case}, {who}: {'; '.join(drawn)}"


def render_difference(comparison: Comparison) -> str:
    """A case that differs, with its first fact."""
    more = len([difference for difference in comparison.differences if not difference.kept]) - 1
    also = [f"    and {more} more"] if more > 0 else []
    return joined([f"differ: {comparison.case} ({comparison.release})", *f"  {comparison.first}".split("\n"), *also])
