"""How often Karpenter tells an Event: within a window one of a reason hides others about the same object, whatever they say.

What "the same" is: DedupeValues of each event in core pkg/…/events.go.
"""

from __future__ import annotations

import pytest

from harness.engine.clock import SECOND, Clock
from harness.testing import deployment, nodeclass, nodepool
from harness.world import World
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


def named(name: str, uid: str, namespace: str = "default") -> dict[str, object]:
    return {"kind": "Pod", "metadata": {"name": name, "namespace": namespace, "uid": uid}}


@pytest.mark.parametrize("reason", ["FailedScheduling", "Nominated"])
def test_a_pod_that_is_made_anew_under_its_name_is_told_anew(reason: str) -> None:
    first, second = named("web-0", "1"), named("web-0", "2")
    assert told((first, reason, "first", 1), (second, reason, "second", 1), (first, reason, "first", 0)) == [
        "first",
        "second",
    ]


@pytest.mark.parametrize("reason", ["Evicted", "Disrupted"])
def test_pods_of_one_name_are_told_once_wherever_they_are(reason: str) -> None:
    assert told((named("web-0", "1", "a"), reason, "first", 1), (named("web-0", "2", "b"), reason, "second", 0)) == [
        "first"
    ]


def test_a_command_is_told_once_whatever_it_saves() -> None:
    texts = [f"Consolidation candidate: {what} (savings: ${usd})" for what, usd in (("a", 1), ("a", 2), ("b", 2))]
    assert told(*((POD, "ConsolidationCandidate", text, 0) for text in texts)) == [texts[0], texts[2]]


def test_a_karpenter_that_has_just_started_has_told_nothing_yet() -> None:
    world = World()
    world.apply(nodeclass(), nodepool(), deployment(nodeSelector={"nobody": "has-it"}))
    world.advance(30)
    reason = "FailedScheduling"

    def texts() -> list[str]:
        return [each.message for each in world.events if each.reason == reason and each.source == "karpenter"]

    assert len(texts()) == 1
    world.restart_karpenter()
    world.advance(30)
    first, second = texts()
    assert first == second
