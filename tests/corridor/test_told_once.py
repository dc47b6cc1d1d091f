"""How often Karpenter tells an Event: within a window one of a reason hides others about the same object, whatever they say."""

from __future__ import annotations

import pytest

from harness.engine.clock import SECOND, Clock
from harness.world.recorder import Recorder

POD = {"kind": "Pod", "metadata": {"name": "p", "namespace": "default"}}
POOL = {"kind": "NodePool", "metadata": {"name": "p"}}


def told(*events: tuple[dict[str, object], str, str, float]) -> list[str]:
    clock = Clock()
    recorder = Recorder(clock)
    for obj, reason, message, wait in events:
        recorder.event(obj, "Normal", reason, message)
        clock.advance_to(clock.now + int(wait * SECOND))
    return [event.message for event in recorder.events]


def test_a_second_nomination_is_hidden_by_the_first() -> None:
    assert told((POD, "Nominated", "to a", 60), (POD, "Nominated", "to b", 0)) == ["to a"]


def test_after_the_window_it_is_told() -> None:
    assert told((POD, "Nominated", "to a", 121), (POD, "Nominated", "to b", 0)) == ["to a", "to b"]


def test_other_objects_and_reasons_are_told() -> None:
    other = {**POD, "metadata": {"name": "q", "namespace": "default"}}
    events = ((POD, "Nominated", "p", 0), (other, "Nominated", "q", 0), (POD, "Evicted", "gone", 0))
    assert told(*events) == ["p", "q", "gone"]


@pytest.mark.parametrize(("obj", "reason"), [(POOL, "DisruptionBlocked"), (POD, "DisruptionTerminating")])
def test_some_are_told_apart_by_what_they_say(obj: dict[str, object], reason: str) -> None:
    assert told((obj, reason, "a", 0), (obj, reason, "b", 0), (obj, reason, "a", 0)) == ["a", "b"]
