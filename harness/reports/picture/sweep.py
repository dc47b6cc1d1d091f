"""The page of a sweep: which situation is cheapest, what breaks where, what changes placement, what it costs to move less."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.reports.picture.page import page

__all__ = ["sweep_page", "sweep_value"]

_UNSHOWN = frozenset({"key"})


def sweep_page(
    title: str,
    axes: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    *,
    over_time: bool,
    notes: Sequence[str] = (),
) -> str:
    """Return the document.

    `over_time`: situations are compared by what they cost in all, and by how much moved; `notes` stand below its title.
    """
    return page(title, sweep_value(title, axes, rows, over_time=over_time) | ({"notes": [*notes]} if notes else {}))


def sweep_value(
    title: str, axes: Sequence[str], rows: Sequence[Mapping[str, Any]], *, over_time: bool
) -> dict[str, Any]:
    """The table by column, since many rows say the same: a column of texts is a list of distinct ones and positions in it."""
    names = [name for name in (rows[0] if rows else ()) if name not in _UNSHOWN]
    return {
        "page": "sweep",
        "title": title,
        "axes": list(axes),
        "over_time": over_time,
        "count": len(rows),
        "columns": {name: _column([row[name] for row in rows]) for name in names},
    }


def _column(values: Sequence[Any]) -> Any:
    if not all(isinstance(value, str) for value in values):
        return list(values)
    places = {text: number for number, text in enumerate(dict.fromkeys(values))}
    return {"texts": list(places), "at": [places[value] for value in values]}
