"""Commands under way: candidates are deleted once all replacements are initialized; a command that fails is rolled back.

Core ``pkg/controllers/disruption/queue.go`` (Reconcile, waitOrTerminate, CompleteCommand).
"""

from collections.abc import Sequence
from dataclasses import field
from enum import Enum
from typing import Protocol

from harness.engine.clock import SECOND
from harness.engine.names import NodeClaimName, NodeName
from harness.karpenter.disruption.events.texts import launching, terminating, waiting_readiness
from harness.karpenter.disruption.turn import Started
from harness.karpenter.releases.disruption import DisruptionRules
from harness.karpenter.scheduling import SchedulingEvent
from harness.karpenter.scheduling.nodes.state import StateNode
from harness.kube.api.objects import Object, condition_is, name_of
from harness.kube.go.durations import print_duration
from lazyrecords import dataclass

__all__ = ["RETRY", "Execution", "Progress", "Queue", "QueueActions"]

RETRY = 1.0
"""Seconds between two looks at a command."""
_RETRY_MOST = 10.0
"""The longest pause where pauses double."""
_NEW = 5 * SECOND
"""The age of a command, where looks are few, from which a replacement that cannot be found counts as gone."""

_NO_ERROR = "%!w(<nil>)"
"""The text that Go prints where nil is wrapped as an error."""

_PER_CANDIDATE = SECOND // 1000 * 80
_LEAST, _MOST = 600 * SECOND, 3600 * SECOND


class Progress(Enum):
    """The progress of a command."""

    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class QueueActions(Protocol):
    """The cluster as the queue reads and changes it."""

    def nodeclaim(self, name: str) -> Object | None:
        """A replacement, None once it is gone."""

    def delete(self, nodeclaim: str) -> None:
        """Delete a candidate's NodeClaim, if there still is one."""

    def take_back(self, nodes: Sequence[StateNode]) -> None:
        """Remove taint and condition again; the nodes are no longer marked for deletion."""

    def say(self, *events: SchedulingEvent) -> object:
        """Publishes events."""


@dataclass(slots=True)
class Execution:
    """A command under way, started at ``begun`` (nanoseconds since the start of the world).

    ``initialized`` names the replacements that are initialized. ``problem``: why it failed.
    ``looks``: how often it was checked; ``waiting``: for what, the last time.
    """

    started: Started
    begun: int
    initialized: set[str] = field(default_factory=set)
    problem: str = ""
    looks: int = 0
    waiting: str = ""

    @property
    def nodes(self) -> list[StateNode]:
        return [candidate.state for candidate in self.started.command.candidates]


class Queue:
    """The commands under way, and the nodes that they are about."""

    def __init__(self, rules: DisruptionRules) -> None:
        self._rules = rules
        self.executions: list[Execution] = []

    @property
    def nodes(self) -> frozenset[str]:
        """The names of the Nodes of all commands."""
        return frozenset(name_of(node.node or {}) for execution in self.executions for node in execution.nodes)

    def add(self, started: Started, now: int) -> Execution:
        """Add a command that starts at `now`."""
        made = Execution(started, now)
        self.executions.append(made)
        return made

    def longest(self) -> int:
        """The timeout of a command in nanoseconds: 10 minutes, in newer releases up to an hour with the number of candidates in the
        queue."""
        if not self._rules.patience_grows:
            return _LEAST
        return min(max(_PER_CANDIDATE * sum(len(execution.nodes) for execution in self.executions), _LEAST), _MOST)

    def advance(self, execution: Execution, now: int, actions: QueueActions) -> Progress:
        """Checks a command: deletes its candidates when all replacements are initialized, rolls it back when it has failed.

        A command can also time out after it has deleted its candidates, because upstream checks the time last (up to core 1.4: first).
        """
        longest, taken = self.longest(), now - execution.begun
        execution.looks += 1
        late = taken > longest
        if late and self._rules.looks_less:
            waiting, execution.problem = "", f"command reached timeout after {print_duration(taken)}"
        else:
            waiting = self._waiting(execution, now, actions)
            if not waiting and not execution.problem:
                self._delete(execution, actions)
            if late:
                why = execution.problem or waiting or _NO_ERROR
                execution.problem = f"command reached timeout, {why} (duration={print_duration(taken)})"
        if execution.problem and self._rules.looks_less and execution.waiting:
            execution.problem += f"; {execution.waiting}"
        execution.waiting = waiting
        if execution.problem:
            actions.take_back(execution.nodes)
            self.executions.remove(execution)
            return Progress.FAILED
        if waiting:
            return Progress.WAITING
        self.executions.remove(execution)
        return Progress.DONE

    def next_look(self, execution: Execution) -> float:
        """Seconds until a command that waits is checked again."""
        return min(RETRY * 2.0 ** (execution.looks - 1), _RETRY_MOST) if self._rules.looks_less else RETRY

    def _reason(self, execution: Execution) -> str:
        """The reason as events tell it."""
        reason = execution.started.method.reason
        return f"{reason}/{execution.started.command.decision.title()}" if self._rules.looks_less else reason

    def _waiting(self, execution: Execution, now: int, actions: QueueActions) -> str:
        """Core's sentence about the replacements that are not initialized, empty when all are. One that was deleted fails the command."""
        reason = self._reason(execution)
        missing = []
        for name in execution.started.replacements:
            if name in execution.initialized:
                continue
            claim = actions.nodeclaim(name)
            if claim is None and self._rules.looks_less and now - execution.begun <= _NEW:
                missing.append(f'getting node claim, NodeClaim.karpenter.sh "{name}" not found')
                continue
            if claim is None:
                execution.problem = f'replacement was deleted, NodeClaim.karpenter.sh "{name}" not found'
                return ""
            actions.say(launching(name, reason))
            if condition_is(claim, "Initialized"):
                execution.initialized.add(name)
            else:
                actions.say(waiting_readiness(name))
                less = self._rules.looks_less
                missing.append(
                    f"nodeclaim {name} not initialized" if less else f"nodeclaim not initialized (NodeClaim={name})"
                )
        return f"waiting for replacement initialization, {'; '.join(missing)}" if missing else ""

    def _delete(self, execution: Execution, actions: QueueActions) -> None:
        reason = self._reason(execution)
        for candidate in execution.started.command.candidates:
            actions.delete(name_of(candidate.nodeclaim))
            actions.say(
                *terminating(NodeName(name_of(candidate.node)), NodeClaimName(name_of(candidate.nodeclaim)), reason)
            )
