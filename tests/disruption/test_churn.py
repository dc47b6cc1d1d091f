"""Nodes that are replaced again and again for nothing are told as a runaway; those that go for a reason are not."""

from __future__ import annotations

import pytest

from harness.karpenter.disruption.churn import BOUND, SHORT_LIFE, Churn, Departure


def departure(number: int, created: float, at: float, reason: str = "Drifted", size: str = "two") -> Departure:
    return Departure(f"c{number}", "pool", size, created, at, reason, "ImageDrift", (f"c{number + 1}",))


def chain(churn: Churn, length: int, every: float) -> list[bool]:
    """Whether each of the nodes, made when the one before had to go, completes a runaway."""
    return [churn.departs([departure(n, n * every, (n + 1) * every)]) is not None for n in range(length)]


def test_each_is_made_when_the_one_before_had_to_go() -> None:
    assert chain(Churn(), BOUND + 3, 60) == [False] * (BOUND - 1) + [True] + [False] * 3


def test_a_circle_is_told_once_however_long_it_goes_on() -> None:
    assert chain(Churn(), 4 * BOUND, 60).count(True) == 1


def test_each_of_several_nodes_that_go_together_counts() -> None:
    churn = Churn()
    found = []
    for number in range(BOUND):
        times = number * 60, number * 60 + 60
        found.append(churn.departs([departure(number, *times, size=size) for size in ("one", "two")]) is not None)
    assert found == [False] * (BOUND - 1) + [True]
    again = [churn.departs([departure(number, number * 60, number * 60 + 60)]) for number in range(BOUND, 2 * BOUND)]
    assert sum(each is not None for each in again) == 1  # of the other size


def test_the_circle_says_who_and_why() -> None:
    churn = Churn()
    for number in range(BOUND - 1):
        assert churn.departs([departure(number, number * 60, number * 60 + 60)]) is None
    told = str(churn.departs([departure(9, 240, 300)]))
    assert told.startswith("runaway: NodePool/pool, Drifted two repeats, 5 loops and no end (times are virtual)\n")
    assert "created NodeClaim/c1 because NodeClaim/c0 (two) lived 1m and has to go: ImageDrift" in told


@pytest.mark.parametrize(("lives", "circle"), [(SHORT_LIFE - 1, True), (SHORT_LIFE, False), (SHORT_LIFE + 1, False)])
def test_what_lives_for_an_hour_goes_in_no_circle(lives: float, circle: bool) -> None:
    assert any(chain(Churn(), 4 * BOUND, lives)) == circle


def test_it_makes_no_difference_when_a_circle_begins() -> None:
    churn, day = Churn(), 24 * SHORT_LIFE
    gone = [departure(number, day + number * 60, day + number * 60 + 60) for number in range(BOUND)]
    assert [churn.departs([each]) is not None for each in gone] == [False] * (BOUND - 1) + [True]


def test_a_fleet_that_shrinks_goes_in_no_circle() -> None:
    churn = Churn()
    assert not any(churn.departs([departure(n, 0, 100 + n * 15, "Underutilized")]) for n in range(4 * BOUND))


def test_ever_smaller_sizes_are_no_circle() -> None:
    churn = Churn()
    assert not any(churn.departs([departure(n, n * 60, n * 60 + 60, size=f"s{n}")]) for n in range(4 * BOUND))


def test_a_change_from_outside_is_a_reason() -> None:
    churn = Churn()
    for _ in range(4):
        assert not any(chain(churn, BOUND - 1, 60))
        churn.forget()


def test_nodes_of_workloads_that_come_and_go_are_no_circle() -> None:
    churn = Churn()
    assert not any(churn.departs([departure(n, n * 60, n * 60 + 60, "Empty")]) for n in range(4 * BOUND))


def test_what_was_made_a_second_before_counts_as_made_afterwards() -> None:
    """Creation times are whole seconds."""
    churn = Churn()
    made = [(0, 60), (59, 120), (119, 180), (179, 240), (239, 300)]
    assert [churn.departs([departure(n, *times)]) is not None for n, times in enumerate(made)] == [False] * 4 + [True]
    earlier = Churn()
    made = [(0, 60), (58, 120), (118, 180), (178, 240), (238, 300)]
    assert not any(earlier.departs([departure(n, *times)]) for n, times in enumerate(made))
