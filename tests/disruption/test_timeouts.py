"""Consolidation has a minute for several nodes and three for one by one, of virtual time that simulations take."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from harness.engine.clock import SECOND, Clock
from harness.karpenter.disruption.controller import _ConsolidationMemory
from harness.karpenter.disruption.methods.method import Findings
from harness.karpenter.disruption.methods.order import attempt, methods_of
from harness.karpenter.disruption.situation import Situation, after_waiting
from harness.karpenter.lifecycle.marks import Marks
from harness.karpenter.releases import provider
from harness.karpenter.releases.disruption import disruption_rules_of
from tests.disruption.fleet import machine, nodepool, pod, situation

FULL = "3500m"


def tight(pools: str, attempt_seconds: float, release: str = "1.14.0") -> Situation:
    """A full node of the cheapest size for its pod per NodePool named: nothing can be done, and each simulation tries one pod."""
    machines = [machine(f"n{number}", "four", pool=pool) for number, pool in enumerate(pools)]
    pods = [pod(f"p{number}", f"n{number}", FULL) for number in range(len(pools))]
    return situation(
        machines,
        pods,
        [nodepool(name) for name in sorted(set(pools))],
        attempt_seconds=attempt_seconds,
        release=provider(release),
    )


def findings(made: Situation, method: str, unseen: frozenset[str] = frozenset()) -> tuple[Findings, list[float]]:
    (chosen,) = (each for each in methods_of(made.rules) if each.name == method)
    waits: list[float] = []
    done = after_waiting(attempt(made, chosen, unseen=unseen), waits.append)
    assert done.findings is not None
    return done.findings, waits


def test_one_by_one_after_three_minutes_nobody_else_is_looked_at() -> None:
    found, waits = findings(tight("aaabbb", 61.0), "SingleNodeConsolidation")
    assert found.timeout == ("abandoning single-node consolidation due to timeout", {"candidates_evaluated": 3})
    assert (found.commands, found.consolidated, found.unseen) == ([], False, frozenset())
    assert waits == [3 * 61.0]


def test_what_was_not_looked_at_comes_first_the_next_time() -> None:
    first, _ = findings(tight("aabc", 100.0), "SingleNodeConsolidation")
    assert [each.pool for each in first.order] == ["a", "b", "c", "a"]
    assert first.unseen == frozenset("c")
    second, _ = findings(tight("aabc", 100.0), "SingleNodeConsolidation", frozenset("c"))
    assert [each.pool for each in second.order] == ["c", "a", "b", "a"]
    assert second.unseen == frozenset("b")
    assert (first.prioritized, second.prioritized) == (frozenset(), frozenset("c"))


def test_exactly_three_minutes_are_within_the_limit() -> None:
    found, _ = findings(tight("aaaa", 90.0), "SingleNodeConsolidation")
    assert found.timeout == ("abandoning single-node consolidation due to timeout", {"candidates_evaluated": 3})
    assert findings(tight("aaaa", 60.0), "SingleNodeConsolidation")[0].timeout is None


def test_the_minutes_of_a_method_begin_when_it_begins() -> None:
    made = tight("aaaa", 60.0)
    made.seconds = 100.0  # methods before it took so long
    assert findings(made, "SingleNodeConsolidation")[0].timeout is None


@pytest.mark.parametrize("release", ["1.6.5", "1.7.2", "1.10.2", "1.14.0"])
def test_nodes_whose_price_nobody_knows_take_as_long_as_others(release: str) -> None:
    """One simulation speaks for all of them, and each counts with the time of its own."""
    machines = [machine(f"n{number}") for number in range(4)]
    for node, claim in machines:
        for each in (node, claim):
            each["metadata"]["labels"]["topology.kubernetes.io/zone"] = "nowhere"
    pods = [pod(f"p{number}", f"n{number}", FULL) for number in range(4)]
    made = situation(machines, pods, attempt_seconds=10.0, release=provider(release))
    found, _ = findings(made, "SingleNodeConsolidation")
    assert found.commands == []
    assert made.seconds == 40.0


def test_nodes_of_a_nodepool_that_lets_none_go_take_no_time() -> None:
    machines = [machine(f"n{number}", pool=pool) for number, pool in enumerate("aabb")]
    pods = [pod(f"p{number}", f"n{number}", FULL) for number in range(4)]
    pools = [nodepool("a", budgets=[{"nodes": "0"}]), nodepool("b")]
    made = situation(machines, pods, pools, attempt_seconds=10.0)
    found, waits = findings(made, "SingleNodeConsolidation")
    assert (found.commands, found.consolidated, waits) == ([], False, [20.0])


def test_several_at_once_after_a_minute_nothing_is_found() -> None:
    found, waits = findings(tight("aaaaaa", 20.0), "MultiNodeConsolidation")
    assert found.timeout == ("failed to find a multi-node consolidation after timeout", {"last_batch_size": 3})
    assert (found.commands, found.consolidated) == ([], True)
    assert waits == [60.0]


def test_several_at_once_what_was_found_before_counts() -> None:
    """Of nodes with little on them a first half can go; the search for more runs out of time."""
    machines = [machine(f"n{number}") for number in range(8)]
    pods = [pod(f"p{number}", f"n{number}", "100m") for number in range(8)]
    found, waits = findings(situation(machines, pods, attempt_seconds=13.0), "MultiNodeConsolidation")
    assert found.timeout == ("stopping multi-node consolidation after timeout, returning last valid command", {})
    (command,) = found.commands
    assert len(command.candidates) == 5
    assert waits == [5 * 13.0, 15.0, 5 * 13.0]


@pytest.mark.parametrize("release", ["1.7.2", "1.10.2"])
def test_the_words_of_releases(release: str) -> None:
    found, _ = findings(tight("aaaa", 200.0, release), "SingleNodeConsolidation")
    assert found.timeout is not None
    assert found.timeout[0].endswith({"1.7.2": "timeout after evaluating 1 candidates"}.get(release, "timeout"))


@pytest.mark.parametrize("seconds", [0.0, 0.25, 1.0, 1.5])
def test_the_time_that_simulations_take_passes_however_short_it_is(seconds: float) -> None:
    _, waits = findings(tight("a", seconds), "SingleNodeConsolidation")
    assert waits == ([seconds] if seconds else [])


def test_what_a_turn_leaves_for_the_next() -> None:
    """Core singlenodeconsolidation.go (PreviouslyUnseenNodePools) and controller.go: who says nothing of that changes nothing."""
    clock, logged = Clock(), []
    sink: Any = SimpleNamespace(
        log=lambda level, controller, message, **values: logged.append((level, message, values))
    )
    rules = disruption_rules_of(provider("1.14.0").core)
    memory = _ConsolidationMemory(Marks(clock, 10.0), sink, rules)
    _, _, drift, several, single = methods_of(rules)
    assert (memory.unseen, memory.unfinished) == (frozenset(), False)
    memory.found(single, Findings(unseen=frozenset("bc"), consolidated=False, timeout=("too late", {"evaluated": 3})))
    assert (memory.unseen, memory.unfinished, memory.rests(single)) == (frozenset("bc"), True, False)
    assert logged == [("debug", "too late", {"evaluated": 3})]
    memory.found(drift, Findings())
    assert (memory.unseen, memory.unfinished) == (frozenset("bc"), True)
    logged.clear()
    memory.found(single, Findings(unseen=frozenset(), prioritized=frozenset("cb"), consolidated=True))
    assert (memory.unseen, memory.rests(single), memory.rests(several)) == (frozenset(), True, False)
    assert logged == [("debug", rules.prioritizing_text, {"nodepools": "b, c"})]
    clock.advance_to(clock.now + 300 * SECOND)
    assert not memory.rests(single)


def test_a_validation_that_fails_leaves_something_to_do() -> None:
    rules = disruption_rules_of(provider("1.14.0").core)
    memory = _ConsolidationMemory(Marks(Clock(), 10.0), Any, rules)
    memory.found(methods_of(rules)[0], Findings(withdrawn=True, consolidated=False))
    assert (memory.unfinished, memory.rests(methods_of(rules)[0])) == (True, False)
