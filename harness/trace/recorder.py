"""Records a world: events are heard while they happen, all other facts are read off the world's journals at the end."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any

from harness.clusters.memory.cluster import MemoryCluster
from harness.engine.clock import SECOND
from harness.kube.api.kinds import KINDS as OBJECT_KINDS
from harness.trace.azure import Power, arm_calls, blocked, costs
from harness.trace.changes import Seen, Witness, from_journal, from_witness
from harness.trace.decisions import Decisions, decisions_of_events
from harness.trace.facts import (
    Advice,
    ClaimState,
    Disruption,
    End,
    EventTold,
    Expectation,
    LabelWrite,
    LogTold,
    NodeState,
    Refused,
    RunawayFound,
    Step,
)
from harness.trace.files import Trace
from harness.trace.header import Fact, Header
from harness.trace.karpenter_log import logged_refusals
from harness.trace.nested_facts import Differing, Leaving, Loop
from harness.trace.states import States
from harness.world import World

__all__ = ["Recording", "record"]

_ORDER = (
    "step",
    "object",
    "sizes",
    "funnel",
    "decision",
    "disruption",
    "arm",
    "blocked",
    "boot",
    "price",
    "cost",
    "write",
    "claim",
    "node",
    "label",
    "condition",
    "pod",
    "usage",
    "rejection",
    "runaway",
    "event",
    "log",
    "advice",
    "expectation",
    "end",
)
"""Facts of the same moment, causes before effects."""


def record(world: World) -> Recording:
    """Begin to record a world in which nothing has happened yet."""
    return Recording(world)


class Recording:
    """The recording of one world. `trace` can be called at any time; the world can go on afterwards."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._steps: list[Fact] = []
        self._expected: list[Fact] = []
        self._places: dict[str, tuple[str, int]] = {}
        self._spot_discount = world.spot_discount
        clock = world.clock
        self._epoch = clock.unix - clock.seconds
        self._decisions = Decisions(world)
        world.listeners.append(self._decisions)
        self._power = Power(world, self._since_epoch)
        world.cloud.subscribe(self._power.hear)
        self._witness: Witness | None = None
        if not isinstance(world.cluster, MemoryCluster):
            self._witness = Witness(lambda: clock.now, OBJECT_KINDS)
            world.engine.add_controllers(self._witness)

    # Facts that the world does not know of itself.

    def place(self, name: str, file: str, line: int) -> None:
        """Note the place of an object that is about to be applied, by `Kind/name`."""
        self._places[name] = (file, line)

    def step(self, text: str, file: str = "", line: int = 0) -> None:
        """Note a step that is about to begin; prices may have changed before it."""
        self._power.reprice(self._now)
        self._steps.append(Step(self._now, text, file, line))

    def expectation(
        self,
        text: str,
        held: bool,
        place: tuple[str, int, int],
        differences: Sequence[Differing] = (),
        why: Sequence[str] = (),
        allowed: str = "",
    ) -> None:
        """Note an expectation at the end, and whether it holds, or why it need not."""
        self._expected.append(Expectation(self._now, text, held, *place, tuple(differences), tuple(why), allowed))

    def advice(self, pods: Sequence[str], lines: Sequence[str], causes: Sequence[str] = ()) -> None:
        """Note changes that would help waiting pods, as tried; `causes`: the reasons against the sizes, counted."""
        self._expected.append(Advice(self._now, tuple(pods), tuple(lines), tuple(causes)))

    # The trace.

    def trace(self, *, outcome: str = "", scenario: Mapping[str, Any] | None = None, command: str = "") -> Trace:
        """Return the trace of everything so far."""
        self._power.reprice(self._now)
        changes = list(self._changes())
        by_kind: dict[str, list[Fact]] = {kind: [] for kind in _ORDER}
        for fact in (*self._steps, *self._facts(changes), *self._expected):
            by_kind[fact.fact].append(fact)
        facts = [fact for facts_of_kind in by_kind.values() for fact in facts_of_kind]
        facts.sort(key=attrgetter("t"))  # of the same moment they stay in the order of their kinds
        end = End(max(self._now, facts[-1].t if facts else 0.0), outcome, len(facts))
        return Trace(self._header(scenario or {}, command), (*facts, end))

    def _facts(self, changes: Sequence[Seen]) -> Iterator[Fact]:
        world = self._world
        states = list(States(self._seconds, self._places, self._power.price).facts(changes))
        yield from states
        claims = dict.fromkeys(fact.claim for fact in states if isinstance(fact, ClaimState))
        nodes = [fact for fact in states if isinstance(fact, NodeState)]
        calls = list(arm_calls(world, world.calls(), claims, self._since_epoch))
        yield from calls
        yield from blocked(world.log, calls)
        yield from self._labels(changes, dict.fromkeys(node.node for node in nodes))
        machines = {fact.vm: fact.claim for fact in states if isinstance(fact, ClaimState) and fact.vm}
        yield from (replace(boot, claim=machines.get(boot.vm, "")) for boot in self._power.boots)
        yield from costs(self._power, nodes)
        yield from self._power.prices
        reported = list(self._told())
        yield from reported
        if world.simulated:
            yield from self._decisions.facts()
        else:
            yield from decisions_of_events(fact for fact in reported if isinstance(fact, EventTold))
            yield from logged_refusals(world.log)

    def _changes(self) -> Iterator[Seen]:
        if self._witness is None:
            return from_journal(self._world.journal)
        return from_witness(self._witness.changes, self._world.journal, self._world.cluster.evidence)

    def _labels(self, changes: Sequence[Seen], nodes: Mapping[str, Any]) -> Iterator[LabelWrite]:
        times = sorted({change.revision: change.at for change in changes}.items())
        revisions = list(map(itemgetter(0), times))
        for node in nodes:
            for key, writes in self._world.writes(node).items():
                for write in writes:
                    position = max(0, bisect_right(revisions, write.at) - 1)
                    t = self._seconds(times[position][1])
                    yield LabelWrite(t, node, key, str(write.kind), write.by, write.value, write.from_ or "")

    def _told(self) -> Iterator[Fact]:
        world = self._world
        for event in world.events:
            name = event.object.reference
            yield EventTold(_rounded(event.at), name, event.type, event.reason, event.message, event.source)
        for line in world.log:
            values = {name: value for name, value in line.values.items() if value is not None}
            yield LogTold(_rounded(line.at), line.level, line.controller, line.message, values)
        for at, rejection in zip(world.recorder.rejected_at, world.rejections, strict=True):
            yield Refused(_rounded(at), rejection.object, str(rejection.layer), rejection.text, rejection.key or "")
        for at, runaway in world.engine.runaways:
            loops: list[Loop] = [
                {"at": _rounded(loop.at), "made": list(loop.made), "why": loop.why} for loop in runaway.loops
            ]
            yield RunawayFound(_rounded(at), runaway.subject, loops, runaway.course, runaway.fault or "")
        for disruption in world.disruptions:
            nodes: list[Leaving] = [
                {"node": node.node, "claim": node.nodeclaim, "nodepool": node.nodepool, "price": node.price}
                for node in disruption.nodes
            ]
            yield Disruption(
                _rounded(disruption.at),
                tuple(nodes),
                disruption.decision,
                disruption.reason,
                disruption.replacements,
                disruption.savings,
                disruption.method,
                disruption.drift,
                None if disruption.ended is None else _rounded(disruption.ended),
                disruption.problem,
                disruption.unpriced,
            )

    def _header(self, scenario: Mapping[str, Any], command: str) -> Header:
        from harness import __version__

        world = self._world
        return Header(
            harness=__version__,
            release=world.release.version,
            kubernetes=world.kubernetes,
            region=world.region,
            mode=str(world.options.provision_mode),
            seed=world.rng.seed,
            cluster=world.cluster.name,
            karpenter="simulated" if world.simulated else "real",
            epoch=round(self._epoch, 6),
            spot_discount=self._spot_discount,
            spot_discount_changes={f"{_rounded(at):g}": discount for at, discount in world.spot_discounts},
            scenario=scenario,
            command=command,
        )

    @property
    def _now(self) -> float:
        return _rounded(self._world.clock.seconds)

    def _seconds(self, moment: int) -> float:
        return _rounded((moment - self._world.clock.start) / SECOND)

    def _since_epoch(self, moment: float) -> float:
        return _rounded(moment - self._epoch)


def _rounded(seconds: float) -> float:
    return round(seconds, 6)
