"""`harness labels explain KEY`: the whole story of a label key in a screenful."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from harness.cli.output import bad_input, print_json
from harness.wording import shortened
from plainlines import print_line, printable

if TYPE_CHECKING:
    from harness.explain.labels.comparison import Cell
    from harness.explain.labels.story import Story
    from harness.explain.upgrade.trial import Trial
    from harness.world import World

__all__ = ["run"]

NO_NODE = 3
_LONGEST = 150


def run(arguments: argparse.Namespace) -> int:
    """Print the meaning of the key, who may ask for it and set it, who writes it, who wins, and its changes."""
    from harness.cli.label_names import key_mistakes
    from harness.cli.worlds import InputError, UnknownMode, create_world
    from harness.explain.labels.probes import keys_of_all_releases
    from harness.explain.labels.story import tell

    names = arguments.keys[1:]
    if len(names) != 1:
        return bad_input("harness labels explain: one label key is expected")
    (key,) = names

    def new_world(**more: Any) -> World:
        inputs = {"karpenter": arguments.release, "region": arguments.region, "provision_mode": arguments.mode, **more}
        try:
            return create_world(**inputs)
        except UnknownMode:
            if "karpenter" not in more:
                raise
            return create_world(**{**inputs, "provision_mode": None})  # a release of before the mode, as it was then

    try:
        new_world()  # mistakes of the options come first
        mistakes = list(key_mistakes(names, keys_of_all_releases(), as_written=arguments.as_written))
        if mistakes:
            return bad_input(printable(f"harness labels explain: {mistakes[0]}"))
        story = tell(key, new_world)
    except InputError as error:
        return bad_input(f"harness labels explain: {error}")
    except LookupError as error:
        print_line(f"harness labels explain: {error}", error=True)
        return NO_NODE
    if arguments.format == "json":
        print_json(_value(story))
    else:
        for line in _lines(story):
            print_line(line)
    return 0


def _lines(story: Story) -> Iterator[str]:
    pod, pool, _ = story.cells
    yield f"{story.key}, provider {story.release.version}, region {story.region}"
    yield f"  is           {'; '.join(story.roles) or 'nothing that Karpenter knows: a label like any other'}"
    if story.computed is not None:
        yield f"  computed     {_computed_text(story)}"
    yield f"  a pod        {pod.answer}: {story.key}={story.value} → {shortened(story.pod.source, _LONGEST)}"
    yield f"               another value → {story.mismatch.outcome}: {shortened(story.mismatch.source, _LONGEST)}"
    yield f"  a NodePool   {pool.answer}: {shortened(pool.why, _LONGEST)}"
    if story.conflict is not None:
        yield f"               sets it to {story.conflict_value} → {_conflict_text(story.key, story.conflict)}"
    for mode, cell in story.modes.items():
        yield f"  on the Node  {mode}: {_cell(cell)}"
    yield "  releases"
    for era in story.eras:
        name = era.first if era.first == era.last else f"{era.first} to {era.last}"
        yield f"    {name:17} pod {era.pod}; NodePool {era.nodepool}; Node {era.written}"
    if story.claim is not None:
        from harness.explain.labels.story import sentences

        cells = ", ".join(f"{name} {_yes_no(cell)}" for name, cell in sentences(story.claim))
        yield f"  the documents' tables (2025-10-30, 2025-11-07): {cells}"
        yield from _mismatches(story)
    for name, (of_pod, set_, written) in story.decided.items():
        yield f"  {name} decides: pod {of_pod.answer}, NodePool {set_.answer}, Node {written.answer} ({set_.why})"
    from harness.karpenter.releases.policies import NOT_SIMULATED

    if story.key in NOT_SIMULATED:
        yield f"    and it is not simulated: {NOT_SIMULATED[story.key]}"
    for row in story.differences:
        yield f"  {row.id}: {row.document} Releases: {row.today} ({row.evidence})"


def _mismatches(story: Story) -> Iterator[str]:
    """The Karpenter columns of the documents' tables that do not hold under this release."""
    from harness.explain.labels.mismatches import mismatches

    pod, _, written = story.cells
    for mismatch in mismatches(story.key, pod, written):
        claim = f"{mismatch.column} {mismatch.said} does not hold under {story.release.version}"
        yield f"    {claim}: {mismatch.found}; {shortened(mismatch.why, _LONGEST)}"


def _computed_text(story: Story) -> str:
    computed = story.computed
    assert computed is not None
    values = ", ".join(computed.values)
    return f"one value on {computed.single} sizes, several on {computed.several}, none on {computed.none}; most often {values}"


def _conflict_text(key: str, tried: Trial) -> str:
    if tried.node is None:
        return f"no Node: {shortened(tried.sentence or 'no size is left', _LONGEST)}"
    changes = [write for write in tried.writes.get(key, ()) if str(write.kind) in ("set", "overwrote")]
    writes = " → ".join(f"{write.by} ({write.from_}): {write.value}" for write in changes)
    return f"the Node has {tried.labels.get(key, 'no such label')}" + (f" ({writes})" if writes else "")


def _cell(cell: Cell) -> str:
    return cell.detail if cell.detail else f"{cell.answer}: {cell.why}"


def _yes_no(cell: bool | None) -> str:
    return "not said" if cell is None else "yes" if cell else "no"


def _value(story: Story) -> dict[str, Any]:
    pod, pool, _ = story.cells
    return {
        "key": story.key,
        "release": story.release.version,
        "roles": list(story.roles),
        "computed": None
        if story.computed is None
        else {
            "single": story.computed.single,
            "several": story.computed.several,
            "none": story.computed.none,
            "values": list(story.computed.values),
        },
        "value": story.value,
        "pod": {"answer": str(pod.answer), "outcome": str(story.pod.outcome), "why": story.pod.source},
        "another_value": {"outcome": str(story.mismatch.outcome), "why": story.mismatch.source},
        "nodepool": {"answer": str(pool.answer), "layer": pool.detail or None, "why": pool.why},
        "conflict": None
        if story.conflict is None
        else {"value": story.conflict_value, "result": _conflict_text(story.key, story.conflict)},
        "written": {mode: {"answer": str(cell.answer), "writes": cell.detail} for mode, cell in story.modes.items()},
        "releases": [
            {"first": era.first, "last": era.last, "pod": era.pod, "nodepool": era.nodepool, "written": era.written}
            for era in story.eras
        ],
        "mismatches": list(_mismatches(story)),
        "documents": {
            name: {"pod": str(of_pod.answer), "nodepool": str(set_.answer), "written": str(node.answer)}
            for name, (of_pod, set_, node) in story.decided.items()
        },
        "differences": [row.id for row in story.differences],
    }
