"""Virtual time: what settle waits for, what only advance reaches, retries, and circles."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping
from uuid import RFC_4122, UUID

import pytest

from harness.engine.clock import SECOND, Clock, parse, render
from harness.engine.engine import DONE, Engine, ReconcileError, Result, Router, Wait
from harness.engine.ids import Ids
from harness.engine.ports import Change, ChangeType, of_types
from harness.engine.rng import Rng
from harness.engine.runaway import Loop, Runaway, RunawayDetector


class Scripted:
    """A controller that does what its script says for each call of a key."""

    name = "scripted"
    backoff = (1.0, 8.0)

    def __init__(self, engine: Engine, script: Callable[[Hashable, int], Result]) -> None:
        self.calls: list[tuple[float, Hashable]] = []
        self._engine = engine
        self._script = script

    def watches(self) -> Mapping[str, Router]:
        return {}

    def reconcile(self, key: Hashable) -> Result:
        self.calls.append((self._engine.clock.seconds, key))
        return self._script(key, sum(1 for _, each in self.calls if each == key))


def scripted(script: Callable[[Hashable, int], Result]) -> tuple[Engine, Scripted]:
    engine = Engine(Clock())
    controller = Scripted(engine, script)
    engine.add_controllers(controller)
    return engine, controller


def test_work_is_done_in_order_of_arrival():
    engine, controller = scripted(lambda key, call: DONE)
    for key in ("b", "a", "c", "a"):
        engine.enqueue(controller, key)
    assert engine.settle().quiescent
    assert [key for _, key in controller.calls] == ["b", "a", "c"]


def test_settle_jumps_to_progress_and_not_to_alarms():
    waits = {"progress": Wait.PROGRESS, "alarm": Wait.ALARM}
    after = {"progress": 30.0, "alarm": 40.0}
    engine, controller = scripted(lambda key, call: Result(after[str(key)], waits[str(key)]) if call == 1 else DONE)
    engine.enqueue(controller, "progress")
    engine.enqueue(controller, "alarm")
    settled = engine.settle()
    assert settled.quiescent
    assert settled.seconds == 30
    assert controller.calls == [(0, "progress"), (0, "alarm"), (30, "progress")]
    engine.advance(60)
    assert controller.calls[-1] == (40, "alarm")
    assert engine.clock.seconds == 90


def test_a_poll_is_looked_at_again_only_if_the_world_changed():
    engine, controller = scripted(lambda key, call: Result(10.0, Wait.POLL))
    engine.enqueue(controller, "poll")
    assert engine.settle().seconds == 0
    engine.touch()
    assert engine.settle().seconds == 10
    assert len(controller.calls) == 2


@of_types(ChangeType.ADDED)
def _new(change: Change) -> Iterable[Hashable]:
    return (f"new {change.object['metadata']['name']}",)


@of_types(ChangeType.MODIFIED, ChangeType.DELETED)
def _later(change: Change) -> Iterable[Hashable]:
    return (f"{change.type} {change.object['metadata']['name']}",)


class Routed(Scripted):
    """Hears of Pods through one router."""

    def __init__(self, engine: Engine, router: Router) -> None:
        super().__init__(engine, lambda key, count: DONE)
        self._router = router

    def watches(self) -> Mapping[str, Router]:
        return {"Pod": self._router}


def test_a_router_is_told_of_changes_of_its_types_only():
    engine = Engine(Clock())
    new, later = Routed(engine, _new), Routed(engine, _later)
    engine.add_controllers(new, later)
    pod = {"kind": "Pod", "metadata": {"name": "p"}}
    for type in ChangeType:
        engine.notify(Change(type, pod, None, 1))
    engine.settle()
    assert [key for _, key in new.calls] == ["new p"]
    assert [key for _, key in later.calls] == ["MODIFIED p", "DELETED p"]
    engine.introduce([new, later], lambda kind: [pod])
    engine.settle()
    assert len(new.calls) == 2
    assert len(later.calls) == 2
    engine.remove(new)
    engine.notify(Change(ChangeType.ADDED, pod, None, 1))
    assert engine.settle().steps == 0


def test_advance_leaves_off_between_two_steps_and_does_the_rest_late():
    engine, controller = scripted(lambda key, call: DONE)
    for key, due in (("a", 1.0), ("b", 2.0), ("c", 3.0)):
        engine.enqueue(controller, key, after=due)
    engine.advance(10, go_on=lambda: len(controller.calls) < 2)
    assert controller.calls == [(1, "a"), (2, "b")]
    assert engine.clock.seconds == 10
    engine.advance(1)
    assert controller.calls[-1] == (10, "c")


def test_advance_runs_what_falls_due_and_ends_on_time():
    engine, controller = scripted(lambda key, call: Result(10.0, Wait.POLL))
    engine.enqueue(controller, "poll")
    engine.advance(35)
    assert [at for at, _ in controller.calls] == [0, 10, 20, 30]
    assert engine.clock.seconds == 35


def test_failures_back_off_exponentially_up_to_the_longest():
    def script(key: Hashable, call: int) -> Result:
        if call <= 6:
            raise ReconcileError("no")
        return DONE

    engine, controller = scripted(script)
    engine.enqueue(controller, "x")
    assert engine.settle().quiescent
    assert [at for at, _ in controller.calls] == [0, 1, 3, 7, 15, 23, 31]


def test_a_busy_key_is_left_alone():
    engine, controller = scripted(lambda key, call: Result(busy=5.0) if call == 1 else DONE)
    engine.enqueue(controller, "x")
    engine.advance(1)
    engine.enqueue(controller, "x")
    engine.settle()
    assert [at for at, _ in controller.calls] == [0, 5]


def test_settle_gives_up_on_what_never_ends():
    engine, controller = scripted(lambda key, call: Result(60.0))
    engine.max_seconds = 600
    engine.enqueue(controller, "for ever")
    settled = engine.settle()
    assert not settled.quiescent
    assert settled.exhausted is not None
    assert "scripted for ever" in settled.exhausted


def test_what_fails_for_ever_is_told_first_with_its_message():
    def script(key: Hashable, call: int) -> Result:
        if key == "broken":
            raise ReconcileError("nil pointer")
        return Result(1.0)

    engine, controller = scripted(script)
    engine.max_seconds = 60
    engine.enqueue(controller, "sound")
    engine.enqueue(controller, "broken")
    exhausted = engine.settle().exhausted or ""
    assert re.search(r": scripted broken in \d+s, after \d+ failures \(nil pointer\), scripted sound in", exhausted), (
        exhausted
    )


def test_time_does_not_run_backwards():
    engine, _ = scripted(lambda key, call: DONE)
    with pytest.raises(ValueError, match="cannot advance"):
        engine.advance(-1)
    with pytest.raises(ValueError, match="backwards"):
        engine.clock.advance_to(-1)


@pytest.mark.parametrize("text", ["2026-01-01T00:00:00Z", "2026-02-28T23:59:59Z", "2027-01-01T00:00:00Z"])
def test_timestamps_survive_a_round_trip(text):
    assert render(parse(text)) == text


def test_timestamps_before_the_start():
    assert parse("2025-12-31T23:59:59Z") == -SECOND


def test_the_same_seed_draws_the_same():
    def drawn(seed: int) -> list[object]:
        rng = Rng(seed)
        ids = Ids(rng)
        values = list(range(20))
        rng.shuffle("x", values)
        return [ids.generate_name("p-"), ids.generate_name("p-"), ids.uid("Pod/default/p-"), values]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_uids_are_random_uuids_in_no_order():
    ids = Ids(Rng(3))
    uids = [ids.uid("Pod/default/p-") for _ in range(100)]
    assert len(set(uids)) == 100
    assert uids != sorted(uids)
    assert all((UUID(uid).version, UUID(uid).variant, str(UUID(uid))) == (4, RFC_4122, uid) for uid in uids)


def test_what_else_is_made_does_not_change_the_uids_of_a_subject():
    """Two worlds that differ in one workload break the ties of all others alike."""
    alone, beside = Ids(Rng(3)), Ids(Rng(3))
    uids = [alone.uid("Pod/default/web-") for _ in range(3)]
    assert [(beside.uid("Pod/default/other-"), beside.uid("Pod/default/web-"))[1] for _ in range(3)] == uids


def test_streams_do_not_disturb_each_other():
    one, other = Rng(7), Rng(7)
    one.stream("noise").random()
    assert one.stream("names").random() == other.stream("names").random()


def loop(number: int, signature: str = "same", fault: str | None = "k") -> Loop:
    return Loop(signature, float(number), (f"NodeClaim/{number}",), fault, "because")


def test_a_circle_is_reported_with_its_loops_and_the_label_at_fault():
    detector = RunawayDetector(bound=3)
    found: list[Runaway | None] = [detector.record("Pod/a", loop(number)) for number in range(3)]
    assert found[:2] == [None, None]
    runaway = found[2]
    assert runaway is not None
    assert runaway.fault == "k"
    text = str(runaway)
    assert "Pod/a repeats, 3 loops" in text
    assert text.splitlines()[1:] == [
        "  loop 1 at 0s: created NodeClaim/0 because because",
        "  loop 2 at 1s: created NodeClaim/1 because because",
        "  loop 3: the same, the last at 2s created NodeClaim/2",
        "  label at fault: k",
    ]


def test_loops_that_go_like_the_one_before_share_a_line():
    turns = [
        Loop("x", float(n), (f"Claim/{n}",), None, f"Claim/{n - 1} is gone: {why}") for n, why in enumerate("aaabbb")
    ]
    assert str(Runaway("Pod/a", tuple(turns))).splitlines()[1:] == [
        "  loop 1 at 0s: created Claim/0 because Claim/-1 is gone: a",
        "  loop 2 at 1s: created Claim/1 because Claim/0 is gone: a",
        "  loop 3: the same, the last at 2s created Claim/2",
        "  loop 4 at 3s: created Claim/3 because Claim/2 is gone: b",
        "  loops 5 to 6: the same, the last at 5s created Claim/5",
    ]


def test_loops_that_differ_are_no_circle():
    detector = RunawayDetector(bound=3)
    assert all(detector.record("Pod/a", loop(number, signature=str(number))) is None for number in range(10))


def test_subjects_are_counted_apart():
    detector = RunawayDetector(bound=3)
    assert all(detector.record(f"Pod/{number}", loop(number)) is None for number in range(10))
