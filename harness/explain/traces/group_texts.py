"""Grouped differences of traces in words, the same for terminal, JSON and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from harness.explain.sizes.filters import filter_text
from harness.explain.traces.grouping import Group
from harness.trace.comparing import Comparison
from harness.wording import counted, first_few

__all__ = [
    "TITLES",
    "follow_text",
    "group_lines",
    "group_value",
    "kubernetes_line",
    "missing_lines",
    "summary_text",
    "value_of",
    "whom",
]

TITLES: Mapping[str, str] = {"new": "new: only in B", "gone": "gone: only in A", "changed": "changed"}
_PLURALS: Mapping[str, str] = {"workload": "workloads", "object": "objects"}
_NAMED = 3
_LIST = re.compile(r"\d+: ")  # a list, of which each side says what only it has
_WIDTH = 200
_LONG = 60  # characters of a side from which on both have lines of their own


def summary_text(comparisons: Sequence[tuple[str, Comparison]], groups: Sequence[Group]) -> str:
    """Return the number of differences in a line: `3 differences (1 new, 2 changed) in 15 facts of 4 of 5 cases; 1629
    facts are the same`.
    """
    own = [group for group in groups if not group.follows]
    same = f"{sum(comparison.same for _, comparison in comparisons):,} facts are the same"
    situations = dict.fromkeys(situation for _, comparison in comparisons for situation in comparison.situations)
    between = ", ".join(f"{name} {left} | {right}" for name, left, right in situations)
    between = f" ({between})" if between else ""
    kept_count = sum(len(comparison.differences) - len(comparison.real) for _, comparison in comparisons)
    also = f", but for {kept_count} that are kept" if kept_count else ""
    if not groups:
        return f"no difference{also}{between}; {same}"
    counts = [
        f"{count} {change}" for change in TITLES if (count := sum(difference.change == change for difference in own))
    ]
    facts = sum(len(comparison.real) for _, comparison in comparisons)
    with_some = sum(bool(comparison.real) for _, comparison in comparisons)
    where = f" in {with_some} of {len(comparisons)} cases" if len(comparisons) > 1 else ""
    number, differ = counted(len(own), "difference"), f"{counted(facts, 'fact')} differ{where}"
    return f"{number}{between}: {', '.join(counts)}; {differ}, {same}"


def kubernetes_line(version: str, others: Mapping[str, str]) -> str:
    """Return the line that both sides have one Kubernetes, where a release would have another by itself."""
    own_versions = " and ".join(f"{release} by itself has {own}" for release, own in others.items() if own != version)
    return f"Kubernetes {version} on both sides; {own_versions}" if own_versions else ""


def missing_lines(comparisons: Sequence[tuple[str, Comparison]]) -> Iterator[str]:
    """Yield the reasons why sizes are offered on one side only, the same of many cases once."""
    lines: dict[str, None] = {}
    for _, comparison in comparisons:
        for missing in comparison.missing:
            names = [size.removeprefix("Standard_") for size in missing.sizes]
            why = (
                f"{missing.side} drops them by {filter_text(missing.filter)}"
                if missing.filter
                else f"{missing.side} does not sell them"
            )
            count = f"{len(names)} {'size is' if len(names) == 1 else 'sizes are'}"
            lines[
                f"NodePool {missing.nodepool}: {count} not offered in {missing.side}, {why}: {first_few(names, _NAMED)}"
            ] = None
    yield from lines


def group_lines(groups: Sequence[Group]) -> Iterator[str]:
    """The groups under new, gone and changed, and below them in a line what follows from them."""
    for change, title in TITLES.items():
        of_change = [group for group in groups if group.change == change and not group.follows]
        if of_change:
            yield title
        for group in of_change:
            yield from _lines(group)
    if text := follow_text(groups):
        yield text


def _lines(group: Group) -> Iterator[str]:
    where = whom(group)
    where = f"  [{where}]" if where else ""
    long = [sides for sides in group.values if group.change == "changed" and max(map(len, sides)) > _LONG]
    if not long:
        yield f"  {group.what}: {_cut(value_of(group))}{where}"
        return
    yield f"  {group.what}{where}"
    for left, right in group.values:
        only = "only in " if all(_LIST.match(side) for side in (left, right) if side) else ""
        yield f"      {only}A  {_cut(left)}"
        yield f"      {only}B  {_cut(right)}"


def value_of(group: Group) -> str:
    """The values in a line: `false`, `2 (5), 4 (2)`, `spot → on-demand`."""
    texts = {
        sides: f"{sides[0]} → {sides[1]}" if group.change == "changed" else sides[1] or sides[0] or "yes"
        for sides in group.values
    }
    if len(texts) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{text} ({group.values[sides]})" if group.kind else text for sides, text in texts.items())


def follow_text(groups: Sequence[Group]) -> str:
    """Return the facts that follow from other differences: how many, and of what."""
    reasons: dict[str, dict[str, int]] = {}
    for group in groups:
        if group.follows:
            counts = reasons.setdefault(group.follows, {})
            subject = "who writes it" if group.what.startswith("who writes ") else group.what
            counts[subject] = counts.get(subject, 0) + len(group.facts)
    if not reasons:
        return ""
    texts = "; ".join(
        f"{reason}: "
        + first_few([f"{subject} ({count})" if count > 1 else subject for subject, count in counts.items()], _NAMED)
        for reason, counts in reasons.items()
    )
    return f"what follows from these (-v has it): {texts}"


def whom(group: Group) -> str:
    """Return the objects of a group: `all 12 Nodes`, `2 of 5 NodeClaims`, `Pod default/web, in 3 cases`."""
    names = group.objects
    cases = len(group.cases)
    names_shown = [_names(group, list(dict.fromkeys(name for _, name in names)), len(names))] if names else []
    return ", ".join([*names_shown, *([f"in {cases} cases"] if cases > 1 else [])])


def _names(group: Group, names: Sequence[str], count: int) -> str:
    if group.there > 1 and count > 1:
        return f"all {count} {group.kind}s" if count == group.there else f"{count} of {group.there} {group.kind}s"
    if len(names) > _NAMED:
        return f"{count} {_PLURALS.get(group.kind, f'{group.kind}s')}"
    before = {"Node": "Node of ", "object": "", "workload": ""}.get(group.kind, f"{group.kind} ")
    return before + ", ".join(names)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def group_value(group: Group) -> dict[str, Any]:
    """A group as JSON has it."""
    return {
        "change": group.change,
        "about": group.about,
        "what": group.what,
        "values": [{"left": left, "right": right, "facts": count} for (left, right), count in group.values.items()],
        "text": value_of(group),
        "objects": whom(group),
        "facts": len(group.facts),
        "cases": group.cases,
        **({"shared": True} if group.shared else {}),
        **({"follows": group.follows} if group.follows else {}),
    }
