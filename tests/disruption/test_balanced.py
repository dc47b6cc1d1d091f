"""NodePools with the policy Balanced: a command about nodes of several has to pay for each of them."""

from __future__ import annotations

import pytest

from harness.karpenter.disruption.candidates import Candidate, all_candidates
from harness.karpenter.disruption.commands.command import Command
from harness.karpenter.disruption.methods.balanced import (
    Score,
    Totals,
    announce_pools,
    approves,
    can_pass,
    nodepool_costs,
    nodepool_totals,
)
from harness.karpenter.disruption.simulating import Outcome
from harness.karpenter.disruption.situation import Situation
from tests.disruption.fleet import machine, nodepool, pod, situation

BALANCED = {"consolidationPolicy": "Balanced"}
MACHINES = [machine("a", "four"), machine("b", "eight", pool="other"), machine("c", "four", pool="plain")]
PODS = [pod(f"p{name}", name) for name in "abc"]
TOTALS = {"pool": Totals(1.0, 10.0), "other": Totals(2.0, 10.0)}


@pytest.fixture
def made() -> Situation:
    pools = [nodepool(**BALANCED), nodepool("other", **BALANCED), nodepool("plain")]
    return situation(MACHINES, PODS, pools)


def command(made: Situation, *names: str) -> Command:
    """The nodes go, and nothing takes their place."""
    known: dict[str, Candidate] = {each.name: each for each in all_candidates(made, eventual=False)}
    return Command.of([known[name] for name in names], Outcome())


@pytest.mark.parametrize(
    ("names", "savings"),
    [
        (("a",), {"pool": 0.2}),
        (("a", "b"), {"pool": 0.2, "other": 0.4 / 2}),  # a third and two thirds of $0.60
        (("a", "c"), {"pool": 0.2}),  # half of $0.40: the other NodePool is asked nothing
        (("c",), {}),
    ],
)
def test_savings_are_shared_out_by_price(made: Situation, names: tuple[str, ...], savings: dict[str, float]) -> None:
    approved, scores = approves(made, command(made, *names), TOTALS)
    assert approved
    assert {pool: score.savings for pool, score in scores.items()} == pytest.approx(savings)
    assert all(score.disruption > 0 for score in scores.values())


def test_nodes_that_cost_nothing_save_nothing() -> None:
    free = [machine(name, pool=pool) for name, pool in (("a", "pool"), ("b", "other"))]
    for node, claim in free:
        for each in (node, claim):
            each["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "free"
    made = situation(free, PODS[:2], [nodepool(**BALANCED), nodepool("other", **BALANCED)])
    both = command(made, "a", "b")
    assert [each.price for each in both.candidates] == [0.0, 0.0]
    approved, scores = approves(made, both, TOTALS)
    assert (approved, {pool: score.savings for pool, score in scores.items()}) == (False, {"pool": 0.0, "other": 0.0})


def test_each_nodepool_has_to_approve(made: Situation) -> None:
    dear = {**TOTALS, "other": Totals(200.0, 2.0)}
    approved, scores = approves(made, command(made, "a", "b"), dear)
    assert (approved, scores["pool"].passes, scores["other"].passes) == (False, True, False)
    assert approves(made, command(made, "a"), dear)[0]


def approvals(made: Situation) -> list[str]:
    return [each.object for each in made.events if each.kind == "Node"]


@pytest.mark.parametrize(("names", "told"), [(("a",), ["a"]), (("a", "b"), []), (("c",), [])])
def test_the_approval_of_one_node_is_told_of_it(made: Situation, names: tuple[str, ...], told: list[str]) -> None:
    assert approves(made, command(made, *names), TOTALS)[0]
    assert approvals(made) == told


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ({}, True),
        ({"pool": Totals(0.0, 10.0)}, True),
        ({"pool": Totals(0.2, 10.0)}, True),
        ({"pool": Totals(0.9, 0.1)}, False),
        ({"pool": Totals(200.0, 1.0)}, False),
    ],
)
def test_a_node_can_pass_where_its_deletion_would(made: Situation, totals: dict[str, Totals], expected: bool) -> None:
    (only,) = command(made, "a").candidates
    assert can_pass(only, totals) is expected
    (plain,) = command(made, "c").candidates
    assert can_pass(plain, {"plain": Totals(200.0, 1.0)})


@pytest.mark.parametrize(
    ("savings", "disruption", "value", "passes"),
    [
        (0.0, 0.0, 0.0, False),
        (-1.0, 0.5, 0.0, False),
        (0.1, 0.0, float("inf"), True),
        (0.3, 0.6, 0.5, True),
        (0.3, 0.61, 0.3 / 0.61, False),
    ],
)
def test_a_score_is_savings_by_disruption(savings: float, disruption: float, value: float, passes: bool) -> None:
    score = Score(savings, disruption)
    assert (score.value, score.passes) == (value, passes)
    assert score.shown() == (value, 0.5, 2, savings * 100, disruption * 100)


@pytest.mark.parametrize(
    ("totals", "expected"),
    [(None, Score()), (Totals(0.0, 10.0), Score()), (Totals(1.0, 0.0), Score()), (Totals(0.4, 0.5), Score(0.5, 4.0))],
)
def test_a_nodepool_without_costs_has_no_score(made: Situation, totals: Totals | None, expected: Score) -> None:
    _, scores = approves(made, command(made, "a"), {} if totals is None else {"pool": totals})
    assert scores == {"pool": expected}


def test_totals_are_of_all_nodes_and_all_nodeclaims_of_nodepools_with_candidates() -> None:
    """A node that has to stay counts with what its pods cost; those of DaemonSets, and those that cost nothing, count as nothing."""
    machines = [
        machine("a"),
        machine("b", "eight", annotations={"karpenter.sh/do-not-disrupt": "true"}),
        machine("c"),
        machine("d", pool="gone"),
        machine("e", pool="other"),  # which its pod keeps, as far as consolidation is concerned
    ]
    machines[4][1]["spec"]["terminationGracePeriod"] = "1h"
    del machines[2][1]["metadata"]["labels"]["topology.kubernetes.io/zone"]  # so that no price of it is known
    cheap = {"controller.kubernetes.io/pod-deletion-cost": "-200000000"}
    pods = [pod("p", "a"), pod("q", "b"), pod("r", "b", annotations=cheap), pod("s", "b"), pod("t", "b")]
    pods.append(pod("u", "e", annotations={"karpenter.sh/do-not-disrupt": "true"}))
    pods[3]["metadata"]["ownerReferences"][0]["kind"] = "DaemonSet"
    made = situation(machines, pods, [nodepool(**BALANCED), nodepool("other", **BALANCED)])
    found = nodepool_totals(made)
    assert {name: (round(each.cost, 6), each.disruption_cost) for name, each in found.items()} == {"pool": (0.6, 6.0)}
    assert nodepool_totals(made) is found


def test_each_nodepool_that_approves_is_told_of_a_command_about_several_nodes(made: Situation) -> None:
    several = command(made, "a", "b", "c")
    scores = {"pool": Score(0.3, 0.3), "other": Score(0.1, 0.3)}
    announce_pools(made, several, scores, taken=True)
    assert [(each.kind, each.object) for each in made.events] == [("NodePool", "pool")]


@pytest.mark.parametrize(
    ("labels", "costs"),
    [
        ({}, {"pool": 0.2}),
        ({"karpenter.sh/nodepool": "gone"}, {}),
        ({"karpenter.sh/nodepool": None}, {}),
        ({"node.kubernetes.io/instance-type": None}, {}),
        ({"topology.kubernetes.io/zone": None}, {}),
        ({"karpenter.sh/capacity-type": None}, {}),
    ],
)
def test_nodeclaims_cost_what_their_labels_say_and_nothing_where_one_is_missing(
    labels: dict[str, str | None], costs: dict[str, float]
) -> None:
    """Core pkg/state/cost/cost.go."""
    node, claim = machine("a")
    all_labels = {**claim["metadata"]["labels"], **labels}
    claim["metadata"]["labels"] = {key: value for key, value in all_labels.items() if value is not None}
    assert nodepool_costs(situation([(node, claim)]).view) == costs
