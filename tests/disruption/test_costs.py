"""What moving pods costs, and which part of its lifetime a node has left.

Core ``pkg/utils/disruption/disruption.go``.
"""

from __future__ import annotations

import pytest

from harness.engine.clock import SECOND, parse
from harness.karpenter.disruption.costs import eviction_cost, lifetime_remaining
from harness.karpenter.releases import provider
from tests.disruption.fleet import NOW, machine, pod, situation

DELETION = "controller.kubernetes.io/pod-deletion-cost"


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("134217728", 2.0),
        ("-134217728", 0.0),
        ("67108864.0", 1.5),
        ("1e9", 1.0 + 1e9 / 2**27),
        ("1e12", 10.0),
        ("-1e12", -10.0),
        ("134_217_728", 2.0),  # Go lets underscores stand between digits
        ("134217728_", 1.0),
        (" 134217728", 1.0),
        ("134217728 ", 1.0),
        ("", 1.0),
        ("much", 1.0),
    ],
)
def test_a_deletion_cost_is_any_number_that_go_reads_until_core_1_14(text: str, cost: float) -> None:
    rules = situation([], release=provider("1.14.0")).rules
    assert eviction_cost(pod("p", "a", annotations={DELETION: text}), rules) == cost


@pytest.mark.parametrize(
    ("priority", "cost"), [(None, 1.0), (0, 1.0), (2**25, 2.0), (-(2**25), 0.0), (2**31 - 1, 10.0), (-(2**31), -10.0)]
)
def test_a_priority_counts_in_units_of_33_million(priority: int | None, cost: float) -> None:
    """Core pkg/utils/disruption/disruption.go, EvictionCost: divided by 2 to the 25th, and all in all between -10 and 10."""
    made = pod("p", "a")
    made["spec"]["priority"] = priority
    assert eviction_cost(made, situation([]).rules) == cost


@pytest.mark.parametrize(
    ("expires", "age", "left"),
    [
        (None, 3600, 1.0),
        ("Never", 3600, 1.0),
        ("1h", 0, 1.0),
        ("1h", 900, 0.75),
        ("1h", 3600, 0.0),
        ("1h", 7200, 0.0),
        ("1h", -60, 1.0),  # the clock of whoever made it is fast
        ("0s", 3600, 0.0),
        ("0s", 1, 0.0),
        ("0s", -1, 1.0),
    ],
)
def test_the_part_of_its_lifetime_that_a_nodeclaim_has_left(expires: str | None, age: int, left: float) -> None:
    _, claim = machine("a", since=NOW)
    if expires is not None:
        claim["spec"]["expireAfter"] = expires
    assert lifetime_remaining(claim, parse(NOW) + age * SECOND) == left
