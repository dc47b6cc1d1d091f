"""The summary of a table: the cheapest rows, the pods that stay pending, and the axis that changes where pods go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from harness.sweep.result import Value
from harness.trace.prices import hourly
from harness.wording import first_few

__all__ = ["is_over_time", "summary_lines"]

Row = Mapping[str, Value]

_FEW = 5

_ORDERED = "karpenter"
"""The axis whose values follow one another; those of others are compared with the first one."""


def is_over_time(rows: Sequence[Row]) -> bool:
    """Return whether time passed after worlds came to rest: nodes left, or all worlds went on for long."""
    ran = [row for row in rows if not row["error"]]
    return any(row["disruptions"] for row in ran) or min((float(row["hours"] or 0.0) for row in ran), default=0) >= 0.5


def summary_lines(axes: Sequence[str], rows: Sequence[Row], *, over_time: bool) -> Iterator[str]:
    """Yield the summary's lines. `over_time`: rows are compared by what they cost in all, not per hour at the end."""
    failed = [row for row in rows if row["error"]]
    ran = [row for row in rows if not row["error"]]
    whole = [row for row in ran if not row["pending"] and not row["rejected"] and row["settled"]]
    for row in failed[:_FEW]:
        yield f"failed: {_where(axes, row)}: {row['error']}"
    column = "usd" if over_time else "usd_per_hour"
    priced = [row for row in whole if row[column] is not None]
    if priced:
        best = sorted(priced, key=lambda row: float(row[column] or 0.0))
        shown = best[:_FEW]
        yield f"cheapest of {len(priced)} in which every pod has its place:"
        yield from _table([*axes, column, "nodes", "pods", "sizes"], shown)
        if len(best) > _FEW:
            last = best[-1]
            yield f"  … dearest: {_cell(column, last[column])} ({_where(axes, last)})"
    supposed = Counter(str(row["supposed_prices"]) for row in ran if row["supposed_prices"])
    for text, count in supposed.items():
        yield text if count == len(ran) else f"{text}, in {count} of {len(ran)}"
    guessed = [row for row in priced if row.get("guessed_prices")]
    if guessed:
        sizes = sorted({size for row in guessed for size in str(row["guessed_prices"]).split(", ")})
        yield f"{len(guessed)} of {len(priced)} at prices on spot that are guesses: {first_few(sizes, _FEW)}"
    if len(priced) < len(whole):
        dear = [row for row in whole if row[column] is None]
        more = f" and {len(dear) - 1} more" if len(dear) > 1 else ""
        where = f"{_where(axes, dear[0])}{more}: {dear[0]['sizes']}"
        yield f"{len(dear)} in which no price is known of a size, so that nobody knows the cost: {where}"
    short = [row for row in ran if row not in whole]
    if short:
        yield f"{len(short)} in which not every pod has its place:"
        by_reason: dict[str, list[Row]] = {}
        for row in short:
            by_reason.setdefault(str(row["reason"] or "not settled"), []).append(row)
        for reason, those in list(by_reason.items())[:_FEW]:
            more = f" and {len(those) - 1} more" if len(those) > 1 else ""
            yield f"  {those[0]['pending']} of {those[0]['pods']} pods, {_where(axes, those[0])}{more}: {reason}"
    yield from _changes(axes, ran)


def _changes(axes: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """For each axis with several values: at which of them workloads get other sizes or capacity types, all else alike."""
    for axis in axes:
        values = list(dict.fromkeys(str(row[axis]) for row in rows))
        if len(values) < 2 or axis == "seed":
            continue
        placements: dict[tuple[Value, ...], dict[str, Value]] = {}
        for row in rows:
            placements.setdefault(tuple(row[other_axis] for other_axis in axes if other_axis != axis), {})[
                str(row[axis])
            ] = row["placement"]
        changed = [
            value
            for before, value in (
                pairwise(values) if axis == _ORDERED else ((values[0], first) for first in values[1:])
            )
            if any(
                before in by_value and value in by_value and by_value[before] != by_value[value]
                for by_value in placements.values()
            )
        ]
        than = "at the value before" if axis == _ORDERED else f"at {values[0]}"
        yield f"{axis}: {_changed(changed, values, than)}"


def _changed(changed: Sequence[str], values: Sequence[str], than: str) -> str:
    if not changed:
        return f"workloads get the same sizes and capacity types at all {len(values)} values"
    return f"at {first_few(changed, _FEW)} workloads get other sizes or capacity types than {than}"


def _where(axes: Sequence[str], row: Row) -> str:
    return ", ".join(f"{axis} {row[axis]}" for axis in axes if row[axis]) or "the one situation"


def _cell(column: str, value: Value) -> str:
    return hourly(value) if column in ("usd", "usd_per_hour") and isinstance(value, (int, float)) else str(value)


def _table(columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    cells = [list(columns), *([_cell(column, row[column]) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        yield "  " + "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
