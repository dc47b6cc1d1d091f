"""Many steps are no fault while time passes; where it does not, the engine stops, and each end names its limit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

import pytest

from harness.engine.clock import Clock
from harness.engine.engine import Engine, Result, Router, Wait
from harness.engine.step_bounds import ALL_STEPS, STEPS_OF_AN_HOUR, StepBounds
from harness.limits import ALL_STEPS as ALL_STEPS_LIMIT
from harness.limits import STEPS, with_remedy


class Ticking:
    """A controller that is called again every so many seconds."""

    name = "ticking"
    backoff = (1.0, 1.0)

    def __init__(self, seconds: float, wait: Wait) -> None:
        self.seconds, self.wait = seconds, wait

    def watches(self) -> Mapping[str, Router]:
        return {}

    def reconcile(self, key: Hashable) -> Result:
        return Result(self.seconds, self.wait)


def engine(seconds: float, of_an_hour: int, of_all: int = 1_000_000, wait: Wait = Wait.ALARM) -> Engine:
    ticking, made = Ticking(seconds, wait), Engine(Clock(), bounds=StepBounds(of_an_hour, of_all))
    made.add_controllers(ticking)
    made.enqueue(ticking, "key")
    return made


def test_many_steps_over_a_long_time_are_no_fault() -> None:
    settled = engine(60, 100).advance(7 * 86_400)
    assert (settled.exhausted, settled.limit, settled.seconds) == (None, "", 7 * 86_400)
    assert settled.steps == 7 * 1440 + 1


@pytest.mark.parametrize("seconds", [0, 0.001, 30])
def test_time_that_stands_still_ends_it(seconds: float) -> None:
    settled = engine(seconds, 100).advance(7 * 86_400)
    assert settled.exhausted is not None
    assert settled.exhausted.startswith("still moving after 100 steps within ")
    assert (settled.steps, settled.limit) == (100, STEPS_OF_AN_HOUR)


def test_looks_of_many_objects_that_wait_do_not_count_for_the_hour() -> None:
    """A CronJob whose pods never get a node has a pod more every minute, at which Karpenter looks every ten seconds."""
    settled = engine(10, 100, wait=Wait.POLL).advance(86_400)
    assert (settled.exhausted, settled.steps) == (None, 8641)
    assert engine(10, 100, 1000, wait=Wait.POLL).advance(86_400).limit == ALL_STEPS


@pytest.mark.parametrize("seconds", [0, 0.001, 0.999])
def test_looks_less_than_a_second_apart_count_for_the_hour(seconds: float) -> None:
    settled = engine(seconds, 100, wait=Wait.POLL).advance(86_400)
    assert (settled.steps, settled.limit) == (100, STEPS_OF_AN_HOUR)


def test_looks_that_write_count_for_the_hour() -> None:
    class Writing(Ticking):
        def reconcile(self, key: Hashable) -> Result:
            made.touch()
            return super().reconcile(key)

    writing, made = Writing(10, Wait.POLL), Engine(Clock(), bounds=StepBounds(100, 1_000_000))
    made.add_controllers(writing)
    made.enqueue(writing, "key")
    settled = made.advance(86_400)
    assert (settled.steps, settled.limit) == (100, STEPS_OF_AN_HOUR)


def test_all_steps_have_a_bound_of_their_own() -> None:
    settled = engine(60, 100, 1000).advance(7 * 86_400)
    assert settled.exhausted is not None
    assert settled.exhausted.startswith("still moving after 1000 steps in 16h39m")
    assert (settled.steps, settled.limit) == (1000, ALL_STEPS)


def test_the_remedy_names_the_limit() -> None:
    assert (STEPS.name, ALL_STEPS_LIMIT.name) == (STEPS_OF_AN_HOUR, ALL_STEPS)
    assert with_remedy("x", ALL_STEPS) == "x; HARNESS_LIMITS=all-steps=N in the environment raises that"
    assert (with_remedy(None, ""), with_remedy("x", "")) == ("", "x")
