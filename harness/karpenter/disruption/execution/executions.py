"""The queue of commands on the engine: each is checked again and again until its nodes are deleted or it is rolled back.

Core ``pkg/controllers/disruption/queue.go`` (Reconcile).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from harness.engine.disruptions import Disruption
from harness.engine.engine import DONE, Engine, Result, Router, Wait
from harness.engine.ports import Sink
from harness.karpenter.disruption.execution.actions import ClusterActions
from harness.karpenter.disruption.execution.queue import Execution, Progress, Queue
from harness.karpenter.disruption.turn import Started
from harness.karpenter.releases.disruption import DisruptionRules
from harness.kube.api.status import ApiError

__all__ = ["Executions"]


class Executions:
    """Carries commands out; a key is the number of a command."""

    name = "disruption.queue"
    backoff = (1.0, 10.0)

    def __init__(self, engine: Engine, sink: Sink, actions: ClusterActions, rules: DisruptionRules) -> None:
        self._engine = engine
        self._sink = sink
        self._actions = actions
        self._queue = Queue(rules)
        self._open: dict[int, tuple[Execution, Disruption]] = {}
        self._count = 0

    def watches(self) -> Mapping[str, Router]:
        """Nothing: the disruption controller adds commands, and each is checked again and again."""
        return {}

    @property
    def nodes(self) -> frozenset[str]:
        """The names of the Nodes that commands are about."""
        return self._queue.nodes

    def add(self, started: Started, record: Disruption) -> None:
        """Start to carry out a command; `record` gets its end and its problem."""
        self._count += 1
        self._open[self._count] = self._queue.add(started, self._engine.clock.now), record
        self._engine.enqueue(self, self._count)

    def reconcile(self, key: Hashable) -> Result:
        """Take one command further."""
        assert isinstance(key, int)
        execution, record = self._open[key]
        try:
            progress = self._queue.advance(execution, self._engine.clock.now, self._actions)
        except ApiError:
            progress = Progress.WAITING  # what could not be written now is written at the next look
        if progress is Progress.WAITING:
            return Result(self._queue.next_look(execution), Wait.POLL)
        del self._open[key]
        record.ended = self._engine.clock.seconds
        if progress is Progress.FAILED:
            record.problem = execution.problem
            record.missing = len(record.replacements) - len(execution.initialized)
            text = "failed terminating nodes while executing a disruption command"
            self._sink.log("error", self.name, text, error=execution.problem, command=str(execution.started.command))
        else:
            self._sink.log("debug", self.name, "command succeeded", command=str(execution.started.command))
        return DONE
