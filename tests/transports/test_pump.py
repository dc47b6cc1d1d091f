"""The thread that lets things end: nothing that is raised in it, and no due time, ends it."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from fakeazure.timing import Timing
from fakeazure.transports.live import Pump, WallClock
from fakeazure.transports.wire import Front
from tests.cloud.changes import CHANGES, prepared, wrong


def until(holds: Callable[[], bool]) -> None:
    for _ in range(1000):
        if holds():
            return
        time.sleep(0.01)
    raise AssertionError("it never came")


def test_a_subscriber_that_raises_does_not_stop_the_pump(capsys: pytest.CaptureFixture[str]) -> None:
    clock = WallClock(speed=5000)
    driver = prepared(clock=clock)
    events: list[object] = []

    def refuse(event: object) -> None:
        events.append(event)
        raise RuntimeError("a subscriber of the user's")

    front = Front(driver.cloud, authenticate=False)
    with Pump(front, clock):
        with front.lock:
            driver.cloud.subscribe(refuse)
            CHANGES["vm delete"](driver)
        until(lambda: bool(events))
        with front.lock:
            deletion = CHANGES["disk delete"](driver)
        until(lambda: driver.poll(deletion).body["status"] == "Succeeded")  # type: ignore[index]
        until(lambda: not driver.cloud.state.operations.running())
    assert "RuntimeError" in capsys.readouterr().err
    assert wrong(driver.cloud) == []


def test_what_another_action_raises_is_no_answer_to_a_request(capsys: pytest.CaptureFixture[str]) -> None:
    clock = WallClock(speed=5000)
    driver = prepared(clock=clock)

    def refuse(event: object) -> None:
        raise RuntimeError("a subscriber of the user's")

    driver.cloud.subscribe(refuse)
    CHANGES["vm delete"](driver)
    Pump(Front(driver.cloud, authenticate=False), clock)  # not started: the request itself runs what is due
    until(lambda: driver.cloud.due() > 0)
    assert CHANGES["disk patch"](driver).status < 500
    assert "RuntimeError" in capsys.readouterr().err


def test_what_raises_beside_the_actions_does_not_stop_the_pump(capsys: pytest.CaptureFixture[str]) -> None:
    clock = WallClock(speed=5000)
    driver = prepared(clock=clock)
    due, raised = driver.cloud.next_due, list[str]()

    def broken() -> float | None:
        if not raised:
            raised.append("once")
            raise LookupError("a bug")
        return due()

    driver.cloud.next_due = broken  # type: ignore[method-assign]
    front = Front(driver.cloud, authenticate=False)
    with Pump(front, clock):
        until(lambda: bool(raised))
        with front.lock:
            deletion = CHANGES["disk delete"](driver)
        until(
            lambda: (
                driver.cloud.state.operations.get(deletion.headers["Location"].partition("?")[0][-36:]).ended
                is not None
            )
        )  # type: ignore[union-attr]
    assert "LookupError" in capsys.readouterr().err


def test_an_operation_of_centuries_does_not_stop_the_pump(capsys: pytest.CaptureFixture[str]) -> None:
    clock = WallClock(speed=0.001)
    driver = prepared(clock=clock, timing=Timing(resource=1e12))
    front = Front(driver.cloud, authenticate=False)
    with Pump(front, clock) as pump:
        with front.lock:
            CHANGES["disk delete"](driver)
        time.sleep(0.05)
        assert pump._thread.is_alive()
    assert capsys.readouterr().err == ""
