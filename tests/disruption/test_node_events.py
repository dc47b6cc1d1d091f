"""What is worded late is heard as if every event of a turn were worded and published at once."""

from functools import cache
from random import Random

import pytest

from harness.engine.clock import SECOND, Clock, nanoseconds
from harness.karpenter.disruption.events.deduplication import EventDeduplication
from harness.karpenter.disruption.events.nodes import NodeEvents
from harness.karpenter.disruption.events.texts import (
    approved,
    blocked,
    candidate,
    failed_scheduling,
    launching,
    nodepool_approved,
    nodepool_blocked,
    nominated,
    rejected,
    terminating,
    unconsolidatable,
    waiting_readiness,
)
from harness.karpenter.scheduling import SchedulingEvent


class Listener:
    """Who hears events: drops those of a reason that came lately, and those about objects that are gone, or heard of from others."""

    def __init__(self, clock):
        self.clock, self.heard, self.last, self.gone = clock, [], {}, set()

    def publish(self, event):
        about = event.kind, event.object, event.reason, event.message if event.reason == "Apart" else ""
        last = self.last.get(about)
        window = nanoseconds(event.dedupe_seconds)
        if event.object in self.gone or (last is not None and self.clock.now - last < window):
            return False
        self.last[about] = self.clock.now
        self.heard.append((self.clock.now, event))
        return True


class AtOnce:
    """The same without a shortcut: each event of a turn once, published whether it is hidden or not."""

    def __init__(self, clock, publish):
        self.clock, self.publish, self.last = clock, publish, {}
        self.begin()

    def begin(self):
        self.hidden, self.said = [], set()

    def say(self, told):
        for event in (event for each in told for event in ((each,) if isinstance(each, SchedulingEvent) else each)):
            if event in self.said:
                continue
            self.said.add(event)
            about = event.kind, event.object, event.reason
            last = self.last.get(about)
            if last is None or self.clock.now >= last[1] + nanoseconds(event.dedupe_seconds):
                self.last[about] = event.message, self.clock.now
            elif last[0] != event.message:
                self.hidden.append(last[1] + nanoseconds(event.dedupe_seconds))
            self.publish(event)

    def unheard(self, before=None):
        moments = [*self.hidden, *([] if before is None else [before])]
        return min((moment for moment in moments if moment > self.clock.now), default=None)


class Machine:
    """What is asked of a machine's state."""

    def __init__(self, number, claimed):
        self.node = {"metadata": {"name": f"node{number}"}}
        self.nodeclaim = {"metadata": {"name": f"claim{number}"}} if claimed else None
        self.remembered = {}


machine = cache(Machine)


def said(random, claims):
    """Something about one of three nodes, some of which have a NodeClaim, or a NodePool."""
    number, text = random.randrange(3), random.choice("abc")
    if random.random() < 0.2:
        return SchedulingEvent("NodePool", "default", "Normal", "DisruptionBlocked", text, 120.0)
    reason, dedupe = random.choice([("DisruptionBlocked", 120.0), ("Unconsolidatable", 900.0), ("Apart", 120.0)])
    about = f"node{number}", f"claim{number}" if number in claims else None, reason
    return NodeEvents(about, lambda: text, dedupe, reason != "Apart")


@pytest.mark.parametrize("seed", range(60))
def test_events_are_heard_as_if_each_were_worded(seed):
    random, clock = Random(seed), Clock()
    ours, theirs = Listener(clock), Listener(clock)
    shortcut, at_once = EventDeduplication(clock, ours.publish), AtOnce(clock, theirs.publish)
    for _ in range(200):
        shortcut.begin()
        at_once.begin()
        claims = random.choice([{0, 1, 2}, {0, 1, 2}, {0, 2}])
        for _ in range(random.randint(1, 3)):
            told = [said(random, claims) for _ in range(random.randint(0, 8))]
            shortcut.say(told)
            at_once.say(told)
            clock.advance_to(clock.now + random.choice([0, 1, 14, 40, 110]) * SECOND)
        before = random.choice([None, clock.now + random.randint(1, 400) * SECOND])
        assert shortcut.unheard(before) == at_once.unheard(before)
        for listener in (ours, theirs):
            listener.gone = {"claim1"} if Random(clock.now).random() < 0.3 else set()
        if random.random() < 0.1:  # another one is heard of the same
            event = SchedulingEvent("Node", "node0", "Normal", "Unconsolidatable", "other", 900.0)
            assert ours.publish(event) == theirs.publish(event)
        if random.random() < 0.02:  # a restart forgets what was heard
            shortcut, at_once = EventDeduplication(clock, ours.publish), AtOnce(clock, theirs.publish)
    assert ours.heard == theirs.heard
    assert len(ours.heard) > 50


@pytest.mark.parametrize(("event", "window"), [(blocked, 120), (unconsolidatable, 900)])
def test_what_is_hidden_is_not_worded(event, window):
    clock, worded = Clock(), []

    def words():
        worded.append(clock.now)
        return f"at {clock.now}"

    said = EventDeduplication(clock, Listener(clock).publish)
    for _ in range(200):
        said.begin()
        said.say([event(machine(0, True), words)])
        clock.advance_to(clock.now + 10 * SECOND)
    assert worded == [*range(0, 2000 * SECOND, window * SECOND)]


@pytest.mark.parametrize(
    ("event", "seconds"),
    [
        (blocked(Machine(1, True), "text"), 120.0),
        (unconsolidatable(Machine(1, True), "text"), 900.0),
        (candidate(Machine(1, True), "command", 0.1), 120.0),
        (rejected(Machine(1, True), "command", "churn", 0.1), 120.0),
        (approved(Machine(1, True), 1.0, 0.5, 2, 10.0, 10.0), 120.0),
        ([nodepool_approved("pool", 1.0, 0.5, 2, 10.0, 10.0)], 120.0),
        ([nodepool_blocked("pool", "Empty")], 60.0),
        ([failed_scheduling("default/p", "text")], 300.0),
        ([nominated("default/p", Machine(1, True))], 120.0),
        ([launching("claim1", "Empty")], 120.0),
        ([waiting_readiness("claim1")], 120.0),
        ([*terminating("node1", "claim1", "Empty")], 120.0),
    ],
)
def test_for_how_long_an_event_hides_others(event, seconds):
    """Core pkg/controllers/disruption/events/events.go, pkg/events/recorder.go (two minutes where nothing else is said)."""
    assert {each.dedupe_seconds for each in event} == {seconds}
