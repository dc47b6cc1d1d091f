"""`--sample N`: of each release line a few cases, drawn by a seed, so that a slow cluster sees every line within minutes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

import pytest

__all__ = ["sampled", "select_sample"]


def sampled(lines: Mapping[str, str], count: int, seed: int) -> frozenset[str]:
    """The test ids that are drawn: `count` of each line, or all where there are fewer. `lines` has the line of each id.

    The same for the same ids and seed, in whatever order they come.
    """
    drawn: set[str] = set()
    for line in sorted(set(lines.values())):
        ids = [each for each, of in lines.items() if of == line]
        drawn.update(sorted(ids, key=lambda each: sha256(f"{seed} {each}".encode()).digest())[:count])
    return frozenset(drawn)


def select_sample(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave in `items` the cases that are drawn; what is no case of a release goes."""
    drawn = sampled(
        _lines(config, items), config.getoption("scenarios_sample"), config.getoption("scenarios_sample_seed")
    )
    others = [item for item in items if item.nodeid not in drawn]
    items[:] = [item for item in items if item.nodeid in drawn]
    config.hook.pytest_deselected(items=others)


def _lines(config: pytest.Config, items: Iterable[pytest.Item]) -> dict[str, str]:
    from harness.karpenter.releases import base_of
    from harness.karpenter.releases.order import line_of
    from harness.pytest_plugin.keys import runner_of

    shared = runner_of(config).shared
    cases = ((item.nodeid, getattr(item, "case", None)) for item in items)
    return {nodeid: line_of(base_of(shared.idle_world(case).release)) for nodeid, case in cases if case is not None}
