"""`python -m tests.clusters.stories`: tells stories on the real control plane and in memory, and prints how far both agree."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from plainlines import print_lines
from tests.clusters.stories.facts import differences, leaves, repeated
from tests.clusters.stories.generating import KINDS, story
from tests.clusters.stories.memory import told_in_memory
from tests.clusters.stories.real import Stage, stage
from tests.clusters.stories.shrinking import shrunk
from tests.clusters.stories.story import Story

RECORDED = Path(__file__).parent / "recorded"
_SIDE_BY_SIDE = 16


def main() -> int:
    """Prints the agreement of each kind; 1 where something differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.clusters.stories")
    parser.add_argument("--cases", type=int, default=50, help="stories of all kinds together")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="*", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--record", action="store_true", help="keep what the real control plane did for make test")
    parser.add_argument("--shrink", action="store_true", help="look for the shortest story that still differs")
    arguments = parser.parse_args()
    stories = [story(arguments.kinds[n % len(arguments.kinds)], arguments.seed, n) for n in range(arguments.cases)]
    counts: Counter[tuple[str, str]] = Counter()
    with stage() as place:
        kubernetes = place.version()
        for start in range(0, len(stories), _SIDE_BY_SIDE):
            part = stories[start : start + _SIDE_BY_SIDE]
            for told, facts, unsteady in twice(place, part):
                _judge(told, facts, unsteady, kubernetes, counts)
                if arguments.record:
                    record(told, facts, kubernetes)
                if arguments.shrink and differences(facts, told_in_memory(told, kubernetes)):
                    _print_shrunk(place, told, kubernetes)
    return _report(counts, arguments.seed, kubernetes)


def twice(place: Stage, stories: Sequence[Story]) -> list[tuple[Story, list[Any], int]]:
    """Tells stories twice; returns of each the facts that repeat, and the number of those that do not."""
    again = [replace(one, name=f"{one.name}x") for one in stories]
    first = place.tell(stories)
    second = [json.loads(json.dumps(facts)) for facts in place.tell(again)]
    found = []
    for one, facts, others in zip(stories, first, second, strict=True):
        found.append((one, repeated(facts, others), len(differences(facts, others))))
    return found


def _judge(told: Story, facts: list[Any], unsteady: int, kubernetes: str, counts: Counter[tuple[str, str]]) -> None:
    lines = differences(facts, told_in_memory(told, kubernetes))
    counts[told.kind, "stories"] += 1
    counts[told.kind, "agree"] += not lines
    counts[told.kind, "facts"] += leaves(facts)
    counts[told.kind, "unsteady"] += unsteady
    if lines:
        print_lines("\n  ".join([f"{told.name}: {json.dumps(told.as_json())}", *lines[:12]]))


def record(told: Story, facts: list[Any], kubernetes: str) -> None:
    """Keeps a story with its facts."""
    data = {"kubernetes": kubernetes, "story": told.as_json(), "facts": facts}
    (RECORDED / f"{told.name}.json").write_text(json.dumps(data, indent=1, sort_keys=True) + "\n")


def _print_shrunk(place: Stage, told: Story, kubernetes: str) -> None:
    number = iter(range(1000))

    def differs(shorter: Story) -> bool:
        named = replace(shorter, name=f"{told.name}-t{next(number)}")
        ((_, facts, _),) = twice(place, [named])
        return bool(differences(facts, told_in_memory(named, kubernetes)))

    print_lines(f"shrunk: {json.dumps(shrunk(told, differs).as_json())}")


def _report(counts: Counter[tuple[str, str]], seed: int, kubernetes: str) -> int:
    print_lines(f"Kubernetes {kubernetes}, seed {seed}")
    agree = 0
    for kind in KINDS:
        total = counts[kind, "stories"]
        if total:
            share = counts[kind, "unsteady"] / max(1, counts[kind, "facts"])
            print_lines(
                f"{kind}: {counts[kind, 'agree']} of {total} stories agree, {counts[kind, 'facts']} facts, {share:.1%} do not repeat"
            )
        agree += counts[kind, "agree"] == total
    return 0 if agree == len(KINDS) else 1


if __name__ == "__main__":
    raise SystemExit(main())
