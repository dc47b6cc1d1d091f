"""Whose turn it is: first come, first served, however eager the one who has the lock is."""

from __future__ import annotations

import threading

import pytest

from harness.clusters.waiting import poll
from harness.engine.engine import DONE, Engine, Result
from harness.world.real.fair_lock import FairLock
from harness.world.real.wall import Wall, wall_clock

from .conftest import NewWorld


def queue(lock: FairLock, who: str, order: list[str]) -> threading.Thread:
    """Who asks for the lock now and writes its name when it has it; returns when it stands in the queue."""

    def ask() -> None:
        with lock:
            order.append(who)

    before = lock.waiting
    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    poll(lambda: lock.waiting > before, f"{who} to ask for the lock", seconds=60)
    return thread


def test_who_came_first_has_it_first() -> None:
    lock, order = FairLock(), list[str]()
    with lock:
        threads = [queue(lock, f"{number}", order) for number in range(8)]
    for thread in threads:
        thread.join(60)
    assert order == [f"{number}" for number in range(8)]


def test_who_takes_it_again_stands_behind_those_who_wait() -> None:
    lock, order = FairLock(), list[str]()
    lock.acquire()
    thread = queue(lock, "request", order)
    lock.release()
    with lock:
        order.append("engine")
    thread.join(60)
    assert order == ["request", "engine"]


def test_giving_way_lets_all_who_wait_go_first_and_keeps_the_depth() -> None:
    lock, order = FairLock(), list[str]()
    with lock, lock:
        threads = [queue(lock, who, order) for who in ("a", "b")]
        lock.give_way()
        order.append("engine")
        threads.append(queue(lock, "c", order))
        assert order == ["a", "b", "engine"]
    for thread in threads:
        thread.join(60)
    assert order == ["a", "b", "engine", "c"]
    with pytest.raises(RuntimeError):
        lock.release()
    with pytest.raises(RuntimeError):
        lock.give_way()


def test_a_condition_can_be_made_of_it() -> None:
    lock, said = FairLock(), list[str]()
    condition = threading.Condition(lock)  # type: ignore[arg-type]

    def say() -> None:
        with condition:
            said.append("now")
            condition.notify_all()

    with condition, condition:
        threading.Thread(target=say, daemon=True).start()
        assert condition.wait_for(lambda: bool(said), 60)
        assert lock._is_owned()
    assert not lock._is_owned()


class Chores:
    """A controller with three chores; before the first is done somebody asks for the lock."""

    name = "chores"
    backoff = (1.0, 1.0)

    def __init__(self, lock: FairLock, order: list[str]) -> None:
        self.lock, self.order = lock, order
        self.threads: list[threading.Thread] = []

    def watches(self) -> dict[str, object]:
        return {}

    def reconcile(self, key: object) -> Result:
        if not self.threads:
            self.threads.append(queue(self.lock, "request", self.order))
        self.order.append(f"{key}")
        return DONE


def chores(lock: FairLock, engine: Engine) -> Chores:
    """Three of them, due at once."""
    found = Chores(lock, [])
    engine.add_controllers(found)  # type: ignore[arg-type]
    for key in ("one", "two", "three"):
        engine.enqueue(found, key)  # type: ignore[arg-type]
    return found


def test_with_a_lock_that_nobody_gives_away_a_request_waits_for_all_steps() -> None:
    lock, engine = FairLock(), Engine(wall_clock())
    found = chores(lock, engine)
    with lock:
        Wall(engine).catch_up()
    found.threads[0].join(60)
    assert found.order == ["one", "two", "three", "request"]


def test_a_request_is_let_go_first_between_two_steps_of_the_engine(idle_world: NewWorld) -> None:
    world = idle_world()
    found = chores(world.lock, world.engine)
    poll(lambda: world.advance(0.01) is None or len(found.order) == 4, "all chores", seconds=60)
    assert found.order == ["one", "request", "two", "three"]


def test_a_request_leaves_the_rest_of_the_engines_work_when_another_waits(idle_world: NewWorld) -> None:
    world = idle_world()
    found = chores(world.lock, world.engine)
    world.catch_up()
    assert found.order == ["one"]
    poll(lambda: world.advance(0.01) is None or len(found.order) == 4, "all chores", seconds=60)
    assert found.order == ["one", "request", "two", "three"]


def test_a_request_that_is_alone_does_all_that_is_due(idle_world: NewWorld) -> None:
    world = idle_world()
    found = chores(world.lock, world.engine)
    found.threads.append(threading.current_thread())  # nobody asks
    world.catch_up()
    assert found.order == ["one", "two", "three"]
