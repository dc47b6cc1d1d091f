"""Commands under way: replacements first, then the candidates; what fails is taken back."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.clock import SECOND
from harness.engine.disruptions import Disruption
from harness.engine.engine import DONE
from harness.karpenter.disruption.execution.executions import Executions
from harness.karpenter.disruption.execution.queue import Execution, Progress, Queue
from harness.karpenter.disruption.methods.order import attempt, methods_of
from harness.karpenter.disruption.situation import after_waiting
from harness.karpenter.disruption.turn import Refusal, Started, Unmarked, turn
from harness.karpenter.releases import provider
from harness.karpenter.releases.disruption import disruption_rules_of
from harness.karpenter.scheduling import SchedulingEvent
from harness.karpenter.scheduling.nodes.state import StateNode
from tests.disruption.fleet import machine, pod, situation


class QueueActions:
    def __init__(self, **claims: bool) -> None:
        self.claims = claims
        self.deleted: list[str] = []
        self.released: list[str] = []
        self.said: list[tuple[str, str]] = []

    def nodeclaim(self, name: str) -> dict[str, Any] | None:
        if name not in self.claims:
            return None
        ready = "True" if self.claims[name] else "Unknown"
        return {"metadata": {"name": name}, "status": {"conditions": [{"type": "Initialized", "status": ready}]}}

    def delete(self, nodeclaim: str) -> None:
        self.deleted.append(nodeclaim)

    def take_back(self, nodes: Iterable[StateNode]) -> None:
        self.released += [node.name for node in nodes]

    def say(self, *events: SchedulingEvent) -> None:
        self.said += [(each.object, each.message) for each in events]


def begun(release: str = "1.14.0") -> tuple[Queue, Execution]:
    """A replacement of the node a by the NodeClaim new, started at 0."""
    made = situation([machine("a", "eight")], [pod("p", "a", "1500m")], release=provider(release))
    (single,) = (each for each in methods_of(made.rules) if each.name == "SingleNodeConsolidation")
    found = after_waiting(attempt(made, single, validates=False), lambda seconds: None).findings
    assert found is not None
    rules = disruption_rules_of(provider(release).core)
    queue = Queue(rules)
    return queue, queue.add(Started(single, found.commands[0], ("new",)), 0)


def test_the_candidate_stays_until_its_replacement_is_initialized() -> None:
    queue, execution = begun()
    early, late = QueueActions(new=False), QueueActions(new=True)
    assert queue.advance(execution, SECOND, early) is Progress.WAITING
    assert early.said == [
        ("new", "Launching NodeClaim: Underutilized"),
        ("new", "Waiting on readiness to continue disruption"),
    ]
    assert not early.deleted
    assert queue.nodes == {"a"}
    assert queue.advance(execution, 2 * SECOND, late) is Progress.DONE
    assert late.deleted == ["claim-a"]
    assert late.said[1:] == [
        ("a", "Disrupting Node: Underutilized"),
        ("claim-a", "Disrupting NodeClaim: Underutilized"),
    ]
    assert not queue.nodes


def test_a_replacement_that_is_gone_ends_the_command() -> None:
    queue, execution = begun()
    actions = QueueActions()
    assert queue.advance(execution, SECOND, actions) is Progress.FAILED
    assert execution.problem.startswith("replacement was deleted")
    assert actions.released == ["a"]
    assert not actions.deleted
    assert not queue.executions


def test_a_command_has_ten_minutes() -> None:
    queue, execution = begun()
    assert queue.advance(execution, 600 * SECOND, QueueActions(new=False)) is Progress.WAITING
    late = QueueActions(new=True)
    assert queue.advance(execution, 600 * SECOND + 1, late) is Progress.FAILED
    assert late.deleted == ["claim-a"]  # it was in time for that, and is reported as a failure all the same
    assert late.released == ["a"]


def test_patience_grows_with_the_nodes_that_wait_from_core_1_7_on() -> None:
    for release, minutes in (("1.14.0", 20), ("1.6.5", 10)):
        queue, execution = begun(release)
        for _ in range(14_999):
            queue.add(execution.started, 0)
        assert queue.longest() == minutes * 60 * SECOND


def test_a_failed_command_tells_how_many_replacements_were_missing() -> None:
    _, execution = begun()
    started = Started(execution.started.method, execution.started.command, ("new", "other", "late"))
    servants = QueueActions(new=True, other=True)  # late is gone
    engine: Any = SimpleNamespace(clock=SimpleNamespace(now=SECOND, seconds=1.0), enqueue=lambda *_, **__: None)
    sink: Any = SimpleNamespace(log=lambda *_, **__: None)
    rules = disruption_rules_of(provider("1.14.0").core)
    executions = Executions(engine, sink, servants, rules)
    record = Disruption(0.0, "Underutilized", "replace", (), started.replacements)
    executions.add(started, record)
    assert executions.reconcile(1) is DONE
    assert record.problem.startswith("replacement was deleted")
    assert (record.missing, record.ended) == (1, 1.0)


def test_until_core_1_4_commands_are_looked_at_less_and_less_and_their_time_is_asked_first() -> None:
    queue, execution = begun("1.4.0")
    assert queue.advance(execution, 0, QueueActions()) is Progress.WAITING  # a NodeClaim that is not known yet may come
    waits = [queue.next_look(execution)]
    starting = QueueActions(new=False)
    for second in (1, 3, 7, 15, 25):
        assert queue.advance(execution, second * SECOND, starting) is Progress.WAITING
        waits.append(queue.next_look(execution))
    assert waits == [1.0, 2.0, 4.0, 8.0, 10.0, 10.0]
    assert starting.said[0] == ("new", "Launching NodeClaim: Underutilized/Replace")
    ready = QueueActions(new=True)
    assert (
        queue.advance(execution, 605 * SECOND, ready) is Progress.FAILED
    )  # later releases would delete the node first
    assert ready.deleted == []
    assert execution.problem == (
        "command reached timeout after 10m5s; waiting for replacement initialization, nodeclaim new not initialized"
    )


def test_until_core_1_4_a_replacement_is_gone_after_five_seconds() -> None:
    queue, execution = begun("1.4.0")
    gone = QueueActions()
    assert queue.advance(execution, 5 * SECOND, gone) is Progress.WAITING
    later = queue.add(execution.started, 100 * SECOND)
    assert queue.advance(later, 105 * SECOND, gone) is Progress.WAITING
    assert queue.advance(execution, 6 * SECOND, gone) is Progress.FAILED
    missing = 'NodeClaim.karpenter.sh "new" not found'
    waited = f"waiting for replacement initialization, getting node claim, {missing}"
    assert execution.problem == f"replacement was deleted, {missing}; {waited}"


@pytest.mark.parametrize(
    ("release", "marked", "problem"),
    [
        ("1.4.0", ["a"], 'disrupting via reason="underutilized", disrupting candidates, {} (command-id: $ID), {}'),
        ("1.7.2", [], "disrupting, disrupting candidates, {}, {} (command-id=$ID) (underutilized=reason)"),
    ],
)
def test_of_a_replacement_that_is_refused_core_1_4_keeps_the_mark(
    release: str, marked: list[str], problem: str
) -> None:
    found: list[str] = []

    def refuse(*_: Any) -> str:
        raise Refusal("no such thing")

    actions: Any = SimpleNamespace(
        release=lambda nodes: None,
        mark_disrupted=lambda node, reason: None,
        mark_for_deletion=lambda nodes: found.extend(node.name for node in nodes),
        create=refuse,
    )
    made = situation([machine("a", "eight")], [pod("p", "a", "1500m")], release=provider(release))
    done = after_waiting(turn(made, methods_of(made.rules), actions, validates=False), lambda seconds: None)
    assert done.error == problem.format("launching replacement nodeclaim", "creating node claim, no such thing")
    assert found == marked


@pytest.mark.parametrize(
    ("refused", "error"),
    [
        ("", ""),
        (
            "tainting nodes, no",
            "disrupting, disrupting candidates, disrupting candidates, marking disrupted, tainting nodes, no"
            " (command-id=$ID) (underutilized=reason)",
        ),
    ],
)
def test_a_node_that_cannot_be_marked_ends_the_turn_and_nothing_is_made_in_its_place(refused: str, error: str) -> None:
    """Core pkg/controllers/disruption/{controller,queue}.go; of a write conflict nothing is logged."""

    def refuse(*_: Any) -> None:
        raise Unmarked(refused)

    actions: Any = SimpleNamespace(release=lambda nodes: None, mark_disrupted=refuse)
    made = situation([machine("a", "eight")], [pod("p", "a", "1500m")])
    done = after_waiting(turn(made, methods_of(made.rules), actions, validates=False), lambda seconds: None)
    assert (done.started, done.next_after, done.error) == ([], None, error)
