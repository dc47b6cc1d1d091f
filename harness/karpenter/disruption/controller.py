"""The disruption controller on the engine: a turn every ten seconds, and none while nothing can have changed.

Core ``pkg/controllers/disruption/controller.go``. A turn that finds nothing would find nothing again until an object changes, or a
moment comes at which time alone changes the result. The turns in between are skipped; the others happen at multiples of ten seconds.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import partial

from harness.engine.clock import SECOND, nanoseconds, parse
from harness.engine.disruptions import Disrupted, Disruption
from harness.engine.engine import DONE, Engine, Result, Router, Wait, back_off
from harness.engine.names import NodeClaimName, NodeName
from harness.engine.ports import Change, ChangeType, Sink
from harness.karpenter.disruption.budgets import unreadable
from harness.karpenter.disruption.candidates import Candidate
from harness.karpenter.disruption.changes import budget_changes, protection_ends
from harness.karpenter.disruption.churn import Churn, Departure
from harness.karpenter.disruption.events.deduplication import EventDeduplication
from harness.karpenter.disruption.execution.actions import ClusterActions
from harness.karpenter.disruption.execution.executions import Executions
from harness.karpenter.disruption.methods.method import DRIFTED, Findings, Method
from harness.karpenter.disruption.methods.order import Memory, methods_of
from harness.karpenter.disruption.observer import Observer
from harness.karpenter.disruption.situation import Situation, TurnGenerator
from harness.karpenter.disruption.tally import Tally
from harness.karpenter.disruption.turn import POLLING, Started, Turn, turn
from harness.karpenter.labels.core import INITIALIZED
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.provider.instance_types import InstanceTypeProvider
from harness.karpenter.releases.disruption import DisruptionRules
from harness.kube.api.labels import INSTANCE_TYPE
from harness.kube.api.objects import Object, condition, is_terminating, labels_of, metadata_of, name_of, spec_of
from harness.kube.api.status import ApiError

__all__ = ["DisruptionController"]

_TURN = "turn"
_LONGEST_BACKOFF = 1000.0
_WATCHED = (
    "Pod",
    "Node",
    "NodeClaim",
    "NodePool",
    "AKSNodeClass",
    "DaemonSet",
    "PodDisruptionBudget",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "StorageClass",
    "CSINode",
    "Namespace",
)


class _ConsolidationMemory(Memory):
    """The consolidations that found nothing since the last change that matters to them (IsConsolidated).

    ``unseen``: the NodePools that single-node consolidation did not get to before its timeout, with which it begins the next time.
    """

    def __init__(self, marks: Marks, sink: Sink, rules: DisruptionRules) -> None:
        self._marks, self._sink, self._rules = marks, sink, rules
        self.unseen: frozenset[str] = frozenset()
        self._consolidated: dict[str, int] = {}
        self.rested = False
        """Whether a consolidation was skipped in this turn."""
        self.unfinished = False
        """Whether a method timed out in this turn, or the validation of its command failed."""

    def rests(self, method: Method) -> bool:
        since = self._marks.unsettled_since()
        rests = self._consolidated.get(method.name) == since
        self.rested = self.rested or rests
        return rests

    def found(self, method: Method, findings: Findings) -> None:
        self.unfinished = self.unfinished or findings.withdrawn or findings.timeout is not None
        if findings.consolidated:
            self._consolidated[method.name] = self._marks.unsettled_since()
        if findings.unseen is not None:
            self.unseen = findings.unseen
        if findings.prioritized:
            pools = ", ".join(sorted(findings.prioritized))
            self._sink.log("debug", "disruption", self._rules.prioritizing_text.format(pools), nodepools=pools)
        if findings.timeout is not None:
            text, values = findings.timeout
            self._sink.log("debug", "disruption", text, **values)


class DisruptionController:
    """Looks for nodes to disrupt; the only key is its turn. It starts with the first NodeClaim."""

    name = "disruption"
    backoff = (0.005, _LONGEST_BACKOFF)

    def __init__(
        self,
        engine: Engine,
        observer: Observer,
        sink: Sink,
        actions: ClusterActions,
        executions: Executions,
        marks: Marks,
        instance_types: InstanceTypeProvider,
        rules: DisruptionRules,
    ) -> None:
        self._engine = engine
        self._observer = observer
        self._sink = sink
        self._actions = actions
        self._executions = executions
        self._marks = marks
        self._instance_types = instance_types
        self._rules = rules
        gate = instance_types.options.gate
        self._situated = partial(
            Situation,
            spot_to_spot=gate("SpotToSpotConsolidation"),
            terminates_first=gate("TerminateFirstDrift") and rules.terminates_first,
        )
        self._methods = methods_of(rules)
        self._memory = _ConsolidationMemory(marks, sink, rules)
        self._began = engine.clock.now
        self._period = nanoseconds(POLLING)
        self._failures = 0
        self._not_before = self._began
        self._started = self._awake = False
        self._situation: Situation | None = None
        self._generator: TurnGenerator[Turn] | None = None
        self._told = 0
        self._deduplication = EventDeduplication(engine.clock, actions.say)
        self.churn = Churn()
        self.tally = Tally()
        self.held = False
        """While it is set, no turn begins."""

    def watches(self) -> Mapping[str, Router]:
        """All kinds of objects that a turn reads."""
        return dict.fromkeys(_WATCHED, self._route)

    def _route(self, change: Change) -> Iterable[Hashable]:
        kind = change.object["kind"]
        if _unsettles(kind, change):
            self._marks.unsettle()
        if kind == "NodeClaim":
            self._started = True
            if change.type is ChangeType.DELETED:
                self._marks.unmark((NodeClaimName(name_of(change.object)),))
        if not self._awake:
            self.wake()
        return ()

    def wake(self) -> None:
        """Something changed: the next turn by the clock takes place.

        A turn that is waiting ends first, and the back-off after an error is kept whatever happens meanwhile.
        """
        if not self._started or self.held:
            return
        self._awake = True
        if self._generator is None and self._engine.clock.now >= self._not_before:
            self._at(self._engine.clock.now)

    def _at(self, moment: int) -> None:
        """Schedules a turn at the first multiple of the period from `moment` on."""
        now = self._engine.clock.now
        turns = -(-max(moment - self._began, 1) // self._period)
        due = self._began + turns * self._period
        self._engine.enqueue(self, _TURN, after=(due - now) / SECOND, wait=Wait.ALARM)

    def reconcile(self, key: Hashable) -> Result:
        """Begin a turn, or goes on with the one that has waited."""
        if self._generator is None:
            self._awake = False
            self._memory.rested = self._memory.unfinished = False
            self._told = 0
            self._deduplication.begin()
            view = self._observer.look(self._executions.nodes)
            if wrong := unreadable(view.nodepools.values(), view.now):
                self._sink.log("error", self.name, "detected disruption budget errors", error=wrong)
            self._situation = self._situated(view, tally=self.tally)
            self._generator = turn(
                self._situation, self._methods, self._actions, unseen=self._memory.unseen, memory=self._memory
            )
        else:
            assert self._situation is not None
            self._situation.view = self._observer.look(self._executions.nodes)
        made = None
        try:
            wait = next(self._generator)
        except StopIteration as end:
            made = end.value
        except ApiError as error:  # a taint or condition of a command before could not be taken away
            made = Turn(
                next_after=None, error="" if error.code == 409 else f"removing taint from nodes, {error.message}"
            )
        self._tell()
        if made is None:
            return Result(wait.seconds)
        self._generator = None
        return self._end(made)

    def _tell(self) -> None:
        assert self._situation is not None
        events = self._situation.said
        self._deduplication.say(events[self._told :])
        self._told = len(events)

    def _end(self, made: Turn) -> Result:
        for started in made.started:
            self._start(started)
        self._began = self._engine.clock.now
        if made.next_after is None:
            if made.error:
                self._sink.log("error", self.name, "Reconciler error", error=made.error)
            after = back_off(self.backoff, self._failures)
            self._failures += 1
            self._not_before = self._engine.clock.now + nanoseconds(after)
            return Result(after, Wait.ALARM)
        self._failures = 0
        if not made.next_after:
            return Result(0.0)
        self._period = nanoseconds(made.next_after)
        again = self._awake or self._memory.unfinished
        moment = self._engine.clock.now if again else self._next()
        if moment is not None:
            self._at(moment)
        return DONE

    def _next(self) -> int | None:
        """The next moment at which time alone may change the result of a turn."""
        assert self._situation is not None
        view, now = self._situation.view, self._engine.clock.now
        moments = list(self._marks.nominations())
        moments += protection_ends(view.simulations.state.fleet, now)
        moments += budget_changes(list(view.nodepools.values()), now)
        if self._memory.rested or not self._rules.by_savings:
            # skipped consolidations are tried again; where candidates are ordered by remaining lifetime, time changes the order
            moments.append(self._marks.looks_again_at)
        until = self._instance_types.changes_at
        if until is not None:
            moments.append(nanoseconds(until))
        return self._deduplication.unheard(min((moment for moment in moments if moment > now), default=None))

    def _start(self, started: Started) -> None:
        command, method = started.command, started.method
        names = ", ".join(candidate.name for candidate in command.candidates)
        self._sink.log("info", self.name, "disrupting node(s)", command=str(command), reason=method.reason, nodes=names)
        savings = command.savings(self._rules, self._instance_types.release.vocabulary)
        gone = tuple(_disrupted(candidate) for candidate in command.candidates)
        at = self._engine.clock.seconds
        drifted = condition(command.candidates[0].nodeclaim, DRIFTED) if method.reason == DRIFTED else None
        record = Disruption(
            at,
            method.reason,
            command.decision,
            gone,
            started.replacements,
            method.name,
            savings,
            drift=str((drifted or {}).get("reason") or ""),
            unpriced=command.unpriced(self._rules),
            terminate_first=command.terminate_first,
        )
        self._sink.disrupted(record)
        self._executions.add(started, record)
        runaway = self.churn.departs([_departure(candidate, started, at) for candidate in command.candidates])
        if runaway is not None:
            self._engine.report_runaway(runaway)


def _disrupted(candidate: Candidate) -> Disrupted:
    return Disrupted(
        NodeClaimName(name_of(candidate.nodeclaim)),
        NodeName(name_of(candidate.node)),
        candidate.pool,
        dict(candidate.state.labels),
        candidate.known_price,
        len(candidate.pods),
        str((spec_of(candidate.nodepool).get("disruption") or {}).get("consolidationPolicy") or ""),
    )


def _departure(candidate: Candidate, started: Started, at: float) -> Departure:
    drifted = condition(candidate.nodeclaim, DRIFTED)
    return Departure(
        name_of(candidate.nodeclaim),
        candidate.pool,
        candidate.state.labels.get(INSTANCE_TYPE) or "",
        parse(metadata_of(candidate.nodeclaim)["creationTimestamp"]) / SECOND,
        at,
        started.method.reason,
        str(drifted.get("reason") or "") if drifted is not None and started.method.reason == DRIFTED else "",
        started.replacements,
    )


def _unsettles(kind: str, change: Change) -> bool:
    """Return whether a change may make a consolidation possible, as core sees it (state/cluster.go triggerConsolidationOnChange)."""
    new, old = change.object, change.old
    if kind == "Pod":
        return change.type is ChangeType.DELETED or _moved(new, old)
    if kind == "NodePool":
        return old is None or change.type is ChangeType.DELETED or spec_of(old) != spec_of(new)
    if kind not in ("Node", "NodeClaim"):
        return False
    if old is None or change.type is ChangeType.DELETED:
        return True
    return labels_of(old).get(INITIALIZED) != labels_of(new).get(INITIALIZED) or (
        is_terminating(old) != is_terminating(new)
    )


def _moved(new: Object, old: Object | None) -> bool:
    before = spec_of(old).get("nodeName") if old is not None else None
    return before is not None and before != spec_of(new).get("nodeName")
