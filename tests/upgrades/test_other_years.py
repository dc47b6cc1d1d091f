"""A world that begins in another year does the same at the same seconds: no moment stands for "never", none is the first one."""

import re
from typing import Any

import pytest

from harness import World
from harness.engine.clock import SECOND, ZERO_TIME, Clock, parse, render
from harness.world import default_caches
from tests.upgrades.manifests import Case, drawn_case
from tests.upgrades.worlds import differing, objects_of

YEAR = 364 * 86_400 * SECOND
"""Whole weeks, so that schedules of budgets open on the same weekdays."""
_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def _moved(value: Any, by: int) -> Any:
    """The value with all timestamps so many nanoseconds earlier."""
    if isinstance(value, dict):
        return {key: _moved(item, by) for key, item in value.items()}
    if isinstance(value, list):
        return [_moved(item, by) for item in value]
    if isinstance(value, str):
        return _STAMP.sub(lambda at: at[0] if at[0] == ZERO_TIME else render(parse(at[0]) - by), value)
    return value


def _course(case: Case, start: int, seed: int) -> Any:
    world = World(clock=Clock(start), seed=seed, caches=default_caches())
    world.apply(*case.platform)
    world.settle(allow_rejections=True)
    world.apply(*case.changes)
    world.advance(90 * 60)
    told = [(event.at, event.reason, str(event.object), event.message) for event in world.events]
    decided = [str(one) for one in world.disruptions]
    return _moved({"objects": objects_of(world), "events": told, "disruptions": decided}, start)


@pytest.mark.parametrize("years", [-2, 3])
@pytest.mark.parametrize("seed", [1, 4, 5])
def test_the_year_decides_nothing(seed: int, years: int) -> None:
    case = drawn_case(seed)
    assert list(differing(_course(case, 0, seed), _course(case, years * YEAR, seed))) == []


def test_another_world_like_it_begins_at_the_same_time() -> None:
    assert World(clock=Clock(-YEAR)).fresh().clock.timestamp() == "2025-01-02T00:00:00Z"
