"""`harness labels diff`: the label keys that two releases, or a design document and a release, see differently."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from harness.cli.output import bad_input, print_json
from harness.wording import shortened
from plainlines import joined, print_line, print_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from harness.explain.labels.comparison import KeyDifference, Side

__all__ = ["run"]

NO_NODE = 3
_LONGEST = 120
_TITLES = {"pod": "a pod may ask", "nodepool": "a NodePool may set it", "written": "on the Node"}


def _kubernetes(names: Sequence[str]) -> str | None:
    """The version on which both are tried; None where one of them is a document, or unknown."""
    from harness.explain.labels.comparison import common_kubernetes
    from harness.karpenter.releases import POLICIES, UnknownRelease, provider

    try:
        return None if POLICIES.keys() & set(names) else common_kubernetes([provider(name) for name in names])
    except UnknownRelease:
        return None


def run(arguments: argparse.Namespace) -> int:
    """Print each key with the cells that differ."""
    from harness.cli.label_comparison import side_of
    from harness.cli.worlds import InputError
    from harness.explain.labels.comparison import DecidedSide, TriedSide, compare, keys_of
    from harness.explain.labels.design_documents import differences

    names = arguments.keys[1:]
    if len(names) != 2:
        return bad_input(
            "harness labels diff: two releases are expected, for example: harness labels diff 1.12.2 1.13.1"
        )
    try:
        before, after = (side_of(name, arguments.region, arguments.mode, _kubernetes(names)) for name in names)
        releases = [side.release for side in (before, after) if isinstance(side, TriedSide)]
        if not releases:
            return bad_input("harness labels diff: one of the two must be a release")
        compared = compare(before, after, keys_of(releases))
    except InputError as error:
        return bad_input(f"harness labels diff: {error}")
    except LookupError as error:
        print_line(f"harness labels diff: {error}", error=True)
        return NO_NODE
    if arguments.format == "json":
        print_json(
            {"before": before.name, "after": after.name, "keys": [_value(difference) for difference in compared]}
        )
        return 0
    print_line(f"{before.name} → {after.name}")
    silent = [
        difference.key
        for difference in compared
        if _unknown_to(before, difference.key) or _unknown_to(after, difference.key)
    ]
    groups: dict[tuple[str, ...], list[str]] = {}
    for changed in compared:
        if changed.key not in silent:
            groups.setdefault(tuple(_lines(changed, isinstance(before, DecidedSide))), []).append(changed.key)
    for lines, keys in groups.items():
        print_lines("\n" + joined([*keys, *lines]))
    print_line()
    print_line(f"{len(compared)} keys differ" if compared else "no key differs")
    if silent:
        print_line(f"the document does not know: {', '.join(silent)}")
    if any(isinstance(side, DecidedSide) for side in (before, after)):
        others = ", ".join(row.id for row in differences() if not row.keys)
        print_line(f"differences that are not about one key: {others} (docs/labels/differences.md)")
    return 0


def _unknown_to(side: Side, key: str) -> bool:
    """Return whether a side is a document without a word about a key, by name or by its domain."""
    from harness.explain.labels.comparison import DecidedSide
    from harness.explain.labels.design_documents import Answer

    return (
        isinstance(side, DecidedSide)
        and all(cell.answer is Answer.UNDECIDED for cell in side.cells(key, None))
        and (key not in side.policy.perhaps_well_known)
    )


def _lines(difference: KeyDifference, document_first: bool) -> Iterator[str]:
    for column, (old, new) in difference.cells.items():
        yield f"  {_TITLES[column]}: {old} → {new}"
        if column != "written" or new.answer != old.answer:
            why = (
                f"{shortened(new.why, _LONGEST)}; the document: {old.why}"
                if document_first
                else shortened(new.why, _LONGEST)
            )
            yield f"      {why}"
    for row in difference.rows:
        yield f"  {row.id}: {row.document} Releases: {row.today}"


def _value(difference: KeyDifference) -> dict[str, Any]:
    return {
        "key": difference.key,
        "cells": {
            column: {
                side: {"answer": str(cell.answer), "detail": cell.detail or None, "why": cell.why}
                for side, cell in zip(("before", "after"), pair, strict=True)
            }
            for column, pair in difference.cells.items()
        },
        "rows": [
            {"id": row.id, "document": row.document, "today": row.today, "evidence": row.evidence}
            for row in difference.rows
        ],
    }
