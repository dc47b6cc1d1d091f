"""The loop: controllers, their queue of keys, and virtual time.

`settle` runs to quiescence: due work is done in order of arrival; when nothing is due, time jumps to the next
timer that can still make progress. `advance` lets time pass and does all work that falls due on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from enum import IntEnum
from heapq import heappop, heappush
from typing import Any, Protocol

from harness.engine.clock import SECOND, Clock, nanoseconds
from harness.engine.ports import Change, ChangeType
from harness.engine.runaway import Runaway
from harness.engine.step_bounds import StepBounds, StepCount
from harness.wording import duration_text
from lazyrecords import dataclass

_BOUNDS = StepBounds()


class Wait(IntEnum):
    """The meaning of a timer for `settle`.

    PROGRESS: the timer makes progress (a batch window, a boot, a retry): settle goes there. POLL: a repeated look that only matters if
    anything has changed since the last one. ALARM: a deadline or a periodic chore: only `advance` goes there.
    """

    PROGRESS = 0
    POLL = 1
    ALARM = 2


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a reconcile: the key is called again `after` seconds, and not within `busy` seconds.

    `under_way`: it is in the middle of something, so that the failures before still count for the back-off.
    """

    after: float | None = None
    wait: Wait = Wait.PROGRESS
    busy: float = 0.0
    under_way: bool = False


DONE = Result()


def back_off(waits: tuple[float, float], failures: int) -> float:
    """Return the seconds until the next try: the first of ``waits``, doubled with each failure before, up to the longest."""
    first, longest = waits
    return min(first * 2.0 ** min(failures, 32), longest)


class ReconcileError(Exception):
    """A reconcile that failed and wants its key retried with exponential back-off (and left alone for `busy` seconds).

    `wait`: POLL where only a change of something else can help.
    """

    def __init__(self, message: str, *, busy: float = 0.0, wait: Wait = Wait.PROGRESS) -> None:
        super().__init__(message)
        self.busy, self.wait = busy, wait


Router = Callable[[Change], Iterable[Hashable]]
"""The keys that a change concerns; `ports.of_types` marks one that is called for changes of some types only."""


def _types_of(router: Router) -> Iterable[ChangeType]:
    return getattr(router, "types", ChangeType)


class Controller(Protocol):
    """A reconciler of keys. `watches` maps a kind to the keys that a change of one of its objects concerns."""

    name: str
    backoff: tuple[float, float]
    """The first and the longest wait after a failure, in seconds."""

    def watches(self) -> Mapping[str, Router]: ...

    def reconcile(self, key: Hashable) -> Result: ...


@dataclass(frozen=True, slots=True)
class Settled:
    """The end of `settle`. Quiescent unless `runaway` or `exhausted` is set.

    `limit`: the name of the limit of steps that was reached (harness/limits.py), empty where none was.
    """

    steps: int
    seconds: float
    runaway: Runaway | None = None
    exhausted: str | None = None
    limit: str = ""

    @property
    def quiescent(self) -> bool:
        """Return whether nothing is left to do."""
        return self.runaway is None and self.exhausted is None


Slot = tuple[int, Hashable]
"""A controller, by its number, and one of its keys."""


@dataclass(slots=True)
class _Work:
    due: int
    seq: int
    slot: Slot
    wait: Wait
    revision: int
    queued: int
    dropped: bool = False
    """Whether it is dropped: another one took its place, or its controller is gone."""


class Engine:
    """Runs controllers over one clock. Everything happens on the caller's thread, in a repeatable order.

    `max_seconds` bounds `settle`, in virtual time.
    """

    def __init__(self, clock: Clock, *, bounds: StepBounds = _BOUNDS, max_seconds: float = 6 * 3600.0) -> None:
        self.clock = clock
        self.revision = 0
        """Counts the changes of the world: writes to the cluster and to the cloud."""
        self._bounds = bounds
        self.max_seconds = max_seconds
        self.steps = 0
        self._controllers: list[Controller] = []
        self._routes: dict[str, dict[ChangeType, list[tuple[int, Router]]]] = {}
        self._heap: list[tuple[int, int, _Work]] = []  # by due and seq, which no two have in common
        self._pending: dict[Slot, _Work] = {}
        self._failures: dict[Slot, tuple[int, str]] = {}  # how often in a row, and the last message
        self._busy: dict[Slot, int] = {}
        self._seq = 0
        self._runaway: Runaway | None = None
        self.runaways: list[tuple[float, Runaway]] = []
        """All runaways so far, with the virtual seconds at which they were found."""
        self.outside: Callable[[], bool] | None = None
        """Waits, when nothing is due here, until a cluster with controllers of its own rests; returns whether it changed."""

    def add_controllers(self, *controllers: Controller) -> None:
        """Register controllers; changes reach them in the order of registration."""
        for controller in controllers:
            index = len(self._controllers)
            self._controllers.append(controller)
            for kind, router in controller.watches().items():
                routes = self._routes.get(kind)
                if routes is None:
                    routes = self._routes[kind] = {change_type: [] for change_type in ChangeType}
                for change_type in _types_of(router):
                    routes[change_type].append((index, router))

    def remove(self, *controllers: Controller) -> None:
        """Remove controllers, with everything that is queued for them."""
        gone = {self._controllers.index(controller) for controller in controllers}
        for by_type in self._routes.values():
            for routes in by_type.values():
                routes[:] = [route for route in routes if route[0] not in gone]
        for slot, work in self._pending.items():
            work.dropped = slot[0] in gone
        tables: tuple[dict[Slot, Any], ...] = (self._pending, self._failures, self._busy)
        for table in tables:
            for slot in [slot for slot in table if slot[0] in gone]:
                del table[slot]

    def introduce(
        self, controllers: Iterable[Controller], present: Callable[[str], Iterable[Mapping[str, Any]]]
    ) -> None:
        """Queue the existing objects for controllers that start now; `present` returns those of a kind."""
        for controller in controllers:
            index = self._controllers.index(controller)
            for kind, router in controller.watches().items():
                for obj in present(kind) if ChangeType.ADDED in _types_of(router) else ():
                    for key in router(Change(ChangeType.ADDED, obj, None, self.revision)):
                        self._push(index, key, self.clock.now, Wait.PROGRESS)

    def notify(self, change: Change) -> None:
        """Take a change of the cluster and queue every key that it concerns."""
        self.revision += 1
        routes = self._routes.get(change.object["kind"])
        if routes is not None:
            now = self.clock.now
            for index, router in routes[change.type]:
                for key in router(change):
                    self._push(index, key, now, Wait.PROGRESS)

    def touch(self) -> None:
        """Count a change of the world that is not a change of the cluster (the cloud's state)."""
        self.revision += 1

    def enqueue(self, controller: Controller, key: Hashable, *, after: float = 0.0, wait: Wait = Wait.PROGRESS) -> None:
        """Queue a key of a registered controller, `after` seconds from now."""
        self._push(self._controllers.index(controller), key, self.clock.now + nanoseconds(after), wait)

    def report_runaway(self, runaway: Runaway) -> None:
        """Stop the current `settle`, because the world would repeat itself for ever."""
        self._runaway = runaway
        self.runaways.append((self.clock.seconds, runaway))

    def settle(self) -> Settled:
        """Run until nothing is left to do, a runaway is found, or a bound is reached."""
        return self._run(None)

    def advance(self, seconds: float, *, go_on: Callable[[], bool] | None = None) -> Settled:
        """Let time pass, do all work that falls due, and end exactly that much later.

        `go_on` is called between two steps; work that is left when it returns False is done late, by the next call.
        """
        if seconds < 0:
            raise ValueError(f"cannot advance by {seconds} s")
        return self._run(self.clock.now + nanoseconds(seconds), go_on)

    @property
    def progressing(self) -> bool:
        """Return whether work with Wait.PROGRESS is queued."""
        return any(work.wait is Wait.PROGRESS for work in self._pending.values())

    def waiting(self) -> list[str]:
        """Return the queued work in words, for messages: failing work first, then the soonest."""
        live = sorted(self._pending.items(), key=lambda item: (item[0] not in self._failures, item[1].due, item[1].seq))
        return [self._told(slot, work) for slot, work in live]

    def _told(self, slot: Slot, work: _Work) -> str:
        number, key = slot
        after = f"{self._controllers[number].name} {key} in {duration_text((work.due - self.clock.now) / SECOND)}"
        if slot not in self._failures:
            return after
        count, message = self._failures[slot]
        return f"{after}, after {count} {'failure' if count == 1 else 'failures'} ({message})"

    def _run(self, until: int | None, go_on: Callable[[], bool] | None = None) -> Settled:
        start, first = self.clock.now, self.steps
        count = StepCount(self._bounds, start, first)
        limit = start + nanoseconds(self.max_seconds)
        self._runaway = None
        exhausted: str | None = None
        heap = self._heap
        while heap or self._more():
            work = heap[0][2]
            if work.dropped:
                heappop(heap)
                continue
            if work.due > self.clock.now:
                if self.outside is not None and self.outside():
                    continue
                if until is None:
                    following = self._next_progress()
                    if following is None:
                        break
                    if following > limit:
                        exhausted = (
                            f"still moving after {duration_text(self.max_seconds)}: {', '.join(self.waiting()[:5])}"
                        )
                        break
                elif work.due > until:
                    break
                self.clock.advance_to(work.due)
                count.pass_time(work.due, self.steps)
            heappop(heap)
            revision = self.revision
            self._step(work)
            if work.wait is Wait.POLL and self.revision == revision:
                count.look(work.due - work.queued)
            if (until is None and self._circling()) or (go_on is not None and not go_on()):
                break
            if many := count.check(self.clock.now, self.steps):
                exhausted = f"still moving after {many}: {', '.join(self.waiting()[:5])}"
                break
        if until is not None and exhausted is None:
            self.clock.advance_to(until)
        return Settled(self.steps - first, (self.clock.now - start) / SECOND, self._runaway, exhausted, count.reached)

    def _more(self) -> bool:
        while not self._heap:
            if self.outside is None or not self.outside():
                return False
        return True

    def _circling(self) -> bool:
        return self._runaway is not None

    def _next_progress(self) -> int | None:
        """The first timer with Wait.PROGRESS. Timers before it run on the way."""
        head = self._heap[0][2]
        if head.wait is Wait.PROGRESS:
            return head.due
        first: int | None = None
        for work in self._pending.values():
            if work.wait is Wait.ALARM or (work.wait is Wait.POLL and work.revision == self.revision):
                continue
            if first is None or work.due < first:
                first = work.due
        return first

    def _step(self, work: _Work) -> None:
        slot = number, key = work.slot
        del self._pending[slot]
        self.steps += 1
        controller = self._controllers[number]
        try:
            result = controller.reconcile(key)
        except ReconcileError as error:
            failures = self._failures[slot][0] if slot in self._failures else 0
            self._failures[slot] = (failures + 1, str(error))
            result = Result(back_off(controller.backoff, failures), error.wait, error.busy)
        else:
            if self._failures and not result.under_way:
                self._failures.pop(slot, None)
        if result.busy:
            self._busy[slot] = self.clock.now + nanoseconds(result.busy)
            waiting = self._pending.get(slot)
            if waiting is not None and waiting.due < self._busy[slot]:
                self._replace(waiting, self._busy[slot])
        if result.after is not None:
            self._push(number, key, self.clock.now + nanoseconds(result.after), result.wait)

    def _push(self, index: int, key: Hashable, due: int, wait: Wait) -> None:
        slot = (index, key)
        if self._busy:
            free = self._busy.get(slot)
            if free is not None:
                if free > due:
                    due = free
                elif free <= self.clock.now:
                    del self._busy[slot]
        present = self._pending.get(slot)
        if present is not None:
            if wait < present.wait:
                present.wait = wait
            if present.due <= due:
                return
            wait, present.dropped = present.wait, True
        self._seq += 1
        work = self._pending[slot] = _Work(due, self._seq, slot, wait, self.revision, self.clock.now)
        heappush(self._heap, (due, self._seq, work))

    def _replace(self, work: _Work, due: int) -> None:
        self._seq += 1
        work.dropped = True
        moved = self._pending[work.slot] = _Work(due, self._seq, work.slot, work.wait, work.revision, work.queued)
        heappush(self._heap, (due, self._seq, moved))
