"""What a toss of prices costs: two controllers of one cluster choose different sizes, a price that flips moves nodes, a week is dearer.

Standard_D4as_v5 has two rows in the price list; Azure bills the Linux one whatever Karpenter believes. The costs are added up here from
the trace's machines and these prices alone.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest

from harness.testing import deployment, nodeclass, nodepool, requirement
from harness.trace import Trace, record
from harness.trace.facts import Boot, Disruption
from harness.trace.figures import figures_of
from harness.world import World
from harness.world.costs.bill import Bill

WEEK = 7 * 24 * 3600.0
BILLED = {"Standard_D4as_v5": 0.208, "Standard_D4s_v5": 0.23}
"""USD per hour of Linux on demand in westeurope, recorded on 2026-08-22; the other row of D4as_v5 says 0.392."""
SEEDS = range(6)


@cache
def week(seed: int, prices: str = "live") -> tuple[Trace, float]:
    """A week of one pod on one of the two sizes, and what it cost by the bill of its world."""
    world = World(region="westeurope", seed=seed, azure={"prices": prices})
    recording, bill = record(world), Bill(world)
    pool = nodepool(
        requirement("karpenter.sh/capacity-type", "on-demand"), requirement("node.kubernetes.io/instance-type", *BILLED)
    )
    pool["spec"]["disruption"] = {"consolidateAfter": "1m", "consolidationPolicy": "WhenEmptyOrUnderutilized"}
    pool["spec"]["template"]["spec"]["expireAfter"] = "Never"
    world.apply(nodeclass(), pool, deployment("web", cpu="3"))
    world.settle()
    world.advance(WEEK - world.clock.seconds)
    return recording.trace(), bill.usd()


def by_hand(trace: Trace) -> float:
    """USD of all machines: hours between power on and the end of each, times what Azure bills for its size."""
    since: dict[str, float] = {}
    usd = 0.0
    for boot in trace.facts_of(Boot):
        if boot.state == "on":
            since[boot.vm] = boot.t
        elif boot.vm in since:
            usd += (boot.t - since.pop(boot.vm)) / 3600 * BILLED[boot.size]
    sizes = {boot.vm: boot.size for boot in trace.facts_of(Boot)}
    return usd + sum((WEEK - start) / 3600 * BILLED[sizes[vm]] for vm, start in since.items())


def first_size(trace: Trace) -> str:
    return next(boot.size for boot in trace.facts_of(Boot) if boot.state == "on")


def test_two_controllers_of_one_cluster_choose_different_sizes() -> None:
    assert {first_size(week(seed)[0]) for seed in SEEDS} == set(BILLED)


def test_a_price_that_flips_replaces_a_node_by_a_dearer_one() -> None:
    """And back: 14 readings draw, and the provider looks at a drawn price within a day."""
    moves = [move for seed in SEEDS for move in week(seed)[0].facts_of(Disruption)]
    assert all((move.decision, move.reason) == ("replace", "Underutilized") for move in moves)
    courses = [[boot.size for boot in week(seed)[0].facts_of(Boot) if boot.state == "on"] for seed in SEEDS]
    pairs = {(before, after) for course in courses for before, after in pairwise(course)}
    assert ("Standard_D4as_v5", "Standard_D4s_v5") in pairs
    assert ("Standard_D4s_v5", "Standard_D4as_v5") in pairs


@pytest.mark.parametrize("seed", SEEDS)
def test_the_week_is_billed_at_linux_prices_by_the_second(seed: int) -> None:
    trace, usd = week(seed)
    assert usd == pytest.approx(by_hand(trace), abs=1e-3)
    figures = figures_of(trace)
    assert figures.usd == pytest.approx(by_hand(trace), abs=1e-3)
    assert figures.moves == len(trace.facts_of(Disruption))


def test_the_toss_costs_more_than_knowing_the_prices() -> None:
    """The least that a week can cost is the cheaper size all the time; the churn of those that flip comes on top."""
    least = WEEK / 3600 * BILLED["Standard_D4as_v5"]
    costs = {seed: week(seed)[1] for seed in SEEDS}
    assert all(usd > least - 0.02 for usd in costs.values())
    flipping = [usd for seed, usd in costs.items() if week(seed)[0].facts_of(Disruption)]
    assert flipping
    assert max(flipping) > least * 1.02
    assert len({round(usd, 4) for usd in costs.values()}) > 1
