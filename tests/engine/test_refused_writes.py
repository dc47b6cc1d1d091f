"""A write that the API server refuses fails a reconcile, whichever controller wrote: it is tried again after a back-off."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from harness.engine.clock import Clock
from harness.engine.engine import DONE, Engine, Result, Router
from harness.kube.api.status import ApiError


class Refused:
    """A controller whose first writes are refused."""

    name = "refused"
    backoff = (1.0, 100.0)

    def __init__(self, engine: Engine, times: int) -> None:
        self._engine, self._times, self.at = engine, times, list[int]()

    def watches(self) -> Mapping[str, Router]:
        """Nothing."""
        return {}

    def reconcile(self, key: Hashable) -> Result:
        """Write."""
        self.at.append(self._engine.clock.now)
        if len(self.at) <= self._times:
            raise ApiError(422, "Invalid", "it is invalid")
        return DONE


def test_it_is_tried_again_after_a_back_off() -> None:
    engine = Engine(Clock())
    controller = Refused(engine, times=2)
    engine.add_controllers(controller)
    engine.enqueue(controller, "key")
    engine.advance(10)
    first, second, third = controller.at
    assert (second - first, third - second) == (1_000_000_000, 2_000_000_000)


def test_no_settling_waits_for_what_only_a_change_can_help() -> None:
    engine = Engine(Clock())
    controller = Refused(engine, times=1000)
    engine.add_controllers(controller)
    engine.enqueue(controller, "key")
    settled = engine.settle()
    assert settled.quiescent
    assert len(controller.at) == 1
